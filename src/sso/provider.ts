import {
  allowInsecureRequests,
  authorizationCodeGrant,
  AuthorizationResponseError,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type ClientAuth,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  clockTolerance,
  Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  ResponseBodyError,
  type ServerMetadata,
} from 'openid-client';
import { readEmailClaims } from '../auth/email-claims.ts';
import { isVisibleText, replaceHiddenCharacters } from '../auth/visible-text.ts';
import { isHttpsOrLoopback, fetchWithLimit } from '../auth/fetch-with-limit.ts';
import { parseUntrustedUrl } from '../lib/parse-untrusted-url.ts';
import type { VerifiedIdentity } from '../domain/sign-in/sign-in-with-provider.ts';
import { ProviderKeys } from './provider-keys.ts';

/** Seconds per request, so that discovery, token, keys and claims together stay within our own request timeout. */
const TIMEOUT = 6;
/** Seconds of clock skew. */
const CLOCK_TOLERANCE = 60;
const MAX_GROUPS = 10_000;
/** Characters of a provider's error text in the log. */
const MAX_DETAIL_LENGTH = 200;
const MAX_GROUP_LENGTH = 255;
/** The endpoints that we use. */
const ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint'] as const;

export interface ProviderClient {
  issuer: string;
  clientId: string;
  /** `null` for a public client. */
  secret: string | null;
}

export interface DiscoveredProvider {
  metadata: ServerMetadata;
  keys: ProviderKeys;
  /** Creates the library's client for one sign-in. */
  configure(): Configuration;
}

/** The secrets of one sign-in. */
export interface AuthorizationState {
  state: string;
  nonce: string;
  codeVerifier: string;
}

/**
 * The provider did not sign the user in. `reason` is for the log and the audit log, and contains no code or token.
 * - `denied`: the user or the provider declined
 * - `unreachable`: the provider could not be reached, was unavailable, or did not respond in time
 * - `foreign`: the response does not belong to this sign-in
 * - `wrong`: the response or the settings are invalid
 */
export class ProviderError extends Error {
  override name = 'ProviderError';
  readonly kind: 'denied' | 'unreachable' | 'foreign' | 'wrong';
  readonly reason: string;

  constructor(kind: ProviderError['kind'], reason: string) {
    super(`The identity provider did not sign the user in: ${reason}`);
    this.kind = kind;
    this.reason = reason;
  }
}

/**
 * Fetches a provider's metadata (OpenID Connect Discovery 1.0). The metadata must name the same issuer. This
 * rejects URLs that all tenants of a provider share.
 * @param clock the clock by which its keys expire
 * @throws ProviderError if the provider is unreachable or its metadata are invalid
 */
export async function discoverProvider(
  { issuer, clientId, secret }: ProviderClient,
  clock: () => number,
): Promise<DiscoveredProvider> {
  const url = URL.parse(issuer);
  if (url === null || !isHttpsOrLoopback(url))
    throw new ProviderError('wrong', 'its issuer must be an https URL');
  const extensions = url.protocol === 'http:' ? [allowInsecureRequests] : [];
  const discovered = await discovery(url, clientId, undefined, None(), {
    timeout: TIMEOUT,
    [customFetch]: fetchWithLimit,
    execute: extensions,
  }).catch(throwProviderError);
  const metadata = discovered.serverMetadata();
  if (trimTrailingSlash(metadata.issuer) !== trimTrailingSlash(issuer)) {
    throw new ProviderError(
      'wrong',
      `its metadata name a different issuer, ${sanitizeDetail(metadata.issuer)}`,
    );
  }
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const) {
    if (metadata[name] === undefined) throw new ProviderError('wrong', `its metadata have no ${name}`);
  }
  for (const name of ENDPOINTS) requireEndpoint(name, metadata[name], url);
  const keys = new ProviderKeys(metadata.jwks_uri ?? '', clock);
  const authentication = clientAuth(secret);
  const configure = () => {
    const tolerance = { [clockTolerance]: CLOCK_TOLERANCE };
    const configuration = new Configuration(metadata, clientId, tolerance, authentication);
    configuration.timeout = TIMEOUT;
    configuration[customFetch] = keys.fetch;
    for (const extend of [enableNonRepudiationChecks, ...extensions]) extend(configuration);
    return configuration;
  };
  return { metadata, keys, configure };
}

/**
 * Checks the URL of an endpoint at discovery, because the library checks it only when it uses it.
 * @param endpoint not validated; `undefined` if the provider has none
 * @throws ProviderError unless it is an https URL; if the issuer is an http URL, which is one of this machine, the
 *   endpoint may be such a URL too
 */
function requireEndpoint(name: string, endpoint: unknown, issuer: URL): void {
  if (endpoint === undefined) return;
  const text = typeof endpoint === 'string' ? endpoint : '';
  const url = parseUntrustedUrl(text);
  const isAllowed = issuer.protocol === 'https:' ? url?.protocol === 'https:' : url && isHttpsOrLoopback(url);
  if (isAllowed !== true)
    throw new ProviderError('wrong', withDetail(`the ${name} in its metadata must be an https URL`, text));
}

/**
 * `client_secret_basic`, unless the provider accepts only `client_secret_post` (OpenID Connect Core 1.0, section 9).
 */
function clientAuth(secret: string | null): ClientAuth {
  if (secret === null) return None();
  const basic = ClientSecretBasic(secret);
  const post = ClientSecretPost(secret);
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const acceptsPostOnly =
      !methods.includes('client_secret_basic') && methods.includes('client_secret_post');
    return (acceptsPostOnly ? post : basic)(server, ...rest);
  };
}

/**
 * Starts a sign-in.
 * @param loginHint the email address that the user typed
 * @returns the provider's URL to redirect the browser to, and the secrets to store until it returns
 */
export async function beginSignIn(
  { metadata, configure }: DiscoveredProvider,
  { redirectUri, loginHint, groupsClaim }: { redirectUri: string; loginHint: string; groupsClaim: string },
): Promise<{ url: URL; secrets: AuthorizationState }> {
  const secrets = { state: randomState(), nonce: randomNonce(), codeVerifier: randomPKCECodeVerifier() };
  const offered = metadata.scopes_supported ?? [];
  const url = buildAuthorizationUrl(configure(), {
    redirect_uri: redirectUri,
    // Some providers send groups only for a scope of that name.
    scope: ['openid', 'email', 'profile', ...(offered.includes(groupsClaim) ? [groupsClaim] : [])].join(' '),
    state: secrets.state,
    nonce: secrets.nonce,
    code_challenge: await calculatePKCECodeChallenge(secrets.codeVerifier),
    code_challenge_method: 'S256',
    login_hint: loginHint,
  });
  return { url, secrets };
}

/**
 * Verifies the provider's response (OpenID Connect Core 1.0, sections 3.1.2.5 to 3.1.3.7; RFC 9207) and fetches the
 * identity.
 * @param response our redirect URI with the parameters of the response
 * @throws ProviderError if the provider did not sign the user in
 */
export async function finishSignIn(
  { metadata, keys, configure }: DiscoveredProvider,
  response: URL,
  { state, nonce, codeVerifier }: AuthorizationState,
  groupsClaim: string,
): Promise<VerifiedIdentity> {
  const { issuer } = metadata;
  if (response.searchParams.get('state') !== state)
    throw new ProviderError('foreign', 'the response has a different state');
  if ((response.searchParams.get('iss') ?? issuer) !== issuer)
    throw new ProviderError('foreign', 'the response is from a different issuer');
  const configuration = configure();
  const checks = {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: codeVerifier,
    idTokenExpected: true,
  };
  keys.provide(configuration);
  const tokens = await authorizationCodeGrant(configuration, response, checks).catch(throwProviderError);
  const idToken = tokens.claims();
  if (idToken === undefined) throw new ProviderError('wrong', 'it sent no ID token');
  const isComplete = ['email', 'email_verified', groupsClaim].every((claim) => idToken[claim] !== undefined);
  const userInfo =
    isComplete || metadata.userinfo_endpoint === undefined
      ? undefined
      : await fetchUserInfo(configuration, tokens.access_token, idToken.sub).catch(throwProviderError);
  const claims: Claims = { ...userInfo, ...idToken };
  return {
    issuer: idToken.iss,
    subject: idToken.sub,
    email: readEmailClaims(idToken, userInfo ?? {}),
    name: typeof claims['name'] === 'string' ? claims['name'] : undefined,
    groups: readGroups(claims, groupsClaim),
  };
}

type Claims = Readonly<Record<string, unknown>>;

/** @returns no groups if the claim is absent, as many providers omit an empty list */
function readGroups(claims: Claims, name: string): string[] {
  const distributed = claims['_claim_names'];
  if (typeof distributed === 'object' && distributed !== null && name in distributed) {
    // A distributed claim (OpenID Connect Core 1.0, section 5.6.2). Treating it as no groups would revoke access.
    throw new ProviderError('wrong', `the claim ${name} is too large and was left out of the ID token`);
  }
  const value = claims[name];
  const groups = typeof value === 'string' ? [value] : Array.isArray(value) ? value : [];
  return groups
    .slice(0, MAX_GROUPS)
    .filter((group) => typeof group === 'string')
    .filter((group) => isVisibleText(group, MAX_GROUP_LENGTH));
}

/** The errors of RFC 6749, section 4.1.2.1, that are not a decision of the user. */
const KIND_BY_ERROR: Readonly<Record<string, ProviderError['kind']>> = {
  temporarily_unavailable: 'unreachable',
  server_error: 'unreachable',
  invalid_request: 'wrong',
  unauthorized_client: 'wrong',
  unsupported_response_type: 'wrong',
  invalid_scope: 'wrong',
};

/**
 * Only the error code of a token response is logged: the rest may repeat our secret and the authorization code that we
 * sent.
 */
const ERROR_CODE = /^\w{1,64}$/;

/** Converts errors of the library without the parameters, codes and tokens that they contain. */
function throwProviderError(error: unknown): never {
  if (error instanceof AuthorizationResponseError) {
    throw new ProviderError(
      KIND_BY_ERROR[error.error] ?? 'denied',
      withDetail(`it responded with ${sanitizeDetail(error.error)}`, error.error_description),
    );
  }
  if (error instanceof ResponseBodyError) {
    throw new ProviderError(
      'wrong',
      `it rejected the code with ${ERROR_CODE.test(error.error) ? error.error : 'an invalid error code'} (${error.status})`,
    );
  }
  if (error instanceof ClientError) {
    const inner = error.cause instanceof Error ? error.cause.message : undefined;
    if (error.code === 'OAUTH_TIMEOUT') throw new ProviderError('unreachable', 'it did not respond in time');
    if (error.code !== undefined) throw new ProviderError('wrong', withDetail(error.message, inner));
    throw new ProviderError('wrong', withDetail('its response is invalid', inner));
  }
  // Thrown by `fetch` for a connection that fails.
  if (error instanceof TypeError && error.cause instanceof Error) {
    const { code } = error.cause as NodeJS.ErrnoException;
    throw new ProviderError('unreachable', withDetail('the request failed', code ?? error.message));
  }
  if (error instanceof Error)
    throw new ProviderError('wrong', withDetail('its response is invalid', error.message));
  throw new ProviderError('wrong', 'its response is invalid');
}

function withDetail(problem: string, detail: string | undefined): string {
  return detail === undefined || detail === '' ? problem : `${problem} (${sanitizeDetail(detail)})`;
}

/** Fits untrusted text on one line of the log. */
function sanitizeDetail(text: string): string {
  return replaceHiddenCharacters(text.slice(0, MAX_DETAIL_LENGTH));
}

function trimTrailingSlash(issuer: string): string {
  return issuer.replace(/\/$/, '');
}
