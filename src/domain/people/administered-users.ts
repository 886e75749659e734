import type { Reader } from '../../db/engine.ts';
import { nameKey } from '../../db/portable.ts';
import { missing } from '../shared/failure.ts';

/**
 * Who looks after others: an admin after the users of their organization, staff after the client users of the
 * organizations that they are assigned to, which are all where none is named.
 */
export interface Administrator {
  userId: number;
  organizationId: number | null;
  admin: boolean;
  staff: boolean;
}

export interface AdministeredUser {
  id: number;
  email: string;
  /** Whether they have not accepted their invitation. */
  invited: boolean;
}

/** @returns whether someone looks after anybody */
export function administersOthers({ admin, staff }: Administrator): boolean {
  return admin || staff;
}

/**
 * @returns the user with this address whom someone looks after
 * @throws Failure `missing` when there is none, or they are not theirs to look after, which looks the same
 */
export async function administeredUser(
  db: Reader,
  administrator: Administrator,
  email: string,
): Promise<AdministeredUser> {
  const user = await db
    .selectFrom('users')
    .select(['id', 'email', 'organization_id', 'accepted_at'])
    .where('email_key', '=', nameKey(email))
    .executeTakeFirst();
  const reached =
    user !== undefined &&
    administersOthers(administrator) &&
    user.organization_id !== null &&
    (administrator.staff
      ? await isAssigned(db, administrator.userId, user.organization_id)
      : user.organization_id === administrator.organizationId);
  if (!reached) throw missing('user');
  return { id: user.id, email: user.email, invited: user.accepted_at === null };
}

/** @returns whether a staff user works for an organization */
async function isAssigned(db: Reader, staffId: number, organizationId: number): Promise<boolean> {
  const assigned = await db
    .selectFrom('staff_organizations')
    .select('organization_id')
    .where('user_id', '=', staffId)
    .execute();
  return assigned.length === 0 || assigned.some((row) => row.organization_id === organizationId);
}
