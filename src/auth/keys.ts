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
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  calculateJwkThumbprint,
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
const FIRST_KEY = 'signing-1.json';
const SECRET = 'secret.key';
const SECRET_LENGTH = 32;

/** The keys of this deployment, from the data folder; instances that work together share them. */
export interface Keys {
  /** Signs a JWT access token (RFC 9068). */
  sign(
    claims: JWTPayload & { jti: string; sub: string },
    lifetime: { issuedAt: number; expiresAt: number },
  ): Promise<string>;
  /** @returns the claims of a token that one of these keys signed and that is valid now; `undefined` otherwise */
  verify(token: string, now: number): Promise<JWTPayload | undefined>;
  /** The public half (RFC 7517). */
  jwks: { keys: JWK[] };
  /** Derives links that must not be guessed and need not be stored. */
  secret: Uint8Array;
}

/**
 * Reads the keys in `<data folder>/keys`, and makes what is missing. Files are readable by their owner only.
 * @param issuer the `iss` and `aud` of access tokens
 */
export async function loadKeys(dataDirectory: string, issuer: string): Promise<Keys> {
  const folder = join(dataDirectory, 'keys');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!readdirSync(folder).includes(FIRST_KEY))
    createOnce(folder, FIRST_KEY, JSON.stringify(await newSigningKey()));
  if (!readdirSync(folder).includes(SECRET))
    createOnce(folder, SECRET, randomBytes(SECRET_LENGTH).toString('base64url'));

  const files = readdirSync(folder).filter((name) => /^signing-\d+\.json$/.test(name));
  files.sort((one, other) => numberIn(other) - numberIn(one));
  const privateKeys = files.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as JWK);
  const [current] = privateKeys;
  if (current === undefined) throw new Error(`There is no signing key in ${folder}.`);
  const signingKey = await importJWK(current, ALGORITHM);
  const jwks = { keys: privateKeys.map(publicHalf) };
  const publicKeys = createLocalJWKSet(jwks);

  const secret = Buffer.from(readFileSync(join(folder, SECRET), 'utf8'), 'base64url');
  if (secret.length !== SECRET_LENGTH) {
    throw new Error(
      `${join(folder, SECRET)} is damaged. Restore it from a copy, or remove it: invitation links end then.`,
    );
  }

  return {
    jwks,
    secret,
    sign: (claims, { issuedAt, expiresAt }) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: ALGORITHM, typ: 'at+jwt', kid: current.kid ?? '' })
        .setIssuer(issuer)
        .setAudience(issuer)
        .setIssuedAt(Math.floor(issuedAt / 1000))
        .setExpirationTime(Math.floor(expiresAt / 1000))
        .sign(signingKey),
    async verify(token, now) {
      try {
        const { payload } = await jwtVerify(token, publicKeys, {
          issuer,
          audience: issuer,
          typ: 'at+jwt',
          algorithms: ['ES256', 'EdDSA'],
          currentDate: new Date(now),
          requiredClaims: ['exp', 'jti', 'sub'],
        });
        return payload;
      } catch {
        return undefined;
      }
    },
  };
}

async function newSigningKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: ALGORITHM, use: 'sig' };
}

function publicHalf({ d: _private, ...rest }: JWK): JWK {
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
