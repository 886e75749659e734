import { type Account, administers } from '../../auth/callers.ts';
import type { Reader } from '../../db/engine.ts';
import { nameKey } from '../../db/portable.ts';
import { missing } from '../shared/failure.ts';

export interface AdministeredUser {
  id: number;
  email: string;
  /** Whether they have not accepted their invitation. */
  invited: boolean;
}

/** @returns whether someone looks after anybody */
export function administersOthers({ admin, staff }: Account): boolean {
  return admin || staff;
}

/**
 * An admin looks after the users of their organization, staff after the client users of the organizations that they
 * reach.
 * @returns the user with this address whom someone looks after
 * @throws Failure `missing` when there is none, or they are not theirs to look after, which looks the same
 */
export async function administeredUser(
  db: Reader,
  administrator: Account,
  email: string,
): Promise<AdministeredUser> {
  const user = await db
    .selectFrom('users')
    .select(['id', 'email', 'organization_id', 'accepted_at'])
    .where('email_key', '=', nameKey(email))
    .executeTakeFirst();
  const reached =
    user !== undefined && user.organization_id !== null && administers(administrator, user.organization_id);
  if (!reached) throw missing('user');
  return { id: user.id, email: user.email, invited: user.accepted_at === null };
}
