import type { ReadConnection } from '../../db/database.ts';
import { inList } from '../../db/dialect-sql.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';

/** A user as other objects refer to them. */
export interface UserRef {
  id: number;
  name: string | null;
  email: string;
}

const selectUsersById = prepareQuery<{ ids: readonly number[] }, UserRef>((db, p) =>
  db
    .selectFrom('users')
    .select(['id', 'name', 'email'])
    .where((eb) => inList(db, eb.ref('id'), p.ids)),
);

/**
 * @param ids may contain duplicates, and `null` for actions without an account
 * @returns a function from an id to the user, or to `null`
 */
export async function loadUserRefs(
  db: ReadConnection,
  ids: readonly (number | null)[],
): Promise<(id: number | null) => UserRef | null> {
  const uniqueIds = [...new Set(ids)].filter((id) => id !== null);
  const users = uniqueIds.length === 0 ? [] : await selectUsersById(db, { ids: uniqueIds });
  const refs = new Map(users.map(({ id, name, email }) => [id, { id, name, email }]));
  return (id) => (id === null ? null : (refs.get(id) ?? null));
}
