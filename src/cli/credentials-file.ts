import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { writePrivateJson } from './private-file.ts';
import { errorCodeOf, CliError } from './errors.ts';
import { programName } from './streams.ts';

/** OAuth client id of the command line. Every deployment has this client. */
export const COMMAND_LINE_CLIENT = 'assay-cli';

/** Credentials that `assay login` stores. */
export interface Credentials {
  server: string;
  token_endpoint: string;
  revocation_endpoint: string;
  access_token: string;
  /** Milliseconds since 1970. */
  expires_at: number;
  refresh_token: string;
}

/** Tokens are refreshed this many milliseconds before they expire. */
const EXPIRY_MARGIN = 30_000;
/** Milliseconds after which the lock of another command is ignored. */
const LOCK_TIMEOUT = 15_000;

const credentialsPath = (folder: string) => join(folder, 'login.json');

export function readCredentials(folder: string): Credentials | undefined {
  try {
    const credentials = JSON.parse(readFileSync(credentialsPath(folder), 'utf8')) as Partial<Credentials>;
    return typeof credentials.server === 'string' && typeof credentials.refresh_token === 'string'
      ? (credentials as Credentials)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the credentials, readable by their owner only. */
export function writeCredentials(folder: string, credentials: Credentials): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writePrivateJson(credentialsPath(folder), credentials);
}

export function removeCredentials(folder: string): void {
  rmSync(credentialsPath(folder), { force: true });
}

/**
 * Returns a valid access token; refreshes it if necessary.
 * @throws CliError if the user has to sign in again
 */
export async function getAccessToken(folder: string, server: string): Promise<string> {
  const read = () => {
    const credentials = readCredentials(folder);
    if (credentials?.server !== server) throw signInRequired(server);
    return { credentials, isValid: credentials.expires_at - EXPIRY_MARGIN > Date.now() };
  };
  const { credentials: stored, isValid: isStoredValid } = read();
  if (isStoredValid) return stored.access_token;
  // The server revokes the grant if two commands use the same refresh token.
  return withLock(folder, async () => {
    const { credentials, isValid } = read();
    if (isValid) return credentials.access_token;
    const tokens = await requestTokens(credentials.token_endpoint, {
      grant_type: 'refresh_token',
      refresh_token: credentials.refresh_token,
    });
    if (tokens === undefined) throw signInRequired(server);
    writeCredentials(folder, { ...credentials, ...tokens });
    return tokens.access_token;
  });
}

function signInRequired(server: string): CliError {
  return new CliError(`Your session on ${server} has ended. Run "${programName()} login ${server}".`);
}

export type TokenSet = Pick<Credentials, 'access_token' | 'expires_at' | 'refresh_token'>;

/** Requests tokens (RFC 6749, section 5.1); returns `undefined` if the server rejects the grant. */
export async function requestTokens(
  endpoint: string,
  fields: Record<string, string>,
): Promise<TokenSet | undefined> {
  const requestedAt = Date.now();
  const response = await fetch(endpoint, {
    method: 'POST',
    body: new URLSearchParams({ ...fields, client_id: COMMAND_LINE_CLIENT }),
    redirect: 'error',
  });
  if (!response.ok) {
    await response.body?.cancel();
    if (response.status === 400 || response.status === 401) return undefined;
    throw new CliError(`The token endpoint responded with status ${response.status}. Try again.`);
  }
  const { access_token, expires_in, refresh_token } = (await response.json()) as {
    access_token: string;
    expires_in: number;
    refresh_token: string;
  };
  return { access_token, refresh_token, expires_at: requestedAt + expires_in * 1_000 };
}

/** Runs `work` under a lock file; removes a stale lock. */
async function withLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const lock = join(folder, 'login.lock');
  const until = Date.now() + LOCK_TIMEOUT;
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
    return Date.now() - statSync(file).mtimeMs > LOCK_TIMEOUT;
  } catch {
    return false;
  }
}
