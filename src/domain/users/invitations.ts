import { type ChangeContext, onBehalfOf } from '../../auth/callers.ts';
import { readInvitedUser, verifyInvitationToken, type InvitationClaims } from '../../auth/account-links.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import type { Row } from '../../db/schema.ts';
import { recordEvent } from '../audit/record-event.ts';
import { DomainError, notFound } from '../shared/errors.ts';
import { addJob } from '../shared/jobs.ts';
import { lockAccount } from '../shared/account-rights.ts';
import { requireUserName } from './user-names.ts';
import { requiresSso, signInBlocker, type SignInState, selectSignInStates } from './sign-in-eligibility.ts';
import { foldName } from '../../lib/fold-case.ts';

export interface Invitation extends InvitationClaims {
  userId: number;
  email: string;
  name: string | null;
  /** `null` for platform staff. */
  organizationId: number | null;
  organization: string | null;
}

export type InvitationLink =
  | { state: 'open'; invitation: Invitation }
  /** The organization signs users in through its provider, so that no password is needed. */
  | { state: 'provider'; invitation: Invitation }
  /** The link was valid but has been used or has expired. */
  | { state: 'ended' }
  | { state: 'unknown' };

/** Replaces the invitation of an unknown user in the comparison, so that the response takes the same time. */
const UNKNOWN_INVITEE: InvitationClaims = { uid: 'unknown', invitedAt: 0 };

/**
 * Resolves the token of an invitation link.
 * @param secret the secret of the deployment
 * @param lifetime the lifetime of invitations, in milliseconds
 */
export async function resolveInvitation(
  db: ReadConnection,
  secret: Uint8Array,
  token: string,
  lifetime: number,
  now: number,
): Promise<InvitationLink> {
  const uid = readInvitedUser(token);
  if (uid === undefined) return { state: 'unknown' };
  const row = await selectSignInStates(db)
    .leftJoin('organizations', 'organizations.id', 'users.organization_id')
    .select([
      'users.id',
      'users.uid',
      'users.email',
      'users.name',
      'users.organization_id',
      'users.created_at',
      'users.invited_at',
      'organizations.name as organization',
    ])
    .where('users.uid', '=', uid)
    .executeTakeFirst();
  const invited = row === undefined ? UNKNOWN_INVITEE : { uid: row.uid, invitedAt: invitedAtOf(row) };
  if (!verifyInvitationToken(secret, invited, token) || row === undefined) return { state: 'unknown' };
  const { invitedAt } = invited;
  if (!isOpen(row, invitedAt) || now >= invitedAt + lifetime) return { state: 'ended' };
  const { id: userId, email, name, organization_id: organizationId, organization } = row;
  return {
    state: requiresSso(row) ? 'provider' : 'open',
    invitation: { userId, uid, invitedAt, email, name, organizationId, organization },
  };
}

/**
 * Accepts an invitation, once.
 * @param passwordHash argon2id, PHC format
 * @throws DomainError `conflict` when it was accepted, renewed or withdrawn in the meantime; `invalid` for the name
 */
export async function acceptInvitation(
  tx: Transaction,
  by: ChangeContext,
  { userId, invitedAt }: Invitation,
  input: { name: string; passwordHash: string },
): Promise<void> {
  const name = requireUserName('name', input.name);
  const user = await lockUser(tx, userId);
  if (user === undefined || !isOpen(user, invitedAt)) throw new DomainError('invitation-not-open');
  await tx
    .updateTable('users')
    .set((eb) => ({
      name,
      search_name: foldName(name),
      password_hash: input.passwordHash,
      accepted_at: by.now,
      version: eb('version', '+', 1),
    }))
    .where('id', '=', userId)
    .execute();
  await recordEvent(tx, onBehalfOf(by, userId), {
    action: 'user.accept-invitation',
    object: ['user', userId],
    organizationId: user.organization_id,
    before: null,
    after: { name },
  });
}

/**
 * Invites a user again who has not accepted. The previous link ends, and its lifetime starts over.
 * @throws DomainError `not-found` for the user; `forbidden` when they have accepted or are banned
 */
export async function renewInvitation(
  tx: Transaction,
  by: ChangeContext,
  userId: number,
): Promise<InvitationClaims> {
  const user = await lockUser(tx, userId);
  if (user === undefined) throw notFound('user');
  const obstacle = signInBlocker(user);
  if (obstacle === 'banned') throw new DomainError('renew-banned-invitation');
  if (obstacle !== 'invited') throw new DomainError('renew-accepted-invitation');
  const before = invitedAtOf(user);
  // A different time gives a different link, even within a millisecond.
  const invitedAt = Math.max(by.now, before + 1);
  await tx
    .updateTable('users')
    .set((eb) => ({ invited_at: invitedAt, version: eb('version', '+', 1) }))
    .where('id', '=', userId)
    .execute();
  await recordEvent(tx, by, {
    action: 'user.invite',
    object: ['user', userId],
    organizationId: user.organization_id,
    before: { invited_at: before },
    after: { invited_at: invitedAt },
  });
  return { uid: user.uid, invitedAt };
}

type InvitedRow = Pick<Row<'users'>, 'invited_at' | 'created_at'>;

/** Whether the invitation of that time is the latest one and can still be accepted. Does not check its lifetime. */
function isOpen(account: SignInState & InvitedRow, invitedAt: number): boolean {
  return signInBlocker(account) === 'invited' && invitedAtOf(account) === invitedAt;
}

function invitedAtOf({ invited_at, created_at }: InvitedRow): number {
  return invited_at ?? created_at;
}

/** Locks the user and reads their invitation. */
async function lockUser(tx: Transaction, userId: number) {
  await lockAccount(tx, userId);
  return selectSignInStates(tx)
    .select(['users.uid', 'users.organization_id', 'users.created_at', 'users.invited_at'])
    .where('users.id', '=', userId)
    .executeTakeFirst();
}

export const INVITATION_MAIL = 'invitation-mail';

/** Queued mails, of one inviting user and in total. */
const MAX_QUEUED = { perQuotaKey: 1_000, total: 10_000 };

export interface InvitationMail {
  userId: number;
  invitedAt: number;
  requestId: string;
}

/**
 * Queues the mail with an invitation link in the caller's transaction. The link is created when it is sent.
 * @returns false when too many mails are queued
 */
export function queueInvitationMail(
  tx: Transaction,
  { actor, now }: ChangeContext,
  { id: userId, invitedAt }: { id: number; invitedAt: number },
): Promise<boolean> {
  const mail: InvitationMail = { userId, invitedAt, requestId: actor.requestId };
  return addJob(tx, INVITATION_MAIL, mail, now, { quotaKey: `user:${actor.userId}`, ...MAX_QUEUED });
}

/** @returns the recipient of an invitation mail; `undefined` when the invitation is no longer open */
export async function findInvitationRecipient(
  db: ReadConnection,
  { userId, invitedAt }: InvitationMail,
): Promise<(InvitationClaims & { email: string; organization: string | null }) | undefined> {
  const row = await selectSignInStates(db)
    .leftJoin('organizations', 'organizations.id', 'users.organization_id')
    .select([
      'users.uid',
      'users.email',
      'users.created_at',
      'users.invited_at',
      'organizations.name as organization',
    ])
    .where('users.id', '=', userId)
    .executeTakeFirst();
  if (row === undefined || !isOpen(row, invitedAt)) return undefined;
  return { uid: row.uid, invitedAt, email: row.email, organization: row.organization };
}
