import { sql } from 'kysely';
import type { Principal } from '../../auth/callers.ts';
import type { Transaction } from '../../db/database.ts';
import { forNoKeyUpdate, inList } from '../../db/dialect-sql.ts';
import { preparePipelined } from '../../db/prepared-queries.ts';
import { lockRows } from './lock-rows.ts';

/** The columns of `users` that `accountOf` needs. */
export const RIGHTS_COLUMNS = [
  'users.organization_id as organizationId',
  'users.admin as admin',
  'users.staff as staff',
  sql<string | null>`(
    select string_agg(cast(staff_organizations.organization_id as text), ',') from staff_organizations
    where staff_organizations.user_id = users.id)`.as('assigned'),
] as const;

export interface RightsRow {
  organizationId: number | null;
  admin: number;
  staff: number;
  /** The ids of organizations, separated by commas; `null` for none. */
  assigned: string | null;
}

export function accountOf({ organizationId, admin, staff, assigned }: RightsRow): Principal {
  return {
    organizationId,
    admin: admin === 1,
    staff: staff === 1,
    assignedOrganizations: staff === 1 && assigned !== null ? assigned.split(',').map(Number) : null,
  };
}

/**
 * Locks the account before its items are counted against a limit, so that concurrent transactions count each
 * other's items.
 */
export async function lockAccount(tx: Transaction, userId: number): Promise<void> {
  await tx.selectFrom('users').select('id').where('id', '=', userId).modifyEnd(forNoKeyUpdate(tx)).execute();
}

const incrementVersion = preparePipelined<{ id: number }>((tx, p) =>
  tx
    .updateTable('users')
    .set((eb) => ({ version: eb('version', '+', eb.lit(1)) }))
    .where('id', '=', p.id),
);

/**
 * Bumps the version of a user when data in other tables changes, such as the accessible assessments. Call it before the
 * change, or lock the user before it (`lockRows`): the change refers to the user.
 */
export async function bumpUserVersion(tx: Transaction, userId: number): Promise<void> {
  await incrementVersion(tx, { id: userId });
}

export async function bumpUserVersions(tx: Transaction, userIds: readonly number[]): Promise<void> {
  if (userIds.length === 0) return;
  await lockRows(tx, 'users', userIds, forNoKeyUpdate);
  await tx
    .updateTable('users')
    .set((eb) => ({ version: eb('version', '+', 1) }))
    .where(inList(tx, sql.ref<number>('users.id'), userIds))
    .execute();
}
