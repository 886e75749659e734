import { KeyObject, randomBytes, sign, type SignKeyObjectInput } from 'node:crypto';
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
  createLocalJWKSet,
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTPayload,
  jwtVerify,
} from 'jose';

const ALGORITHM = 'ES256';
const SECRET = 'secret.key';
const SECRET_LENGTH = 32;
/** A folder's time moves in steps: within so many milliseconds of a change, another one may leave it as it is. */
const SETTLED_MILLISECONDS = 100;

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
  /** @returns a number that is another one once a key was taken away: what it signed must be verified again */
  removals(): Promise<number>;
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
  /** Whether it was read so soon after that change that it may have missed the next one. */
  hasty: boolean;
  /** The first part of every token, as it is signed. */
  header: string;
  signingKey: SignKeyObjectInput;
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
  if (keyFiles(folder).length === 0) await addFirstKey(folder, Date.now());
  if (!readdirSync(folder).includes(SECRET))
    createOnce(folder, SECRET, randomBytes(SECRET_LENGTH).toString('base64url'));

  const secret = Buffer.from(readFileSync(join(folder, SECRET), 'utf8'), 'base64url');
  if (secret.length !== SECRET_LENGTH) {
    throw new Error(
      `${join(folder, SECRET)} is damaged. Restore it from a copy, or remove it: invitation links end then.`,
    );
  }

  let ring = await readRing(folder);
  let removals = 0;
  const current = async (): Promise<KeyRing> => {
    // A look at the folder's time costs microseconds, and is all it takes to follow a rotation.
    const changed = statSync(folder).mtimeMs;
    if (changed !== ring.changed || (ring.hasty && !isHasty(changed))) {
      const next = await readRing(folder);
      if (!ring.jwks.keys.every(({ kid }) => next.jwks.keys.some((key) => key.kid === kid))) removals += 1;
      ring = next;
    }
    return ring;
  };

  return {
    jwks: async () => (await current()).jwks,
    async removals() {
      // Without its folder it can verify nothing, which it finds out by trying.
      await current().catch(() => (removals += 1));
      return removals;
    },
    secret,
    async sign(claims, { issuedAt, expiresAt }) {
      const { header, signingKey } = await current();
      const name = issuer.current();
      const payload = {
        ...claims,
        iss: name,
        aud: name,
        iat: Math.floor(issuedAt / 1000),
        exp: Math.floor(expiresAt / 1000),
      };
      // By hand (RFC 7515, section 3.1) and in this thread: half the processor time of jose's, whose signature is made in
      // another one, where passwords may be waiting. See docs/adr/0016.
      const signed = `${header}.${base64url(payload)}`;
      return `${signed}.${sign('sha256', Buffer.from(signed), signingKey).toString('base64url')}`;
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
  return readKeys(folder).map(({ kid, created_at }) => ({ kid, createdAt: created_at ?? 0 }));
}

/** Makes a signing key that signs from now on; those before it still verify. */
export async function addSigningKey(dataDirectory: string, now: number): Promise<SigningKey> {
  const folder = join(dataDirectory, 'keys');
  const key: KeyFile = { ...(await newSigningKey()), created_at: now };
  const text = JSON.stringify(key);
  for (;;) {
    const [newest] = keyFiles(folder);
    const name = `signing-${newest === undefined ? 1 : numberIn(newest) + 1}.json`;
    // Someone who adds one at the same time may have taken the number.
    if (createOnce(folder, name, text)) return { kid: key.kid, createdAt: now };
  }
}

/** Of two processes that start together, one makes the first key, and both go on with it. */
async function addFirstKey(folder: string, now: number): Promise<void> {
  createOnce(folder, 'signing-1.json', JSON.stringify({ ...(await newSigningKey()), created_at: now }));
}

/** Takes a signing key away: no token that it signed is accepted from now on. */
export function removeSigningKey(dataDirectory: string, kid: string): void {
  const folder = join(dataDirectory, 'keys');
  const name = keyFiles(folder).find((file) => readKey(folder, file).kid === kid);
  if (name === undefined) return;
  rmSync(join(folder, name), { force: true });
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

/** @returns the signing keys, newest first; one that is taken away meanwhile is left out */
function readKeys(folder: string): KeyFile[] {
  return keyFiles(folder).flatMap((name) => {
    try {
      return [readKey(folder, name)];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  });
}

function isHasty(changed: number): boolean {
  return Date.now() - changed < SETTLED_MILLISECONDS;
}

async function readRing(folder: string): Promise<KeyRing> {
  // Before the files: a change in between is then seen next time.
  const changed = statSync(folder).mtimeMs;
  const hasty = isHasty(changed);
  const keys = readKeys(folder);
  const [newest] = keys;
  if (newest === undefined) throw new Error(`There is no signing key in ${folder}.`);
  const key = await importJWK(newest, ALGORITHM, { extractable: true });
  const jwks = { keys: keys.map(publicHalf) };
  return {
    changed,
    hasty,
    header: base64url({ alg: ALGORITHM, typ: 'at+jwt', kid: newest.kid }),
    // RFC 7518, section 3.4: both halves of the signature one after the other.
    signingKey: { key: KeyObject.from(key as CryptoKey), dsaEncoding: 'ieee-p1363' },
    jwks,
    publicKeys: createLocalJWKSet(jwks),
  };
}

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
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

/**
 * Writes a whole file under a name that does not exist yet.
 * @returns whether it was this process that did; of two that try, one wins
 */
function createOnce(folder: string, name: string, content: string): boolean {
  const unfinished = join(folder, `.${name}.${process.pid}`);
  // On the disk before it has its name: a key that is lost after its first use ends every token.
  writeFileSync(unfinished, content, { mode: 0o600, flush: true });
  try {
    linkSync(unfinished, join(folder, name));
    flushFolder(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
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
