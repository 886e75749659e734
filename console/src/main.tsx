import '@mantine/core/styles.css';
import 'virtual:theme.css';
import './app/base.css';
import { MantineProvider } from '@mantine/core';
import {
  type InvalidateOptions,
  type InvalidateQueryFilters,
  QueryClient,
  QueryClientProvider,
} from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { NotificationList } from './app/notification-list.tsx';
import { router } from './app/router.tsx';
import { ShortcutsProvider } from './app/shortcuts.tsx';
import { theme } from './app/theme.ts';
import { RETRY_FAILED } from './queries/retry.ts';

/**
 * A client whose invalidation also restarts queries that load for the first time. Otherwise they keep a response that
 * the server may have sent before the change.
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

const queryClient = new RestartingQueryClient({
  defaultOptions: {
    queries: {
      ...RETRY_FAILED,
      staleTime: 10_000,
      // A server on this machine is reachable while the browser is offline.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      withCssVariables={false}
      withGlobalClasses={false}
    >
      <QueryClientProvider client={queryClient}>
        <ShortcutsProvider>
          <RouterProvider router={router} />
          <NotificationList />
        </ShortcutsProvider>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
