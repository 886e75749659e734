import { createHash } from 'node:crypto';
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { fetchWithLimit } from './fetch-with-limit.ts';
import { isPlainText } from './plain-text.ts';
import { isScope, type Scope } from './scopes.ts';

/** Signatures that only the issuer can make: no `none`, and no secret that we would share with it (RFC 9068, section 4). */
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
const FETCH_TIMEOUT = 5_000;
/** How soon a key that is not there may be asked for again, and keys that could not be fetched. */
const FETCH_COOLDOWN = 30_000;
const RETRY_DELAY = 2_000;
/** How long keys are kept before they are fetched again. */
const KEYS_LIFETIME = 600_000;
/** Seconds that clocks may differ by. */
const CLOCK_TOLERANCE = 5;
const MAX_CLAIM_LENGTH = 255;

/** An issuer outside whose access tokens are accepted. */
export interface ExternalIssuerSettings {
  /** Its `iss`. */
  issuer: string;
  /** Where its keys are, or what they are. */
  keys: URL | JSONWebKeySet;
  /** What its tokens must be for; `undefined` means our own issuer. */
  audience: string | undefined;
  /** The claims that say who it is, for what, and of which organization, if any. */
  claims: { user: string; scope: string; organization: string | undefined };
  /** Our scopes, by theirs; `undefined` where theirs have the names of ours. */
  scopes: ReadonlyMap<string, readonly Scope[]> | undefined;
}

/** What a valid token of that issuer says. */
export interface ExternalToken {
  /** What the audit log calls it. */
  id: string;
  /** Whom it is for: by uid, or by an e-mail address that the issuer does not call unverified. */
  user: { uid: string } | { email: string };
  /** The uid of the organization; `null` where the token names none, `undefined` where nobody asks. */
  organization: string | null | undefined;
  scopes: readonly Scope[];
  /** In milliseconds since 1970. */
  expiresAt: number;
  /** The same; 0 for one that does not say. */
  issuedAt: number;
}

/** The keys of the issuer cannot be fetched, so nobody can say whether a token is good. */
export class IssuerUnreachable extends Error {
  override name = 'IssuerUnreachable';
}

const PREFIX = 'external:';

/** @returns whether the id of a credential is that of a token of an external issuer, which no table has */
export function isExternalCredential(credentialId: string): boolean {
  return credentialId.startsWith(PREFIX);
}

/** Verifies the access tokens of one issuer (RFC 9068, section 4). */
export class ExternalIssuer {
  readonly #settings: ExternalIssuerSettings;
  readonly #ownIssuer: () => string;
  readonly #keys: JWTVerifyGetKey;
  #failedAt = Number.NEGATIVE_INFINITY;

  /** @param ownIssuer what this deployment calls itself now, for tokens that need not say anything else */
  constructor(settings: ExternalIssuerSettings, ownIssuer: () => string) {
    this.#settings = settings;
    this.#ownIssuer = ownIssuer;
    this.#keys =
      settings.keys instanceof URL
        ? createRemoteJWKSet(settings.keys, {
            timeoutDuration: FETCH_TIMEOUT,
            cooldownDuration: FETCH_COOLDOWN,
            cacheMaxAge: KEYS_LIFETIME,
            [customFetch]: fetchWithLimit,
          })
        : createLocalJWKSet(settings.keys);
  }

  /** @returns whether a token says that it is of this issuer; nothing is fetched for one that does not */
  issued(token: string): boolean {
    try {
      return decodeJwt(token).iss === this.#settings.issuer;
    } catch {
      return false;
    }
  }

  /**
   * @param now in milliseconds since 1970
   * @returns what a token says; `undefined` when it is not valid now, not for us, or does not say what it should
   * @throws IssuerUnreachable when its keys cannot be fetched
   */
  async verify(token: string, now: number): Promise<ExternalToken | undefined> {
    const { issuer, audience } = this.#settings;
    try {
      const { payload } = await jwtVerify(token, (header, jws) => this.#findKey(now, header, jws), {
        issuer,
        audience: audience ?? this.#ownIssuer(),
        algorithms: ALGORITHMS,
        // An ID token, which has another type, is none (RFC 9068, section 4).
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

  #findKey: (now: number, ...input: Parameters<JWTVerifyGetKey>) => ReturnType<JWTVerifyGetKey> = async (
    now,
    ...input
  ) => {
    // While it does not answer, nobody waits for it, and it is not asked by every request.
    if (now >= this.#failedAt && now < this.#failedAt + RETRY_DELAY)
      throw new IssuerUnreachable(`The keys of ${this.#settings.issuer} could not be fetched a moment ago.`);
    try {
      return await this.#keys(...input);
    } catch (error) {
      const isAnswer =
        error instanceof errors.JWKSNoMatchingKey ||
        error instanceof errors.JWKSMultipleMatchingKeys ||
        error instanceof errors.JOSENotSupported;
      if (isAnswer || !(this.#settings.keys instanceof URL)) throw error;
      this.#failedAt = now;
      throw new IssuerUnreachable(`The keys of ${this.#settings.issuer} cannot be fetched.`, {
        cause: error,
      });
    }
  };

  #read(token: string, payload: JWTPayload): ExternalToken | undefined {
    const { claims, scopes } = this.#settings;
    const user = payload[claims.user];
    if (!isClaimText(user) || payload.exp === undefined) return undefined;
    const byEmail = claims.user === 'email';
    if (byEmail && (payload['email_verified'] ?? true) !== true) return undefined;
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
  return typeof value === 'string' && isPlainText(value, MAX_CLAIM_LENGTH);
}

/** RFC 6749, section 3.3: words with spaces between; some issuers send a list. */
function parseScopeClaim(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(' ');
  return Array.isArray(claim) ? claim.filter((word) => typeof word === 'string') : [];
}

/** A `jti` is unique to its issuer; a token without a plain one is known by its hash. */
function credentialIdOf(token: string, { jti }: JWTPayload): string {
  if (jti !== undefined && /^[\x21-\x7e]{1,100}$/.test(jti)) return jti;
  return `sha256:${createHash('sha256').update(token).digest('hex')}`;
}
