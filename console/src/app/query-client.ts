import { type InvalidateOptions, type InvalidateQueryFilters, QueryClient } from '@tanstack/react-query';
import { AssayError } from '../queries/client.ts';

/**
 * A client whose invalidation also restarts queries that load for the first time. Otherwise they keep a response that the server
 * may have sent before the change.
 */
class RestartingQueryClient extends QueryClient {
  override async invalidateQueries(
    filters: InvalidateQueryFilters = {},
    options?: InvalidateOptions,
  ): Promise<void> {
    await this.cancelQueries({
      ...filters,
      predicate: (query) => query.state.data === undefined && filters.predicate?.(query) !== false,
    });
    return super.invalidateQueries(filters, options);
  }
}

export const queryClient = new RestartingQueryClient({
  defaultOptions: {
    queries: {
      // The server has rejected the request; retrying would not help.
      retry: (count, error) => !(error instanceof AssayError) && count < 2,
      refetchOnWindowFocus: false,
      staleTime: 10_000,
      // A server on this machine is reachable while the browser is offline.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});
