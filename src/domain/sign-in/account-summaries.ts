import type { ReadConnection } from '../../db/database.ts';
import type { SessionLimits } from './sessions.ts';

/** The number of active sessions, tokens and applications of an account. */
export interface AccountSummary {
  sessions: number;
  /** Personal access tokens and those created on the command line. */
  tokens: number;
  applications: number;
}

export async function summarizeAccount(
  db: ReadConnection,
  userId: number,
  limits: SessionLimits,
  now: number,
): Promise<AccountSummary> {
  const sessions = await db
    .selectFrom('sessions')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('user_id', '=', userId)
    .where('state', '=', 'complete')
    .where('expires_at', '>', now)
    .where('last_used_at', '>', now - limits.idle)
    .executeTakeFirstOrThrow();
  const tokens = await db
    .selectFrom('tokens')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('user_id', '=', userId)
    .where('client_id', 'is', null)
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .executeTakeFirstOrThrow();
  const applications = await db
    .selectFrom('oauth_consents')
    .select((eb) => eb.fn.count('client_id').distinct().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return {
    sessions: Number(sessions.count),
    tokens: Number(tokens.count),
    applications: Number(applications.count),
  };
}
