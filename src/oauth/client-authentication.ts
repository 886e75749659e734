import type { FastifyRequest } from 'fastify';
import { matchesHash } from '../auth/secrets.ts';
import type { Context } from '../runtime/context.ts';
import type { CachedClient, ClientCache } from '../domain/tokens/client-cache.ts';
import type { OAuthClient } from '../domain/tokens/oauth-clients.ts';
import { countHeaders } from '../http/access.ts';
import { attributionOf } from '../http/browser-sessions.ts';
import { decodeFormValue } from './form-parameters.ts';
import { OAuthError } from './oauth-error.ts';

/** How a client may prove itself (RFC 6749, section 2.3.1), as metadata names the ways. */
export const SECRET_METHODS = ['client_secret_basic', 'client_secret_post'] as const;

const CHALLENGE = { 'www-authenticate': 'Basic realm="assay", charset="UTF-8"' };
const BASIC = /^basic +([A-Za-z0-9+/]+={0,2})$/i;

/** What a client is compared with when there is none of that name: it takes as long, and never matches. */
const DECOY = '0'.repeat(64);

interface ClientParameters {
  client_id?: string;
  client_secret?: string;
}

interface PresentedCredentials {
  id: string;
  /** `undefined` when the client says who it is and does not prove it. */
  secret: string | undefined;
}

/**
 * Finds out which client sent a request, and that it is the one: a confidential client by its secret, a public one by its
 * id alone.
 * @throws OAuthError `invalid_client` when it is not; `invalid_request` when it tries two ways at once
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
  const right = matchesHash(presented.secret, client?.secretHash ?? DECOY);
  if (client !== undefined && client.secretHash !== null && right) return client;
  if (client !== undefined) {
    context.deniedAttempts.record(attributionOf(request, context.clock()), {
      action: 'client.refuse',
      object: ['client', client.id],
      organizationId: null,
      details: null,
    });
  }
  throw invalidClient();
}

/** @throws OAuthError `invalid_client` for a client that has no secret to prove itself with */
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
  const several = countHeaders(request, 'authorization') > 1;
  const basic = several ? undefined : readBasic(authorization);
  if (several || secret !== undefined || (basic && id !== undefined && id !== basic.id))
    throw new OAuthError('invalid_request', 'Authenticate the client in one way only.');
  if (basic === undefined) throw invalidClient();
  return basic;
}

/** Both halves are form-encoded before they are joined (RFC 6749, section 2.3.1). */
function readBasic(authorization: string): PresentedCredentials | undefined {
  const encoded = BASIC.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon <= 0) return undefined;
  try {
    const id = decodeFormValue(text.slice(0, colon));
    const secret = decodeFormValue(text.slice(colon + 1));
    // An empty secret is as good as none, as in the body.
    return /^[\x20-\x7e]+$/.test(id) ? { id, secret: secret === '' ? undefined : secret } : undefined;
  } catch {
    return undefined;
  }
}

/** Unknown clients and wrong secrets look the same. Every 401 names the scheme that would do (RFC 9110, 15.5.2). */
function invalidClient(): OAuthError {
  return new OAuthError('invalid_client', 'The client is unknown, or did not prove who it is.', {
    status: 401,
    headers: CHALLENGE,
  });
}
