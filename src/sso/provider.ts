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
  type Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  ResponseBodyError,
} from 'openid-client';
import { isPlainText, replaceHiddenCharacters } from '../auth/plain-text.ts';
import { isHttpsOrLoopback, fetchWithLimit } from '../auth/fetch-with-limit.ts';
import type { VerifiedIdentity } from '../domain/sign-in/sign-in-with-provider.ts';

/** Seconds for one request: discovery, token, keys and claims together end before a request of ours does. */
const TIMEOUT = 6;
/** Seconds that clocks may differ by. */
const CLOCK_TOLERANCE = 60;
const MAX_GROUPS = 10_000;
/** So much is told of what a provider writes. */
const MAX_DETAIL_LENGTH = 200;
const MAX_GROUP_LENGTH = 255;

/** The client that we are at a provider. */
export interface ProviderClient {
  issuer: string;
  clientId: string;
  /** `null` for a public client. */
  secret: string | null;
}

/** What one attempt to sign in must not forget, and nobody else may know. */
export interface AuthorizationState {
  state: string;
  nonce: string;
  codeVerifier: string;
}

/**
 * The provider did not sign anyone in. `reason` is for the log and the audit log: it holds no code and no token.
 * - `denied`: the person, or the provider for them, said no
 * - `unreachable`: it does not answer, or not in time
 * - `foreign`: the answer is not one to this attempt
 * - `wrong`: its answer is not right
 */
export class ProviderError extends Error {
  override name = 'ProviderProblem';
  readonly kind: 'denied' | 'unreachable' | 'foreign' | 'wrong';
  readonly reason: string;

  constructor(kind: ProviderError['kind'], reason: string) {
    super(`The identity provider did not sign anyone in: ${reason}`);
    this.kind = kind;
    this.reason = reason;
  }
}

/**
 * Reads a provider's metadata (OpenID Connect Discovery 1.0). They must name the very issuer that was asked for, which
 * also refuses the addresses at which many tenants of a provider share one set of metadata.
 * @throws ProviderProblem when it does not answer, or is not what it should be
 */
export async function discoverProvider({ issuer, clientId, secret }: ProviderClient): Promise<Configuration> {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  if (url === undefined || !isHttpsOrLoopback(url))
    throw new ProviderError('wrong', 'its issuer must be an https address');
  const configuration = await discovery(
    url,
    clientId,
    { [clockTolerance]: CLOCK_TOLERANCE },
    clientAuth(secret),
    {
      timeout: TIMEOUT,
      [customFetch]: fetchWithLimit,
      execute: [enableNonRepudiationChecks, ...(url.protocol === 'http:' ? [allowInsecureRequests] : [])],
    },
  ).catch(throwProviderError);
  const metadata = configuration.serverMetadata();
  if (trimTrailingSlash(metadata.issuer) !== trimTrailingSlash(issuer)) {
    throw new ProviderError('wrong', `its metadata name another issuer, ${sanitizeDetail(metadata.issuer)}`);
  }
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const) {
    if (metadata[name] === undefined) throw new ProviderError('wrong', `its metadata have no ${name}`);
  }
  return configuration;
}

/** OpenID Connect Core 1.0, section 9: `client_secret_basic`, unless the provider takes the other one alone. */
function clientAuth(secret: string | null): ClientAuth {
  if (secret === null) return None();
  const basic = ClientSecretBasic(secret);
  const post = ClientSecretPost(secret);
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const postOnly = !methods.includes('client_secret_basic') && methods.includes('client_secret_post');
    return (postOnly ? post : basic)(server, ...rest);
  };
}

/**
 * @param loginHint the e-mail address that was typed
 * @returns the address of the provider to send the browser to, and what to remember of the attempt
 */
export async function beginSignIn(
  configuration: Configuration,
  { redirectUri, loginHint, groupsClaim }: { redirectUri: string; loginHint: string; groupsClaim: string },
): Promise<{ url: URL; challenge: AuthorizationState }> {
  const challenge = { state: randomState(), nonce: randomNonce(), codeVerifier: randomPKCECodeVerifier() };
  const offered = configuration.serverMetadata().scopes_supported ?? [];
  const url = buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    // Some providers tell groups under a scope of that name only.
    scope: ['openid', 'email', 'profile', ...(offered.includes(groupsClaim) ? [groupsClaim] : [])].join(' '),
    state: challenge.state,
    nonce: challenge.nonce,
    code_challenge: await calculatePKCECodeChallenge(challenge.codeVerifier),
    code_challenge_method: 'S256',
    login_hint: loginHint,
  });
  return { url, challenge };
}

/**
 * Checks the provider's answer (OpenID Connect Core 1.0, section 3.1.2.5 to 3.1.3.7; RFC 9207) and fetches who signed in.
 * @param answer our redirect address with the parameters of the answer
 * @throws ProviderProblem when it signed nobody in
 */
export async function finishSignIn(
  configuration: Configuration,
  answer: URL,
  { state, nonce, codeVerifier }: AuthorizationState,
  groupsClaim: string,
): Promise<VerifiedIdentity> {
  const { issuer } = configuration.serverMetadata();
  if (answer.searchParams.get('state') !== state)
    throw new ProviderError('foreign', 'the answer has another state');
  if ((answer.searchParams.get('iss') ?? issuer) !== issuer)
    throw new ProviderError('foreign', 'the answer is of another issuer');
  const tokens = await authorizationCodeGrant(configuration, answer, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: codeVerifier,
    idTokenExpected: true,
  }).catch(throwProviderError);
  const idToken = tokens.claims();
  if (idToken === undefined) throw new ProviderError('wrong', 'it sent no ID token');
  const complete = ['email', 'email_verified', groupsClaim].every((claim) => idToken[claim] !== undefined);
  const userInfo =
    complete || configuration.serverMetadata().userinfo_endpoint === undefined
      ? undefined
      : await fetchUserInfo(configuration, tokens.access_token, idToken.sub).catch(throwProviderError);
  const claims: Claims = { ...userInfo, ...idToken };
  return {
    issuer: idToken.iss,
    subject: idToken.sub,
    // An address and whether it is verified come from the same place.
    verifiedEmail: readVerifiedEmail(idToken.email === undefined ? (userInfo ?? {}) : idToken, userInfo),
    name: typeof claims['name'] === 'string' ? claims['name'] : undefined,
    groups: readGroups(claims, groupsClaim),
  };
}

type Claims = Readonly<Record<string, unknown>>;

/** @param other what says more about the same address, if it names the same one */
function readVerifiedEmail(claims: Claims, other: Claims | undefined): string | undefined {
  const { email } = claims;
  if (typeof email !== 'string') return undefined;
  const verified =
    claims['email_verified'] ?? (other?.['email'] === email ? other['email_verified'] : undefined);
  return verified === true ? email : undefined;
}

/** @returns the groups; none where the claim is absent, as many providers leave an empty list out */
function readGroups(claims: Claims, name: string): string[] {
  const elsewhere = claims['_claim_names'];
  if (typeof elsewhere === 'object' && elsewhere !== null && name in elsewhere) {
    // OpenID Connect Core 1.0, section 5.6.2. To take this for no groups would take rights away.
    throw new ProviderError('wrong', `the claim ${name} is too long and left out of the ID token`);
  }
  const value = claims[name];
  const groups = typeof value === 'string' ? [value] : Array.isArray(value) ? value : [];
  return groups
    .slice(0, MAX_GROUPS)
    .filter((group) => typeof group === 'string')
    .filter((group) => isPlainText(group, MAX_GROUP_LENGTH));
}

/** RFC 6749, section 4.1.2.1: what is nobody's decision. */
const KIND_BY_ERROR: Readonly<Record<string, ProviderError['kind']>> = {
  temporarily_unavailable: 'unreachable',
  server_error: 'unreachable',
  invalid_request: 'wrong',
  unauthorized_client: 'wrong',
  unsupported_response_type: 'wrong',
  invalid_scope: 'wrong',
};

/** Tells what went wrong without what the library keeps with it: parameters, codes and tokens. */
function throwProviderError(error: unknown): never {
  if (error instanceof AuthorizationResponseError) {
    throw new ProviderError(
      KIND_BY_ERROR[error.error] ?? 'denied',
      withDetail(`it answered ${sanitizeDetail(error.error)}`, error.error_description),
    );
  }
  if (error instanceof ResponseBodyError) {
    throw new ProviderError(
      'wrong',
      withDetail(`it refused the code with ${sanitizeDetail(error.error)}`, error.error_description),
    );
  }
  if (error instanceof ClientError) {
    const inner = error.cause instanceof Error ? error.cause.message : undefined;
    if (error.code === 'OAUTH_TIMEOUT') throw new ProviderError('unreachable', 'it did not answer in time');
    if (error.code !== undefined) throw new ProviderError('wrong', withDetail(error.message, inner));
    throw new ProviderError('wrong', withDetail('its answer cannot be used', inner));
  }
  // What `fetch` throws when nobody answers.
  if (error instanceof TypeError && error.cause instanceof Error) {
    const { code } = error.cause as NodeJS.ErrnoException;
    throw new ProviderError('unreachable', withDetail('the request to it failed', code ?? error.message));
  }
  if (error instanceof Error)
    throw new ProviderError('wrong', withDetail('its answer cannot be used', error.message));
  throw new ProviderError('wrong', 'its answer cannot be used');
}

function withDetail(what: string, detail: string | undefined): string {
  return detail === undefined || detail === '' ? what : `${what} (${sanitizeDetail(detail)})`;
}

/** What others wrote, on one line of a log. */
function sanitizeDetail(text: string): string {
  return replaceHiddenCharacters(text.slice(0, MAX_DETAIL_LENGTH));
}

function trimTrailingSlash(issuer: string): string {
  return issuer.replace(/\/$/, '');
}
