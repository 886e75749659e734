import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { writePrivateJson } from './private-file.ts';
import { errorCodeOf, CliError } from './errors.ts';

/** The application that `assay login` is, which every deployment knows. */
export const COMMAND_LINE_CLIENT = 'assay-cli';

/** What `assay login` leaves in the user's own settings. */
export interface Credentials {
  server: string;
  token_endpoint: string;
  revocation_endpoint: string;
  access_token: string;
  /** In milliseconds since 1970. */
  expires_at: number;
  refresh_token: string;
}

/** An access token that is good for less is not used any more, in milliseconds. */
const EXPIRY_MARGIN = 30_000;
/** Another command may get a new token at the same time, in milliseconds. */
const REQUEST_TIMEOUT = 15_000;

const credentialsPath = (folder: string) => join(folder, 'login.json');

export function readCredentials(folder: string): Credentials | undefined {
  try {
    const login = JSON.parse(readFileSync(credentialsPath(folder), 'utf8')) as Partial<Credentials>;
    return typeof login.server === 'string' && typeof login.refresh_token === 'string'
      ? (login as Credentials)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps it where its owner alone can read it. */
export function writeCredentials(folder: string, login: Credentials): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writePrivateJson(credentialsPath(folder), login);
}

export function removeCredentials(folder: string): void {
  rmSync(credentialsPath(folder), { force: true });
}

/**
 * @returns an access token that is good for a while, got anew where that is needed
 * @throws Refusal when one has to sign in again
 */
export async function getAccessToken(folder: string, server: string): Promise<string> {
  const good = () => {
    const login = readCredentials(folder);
    if (login?.server !== server) throw signInRequired(server);
    return { login, isGood: login.expires_at - EXPIRY_MARGIN > Date.now() };
  };
  if (good().isGood) return good().login.access_token;
  // A refresh token that two commands use ends what the user approved.
  return withLock(folder, async () => {
    const { login, isGood } = good();
    if (isGood) return login.access_token;
    const tokens = await requestTokens(login.token_endpoint, {
      grant_type: 'refresh_token',
      refresh_token: login.refresh_token,
    });
    if (tokens === undefined) throw signInRequired(server);
    writeCredentials(folder, { ...login, ...tokens });
    return tokens.access_token;
  });
}

function signInRequired(server: string): CliError {
  return new CliError(`Nobody is signed in to ${server} any more. Run "assay login ${server}".`);
}

export type TokenSet = Pick<Credentials, 'access_token' | 'expires_at' | 'refresh_token'>;

/** @returns what the token endpoint gives (RFC 6749, section 5.1); `undefined` when it refuses */
export async function requestTokens(
  endpoint: string,
  fields: Record<string, string>,
): Promise<TokenSet | undefined> {
  const asked = Date.now();
  const response = await fetch(endpoint, {
    method: 'POST',
    body: new URLSearchParams({ ...fields, client_id: COMMAND_LINE_CLIENT }),
    redirect: 'error',
  });
  if (!response.ok) {
    await response.body?.cancel();
    if (response.status === 400 || response.status === 401) return undefined;
    throw new CliError(`The server answered ${response.status} when it was asked for a token. Try again.`);
  }
  const { access_token, expires_in, refresh_token } = (await response.json()) as {
    access_token: string;
    expires_in: number;
    refresh_token: string;
  };
  return { access_token, refresh_token, expires_at: asked + expires_in * 1_000 };
}

/** Runs `work` while no other command of this user does; a lock that someone left behind is taken away. */
async function withLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const lock = join(folder, 'login.lock');
  const until = Date.now() + REQUEST_TIMEOUT;
  for (;;) {
    try {
      closeSync(openSync(lock, 'wx', 0o600));
      break;
    } catch (error) {
      if (errorCodeOf(error) !== 'EEXIST') throw error;
      if (Date.now() > until || isStaleLock(lock)) rmSync(lock, { force: true });
      else await delay(50);
    }
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function isStaleLock(file: string): boolean {
  try {
    return Date.now() - statSync(file).mtimeMs > REQUEST_TIMEOUT;
  } catch {
    return false;
  }
}
