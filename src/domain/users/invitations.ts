import { type Act, actOfPerson } from '../../auth/callers.ts';
import { invitedUid, isInvitationToken, type Invited } from '../../auth/account-links.ts';
import type { Reader, Transaction } from '../../db/engine.ts';
import { nameKey } from '../../db/dialect-sql.ts';
import { recordChange } from '../audit/record-event.ts';
import { Failure, missing } from '../shared/errors.ts';
import { addJob } from '../shared/jobs.ts';
import { holdAccount } from './account-rights.ts';
import { cleanPersonName } from './user-names.ts';
import { needsProvider, signInObstacle, type SignInState, signInStates } from './sign-in-eligibility.ts';

/** Whom a link invites. */
export interface Invitation extends Invited {
  userId: number;
  email: string;
  name: string | null;
  /** `null` for platform staff. */
  organizationId: number | null;
  /** The name of the organization. */
  organization: string | null;
}

/** What a link is good for now. */
export type InvitationLink =
  | { state: 'open'; invitation: Invitation }
  /** The organization signs its people in through its provider, where an invitation needs no password. */
  | { state: 'provider'; invitation: Invitation }
  /** It was right once: accepted in the meantime, or too old. */
  | { state: 'over' }
  | { state: 'unknown' };

/** For tokens of nobody, which are compared as well. */
const NOBODY: Invited = { uid: 'nobody', invitedAt: 0 };

/**
 * Reads the token of an invitation link.
 * @param secret the deployment's
 * @param lifetime of invitations, in milliseconds
 */
export async function readInvitation(
  db: Reader,
  secret: Uint8Array,
  token: string,
  lifetime: number,
  now: number,
): Promise<InvitationLink> {
  const uid = invitedUid(token);
  if (uid === undefined) return { state: 'unknown' };
  const row = await signInStates(db)
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
  const invited = row === undefined ? NOBODY : { uid: row.uid, invitedAt: invitedAtOf(row) };
  if (!isInvitationToken(secret, invited, token) || row === undefined) return { state: 'unknown' };
  const { invitedAt } = invited;
  if (!isOpen(row, invitedAt) || now >= invitedAt + lifetime) return { state: 'over' };
  const { id: userId, email, name, organization_id: organizationId, organization } = row;
  return {
    state: needsProvider(row) ? 'provider' : 'open',
    invitation: { userId, uid, invitedAt, email, name, organizationId, organization },
  };
}

/**
 * Accepts an invitation, once.
 * @param passwordHash argon2id, PHC format
 * @throws Failure `conflict` when it was accepted, renewed or withdrawn in the meantime, `invalid` for the name
 */
export async function acceptInvitation(
  tx: Transaction,
  act: Act,
  { userId, invitedAt }: Invitation,
  input: { name: string; passwordHash: string },
): Promise<void> {
  const name = cleanPersonName('name', input.name);
  const user = await heldUser(tx, userId);
  if (user === undefined || !isOpen(user, invitedAt))
    throw new Failure('conflict', 'This invitation is not open any more.');
  await tx
    .updateTable('users')
    .set((eb) => ({
      name,
      name_key: nameKey(name),
      password_hash: input.passwordHash,
      accepted_at: act.now,
      version: eb('version', '+', 1),
    }))
    .where('id', '=', userId)
    .execute();
  await recordChange(tx, actOfPerson(act, userId), {
    action: 'user.accept-invitation',
    object: ['user', userId],
    organizationId: user.organization_id,
    before: null,
    after: { name },
  });
}

/**
 * Invites someone again who has not accepted: the link before ends, and its time begins anew.
 * @throws Failure `missing` for an unknown user, `forbidden` for one who has accepted or is banned
 */
export async function renewInvitation(tx: Transaction, act: Act, userId: number): Promise<Invited> {
  const user = await heldUser(tx, userId);
  if (user === undefined) throw missing('user');
  const obstacle = signInObstacle(user);
  if (obstacle === 'banned') throw new Failure('forbidden', 'This user is banned.');
  if (obstacle !== 'invited')
    throw new Failure('forbidden', 'This user has accepted the invitation already.');
  const before = invitedAtOf(user);
  // Another time is another link, also within a millisecond.
  const invitedAt = Math.max(act.now, before + 1);
  await tx
    .updateTable('users')
    .set((eb) => ({ invited_at: invitedAt, version: eb('version', '+', 1) }))
    .where('id', '=', userId)
    .execute();
  await recordChange(tx, act, {
    action: 'user.invite',
    object: ['user', userId],
    organizationId: user.organization_id,
    before: { invited_at: before },
    after: { invited_at: invitedAt },
  });
  return { uid: user.uid, invitedAt };
}

interface InvitedRow {
  invited_at: number | null;
  created_at: number;
}

/** @returns whether the invitation of that time, and no later one, can still be accepted, if its lifetime is not over */
function isOpen(account: SignInState & InvitedRow, invitedAt: number): boolean {
  return signInObstacle(account) === 'invited' && invitedAtOf(account) === invitedAt;
}

function invitedAtOf({ invited_at, created_at }: InvitedRow): number {
  return invited_at ?? created_at;
}

/** Reads an account whose invitation is to change, and keeps other changes of it out until this one is done. */
async function heldUser(tx: Transaction, userId: number) {
  await holdAccount(tx, userId);
  return signInStates(tx)
    .select(['users.uid', 'users.organization_id', 'users.created_at', 'users.invited_at'])
    .where('users.id', '=', userId)
    .executeTakeFirst();
}

/** The kind of job that sends the link of an invitation. */
export const INVITATION_MAIL = 'invitation-mail';

/** Mails that wait: of one who invites, and in all. */
const MAX_WAITING = { perOrigin: 1_000, inAll: 10_000 };

/** Whom to send the link of their invitation, and of which. */
export interface InvitationMail {
  userId: number;
  invitedAt: number;
  /** Of the request that asked for it. */
  requestId: string;
}

/**
 * Has the link of an invitation sent, in the unit of work that invites; the link itself is made when it is sent.
 * @returns whether it will be sent; not when too many wait
 */
export function requestInvitationMail(
  tx: Transaction,
  { actor, now }: Act,
  { id: userId, invitedAt }: { id: number; invitedAt: number },
): Promise<boolean> {
  const mail: InvitationMail = { userId, invitedAt, requestId: actor.requestId };
  return addJob(tx, INVITATION_MAIL, mail, now, { origin: `user:${actor.userId}`, ...MAX_WAITING });
}

/** @returns whom to send the link of an invitation to; nothing when it is not open any more */
export async function invitedAddress(
  db: Reader,
  { userId, invitedAt }: InvitationMail,
): Promise<(Invited & { email: string; organization: string | null }) | undefined> {
  const row = await signInStates(db)
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
