import { sql } from 'kysely';
import type { Transaction } from '../../db/database.ts';
import { forNoKeyUpdate, type RowLock } from '../../db/dialect-sql.ts';
import { preparePipelined, prepareQuery, prepareWrite } from '../../db/prepared-queries.ts';
import { memoizeByLock } from '../shared/lock-rows.ts';

/** Otherwise two admins could ban each other concurrently and leave none. */
const lockOrganizationRow = preparePipelined<{ id: number }>((tx, p) =>
  tx.selectFrom('organizations').select('id').where('id', '=', p.id).modifyEnd(forNoKeyUpdate(tx)),
);

/** Otherwise the user could sign in for the first time meanwhile. */
const lockUser = memoizeByLock((lock) =>
  prepareWrite<{ id: number }, { admin: number; accepted_at: number | null; banned_at: number | null }>(
    (tx, p) =>
      tx
        .selectFrom('users')
        .select(['admin', 'accepted_at', 'banned_at'])
        .where('id', '=', p.id)
        .modifyEnd(lock(tx)),
  ),
);

const countOtherAdmins = prepareQuery<
  { organization: number; user: number },
  { admins: number; accepted: number }
>((db, p) =>
  db
    .selectFrom('users')
    .select(({ fn }) => [fn.countAll<number>().as('admins'), fn.count<number>('accepted_at').as('accepted')])
    .where('organization_id', '=', p.organization)
    // A literal, because the partial index covers only this value.
    .where('admin', '=', sql.lit(1))
    .where('banned_at', 'is', null)
    .where('id', '<>', p.user),
);

/**
 * Ensures that an organization always has an admin. The last admin who has signed in can neither be banned nor lose the
 * role. An admin who never signed in can, unless no admin would remain. Banned admins do not count.
 *
 * Locks the organization's row and then the user's until the transaction ends. Call it before any change that takes an
 * admin from the organization, and before locking the user.
 * @param lock locks the row of the user
 * @returns whether the user has to remain an admin; `false` for users who are not admins
 */
export async function lockAndCheckLastAdmin(
  tx: Transaction,
  organizationId: number,
  userId: number,
  lock: RowLock = forNoKeyUpdate,
): Promise<boolean> {
  await lockOrganizationRow(tx, { id: organizationId });
  const [user] = await lockUser(lock)(tx, { id: userId });
  if (user === undefined || user.admin === 0 || user.banned_at !== null) return false;
  const [counts] = await countOtherAdmins(tx, { organization: organizationId, user: userId });
  return (user.accepted_at === null ? counts?.admins : counts?.accepted) === 0;
}
