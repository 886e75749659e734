import { randomUUID } from 'node:crypto';
import type { ChangeContext } from '../../auth/callers.ts';
import { isScope, type Scope } from '../../auth/scopes.ts';
import { hashSecret, newSecret } from '../../auth/secrets.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { prepareQuery, prepareWrite } from '../../db/prepared-queries.ts';
import { recordEvent } from '../audit/record-event.ts';

/** Milliseconds. RFC 6749, section 4.1.2 allows ten minutes; clients need seconds. */
const LIFETIME = 60_000;

export interface NewAuthorizationCode {
  clientId: string;
  userId: number;
  organizationId: number | null;
  /** The redirect URI of the authorization request; `null` if it had none. */
  redirectUri: string | null;
  scopes: readonly Scope[];
  /** S256 (RFC 7636, section 4.2). */
  codeChallenge: string;
  /** The session of the console, for the audit log; `null` for other clients. */
  sessionId: string | null;
}

/**
 * Issues an authorization code (RFC 6749, section 4.1.2), valid once and for a minute.
 * @returns the code, which is stored as a hash
 */
export async function issueAuthorizationCode(
  tx: Transaction,
  by: ChangeContext,
  input: NewAuthorizationCode,
): Promise<string> {
  const code = newSecret();
  const grantId = input.sessionId ?? randomUUID();
  const scopes = input.scopes.join(' ');
  await tx
    .insertInto('authorization_codes')
    .values({
      code_hash: hashSecret(code),
      client_id: input.clientId,
      user_id: input.userId,
      grant_id: grantId,
      redirect_uri: input.redirectUri,
      scopes,
      code_challenge: input.codeChallenge,
      expires_at: by.now + LIFETIME,
    })
    .execute();
  if (input.sessionId !== null) return code;
  await recordEvent(tx, by, {
    action: 'grant.create',
    object: ['grant', grantId],
    organizationId: input.organizationId,
    before: null,
    after: { user: input.userId, client: input.clientId, scopes },
  });
  return code;
}

export interface AuthorizationCode {
  clientId: string;
  userId: number;
  grantId: string;
  /** The redirect URI of the authorization request; `null` if it had none. */
  redirectUri: string | null;
  scopes: readonly Scope[];
  codeChallenge: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
  usedAt: number | null;
}

const selectByHash = prepareQuery((db, p: { hash: string }) =>
  db.selectFrom('authorization_codes').selectAll().where('code_hash', '=', p.hash),
);

const markUsed = prepareWrite<{ hash: string; now: number }, { grant_id: string }>((tx, p) =>
  tx
    .updateTable('authorization_codes')
    .set({ used_at: p.now })
    .where('code_hash', '=', p.hash)
    .where('used_at', 'is', null)
    .returning('grant_id'),
);

/** @returns the code, valid or not, unless it was deleted some time after its expiry */
export async function findAuthorizationCode(
  db: ReadConnection,
  code: string,
): Promise<AuthorizationCode | undefined> {
  const [row] = await selectByHash(db, { hash: hashSecret(code) });
  return (
    row && {
      clientId: row.client_id,
      userId: row.user_id,
      grantId: row.grant_id,
      redirectUri: row.redirect_uri,
      scopes: row.scopes.split(' ').filter(isScope),
      codeChallenge: row.code_challenge,
      expiresAt: row.expires_at,
      usedAt: row.used_at,
    }
  );
}

/**
 * Consumes a code in the transaction that issues its tokens.
 * @returns false when it was consumed or deleted before
 */
export async function consumeCode(tx: Transaction, code: string, now: number): Promise<boolean> {
  return (await markUsed(tx, { hash: hashSecret(code), now })).length > 0;
}
