import { sha256 } from '@noble/hashes/sha2.js';
import { untilSignedIn } from './sign-in-gate.ts';

/** The application that this is to the server, which asks nobody whether they allow it. */
const CLIENT_ID = 'assay-console';
const REDIRECT_PATH = '/signed-in';
/** A token that ends within this time, in milliseconds, is not begun with. */
const SLACK = 30_000;

interface Access {
  token: string;
  /** Milliseconds since 1970. */
  endsAt: number;
}

/** In memory alone: a page that is loaded anew asks for another one. */
let access: Access | undefined;
let asking: Promise<Access> | undefined;
/** Whose page this is, once there was a token. */
let owner: string | undefined;

/**
 * @returns an access token, by the session of this browser: code with PKCE (RFC 6749, section 4.1; RFC 7636). Where nobody
 *   is signed in the browser goes to sign in and comes back here, and this never resolves; but on a page that is in use,
 *   where something may have been typed, it waits until somebody signed in again.
 */
export async function accessToken(): Promise<string> {
  if (access !== undefined && access.endsAt - SLACK > Date.now()) return access.token;
  asking ??= ask().finally(() => (asking = undefined));
  access = await asking;
  return access.token;
}

/** Forgets the token, when the server says that it is no good any more. */
export function forgetAccess(): void {
  access = undefined;
}

/** Leads to the sign-in page, and from there back to where one is. */
export function signIn(): Promise<never> {
  const here = location.pathname + location.search;
  location.assign(here === '/' ? '/sign-in' : `/sign-in?to=${encodeURIComponent(here)}`);
  return new Promise(() => undefined);
}

async function ask(): Promise<Access> {
  const verifier = randomText();
  const state = randomText();
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
    if (owner === undefined) return signIn();
    await untilSignedIn();
    return ask();
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
  const person = ownerOf(body.access_token);
  if (owner !== undefined && owner !== person) {
    // Somebody else signed in meanwhile: nothing that was read for the one before is shown to them.
    location.assign('/');
    return new Promise(() => undefined);
  }
  owner = person;
  return { token: body.access_token, endsAt: Date.now() + body.expires_in * 1_000 };
}

/** @returns whose a token is (RFC 9068, section 2.2) */
function ownerOf(token: string): string {
  const [, claims = ''] = token.split('.');
  return (JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))) as { sub: string }).sub;
}

/** 32 random bytes, which over plain http as well a browser has. */
function randomText(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
