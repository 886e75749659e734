import { type Static, Type } from 'typebox';
import type { Account } from '../auth/callers.ts';
import { allowedScopes } from '../domain/tokens/access-tokens.ts';
import type { Context } from '../runtime/context.ts';
import type { Scope } from '../auth/scopes.ts';
import { clientById, type OAuthClient, clientScopes } from '../domain/tokens/oauth-clients.ts';
import { isRegisteredRedirect } from '../domain/tokens/redirect-uris.ts';
import { AuthorizationError, type ResponseMode } from './authorization-response.ts';

/** Node takes no longer request line, so nothing longer arrives. */
const MAX_LENGTH = 16_384;
const ParameterSchema = Type.Optional(
  Type.Union([
    Type.String({ maxLength: MAX_LENGTH }),
    // One that is there twice is refused, and how is not the same for each.
    Type.Array(Type.String({ maxLength: MAX_LENGTH }), { maxItems: MAX_LENGTH }),
  ]),
);

/** The parameters that this server knows; others are ignored (RFC 6749, section 3.1). */
export const AuthorizationQuery = Type.Object({
  response_type: ParameterSchema,
  client_id: ParameterSchema,
  redirect_uri: ParameterSchema,
  scope: ParameterSchema,
  state: ParameterSchema,
  code_challenge: ParameterSchema,
  code_challenge_method: ParameterSchema,
});
export type AuthorizationQuery = Static<typeof AuthorizationQuery>;
type ParameterName = keyof AuthorizationQuery;
const PARAMETER_NAMES = Object.keys(AuthorizationQuery.properties) as ParameterName[];

/** RFC 6749, appendix A.1. PostgreSQL holds no NUL, and fails when it is asked for one. */
const PRINTABLE = /^[\x20-\x7e]+$/;

/** S256: 32 bytes in base64url (RFC 7636, section 4.2). */
const CODE_CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/** What a form's policy can name: a scheme with a host, or the scheme of an application. */
const FORM_ACTION_SOURCE = /^[a-z][a-z0-9+.-]*:(\/\/[a-z0-9.-]+(:\d+)?)?$/;

/** Who asks, and where the answer goes. */
export interface ResponseTarget {
  client: OAuthClient;
  redirectUri: string;
  /** As the request had it; `null` when it left it out. */
  givenRedirectUri: string | null;
  mode: ResponseMode;
  state: string | undefined;
}

/**
 * Finds where the answer to a request may go. Until that is known there is no redirect (RFC 6749, section 4.1.2.1).
 * @returns the target, or what is wrong with the client or the redirect address, in words for people
 */
export async function resolveResponseTarget(
  { db, addresses }: Context,
  query: AuthorizationQuery,
): Promise<{ target: ResponseTarget } | { fault: string }> {
  const clientId = singleParameter(query, 'client_id');
  if (clientId === undefined)
    return { fault: 'Its link does not say, in client_id, which application it is.' };
  const client = PRINTABLE.test(clientId) ? await clientById(db.read, clientId) : undefined;
  if (client === undefined) return { fault: 'Its client_id is not known here.' };
  if (Array.isArray(query.redirect_uri)) return { fault: 'Its link has more than one redirect_uri.' };
  const given = singleParameter(query, 'redirect_uri');
  const redirectUri = given ?? soleRedirectUri(client);
  if (redirectUri === undefined) return { fault: 'Its link has no redirect_uri, to which to send you back.' };
  if (given !== undefined && !isRegisteredRedirect(client, given, addresses.clientBaseUrl))
    return { fault: 'The redirect_uri of its link is not one that is registered for it.' };
  const types = [query.response_type ?? []].flat().flatMap((type) => type.split(' '));
  return {
    target: {
      client,
      redirectUri,
      givenRedirectUri: given ?? null,
      // What asks for a token reads the fragment, whatever else is wrong with it.
      mode: types.includes('token') ? 'fragment' : 'query',
      state: singleParameter(query, 'state'),
    },
  };
}

/** What a client asks for. */
export interface AuthorizationRequest {
  responseType: 'code' | 'token';
  /** S256; `null` for the implicit flow. */
  codeChallenge: string | null;
  /** What its user may hold, and it may be given, of what it asks for. */
  scopes: readonly Scope[];
  /** The rest of it. */
  withheld: readonly string[];
}

/**
 * Reads the rest of a request, for the account that signed in.
 * @throws AuthorizationError with the code of RFC 6749, sections 4.1.2.1 and 4.2.2.1, or RFC 7636, section 4.4.1
 */
export function parseAuthorizationRequest(
  { config }: Context,
  query: AuthorizationQuery,
  client: OAuthClient,
  account: Account,
): AuthorizationRequest {
  const repeated = PARAMETER_NAMES.find((name) => Array.isArray(query[name]));
  if (repeated !== undefined)
    throw new AuthorizationError('invalid_request', `${repeated} is in the request more than once`);
  const responseType = singleParameter(query, 'response_type');
  if (responseType === undefined) throw new AuthorizationError('invalid_request', 'response_type is missing');
  if (responseType !== 'code' && responseType !== 'token')
    throw new AuthorizationError('unsupported_response_type', 'response_type must be code or token');
  if (responseType === 'token' && !config.implicitFlow)
    throw new AuthorizationError('unsupported_response_type', 'the implicit flow is switched off');
  if (responseType === 'token' && !client.implicit)
    throw new AuthorizationError('unauthorized_client', 'this client may not use the implicit flow');
  const codeChallenge = responseType === 'code' ? parseCodeChallenge(query) : null;

  const scope = singleParameter(query, 'scope');
  const allowed = allowedScopes(scope, account);
  if (allowed === undefined) throw new AuthorizationError('invalid_scope', 'scope has an unknown scope');
  const scopes = clientScopes(client, allowed);
  if (scopes.length === 0)
    throw new AuthorizationError('invalid_scope', 'this account or this client may hold none of the scopes');
  const asked = new Set(scope?.split(' ').filter((name) => name !== '') ?? []);
  const held = new Set<string>(scopes);
  return { responseType, codeChallenge, scopes, withheld: [...asked].filter((name) => !held.has(name)) };
}

/** RFC 7636, section 4.3, with S256 alone and for every client (RFC 9700, section 2.1.1). */
function parseCodeChallenge(query: AuthorizationQuery): string {
  const challenge = singleParameter(query, 'code_challenge');
  if (challenge === undefined) throw new AuthorizationError('invalid_request', 'code challenge required');
  // Without a method, it would be plain.
  if (singleParameter(query, 'code_challenge_method') !== 'S256')
    throw new AuthorizationError(
      'invalid_request',
      'transform algorithm not supported: code_challenge_method must be S256',
    );
  if (!CODE_CHALLENGE.test(challenge))
    throw new AuthorizationError('invalid_request', 'code_challenge must be 43 characters of base64url');
  return challenge;
}

/** @returns a parameter that is there once; one without a value counts as left out (RFC 6749, section 3.1) */
function singleParameter(query: AuthorizationQuery, name: ParameterName): string | undefined {
  const value = query[name];
  return value === '' || Array.isArray(value) ? undefined : value;
}

/** RFC 6749, section 3.1.2.3: it may be left out when one whole address is registered. */
function soleRedirectUri({ redirectUris }: OAuthClient): string | undefined {
  const [only, ...more] = redirectUris;
  return more.length === 0 && only?.startsWith('/') === false ? only : undefined;
}

/**
 * Where a form of ours may end up when it leads back to an authorization request: a browser holds redirects after a form
 * to the page's policy.
 * @param path one of ours, as `returnPath` gives it
 * @returns the origin of the request's redirect address, if its client registered that; else nothing
 */
export async function formActionSourcesFor(context: Context, path: string): Promise<string[]> {
  const url = new URL(path, 'http://assay.invalid');
  if (url.pathname !== '/oauth/authorize') return [];
  const query: AuthorizationQuery = {};
  for (const name of PARAMETER_NAMES) {
    const values = url.searchParams.getAll(name);
    if (values[0] !== undefined) query[name] = values.length === 1 ? values[0] : values;
  }
  const found = await resolveResponseTarget(context, query);
  return 'target' in found ? formActionSources(found.target.redirectUri) : [];
}

/** @returns the source by which a policy allows a form to lead to this redirect address */
export function formActionSources(redirect: string): string[] {
  const { origin, protocol } = new URL(redirect);
  // A policy has no way to write an IPv6 address or an underscore (CSP 3, section 2.3.1).
  return [origin, protocol].filter((target) => FORM_ACTION_SOURCE.test(target)).slice(0, 1);
}
