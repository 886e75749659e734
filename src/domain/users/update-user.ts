import { type ChangeContext, isMemberOf, type Caller } from '../../auth/callers.ts';
import type { Transaction } from '../../db/database.ts';
import { lockAccount } from '../shared/account-rights.ts';
import { recordEvent } from '../audit/record-event.ts';
import { DomainError, invalidInput, notFound } from '../shared/errors.ts';
import { type ExpectedVersion, requireVersion } from '../shared/versions.ts';
import { replaceGrantedAssessments } from '../assessments/assessment-access.ts';
import { bumpCredentialVersion } from '../tokens/credentials.ts';
import { lockAndCheckLastAdmin } from './last-admin.ts';
import { renewInvitation } from './invitations.ts';
import { requireValidUserFields, renameUser } from './users.ts';

/** Absent members stay as they are. */
export interface UserUpdate {
  admin?: boolean | undefined;
  name?: string | undefined;
  /** The uids of all assessments that the user can access. */
  assessments?: readonly string[] | undefined;
  /** Ends a ban. */
  reactivate?: boolean | undefined;
  reinvite?: boolean | undefined;
}

/**
 * Updates a user: admins can update users of their organization and themselves, staff the client users that they
 * can access.
 * @throws DomainError `not-found` for users that the caller cannot access; `forbidden` unless the caller is an
 * admin, and for the last admin (`lockAndCheckLastAdmin`); `version-mismatch`; `invalid` for the name or an assessment;
 * `conflict` for an invitation that was accepted, or of a banned user
 */
export async function updateUser(
  tx: Transaction,
  by: ChangeContext<Caller>,
  id: number,
  change: UserUpdate,
  expected?: ExpectedVersion,
): Promise<void> {
  const { actor: caller } = by;
  requireValidUserFields({ name: change.name });
  const target = await findUserRow(tx, id);
  const isOwn = id === caller.userId;
  if (
    target === undefined ||
    !(isOwn || (target.organization_id !== null && isMemberOf(caller, target.organization_id)))
  )
    throw notFound('user');
  if (!caller.admin) throw new DomainError('user-update-admins-only');
  const { organization_id: organizationId } = target;
  // Locks the organization's row before the user's, in the same order as a ban.
  const isLast =
    change.admin === false &&
    organizationId !== null &&
    (await lockAndCheckLastAdmin(tx, organizationId, id));
  await lockAccount(tx, id);
  const user = await findUserRow(tx, id);
  if (user === undefined) throw notFound('user');
  if (isLast) throw new DomainError('last-admin');
  requireVersion(expected, user.version);
  if (organizationId === null && change.admin === false)
    throw invalidInput({ property: 'admin', code: 'always-true-for-staff', value: false });

  if (change.reactivate === true && user.banned_at !== null) await reactivate(tx, by, user);
  if (change.name !== undefined) await renameUser(tx, by, id, change.name);
  if (change.assessments !== undefined)
    await replaceGrantedAssessments(tx, by, { id, organizationId }, change.assessments);
  if (change.admin !== undefined && organizationId !== null && change.admin !== (user.admin === 1)) {
    await setAdmin(tx, id, change.admin);
    await recordEvent(tx, by, {
      action: 'user.set-role',
      object: ['user', id],
      organizationId,
      before: { admin: user.admin === 1 },
      after: { admin: change.admin },
    });
  }
  if (change.reinvite === true) {
    if (user.accepted_at !== null) throw new DomainError('invitation-accepted');
    if (user.banned_at !== null && change.reactivate !== true) throw new DomainError('user-banned');
    await renewInvitation(tx, by, id);
  }
}

/** Sets the admin role. Call `lockAndCheckLastAdmin` before taking it away. */
export async function setAdmin(tx: Transaction, userId: number, admin: boolean): Promise<void> {
  await tx
    .updateTable('users')
    .set((eb) => ({ admin: admin ? 1 : 0, version: eb('version', '+', 1) }))
    .where('id', '=', userId)
    .execute();
  await bumpCredentialVersion(tx);
}

type UserRow = NonNullable<Awaited<ReturnType<typeof findUserRow>>>;

function findUserRow(tx: Transaction, id: number) {
  return tx
    .selectFrom('users')
    .select([
      'id',
      'organization_id',
      'admin',
      'accepted_at',
      'banned_at',
      'created_at',
      'invited_at',
      'version',
    ])
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Ends a ban. Sessions, tokens and links that the ban ended are not restored. Consents stay valid. */
async function reactivate(tx: Transaction, by: ChangeContext, user: UserRow): Promise<void> {
  const { id, accepted_at, invited_at, created_at } = user;
  const { now } = by;
  // A different time gives a different link.
  const invitedAt = accepted_at === null ? Math.max(now, (invited_at ?? created_at) + 1) : invited_at;
  await tx
    .updateTable('users')
    .set((eb) => ({
      banned_at: null,
      reactivated_at: now,
      invited_at: invitedAt,
      version: eb('version', '+', 1),
    }))
    .where('id', '=', id)
    .execute();
  for (const table of ['tokens', 'refresh_tokens'] as const)
    await tx
      .updateTable(table)
      .set({ revoked_at: now })
      .where('user_id', '=', id)
      .where('revoked_at', 'is', null)
      .execute();
  for (const table of ['sessions', 'password_resets', 'authorization_codes'] as const)
    await tx.deleteFrom(table).where('user_id', '=', id).execute();
  await bumpCredentialVersion(tx);
  await recordEvent(tx, by, {
    action: 'user.reactivate',
    object: ['user', id],
    organizationId: user.organization_id,
    before: { banned: true },
    after: { banned: false },
  });
}
