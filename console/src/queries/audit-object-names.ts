import { queryOptions } from '@tanstack/react-query';
import { api } from './client.ts';

/** Milliseconds in which names are collected for one request. */
const BATCH_WINDOW = 20;

/** Loads by id, batching the ids that are requested within `BATCH_WINDOW`. */
function batchReads(read: (ids: readonly string[]) => Promise<Map<string, string>>) {
  let pendingIds: string[] = [];
  let result: Promise<Map<string, string>> | undefined;
  return async (id: string): Promise<string | null> => {
    pendingIds.push(id);
    result ??= new Promise((resolve) => setTimeout(resolve, BATCH_WINDOW)).then(() => {
      const ids = pendingIds;
      pendingIds = [];
      result = undefined;
      return read(ids);
    });
    return (await result).get(id) ?? null;
  };
}

/** Object types that the API can list by id (operation 15). */
const NAME_LOADERS: Readonly<Record<string, (id: string) => Promise<string | null>>> = {
  vulnerability: batchReads(async (ids) => {
    const query = { 'filter[id][]': ids.map(Number), fields: 'title', 'page[size]': 200 };
    const { data } = await api.GET('/v1/vulnerabilities', { params: { query } });
    return new Map(data.map(({ id, title }) => [String(id), title]));
  }),
};

/** Reads the name of an object of the audit log; `null` if it is unknown. */
export const auditObjectName = (type: string, id: string) =>
  queryOptions({
    queryKey: ['object-name', type, id],
    queryFn: () => NAME_LOADERS[type]?.(id) ?? null,
    enabled: Object.hasOwn(NAME_LOADERS, type),
    staleTime: 60_000,
  });
