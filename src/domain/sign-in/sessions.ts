import { randomUUID } from 'node:crypto';
import { type Principal, type ChangeContext, onBehalfOf } from '../../auth/callers.ts';
import { hashSecret, newSecret } from '../../auth/secrets.ts';
import type { Database, ReadConnection, Transaction } from '../../db/database.ts';
import { forKeyShare } from '../../db/dialect-sql.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import { canStartSession, selectSignInStates, usablePasswordHash } from '../users/sign-in-eligibility.ts';
import { accountOf, RIGHTS_COLUMNS } from '../shared/account-rights.ts';
import { recordEvent } from '../audit/record-event.ts';
import { endSessions } from './end-sessions.ts';
import { hasPasskey } from './passkeys.ts';
import { type FactorOwner, lockFactors } from './second-factors.ts';

const MAX_USER_AGENT = 256;
/** Milliseconds between writes of a session's last use. */
const USE_PRECISION = 60_000;

/** A signed-in browser, and its user. */
export interface Session extends Principal {
  id: string;
  /** `pending` after the first of two factors; allows nothing but the second one. */
  state: 'pending' | 'complete';
  /** How the user authenticated. */
  method: string;
  createdAt: number;
  lastUsedAt: number;
  userId: number;
  uid: string;
  email: string;
  name: string | null;
  /** The name of the organization; `null` for platform staff. */
  organizationName: string | null;
}

/** Thrown when the session ended, or the account changed during the sign-in, before the transaction locked it. */
export class SessionEnded extends Error {
  override name = 'SessionEnded';
}

export interface Browser {
  address: string;
  /** The header `User-Agent`, of which `MAX_USER_AGENT` characters are stored. */
  userAgent: string;
}

/** Milliseconds. */
export interface SessionLimits {
  /** Maximum time without use. */
  idle: number;
  /** Maximum time in total. */
  lifetime: number;
}

const selectBySecret = prepareQuery((db, p: { hash: string }) =>
  db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .leftJoin('organizations', 'organizations.id', 'users.organization_id')
    .select([
      'sessions.id',
      'sessions.state',
      'sessions.method',
      'sessions.created_at',
      'sessions.expires_at',
      'sessions.last_used_at',
      'sessions.user_id',
      'users.uid',
      'users.email',
      'users.name',
      'organizations.name as organization_name',
      ...RIGHTS_COLUMNS,
    ])
    .where('sessions.secret_hash', '=', p.hash)
    .where('users.banned_at', 'is', null),
);

/** The credential of a sign-in, which the account must still have when the session starts. */
export interface SignInCredential {
  /** The hash that was verified, for a sign-in with a password. */
  passwordHash?: string | undefined;
  /** The passkey that was verified, for a sign-in with a passkey alone. */
  passkeyId?: string | undefined;
}

/**
 * Call this before a session starts. Locks the organization and the account until the transaction ends, so that the
 * password, the second factors and the requirement cannot change in between.
 * @throws SessionEnded when the user was banned or deleted, has a new password, no longer has the passkey, or has to
 *   sign in through the organization's provider
 */
export async function lockAccountForSignIn(
  tx: Transaction,
  { method, passwordHash, passkeyId, ...owner }: FactorOwner & { method: string } & SignInCredential,
): Promise<void> {
  await lockFactors(tx, owner);
  const account = await selectSignInStates(tx)
    .select('users.password_hash')
    .where('users.id', '=', owner.userId)
    .executeTakeFirst();
  const mayStart =
    account !== undefined &&
    canStartSession(account, method) &&
    (passwordHash === undefined || usablePasswordHash(account) === passwordHash) &&
    (passkeyId === undefined || (await hasPasskey(tx, owner.userId, passkeyId)));
  if (!mayStart) throw new SessionEnded('The account changed during sign-in.');
}

/**
 * Locks the session until the transaction ends.
 * @throws SessionEnded
 */
export async function requireSession(tx: Transaction, sessionId: string): Promise<void> {
  const session = await tx
    .selectFrom('sessions')
    .select('id')
    .where('id', '=', sessionId)
    .modifyEnd(forKeyShare(tx))
    .executeTakeFirst();
  if (session === undefined) throw new SessionEnded('The session ended while something was done in it.');
}

/**
 * Starts a session and records it in the audit log, also one that still lacks its second factor.
 * @returns its id, and the secret for the cookie, which is not stored
 */
export async function startSession(
  tx: Transaction,
  by: ChangeContext,
  input: {
    userId: number;
    organizationId: number | null;
    state: Session['state'];
    method: string;
    browser: Browser;
  },
  limits: SessionLimits,
): Promise<{ id: string; secret: string }> {
  const { now } = by;
  const id = randomUUID();
  const secret = newSecret();
  const { userId, organizationId, state, method, browser } = input;
  if (state === 'complete')
    await tx.updateTable('users').set({ last_seen_at: now }).where('id', '=', userId).execute();
  await tx
    .insertInto('sessions')
    .values({
      id,
      secret_hash: hashSecret(secret),
      user_id: userId,
      state,
      method,
      created_at: now,
      expires_at: now + limits.lifetime,
      last_used_at: now,
      last_used_from: browser.address,
      user_agent: browser.userAgent.slice(0, MAX_USER_AGENT),
    })
    .execute();
  await recordEvent(tx, onBehalfOf(by, userId, id), {
    action: state === 'complete' ? 'session.start' : 'session.first-factor',
    object: ['session', id],
    organizationId,
    before: null,
    after: { user: userId, method },
  });
  return { id, secret };
}

/**
 * @returns the session of a cookie's secret; `undefined` when it has ended or been idle too long, or its user is banned
 */
export async function sessionBySecret(
  db: ReadConnection,
  secret: string,
  limits: SessionLimits,
  now: number,
): Promise<Session | undefined> {
  const [row] = await selectBySecret(db, { hash: hashSecret(secret) });
  if (row === undefined || row.expires_at <= now || row.last_used_at + limits.idle <= now) return undefined;
  return {
    id: row.id,
    state: row.state,
    method: row.method,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    userId: row.user_id,
    uid: row.uid,
    email: row.email,
    name: row.name,
    organizationName: row.organization_name,
    ...accountOf(row),
  };
}

/** Whether the last use is old enough to be written again. */
export function isUseDue(session: Session, now: number): boolean {
  return now - session.lastUsedAt >= USE_PRECISION;
}

/** Records the use of a session and, unless it waits for a second factor, when its user was last seen. */
export async function recordSessionUse(
  tx: Transaction,
  { id, userId, state }: Pick<Session, 'id' | 'userId' | 'state'>,
  address: string,
  now: number,
): Promise<void> {
  // Lock the user first, as bans and password changes do, to avoid deadlocks.
  if (state === 'complete')
    await tx.updateTable('users').set({ last_seen_at: now }).where('id', '=', userId).execute();
  await tx
    .updateTable('sessions')
    .set({ last_used_at: now, last_used_from: address })
    .where('id', '=', id)
    .where('last_used_at', '<', now)
    .execute();
}

/**
 * Call this in the transaction that changes the password or factors: ends the user's other sessions, and replaces the
 * secret of this one, so that older copies of its cookie are invalid.
 * @returns the secret for the new cookie
 * @throws SessionEnded
 */
export async function endOtherSessionsAndRotate(
  tx: Transaction,
  by: ChangeContext,
  session: FactorOwner & { id: string },
): Promise<string> {
  await endSessions(tx, by, session, session.id);
  const secret = newSecret();
  const rotated = await tx
    .updateTable('sessions')
    .set({ secret_hash: hashSecret(secret) })
    .where('id', '=', session.id)
    .returning('id')
    .executeTakeFirst();
  if (rotated === undefined) throw new SessionEnded('The session ended while something was done in it.');
  return secret;
}

/** Commits a change of an account, ends its other sessions and rotates the secret of this one, which it returns. */
export const commitAndRotate = <Result>(
  db: Database,
  by: ChangeContext,
  session: FactorOwner & { id: string },
  change: (tx: Transaction) => Promise<Result>,
): Promise<{ result: Result; secret: string }> =>
  db.write(async (tx) => ({
    result: await change(tx),
    secret: await endOtherSessionsAndRotate(tx, by, session),
  }));

export interface ListedSession {
  id: string;
  method: string;
  createdAt: number;
  lastUsedAt: number;
  lastUsedFrom: string;
  userAgent: string;
}

/** @returns the active sessions of a user, last used first */
export async function listSessions(
  db: ReadConnection,
  userId: number,
  limits: SessionLimits,
  now: number,
): Promise<ListedSession[]> {
  const rows = await db
    .selectFrom('sessions')
    .select(['id', 'method', 'created_at', 'last_used_at', 'last_used_from', 'user_agent'])
    .where('user_id', '=', userId)
    .where('state', '=', 'complete')
    .where('expires_at', '>', now)
    .where('last_used_at', '>', now - limits.idle)
    .orderBy('last_used_at', 'desc')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    method: row.method,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    lastUsedFrom: row.last_used_from,
    userAgent: row.user_agent,
  }));
}
