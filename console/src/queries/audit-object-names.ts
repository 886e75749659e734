import { queryOptions } from '@tanstack/react-query';
import { api } from './client.ts';

/** How long names are gathered that one request asks for, in milliseconds. */
const GATHERED = 20;

/** Makes what asks for many names at once: those that are wanted at the same time are one request. */
function gathering(read: (ids: readonly string[]) => Promise<Map<string, string>>) {
  let wanted: string[] = [];
  let answer: Promise<Map<string, string>> | undefined;
  return async (id: string): Promise<string | null> => {
    wanted.push(id);
    answer ??= new Promise((resolve) => setTimeout(resolve, GATHERED)).then(() => {
      const ids = wanted;
      wanted = [];
      answer = undefined;
      return read(ids);
    });
    return (await answer).get(id) ?? null;
  };
}

/** The kinds of objects of which the API tells many by their ids (operation 15). */
const READERS: Readonly<Record<string, (id: string) => Promise<string | null>>> = {
  vulnerability: gathering(async (ids) => {
    const query = { 'filter[id][]': ids.map(Number), fields: 'title', 'page[size]': 200 };
    const { data } = await api.GET('/v1/vulnerabilities', { params: { query } });
    return new Map(data.map(({ id, title }) => [String(id), title]));
  }),
};

/** What an object of the audit log is called; `null` where nothing tells. */
export const objectName = (type: string, id: string) =>
  queryOptions({
    queryKey: ['object-name', type, id],
    queryFn: () => READERS[type]?.(id) ?? null,
    enabled: Object.hasOwn(READERS, type),
    staleTime: 60_000,
  });
