import { KeyObject, sign, type SignKeyObjectInput } from 'node:crypto';
import {
  calculateJwkThumbprint,
  createLocalJWKSet,
  type CryptoKey,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTPayload,
  jwtVerify,
} from 'jose';

const ALGORITHM = 'ES256';

/** The keys of this deployment, shared by all instances on one database. */
export interface Keys {
  /**
   * Signs a JWT access token (RFC 9068) with the newest key.
   * @throws the error in `SigningKeys.unreadable` if that key cannot be decrypted here
   */
  sign(
    claims: JWTPayload & { jti: string; sub: string },
    lifetime: { issuedAt: number; expiresAt: number },
  ): Promise<string>;
  /**
   * Verifies a token against these keys.
   * @returns its claims; `undefined` if it is invalid or expired
   * @throws the error in `SigningKeys.unreadable` for a token whose key cannot be decrypted here
   */
  verify(token: string, now: number): Promise<JWTPayload | undefined>;
  /**
   * Returns the public half of every key (RFC 7517), newest first.
   * @throws the error in `SigningKeys.unreadable` if a key cannot be decrypted here: a client that caches an incomplete
   *   set would reject valid tokens
   */
  jwks(): Promise<{ keys: JWK[] }>;
  /** The secret for HMACs of links and for encryption. */
  secret: Uint8Array;
}

export interface IssuerIdentity {
  /** The `iss` and `aud` of new tokens. */
  current(): string;
  /** Whether this is, or was, the deployment's issuer. */
  accepts(issuer: string): boolean;
}

export interface SigningKey {
  kid: string;
  /** Milliseconds since 1970. */
  createdAt: number;
}

/** A signing key with its private half. */
export type PrivateKey = JWK & { kid: string };

export interface SigningKeys {
  /** The keys that this process has decrypted, newest first. */
  opened: readonly PrivateKey[];
  /** The ids of the keys that it cannot decrypt, and why. They are newer than the others. */
  unreadable: ReadonlyMap<string, Error>;
}

/** Values derived from the signing keys. */
interface KeyRing {
  keys: SigningKeys;
  /** The encoded header of every token, and the signing key; `undefined` without a decrypted key. */
  signing: { header: string; key: SignKeyObjectInput } | undefined;
  jwks: { keys: JWK[] };
  publicKeys: ReturnType<typeof createLocalJWKSet>;
}

/** @param current called before each use; returns the same object as long as the signing keys have not changed */
export function createKeys(
  current: () => Promise<SigningKeys>,
  secret: Uint8Array,
  issuer: IssuerIdentity,
): Keys {
  let ring: KeyRing | undefined;
  const loadRing = async (): Promise<KeyRing> => {
    const keys = await current();
    if (ring?.keys !== keys) ring = await createKeyRing(keys);
    return ring;
  };

  return {
    async jwks() {
      const { jwks, keys } = await loadRing();
      for (const error of keys.unreadable.values()) throw error;
      return jwks;
    },
    secret,
    async sign(claims, { issuedAt, expiresAt }) {
      const { signing, keys } = await loadRing();
      for (const error of keys.unreadable.values()) throw error;
      if (signing === undefined) throw new Error('There is no signing key in the database.');
      const issuerId = issuer.current();
      const payload = {
        ...claims,
        iss: issuerId,
        aud: issuerId,
        iat: Math.floor(issuedAt / 1000),
        exp: Math.floor(expiresAt / 1000),
      };
      // Signed here (RFC 7515, section 3.1) in half the processor time of jose, which signs on the thread pool, behind
      // passwords that are being hashed (ADR 16).
      const signed = `${signing.header}.${base64url(payload)}`;
      return `${signed}.${sign('sha256', Buffer.from(signed), signing.key).toString('base64url')}`;
    },
    async verify(token, now) {
      // Outside the try: failing to load the keys says nothing about the token.
      const { publicKeys, keys } = await loadRing();
      const keyError = keys.unreadable.size === 0 ? undefined : keys.unreadable.get(readKid(token));
      if (keyError !== undefined) throw keyError;
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

/** Generates a signing key, whose id never starts with a hyphen: the command line would take it for an option. */
export async function generateSigningKey(): Promise<PrivateKey> {
  for (;;) {
    const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
    const jwk = await exportJWK(privateKey);
    const kid = await calculateJwkThumbprint(jwk);
    if (!kid.startsWith('-')) return { ...jwk, kid, alg: ALGORITHM, use: 'sig' };
  }
}

async function createKeyRing(keys: SigningKeys): Promise<KeyRing> {
  const [newest] = keys.opened;
  const jwks = { keys: keys.opened.map(toPublicKey) };
  return {
    keys,
    signing: newest && {
      header: base64url({ alg: ALGORITHM, typ: 'at+jwt', kid: newest.kid }),
      // R and S concatenated (RFC 7518, section 3.4).
      key: {
        key: KeyObject.from((await importJWK(newest, ALGORITHM, { extractable: true })) as CryptoKey),
        dsaEncoding: 'ieee-p1363',
      },
    },
    jwks,
    publicKeys: createLocalJWKSet(jwks),
  };
}

/** @returns the key id in a token's header; `''` if there is none */
function readKid(token: string): string {
  try {
    return decodeProtectedHeader(token).kid ?? '';
  } catch {
    return '';
  }
}

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function toPublicKey({ d: _private, ...rest }: PrivateKey): JWK {
  return rest;
}
