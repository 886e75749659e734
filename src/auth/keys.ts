import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  calculateJwkThumbprint,
  type CryptoKey,
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTPayload,
  jwtVerify,
  SignJWT,
} from 'jose';

const ALGORITHM = 'ES256';
const SECRET = 'secret.key';
const SECRET_LENGTH = 32;

/** The keys of this deployment, from the data folder; instances that work together share them. */
export interface Keys {
  /** Signs a JWT access token (RFC 9068) with the newest key. */
  sign(
    claims: JWTPayload & { jti: string; sub: string },
    lifetime: { issuedAt: number; expiresAt: number },
  ): Promise<string>;
  /** @returns the claims of a token that one of these keys signed and that is valid now; `undefined` otherwise */
  verify(token: string, now: number): Promise<JWTPayload | undefined>;
  /** The public half of every key (RFC 7517), newest first. */
  jwks(): Promise<{ keys: JWK[] }>;
  /** Derives links that must not be guessed and need not be stored, and seals what must be read again. */
  secret: Uint8Array;
}

/** What this deployment calls itself in its tokens. */
export interface IssuerName {
  /** The `iss` and `aud` of a token that is made now. */
  current(): string;
  /** Whether it goes, or went, by that name. */
  accepts(issuer: string): boolean;
}

/** A signing key as its file has it. */
interface KeyFile extends JWK {
  kid: string;
  /** When it was made, in milliseconds since 1970. */
  created_at?: number;
}

/** What the files in the folder come to. */
interface KeyRing {
  /** When the folder changed last, as far as this ring knows. */
  changed: number;
  kid: string;
  signingKey: CryptoKey;
  jwks: { keys: JWK[] };
  publicKeys: ReturnType<typeof createLocalJWKSet>;
}

/**
 * Reads the keys in `<data folder>/keys`, and makes what is missing. Files are readable by their owner only. A key that
 * is added or taken away while the process runs counts from then on.
 */
export async function loadKeys(dataDirectory: string, issuer: IssuerName): Promise<Keys> {
  const folder = join(dataDirectory, 'keys');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (keyFiles(folder).length === 0) await addSigningKey(dataDirectory, Date.now());
  if (!readdirSync(folder).includes(SECRET))
    createOnce(folder, SECRET, randomBytes(SECRET_LENGTH).toString('base64url'));

  const secret = Buffer.from(readFileSync(join(folder, SECRET), 'utf8'), 'base64url');
  if (secret.length !== SECRET_LENGTH) {
    throw new Error(
      `${join(folder, SECRET)} is damaged. Restore it from a copy, or remove it: invitation links end then.`,
    );
  }

  let ring = await readRing(folder);
  const current = async (): Promise<KeyRing> => {
    // A look at the folder's time costs microseconds, and is all it takes to follow a rotation.
    if (statSync(folder).mtimeMs !== ring.changed) ring = await readRing(folder);
    return ring;
  };

  return {
    jwks: async () => (await current()).jwks,
    secret,
    async sign(claims, { issuedAt, expiresAt }) {
      const { kid, signingKey } = await current();
      return new SignJWT(claims)
        .setProtectedHeader({ alg: ALGORITHM, typ: 'at+jwt', kid })
        .setIssuer(issuer.current())
        .setAudience(issuer.current())
        .setIssuedAt(Math.floor(issuedAt / 1000))
        .setExpirationTime(Math.floor(expiresAt / 1000))
        .sign(signingKey);
    },
    async verify(token, now) {
      try {
        const { publicKeys } = await current();
        const { payload } = await jwtVerify(token, publicKeys, {
          typ: 'at+jwt',
          algorithms: ['ES256', 'EdDSA'],
          currentDate: new Date(now),
          requiredClaims: ['iss', 'aud', 'exp', 'jti', 'sub'],
        });
        const { iss = '', aud } = payload;
        return issuer.accepts(iss) && [aud].flat().includes(iss) ? payload : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

/** A signing key as the command line shows it: no private part. */
export interface SigningKey {
  kid: string;
  /** In milliseconds since 1970. */
  createdAt: number;
}

/** @returns the signing keys of a data folder, newest first; the first one signs */
export function listSigningKeys(dataDirectory: string): SigningKey[] {
  const folder = join(dataDirectory, 'keys');
  return keyFiles(folder).map((name) => {
    const { kid, created_at } = readKey(folder, name);
    return { kid, createdAt: created_at ?? 0 };
  });
}

/** Makes a signing key that signs from now on; those before it still verify. */
export async function addSigningKey(dataDirectory: string, now: number): Promise<SigningKey> {
  const folder = join(dataDirectory, 'keys');
  const key: KeyFile = { ...(await newSigningKey()), created_at: now };
  const [newest] = keyFiles(folder);
  createOnce(folder, `signing-${newest === undefined ? 1 : numberIn(newest) + 1}.json`, JSON.stringify(key));
  return { kid: key.kid, createdAt: now };
}

/** Takes a signing key away: no token that it signed is accepted from now on. */
export function removeSigningKey(dataDirectory: string, kid: string): void {
  const folder = join(dataDirectory, 'keys');
  const name = keyFiles(folder).find((file) => readKey(folder, file).kid === kid);
  if (name === undefined) return;
  rmSync(join(folder, name));
  flushFolder(folder);
}

/** @returns the names of the signing keys' files, newest first */
function keyFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => /^signing-\d+\.json$/.test(name))
    .sort((one, other) => numberIn(other) - numberIn(one));
}

function readKey(folder: string, name: string): KeyFile {
  return JSON.parse(readFileSync(join(folder, name), 'utf8')) as KeyFile;
}

async function readRing(folder: string): Promise<KeyRing> {
  // Before the files: a change in between is then seen next time.
  const changed = statSync(folder).mtimeMs;
  const keys = keyFiles(folder).map((name) => readKey(folder, name));
  const [newest] = keys;
  if (newest === undefined) throw new Error(`There is no signing key in ${folder}.`);
  const jwks = { keys: keys.map(publicHalf) };
  return {
    changed,
    kid: newest.kid,
    signingKey: (await importJWK(newest, ALGORITHM)) as CryptoKey,
    jwks,
    publicKeys: createLocalJWKSet(jwks),
  };
}

async function newSigningKey(): Promise<JWK & { kid: string }> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: ALGORITHM, use: 'sig' };
}

function publicHalf({ d: _private, created_at: _madeAt, ...rest }: KeyFile): JWK {
  return rest;
}

function numberIn(name: string): number {
  return Number(name.replace(/\D/g, ''));
}

/** Writes a whole file under a name that does not exist yet; of two processes that try, one wins and both go on. */
function createOnce(folder: string, name: string, content: string): void {
  const unfinished = join(folder, `.${name}.${process.pid}`);
  // On the disk before it has its name: a key that is lost after its first use ends every token.
  writeFileSync(unfinished, content, { mode: 0o600, flush: true });
  try {
    linkSync(unfinished, join(folder, name));
    flushFolder(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(unfinished, { force: true });
  }
}

function flushFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
