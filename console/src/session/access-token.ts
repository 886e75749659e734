import { sha256 } from '@noble/hashes/sha2.js';
import { waitForSignIn } from './sign-in-gate.ts';

/** The application that this is to the server, which asks nobody whether they allow it. */
const CLIENT_ID = 'assay-console';
const REDIRECT_PATH = '/signed-in';
/** A token that ends within this time, in milliseconds, is not begun with. */
const EXPIRY_MARGIN = 30_000;

interface AccessToken {
  token: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** In memory alone: a page that is loaded anew asks for another one. */
let cached: AccessToken | undefined;
let pending: Promise<AccessToken> | undefined;
/** Whose page this is, once there was a token. */
let subject: string | undefined;

/**
 * @returns an access token, by the session of this browser: code with PKCE (RFC 6749, section 4.1; RFC 7636). Where nobody
 *   is signed in the browser goes to sign in and comes back here, and this never resolves; but on a page that is in use,
 *   where something may have been typed, it waits until somebody signed in again.
 */
export async function accessToken(): Promise<string> {
  if (cached !== undefined && cached.expiresAt - EXPIRY_MARGIN > Date.now()) return cached.token;
  pending ??= requestToken().finally(() => (pending = undefined));
  cached = await pending;
  return cached.token;
}

/** Forgets the token, when the server says that it is no good any more. */
export function clearAccessToken(): void {
  cached = undefined;
}

/** Leads to the sign-in page, and from there back to where one is. */
export function redirectToSignIn(): Promise<never> {
  const here = location.pathname + location.search;
  location.assign(here === '/' ? '/sign-in' : `/sign-in?to=${encodeURIComponent(here)}`);
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
  // The redirect is followed here, so that no page is loaded; its address has the answer.
  const { url, status } = await fetch(`/oauth/authorize?${query}`, { cache: 'no-store' });
  const answer = new URL(url);
  if (answer.pathname === '/sign-in') {
    if (subject === undefined) return redirectToSignIn();
    await waitForSignIn();
    return requestToken();
  }
  const code = answer.searchParams.get('code');
  if (answer.pathname !== REDIRECT_PATH || answer.searchParams.get('state') !== state || code === null)
    throw new Error(
      answer.searchParams.get('error_description') ??
        `The server gave the console no access (${status}). Is it reached by the address that it is configured with?`,
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
    throw new Error(body.error_description ?? `The server gave the console no token (${response.status}).`);
  const person = subjectOf(body.access_token);
  if (subject !== undefined && subject !== person) {
    // Somebody else signed in meanwhile: nothing that was read for the one before is shown to them.
    location.assign('/');
    return new Promise(() => undefined);
  }
  subject = person;
  return { token: body.access_token, expiresAt: Date.now() + body.expires_in * 1_000 };
}

/** @returns whose a token is (RFC 9068, section 2.2) */
function subjectOf(token: string): string {
  const [, claims = ''] = token.split('.');
  return (JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))) as { sub: string }).sub;
}

/** 32 random bytes, which over plain http as well a browser has. */
function randomString(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
