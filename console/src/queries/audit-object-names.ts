import { queryOptions } from '@tanstack/react-query';
import { api } from './client.ts';

/** How long names are gathered that one request asks for, in milliseconds. */
const BATCH_WINDOW = 20;

/** Makes what asks for many names at once: those that are wanted at the same time are one request. */
function batchReads(read: (ids: readonly string[]) => Promise<Map<string, string>>) {
  let wanted: string[] = [];
  let answer: Promise<Map<string, string>> | undefined;
  return async (id: string): Promise<string | null> => {
    wanted.push(id);
    answer ??= new Promise((resolve) => setTimeout(resolve, BATCH_WINDOW)).then(() => {
      const ids = wanted;
      wanted = [];
      answer = undefined;
      return read(ids);
    });
    return (await answer).get(id) ?? null;
  };
}

/** The kinds of objects of which the API tells many by their ids (operation 15). */
const NAME_LOADERS: Readonly<Record<string, (id: string) => Promise<string | null>>> = {
  vulnerability: batchReads(async (ids) => {
    const query = { 'filter[id][]': ids.map(Number), fields: 'title', 'page[size]': 200 };
    const { data } = await api.GET('/v1/vulnerabilities', { params: { query } });
    return new Map(data.map(({ id, title }) => [String(id), title]));
  }),
};

/** What an object of the audit log is called; `null` where nothing tells. */
export const auditObjectName = (type: string, id: string) =>
  queryOptions({
    queryKey: ['object-name', type, id],
    queryFn: () => NAME_LOADERS[type]?.(id) ?? null,
    enabled: Object.hasOwn(NAME_LOADERS, type),
    staleTime: 60_000,
  });
