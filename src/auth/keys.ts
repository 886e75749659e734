import { KeyObject, sign, type SignKeyObjectInput } from 'node:crypto';
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

/** The keys of this deployment, which all instances over one database share. */
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

/** A signing key as people may see it. */
export interface SigningKey {
  kid: string;
  /** In milliseconds since 1970. */
  createdAt: number;
}

/** A signing key with its private half. */
export type PrivateKey = JWK & { kid: string };

/** What the signing keys come to. */
interface KeyRing {
  keys: readonly PrivateKey[];
  /** The first part of every token, as it is signed. */
  header: string;
  signingKey: SignKeyObjectInput;
  jwks: { keys: JWK[] };
  publicKeys: ReturnType<typeof createLocalJWKSet>;
}

/**
 * @param current asked before each use: the signing keys as they are now, newest first, in the same array for as long as
 *   none came or went
 */
export function keysFrom(
  current: () => Promise<readonly PrivateKey[]>,
  secret: Uint8Array,
  issuer: IssuerName,
): Keys {
  let ring: KeyRing | undefined;
  const currentRing = async (): Promise<KeyRing> => {
    const keys = await current();
    if (ring?.keys !== keys) ring = await toRing(keys);
    return ring;
  };

  return {
    jwks: async () => (await currentRing()).jwks,
    secret,
    async sign(claims, { issuedAt, expiresAt }) {
      const { header, signingKey } = await currentRing();
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
      // Outside the try: when the keys cannot be had, that says nothing about the token.
      const { publicKeys } = await currentRing();
      try {
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

/** Makes a key pair that nothing was signed with yet, whose id a command line does not take for an option. */
export async function newSigningKey(): Promise<PrivateKey> {
  for (;;) {
    const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
    const jwk = await exportJWK(privateKey);
    const kid = await calculateJwkThumbprint(jwk);
    if (!kid.startsWith('-')) return { ...jwk, kid, alg: ALGORITHM, use: 'sig' };
  }
}

async function toRing(keys: readonly PrivateKey[]): Promise<KeyRing> {
  const [newest] = keys;
  if (newest === undefined) throw new Error('There is no signing key in the database.');
  const key = await importJWK(newest, ALGORITHM, { extractable: true });
  const jwks = { keys: keys.map(publicHalf) };
  return {
    keys,
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

function publicHalf({ d: _private, ...rest }: PrivateKey): JWK {
  return rest;
}
