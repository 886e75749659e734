import { createHash } from 'node:crypto';
import {
  createLocalJWKSet,
  decodeJwt,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { readEmailClaims } from './email-claims.ts';
import { isVisibleText } from './visible-text.ts';
import { type FetchedKeys, RemoteKeys } from './remote-keys.ts';
import { isScope, type Scope } from './scopes.ts';

/** Asymmetric algorithms only, as RFC 9068, section 4 forbids `none` and a shared secret proves no issuer. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** Milliseconds until the keys are requested again for one that is not among them. */
const FETCH_INTERVAL = 60_000;
/** Milliseconds until the next request for keys if none are known, as no token can be verified without them. */
const RETRY_DELAY = 2_000;
/** Milliseconds for which keys are used without asking whether they still are the issuer's. */
const KEYS_LIFETIME = 600_000;
/** Seconds of clock skew. */
const CLOCK_TOLERANCE = 5;
const MAX_CLAIM_LENGTH = 255;

export interface ExternalIssuerSettings {
  /** The `iss` of its tokens. */
  issuer: string;
  /** The URL of its keys, or the keys. */
  keys: URL | JSONWebKeySet;
  /** The `aud` that its tokens must have; `undefined` means our own issuer. */
  audience: string | undefined;
  /** The names of the claims for the user, the scopes and the organization, if any. */
  claims: { user: string; scope: string; organization: string | undefined };
  /** Maps their scopes to ours; `undefined` if the names are the same. */
  scopes: ReadonlyMap<string, readonly Scope[]> | undefined;
  /** Whether an address counts as verified if the token does not say whether it is. */
  trustEmail: boolean;
}

export interface ExternalToken {
  /** The credential's id in the audit log. */
  id: string;
  /** The user, by uid or by an email address that counts as verified. */
  user: { uid: string } | { email: string };
  /** The uid; `null` if the token names none, `undefined` if no claim is configured. */
  organization: string | null | undefined;
  scopes: readonly Scope[];
  /** Milliseconds since 1970. */
  expiresAt: number;
  /** Milliseconds since 1970; 0 if the token does not say. */
  issuedAt: number;
}

/** The issuer's keys cannot be fetched, so its tokens can be neither accepted nor rejected. */
export class IssuerUnreachable extends Error {
  override name = 'IssuerUnreachable';
}

const PREFIX = 'external:';

/** Whether a credential id is that of an external token, which is in no table. */
export function isExternalCredential(credentialId: string): boolean {
  return credentialId.startsWith(PREFIX);
}

/** Verifies the access tokens of one issuer (RFC 9068, section 4). */
export class ExternalIssuer {
  readonly #settings: ExternalIssuerSettings;
  readonly #ownIssuer: () => string;
  readonly #keys: FetchedKeys | RemoteKeys;

  /** @param ownIssuer the current issuer of this deployment: the audience, unless one is configured */
  constructor(settings: ExternalIssuerSettings, ownIssuer: () => string) {
    this.#settings = settings;
    this.#ownIssuer = ownIssuer;
    this.#keys =
      settings.keys instanceof URL
        ? new RemoteKeys(settings.keys.href, KEYS_LIFETIME)
        : createLocalJWKSet(settings.keys);
  }

  /** Whether a token claims to be from this issuer, unverified. */
  isClaimedIssuerOf(token: string): boolean {
    try {
      return decodeJwt(token).iss === this.#settings.issuer;
    } catch {
      return false;
    }
  }

  /**
   * @param now in milliseconds since 1970
   * @returns `undefined` if the token is invalid, expired, for another audience, or lacks a claim
   * @throws IssuerUnreachable if the issuer's keys cannot be fetched
   */
  async verify(token: string, now: number): Promise<ExternalToken | undefined> {
    const { issuer, audience } = this.#settings;
    try {
      const { payload } = await jwtVerify(token, (header, jws) => this.#findKey(now, header, jws), {
        issuer,
        audience: audience ?? this.#ownIssuer(),
        algorithms: ALGORITHMS,
        // Rejects ID tokens, which have another type (RFC 9068, section 4).
        typ: 'at+jwt',
        currentDate: new Date(now),
        clockTolerance: CLOCK_TOLERANCE,
        requiredClaims: ['exp'],
      });
      return this.#read(token, payload);
    } catch (error) {
      if (error instanceof IssuerUnreachable) throw error;
      return undefined;
    }
  }

  /** Looks among the known keys first, so that only tokens with an unknown one wait for the issuer. */
  async #findKey(now: number, ...input: Parameters<JWTVerifyGetKey>): Promise<CryptoKey> {
    if (!(this.#keys instanceof RemoteKeys)) return this.#keys(...input);
    const cachedKeys = this.#keys.cached(now);
    try {
      if (cachedKeys !== undefined) return await cachedKeys(...input);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    }
    const interval = cachedKeys === undefined ? RETRY_DELAY : FETCH_INTERVAL;
    const keys = await this.#keys.fetch(now, interval).catch((cause: unknown) => {
      throw new IssuerUnreachable(
        `The keys of ${this.#settings.issuer} cannot be fetched. The server tries again within a minute.`,
        { cause },
      );
    });
    return keys(...input);
  }

  #read(token: string, payload: JWTPayload): ExternalToken | undefined {
    const { claims, scopes, trustEmail } = this.#settings;
    const user = payload[claims.user];
    if (!isClaimText(user) || payload.exp === undefined) return undefined;
    const byEmail = claims.user === 'email';
    if (byEmail && !(readEmailClaims(payload)?.verified ?? trustEmail)) return undefined;
    const organization =
      claims.organization === undefined ? undefined : (payload[claims.organization] ?? null);
    if (organization !== undefined && organization !== null && !isClaimText(organization)) return undefined;
    return {
      id: PREFIX + credentialIdOf(token, payload),
      user: byEmail ? { email: user } : { uid: user },
      organization,
      scopes: parseScopeClaim(payload[claims.scope]).flatMap((word) =>
        scopes === undefined ? (isScope(word) ? [word] : []) : (scopes.get(word) ?? []),
      ),
      expiresAt: (payload.exp + CLOCK_TOLERANCE) * 1_000,
      issuedAt: (payload.iat ?? 0) * 1_000,
    };
  }
}

function isClaimText(value: unknown): value is string {
  return typeof value === 'string' && isVisibleText(value, MAX_CLAIM_LENGTH);
}

/** Space-separated (RFC 6749, section 3.3); some issuers send a list. */
function parseScopeClaim(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(' ');
  return Array.isArray(claim) ? claim.filter((word) => typeof word === 'string') : [];
}

/** The `jti`, which is unique to its issuer, or the hash of a token without a printable one. */
function credentialIdOf(token: string, { jti }: JWTPayload): string {
  if (jti !== undefined && /^[\x21-\x7e]{1,100}$/.test(jti)) return jti;
  return `sha256:${createHash('sha256').update(token).digest('hex')}`;
}
