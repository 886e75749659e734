import { sha256 } from '@noble/hashes/sha2.js';
import { waitForSignIn } from './sign-in-gate.ts';
import { appMessages } from '../app/messages.ts';

/** First-party OAuth client, for which the server asks no consent. */
const CLIENT_ID = 'assay-console';
const REDIRECT_PATH = '/signed-in';
/** Milliseconds; a token that expires sooner is not used. */
const EXPIRY_MARGIN = 30_000;

interface AccessToken {
  token: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

/** Kept in memory only; a reloaded page requests another token. */
let cached: AccessToken | undefined;
let pending: Promise<AccessToken> | undefined;
/** The user of the first token. */
let subject: string | undefined;

/**
 * Returns an access token for the browser's session, by authorization code with PKCE (RFC 6749, section 4.1; RFC 7636).
 * Without a session, redirects to sign-in and never resolves; on a page already in use, waits until the user has signed
 * in again, so that typed text is not lost.
 */
async function accessToken(): Promise<string> {
  if (cached !== undefined && cached.expiresAt - EXPIRY_MARGIN > Date.now()) return cached.token;
  pending ??= requestToken().finally(() => (pending = undefined));
  cached = await pending;
  return cached.token;
}

/** Sends a request with an access token, and again with a new one if the server rejects that token. */
export async function sendWithToken<R extends { status: number }>(
  send: (token: string) => Promise<R>,
): Promise<R> {
  const token = await accessToken();
  const response = await send(token);
  if (response.status !== 401) return response;
  // Another request may have replaced it already.
  if (cached?.token === token) cached = undefined;
  return send(await accessToken());
}

/** Redirects to sign-in, and from there back to the current page. */
export function redirectToSignIn(): Promise<never> {
  const currentPath = location.pathname + location.search;
  location.assign(currentPath === '/' ? '/sign-in' : `/sign-in?to=${encodeURIComponent(currentPath)}`);
  return new Promise(() => undefined);
}

async function requestToken(): Promise<AccessToken> {
  const verifier = randomString();
  const state = randomString();
  const redirectUri = location.origin + REDIRECT_PATH;
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: CLIENT_ID,
    redirect_uri: redirectUri,
    state,
    code_challenge: base64url(sha256(new TextEncoder().encode(verifier))),
    code_challenge_method: 'S256',
  });
  // fetch follows the redirect without loading a page; the final URL contains the code.
  const { url, status } = await fetch(`/oauth/authorize?${query}`, { cache: 'no-store' });
  const redirect = new URL(url);
  if (redirect.pathname === '/sign-in') {
    if (subject === undefined) return redirectToSignIn();
    await waitForSignIn();
    return requestToken();
  }
  const code = redirect.searchParams.get('code');
  if (redirect.pathname !== REDIRECT_PATH || redirect.searchParams.get('state') !== state || code === null)
    throw new Error(
      redirect.searchParams.get('error_description') ?? appMessages.authorization.failed(status),
    );
  const response = await fetch('/oauth/token', {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: CLIENT_ID,
      redirect_uri: redirectUri,
      code,
      code_verifier: verifier,
    }),
  });
  const body = (await response.json()) as {
    access_token: string;
    expires_in: number;
    error_description?: string;
  };
  if (!response.ok)
    throw new Error(body.error_description ?? appMessages.authorization.noToken(response.status));
  const user = subjectOf(body.access_token);
  if (subject !== undefined && subject !== user) {
    // Another user signed in: reload, so that they see no cached data of the previous user.
    location.assign('/');
    return new Promise(() => undefined);
  }
  subject = user;
  return { token: body.access_token, expiresAt: Date.now() + body.expires_in * 1_000 };
}

/** @returns the subject of a token (RFC 9068, section 2.2) */
function subjectOf(token: string): string {
  const [, claims = ''] = token.split('.');
  return (JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))) as { sub: string }).sub;
}

/** @returns 32 random bytes in base64url; getRandomValues also works over plain http */
function randomString(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
