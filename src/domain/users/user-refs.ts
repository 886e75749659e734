import type { Reader } from '../../db/engine.ts';
import { isOneOf } from '../../db/dialect-sql.ts';
import { prepare } from '../../db/prepared-queries.ts';

/** A user, as other things name them. */
export interface NamedUser {
  id: number;
  name: string | null;
  email: string;
}

const usersByIds = prepare<{ ids: readonly number[] }, NamedUser>((db, p) =>
  db
    .selectFrom('users')
    .select(['id', 'name', 'email'])
    .where((eb) => isOneOf(db, eb.ref('id'), p.ids)),
);

/**
 * @param ids may have doubles, and `null` where no account did something
 * @returns a function from an id to the user; to `null` where there is none
 */
export async function nameUsers(
  db: Reader,
  ids: readonly (number | null)[],
): Promise<(id: number | null) => NamedUser | null> {
  const wanted = [...new Set(ids)].filter((id) => id !== null);
  const users = wanted.length === 0 ? [] : await usersByIds(db, { ids: wanted });
  const known = new Map(users.map(({ id, name, email }) => [id, { id, name, email }]));
  return (id) => (id === null ? null : (known.get(id) ?? null));
}
