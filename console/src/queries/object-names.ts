import { queryOptions } from '@tanstack/react-query';
import { statusName } from './statuses.ts';
import { api, type CursorPage, parsePage } from './client.ts';

/** Milliseconds in which names are collected for one request. */
const BATCH_WINDOW = 20;
/** Pages of a list that are read to find names. */
const MAX_PAGES = 5;
const PAGE_SIZE = 200;

type Names = Map<string, string>;

/** Loads by id, batching the ids that are requested within `BATCH_WINDOW`. */
function batchReads(read: (ids: readonly string[]) => Promise<Names>) {
  let pendingIds: string[] = [];
  let result: Promise<Names> | undefined;
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

/** Reads a list until it has found the names of all ids, for objects that the API does not read by id. */
const batchFromList = <Row>(
  readPage: (query: { 'page[size]': number; 'page[after]': string }) => Promise<CursorPage<Row>>,
  nameOf: (row: Row) => readonly [id: string, name: string],
) =>
  batchReads(async (ids) => {
    const names: Names = new Map();
    let cursor: string | undefined = '';
    for (let page = 0; page < MAX_PAGES && cursor !== undefined; page += 1) {
      const { rows, next }: CursorPage<Row> = await readPage({
        'page[size]': PAGE_SIZE,
        'page[after]': cursor,
      });
      for (const row of rows) names.set(...nameOf(row));
      cursor = ids.every((id) => names.has(id)) ? undefined : next;
    }
    return names;
  });

/** Loads the names of people by `key`. */
const usersBy = (key: 'id' | 'uid') =>
  batchFromList(
    async (query) => parsePage(await api.GET('/v1/users', { params: { query } })),
    ({ name, email, ...user }) => [String(user[key]), name ?? email],
  );

const userByUid = usersBy('uid');

/** Reads the name of an object, by its type in the audit log. */
const NAME_LOADERS: Readonly<Record<string, (id: string) => Promise<string | null>>> = {
  vulnerability: batchReads(async (ids) => {
    const query = { 'filter[id][]': ids.map(Number), fields: 'title', 'page[size]': PAGE_SIZE };
    const { data } = await api.GET('/v1/vulnerabilities', { params: { query } });
    return new Map(data.map(({ id, title }) => [String(id), title]));
  }),
  status: async (id) => statusName(Number(id)),
  'vulnerability-tag': batchFromList(
    async (query) => parsePage(await api.GET('/v1/vulnerability_tags', { params: { query } })),
    ({ id, name }) => [String(id), name],
  ),
  'assessment-tag': batchFromList(
    async (query) => parsePage(await api.GET('/v1/assessment_tags', { params: { query } })),
    ({ id, name }) => [String(id), name],
  ),
  'assessment-group': async (id) =>
    (await api.GET('/v1/assessment_groups/{id}', { params: { path: { id: Number(id) } } })).data.name,
  assessment: async (id) => (await api.GET('/v1/assessments/{id}', { params: { path: { id } } })).data.name,
  asset: async (assetUid) =>
    (await api.GET('/api/asset/v2/assets/{assetUid}', { params: { path: { assetUid } } })).data.location,
  actor: usersBy('id'),
  async user(id) {
    if (!/^\d+$/.test(id)) return userByUid(id);
    const { data } = await api.GET('/v1/users/{id}', { params: { path: { id: Number(id) } } });
    return data.name ?? data.email;
  },
};

/** Reads the name of an object of the audit log; `null` if it is gone or its type has no names. */
export const objectNameQuery = (type: string, id: string) =>
  queryOptions({
    queryKey: ['object-name', type, id],
    // Deleted objects and members of staff cannot be read.
    queryFn: async () => (await NAME_LOADERS[type]?.(id).catch(() => null)) ?? null,
    enabled: Object.hasOwn(NAME_LOADERS, type),
    staleTime: 60_000,
  });
