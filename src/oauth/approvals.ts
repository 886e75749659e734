import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { signAccessToken, storeAccessToken } from '../domain/tokens/access-tokens.ts';
import { issueAuthorizationCode } from '../domain/tokens/authorization-codes.ts';
import { CONSOLE_CLIENT } from '../domain/tokens/oauth-clients.ts';
import { hasConsented, lockConsent, saveConsent } from '../domain/tokens/consents.ts';
import { requireSession, type Session } from '../domain/sign-in/sessions.ts';
import { changeContextOf } from '../http/browser-sessions.ts';
import type { AuthorizationRequest, AuthorizationRecipient } from './authorization-request.ts';
import type { ResponseParameters } from './authorization-response.ts';

/** An authorization request that its user must approve, or has approved. */
export interface AuthorizationApproval extends Pick<
  AuthorizationRequest,
  'responseType' | 'scopes' | 'codeChallenge'
> {
  session: Session;
  target: AuthorizationRecipient;
}

/**
 * Grants a request that a stored consent covers. The console needs no consent.
 * @returns the response; `undefined` if the user must be asked
 */
export async function grantByStoredConsent(
  context: Context,
  request: FastifyRequest,
  approval: AuthorizationApproval,
): Promise<ResponseParameters | undefined> {
  if (approval.target.client.id === CONSOLE_CLIENT)
    return grant(context, request, approval, async () => true);
  if (!approval.target.remembersConsent) return undefined;
  const consenter = consentSubjectOf(approval);
  if (!(await hasConsented(context.db.read, consenter, approval.scopes))) return undefined;
  return grant(context, request, approval, (tx) => lockConsent(tx, consenter, approval.scopes));
}

/** Grants a request that the user has just allowed, and stores the consent. */
export async function grantByNewConsent(
  context: Context,
  request: FastifyRequest,
  approval: AuthorizationApproval,
): Promise<ResponseParameters> {
  const now = context.clock();
  const response = await grant(context, request, approval, async (tx) => {
    await saveConsent(tx, changeContextOf(request, now), consentSubjectOf(approval), approval.scopes);
    return true;
  });
  return response ?? {};
}

/**
 * @param consented checks the consent in the transaction that grants the request
 * @throws SessionEnded when the session ended in the meantime
 */
async function grant(
  { config, db, keys, clock }: Context,
  request: FastifyRequest,
  { session, target, responseType, scopes, codeChallenge }: AuthorizationApproval,
  consented: Parameters<Context['db']['write']>[0],
): Promise<ResponseParameters | undefined> {
  const now = clock();
  const by = changeContextOf(request, now);
  const { userId, organizationId } = session;
  const clientId = target.client.id;
  const sessionId = clientId === CONSOLE_CLIENT ? session.id : null;
  if (responseType === 'code') {
    const code = {
      clientId,
      userId,
      organizationId,
      redirectUri: target.givenRedirectUri,
      scopes,
      sessionId,
    };
    return db.write(async (tx) => {
      await requireSession(tx, session.id);
      return (await consented(tx)) === true
        ? { code: await issueAuthorizationCode(tx, by, { ...code, codeChallenge: codeChallenge ?? '' }) }
        : undefined;
    });
  }
  const lifetime = config.accessTokenLifetime;
  const access = { userId, clientId, grantId: randomUUID(), scopes };
  const signed = await signAccessToken(db.read, keys, access, lifetime, now);
  const granted = await db.write(async (tx) => {
    await requireSession(tx, session.id);
    if ((await consented(tx)) !== true) return false;
    await storeAccessToken(tx, by, signed);
    return true;
  });
  if (!granted) return undefined;
  return {
    access_token: signed.token,
    token_type: 'Bearer',
    expires_in: String(Math.floor(lifetime / 1000)),
    scope: signed.scopes.join(' '),
  };
}

function consentSubjectOf({ session, target }: AuthorizationApproval) {
  return { userId: session.userId, organizationId: session.organizationId, clientId: target.client.id };
}
