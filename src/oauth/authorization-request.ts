import { type Static, Type } from 'typebox';
import type { Principal } from '../auth/callers.ts';
import { allowedScopes } from '../domain/tokens/access-tokens.ts';
import type { Context } from '../context.ts';
import { defaultScopes, type Scope } from '../auth/scopes.ts';
import { clientById, type OAuthClient, clientScopes } from '../domain/tokens/oauth-clients.ts';
import { identifiesClient, isRegisteredRedirect } from '../domain/tokens/redirect-uris.ts';
import { AuthorizationError, type ResponseMode } from './authorization-response.ts';

/** The limit of Node.js for a request line. */
const MAX_LENGTH = 16_384;
const ParameterSchema = Type.Optional(
  Type.Union([
    Type.String({ maxLength: MAX_LENGTH }),
    // A repeated parameter is rejected, in ways that differ by parameter.
    Type.Array(Type.String({ maxLength: MAX_LENGTH }), { maxItems: MAX_LENGTH }),
  ]),
);

/** The supported parameters; others are ignored (RFC 6749, section 3.1). */
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

/** RFC 6749, appendix A.1. PostgreSQL fails on NUL. */
const PRINTABLE = /^[\x20-\x7e]+$/;

/** S256: 32 bytes in base64url (RFC 7636, section 4.2). */
const CODE_CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/** A source of the `form-action` policy: an origin, or the scheme of a native application. */
const FORM_ACTION_SOURCE = /^[a-z][a-z0-9+.-]*:(\/\/[a-z0-9.-]+(:\d+)?)?$/;

/** The client, and where the response is sent. */
export interface AuthorizationRecipient {
  client: OAuthClient;
  redirectUri: string;
  /** The redirect URI of the request; `null` if it was omitted. */
  givenRedirectUri: string | null;
  /** Whether a stored consent is enough. Requires that only the client can receive the response or redeem the code. */
  remembersConsent: boolean;
  mode: ResponseMode;
  state: string | undefined;
}

/**
 * Validates the client and the redirect URI. Until both are valid, the server must not redirect (RFC 6749, section
 * 4.1.2.1).
 * @returns the target, or an error message for the user
 */
export async function resolveRecipient(
  { db, addresses }: Context,
  query: AuthorizationQuery,
): Promise<{ target: AuthorizationRecipient } | { error: string }> {
  const clientId = singleParameter(query, 'client_id');
  if (clientId === undefined) return { error: broken('Its link has no client_id.') };
  const client = PRINTABLE.test(clientId) ? await clientById(db.read, clientId) : undefined;
  if (client === undefined) return { error: broken('Its client_id is unknown.') };
  if (Array.isArray(query.redirect_uri)) return { error: broken('Its link has more than one redirect_uri.') };
  const requestedUri = singleParameter(query, 'redirect_uri');
  const redirectUri = requestedUri ?? soleRedirectUri(client);
  if (redirectUri === undefined) return { error: broken('Its link has no redirect_uri.') };
  if (requestedUri !== undefined && !isRegisteredRedirect(client, requestedUri, addresses.clientBaseUrl))
    return {
      error: client.redirectUris.some((registered) => registered.startsWith('/'))
        ? `Open it at ${addresses.clientBaseUrl}, the URL that this server is configured with.`
        : broken('The redirect_uri of its link is not registered for it.'),
    };
  const types = [query.response_type ?? []].flat().flatMap((type) => type.split(' '));
  const isImplicit = types.includes('token');
  return {
    target: {
      client,
      redirectUri,
      givenRedirectUri: requestedUri ?? null,
      remembersConsent:
        (client.kind === 'confidential' && !isImplicit) ||
        identifiesClient(client, redirectUri, addresses.clientBaseUrl),
      // A client of the implicit flow reads the fragment, also for errors.
      mode: isImplicit ? 'fragment' : 'query',
      state: singleParameter(query, 'state'),
    },
  };
}

function broken(reason: string): string {
  return `${reason} Go back to the application and report this to its operator.`;
}

export interface AuthorizationRequest {
  responseType: 'code' | 'token';
  /** S256; `null` for the implicit flow. */
  codeChallenge: string | null;
  scopes: readonly Scope[];
  /** The other requested scopes. */
  deniedScopes: readonly string[];
}

/**
 * Validates the other parameters for the account that signed in.
 * @throws AuthorizationError with the code of RFC 6749, sections 4.1.2.1 and 4.2.2.1, or RFC 7636, section 4.4.1
 */
export function parseAuthorizationRequest(
  { config }: Context,
  query: AuthorizationQuery,
  client: OAuthClient,
  account: Principal,
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
  if (allowed === undefined) throw new AuthorizationError('invalid_scope', 'scope contains an unknown scope');
  const grantable = clientScopes(client, allowed);
  const scopes = scope === undefined ? defaultScopes(grantable) : grantable;
  if (scopes.length === 0)
    throw new AuthorizationError(
      'invalid_scope',
      'none of the requested scopes can be granted to this account and client',
    );
  const requested = new Set(scope?.split(' ').filter((name) => name !== '') ?? []);
  const granted = new Set<string>(scopes);
  return {
    responseType,
    codeChallenge,
    scopes,
    deniedScopes: [...requested].filter((name) => !granted.has(name)),
  };
}

/** RFC 7636, section 4.3. Requires S256 from every client (RFC 9700, section 2.1.1). */
function parseCodeChallenge(query: AuthorizationQuery): string {
  const challenge = singleParameter(query, 'code_challenge');
  if (challenge === undefined) throw new AuthorizationError('invalid_request', 'code challenge required');
  // The default method is plain.
  if (singleParameter(query, 'code_challenge_method') !== 'S256')
    throw new AuthorizationError(
      'invalid_request',
      'transform algorithm not supported: code_challenge_method must be S256',
    );
  if (!CODE_CHALLENGE.test(challenge))
    throw new AuthorizationError('invalid_request', 'code_challenge must be 43 characters of base64url');
  return challenge;
}

/** @returns a parameter that occurs once; an empty one counts as absent (RFC 6749, section 3.1) */
function singleParameter(query: AuthorizationQuery, name: ParameterName): string | undefined {
  const value = query[name];
  return value === '' || Array.isArray(value) ? undefined : value;
}

/** The parameter is optional if one complete redirect URI is registered (RFC 6749, section 3.1.2.3). */
function soleRedirectUri({ redirectUris }: OAuthClient): string | undefined {
  const [onlyUri, ...otherUris] = redirectUris;
  return otherUris.length === 0 && onlyUri?.startsWith('/') === false ? onlyUri : undefined;
}

/**
 * Returns the `form-action` sources of a form that leads back to an authorization request: browsers apply the policy to
 * redirects after a form.
 * @param path a validated path of this server
 * @returns the source for the redirect URI if it is registered; otherwise an empty list
 */
export async function cspFormActionFor(context: Context, path: string): Promise<string[]> {
  const url = new URL(path, 'http://assay.invalid');
  if (url.pathname !== '/oauth/authorize') return [];
  const query: AuthorizationQuery = {};
  for (const name of PARAMETER_NAMES) {
    const values = url.searchParams.getAll(name);
    if (values[0] !== undefined) query[name] = values.length === 1 ? values[0] : values;
  }
  const recipient = await resolveRecipient(context, query);
  return 'target' in recipient ? cspFormAction(recipient.target.redirectUri) : [];
}

/** @returns the `form-action` source of a redirect URI */
export function cspFormAction(redirect: string): string[] {
  const { origin, protocol } = new URL(redirect);
  // A policy cannot express an IPv6 address or an underscore (CSP 3, section 2.3.1).
  return [origin, protocol].filter((target) => FORM_ACTION_SOURCE.test(target)).slice(0, 1);
}
