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

/** The keys of this deployment, which all instances over one database share. */
export interface Keys {
  /**
   * Signs a JWT access token (RFC 9068) with the newest key.
   * @throws what stands in `SigningKeys.sealed` when that one cannot be opened here
   */
  sign(
    claims: JWTPayload & { jti: string; sub: string },
    lifetime: { issuedAt: number; expiresAt: number },
  ): Promise<string>;
  /**
   * @returns the claims of a token that one of these keys signed and that is valid now; `undefined` otherwise
   * @throws what stands in `SigningKeys.sealed` for a token that names a key that cannot be opened here
   */
  verify(token: string, now: number): Promise<JWTPayload | undefined>;
  /**
   * The public half of every key (RFC 7517), newest first.
   * @throws what stands in `SigningKeys.sealed` when there is one that cannot be opened here: whoever keeps a set that
   *   lacks a key refuses good tokens
   */
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

/** The signing keys as they are now. */
export interface SigningKeys {
  /** Those that this process has opened, newest first. */
  opened: readonly PrivateKey[];
  /** The ids of those that it cannot open, and why; they are newer than the others. */
  sealed: ReadonlyMap<string, Error>;
}

/** What the signing keys come to. */
interface KeyRing {
  keys: SigningKeys;
  /** The first part of every token, as it is signed, and with what; `undefined` when no key is opened. */
  signing: { header: string; key: SignKeyObjectInput } | undefined;
  jwks: { keys: JWK[] };
  publicKeys: ReturnType<typeof createLocalJWKSet>;
}

/**
 * @param current asked before each use: the signing keys as they are now, the same object for as long as none came or
 *   went
 */
export function createKeys(
  current: () => Promise<SigningKeys>,
  secret: Uint8Array,
  issuer: IssuerName,
): Keys {
  let ring: KeyRing | undefined;
  const currentRing = async (): Promise<KeyRing> => {
    const keys = await current();
    if (ring?.keys !== keys) ring = await createKeyRing(keys);
    return ring;
  };

  return {
    async jwks() {
      const { jwks, keys } = await currentRing();
      for (const refusal of keys.sealed.values()) throw refusal;
      return jwks;
    },
    secret,
    async sign(claims, { issuedAt, expiresAt }) {
      const { signing, keys } = await currentRing();
      for (const refusal of keys.sealed.values()) throw refusal;
      if (signing === undefined) throw new Error('There is no signing key in the database.');
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
      const signed = `${signing.header}.${base64url(payload)}`;
      return `${signed}.${sign('sha256', Buffer.from(signed), signing.key).toString('base64url')}`;
    },
    async verify(token, now) {
      // Outside the try: when the keys cannot be had, that says nothing about the token.
      const { publicKeys, keys } = await currentRing();
      const refusal = keys.sealed.size === 0 ? undefined : keys.sealed.get(readKid(token));
      if (refusal !== undefined) throw refusal;
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
      // RFC 7518, section 3.4: both halves of the signature one after the other.
      key: {
        key: KeyObject.from((await importJWK(newest, ALGORITHM, { extractable: true })) as CryptoKey),
        dsaEncoding: 'ieee-p1363',
      },
    },
    jwks,
    publicKeys: createLocalJWKSet(jwks),
  };
}

/** @returns the key that a token says it was signed with; `''` for one that says none */
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
