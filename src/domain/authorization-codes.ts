import { randomUUID } from 'node:crypto';
import type { Actor } from '../auth/callers.ts';
import type { Scope } from '../auth/scopes.ts';
import { hashSecret, randomText } from '../auth/secrets.ts';
import type { Transaction } from '../db/engine.ts';
import { recordChange } from './audit.ts';

/** 256 bits in letters and digits. */
const CODE_LENGTH = 43;
/** RFC 6749, section 4.1.2 allows ten minutes at most; a client needs seconds. */
const LIFETIME = 60_000;

/** What a user approved, waiting for its client to fetch it. */
export interface NewCode {
  clientId: string;
  userId: number;
  organizationId: number | null;
  /** As the authorization request had it; `null` when it had none. */
  redirectUri: string | null;
  scopes: readonly Scope[];
  /** S256 (RFC 7636, section 4.2). */
  codeChallenge: string;
}

/**
 * Makes an authorization code (RFC 6749, section 4.1.2) that is good once and for a minute.
 * @returns the code, which is stored hashed
 */
export async function issueCode(tx: Transaction, actor: Actor, input: NewCode, now: number): Promise<string> {
  const code = randomText(CODE_LENGTH);
  const grantId = randomUUID();
  const scopes = input.scopes.join(' ');
  await tx
    .insertInto('oauth_codes')
    .values({
      code_hash: hashSecret(code),
      client_id: input.clientId,
      user_id: input.userId,
      grant_id: grantId,
      redirect_uri: input.redirectUri,
      scopes,
      code_challenge: input.codeChallenge,
      expires_at: now + LIFETIME,
    })
    .execute();
  await recordChange(tx, actor, {
    at: now,
    action: 'grant.create',
    object: ['grant', grantId],
    organizationId: input.organizationId,
    before: null,
    after: { user: input.userId, client: input.clientId, scopes },
  });
  return code;
}
