import { sql } from 'kysely';
import type { Account } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { forNoKeyUpdate, inList } from '../../db/dialect-sql.ts';
import { preparePipelined } from '../../db/prepared-queries.ts';

/** What a select of `users` reads of an account's rights. */
export const RIGHTS_COLUMNS = [
  'users.organization_id as organizationId',
  'users.admin as admin',
  'users.staff as staff',
  sql<string | null>`(
    select string_agg(cast(staff_organizations.organization_id as text), ',') from staff_organizations
    where staff_organizations.user_id = users.id)`.as('assigned'),
] as const;

/** What `RIGHTS` reads. */
export interface RightsRow {
  organizationId: number | null;
  admin: number;
  staff: number;
  /** The ids of organizations, with commas between; `null` without any. */
  assigned: string | null;
}

/** @returns the account that a row of `RIGHTS` tells of */
export function accountOf({ organizationId, admin, staff, assigned }: RightsRow): Account {
  return {
    organizationId,
    admin: admin === 1,
    staff: staff === 1,
    assignedOrganizations: staff === 1 && assigned !== null ? assigned.split(',').map(Number) : null,
  };
}

/**
 * To be called before what an account has at most is counted: other units of work that count for the same account wait
 * until this one is over, and then see what it added.
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

/** Moves the version of a user of whom something was changed that stands in another table: the assessments they reach. */
export async function bumpUserVersion(tx: Transaction, userId: number): Promise<void> {
  await incrementVersion(tx, { id: userId });
}

/** The same for several users at once. */
export async function bumpUserVersions(tx: Transaction, userIds: readonly number[]): Promise<void> {
  if (userIds.length === 0) return;
  const isNamed = () => inList(tx, sql.ref<number>('users.id'), userIds);
  // In one order, so that two who change the same users wait for each other and do not lock each other out.
  await tx
    .selectFrom('users')
    .select('id')
    .where(isNamed())
    .orderBy('id')
    .modifyEnd(forNoKeyUpdate(tx))
    .execute();
  await tx
    .updateTable('users')
    .set((eb) => ({ version: eb('version', '+', 1) }))
    .where(isNamed())
    .execute();
}
