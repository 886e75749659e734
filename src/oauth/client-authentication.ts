import type { FastifyRequest } from 'fastify';
import { matchesHash } from '../auth/secrets.ts';
import type { Context } from '../context.ts';
import type { CachedClient, ClientCache } from '../domain/tokens/client-cache.ts';
import type { OAuthClient } from '../domain/tokens/oauth-clients.ts';
import { countHeaders } from '../http/access.ts';
import { changeContextOf } from '../http/browser-sessions.ts';
import { decodeFormValue } from './form-parameters.ts';
import { OAuthError } from './oauth-error.ts';

/** The methods of client authentication (RFC 6749, section 2.3.1), as in the metadata. */
export const SECRET_METHODS = ['client_secret_basic', 'client_secret_post'] as const;

const CHALLENGE = { 'www-authenticate': 'Basic realm="assay", charset="UTF-8"' };
const BASIC = /^basic +([A-Za-z0-9+/]+={0,2})$/i;

/** Compared with the secrets of unknown clients: takes the same time and never matches. */
const DECOY = '0'.repeat(64);

interface ClientParameters {
  client_id?: string;
  client_secret?: string;
}

interface PresentedCredentials {
  id: string;
  /** `undefined` if the client presents none. */
  secret: string | undefined;
}

/**
 * Authenticates the client of a request: a confidential client by its secret, a public one by its id.
 * @throws OAuthError `invalid_client` if that fails; `invalid_request` for two methods at once
 */
export async function authenticateClient(
  context: Context,
  clients: ClientCache,
  request: FastifyRequest,
  parameters: ClientParameters,
): Promise<CachedClient> {
  const presented = readCredentials(request, parameters);
  const client = await clients.find(presented.id);
  if (presented.secret === undefined) {
    if (client?.kind !== 'public') throw invalidClient();
    return client;
  }
  const matches = matchesHash(presented.secret, client?.secretHash ?? DECOY);
  if (client !== undefined && client.secretHash !== null && matches) return client;
  if (client !== undefined) {
    context.deniedAttempts.record(changeContextOf(request, context.clock()), {
      action: 'client.refuse',
      object: ['client', client.id],
      organizationId: null,
      details: null,
    });
  }
  throw invalidClient();
}

/** @throws OAuthError `invalid_client` for a public client */
export function requireConfidential(client: OAuthClient): OAuthClient {
  if (client.kind === 'public') throw invalidClient();
  return client;
}

function readCredentials(request: FastifyRequest, parameters: ClientParameters): PresentedCredentials {
  const { authorization } = request.headers;
  const { client_id: id, client_secret: secret } = parameters;
  if (authorization === undefined) {
    if (id === undefined) throw invalidClient();
    return { id, secret };
  }
  const hasSeveralHeaders = countHeaders(request, 'authorization') > 1;
  const basic = hasSeveralHeaders ? undefined : readBasic(authorization);
  if (hasSeveralHeaders || secret !== undefined || (basic && id !== undefined && id !== basic.id))
    throw new OAuthError('invalid_request', 'Use only one method of client authentication.');
  if (basic === undefined) throw invalidClient();
  return basic;
}

/** Reads the credentials of HTTP Basic. Both halves are form-encoded (RFC 6749, section 2.3.1). */
function readBasic(authorization: string): PresentedCredentials | undefined {
  const encoded = BASIC.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon <= 0) return undefined;
  try {
    const id = decodeFormValue(text.slice(0, colon));
    const secret = decodeFormValue(text.slice(colon + 1));
    // An empty secret counts as absent, as in the body.
    return /^[\x20-\x7e]+$/.test(id) ? { id, secret: secret === '' ? undefined : secret } : undefined;
  } catch {
    return undefined;
  }
}

/** One error for unknown clients and wrong secrets. A 401 names a scheme (RFC 9110, section 15.5.2). */
function invalidClient(): OAuthError {
  return new OAuthError('invalid_client', 'The client is unknown, or its authentication failed.', {
    status: 401,
    headers: CHALLENGE,
  });
}
