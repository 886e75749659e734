import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { AddressSet } from '../../auth/ip-addresses.ts';
import { type ExternalIssuer, type ExternalToken, isExternalCredential } from '../../auth/external-issuer.ts';
import type { Keys } from '../../auth/keys.ts';
import type { Principal, CredentialBounds } from '../../auth/callers.ts';
import type { Scope } from '../../auth/scopes.ts';
import { hashSecret, isPersonalToken, hasPersonalPrefix } from '../../auth/secrets.ts';
import type { Database } from '../../db/database.ts';
import { BatchLoader } from '../../db/concurrency/batch-loader.ts';
import { SingleFlight } from '../../db/concurrency/single-flight.ts';
import { accountOf } from '../shared/account-rights.ts';
import {
  type CredentialVersions,
  type Credential,
  readCredentialVersions,
  credentialById,
  credentialBySecret,
  effectiveScopes,
  findTokenUser,
  isActive,
  areUnrevoked,
  recordTokenUse,
  type TokenUse,
} from './credentials.ts';
import { CONSOLE_CLIENT } from './oauth-clients.ts';

/** Counted by `sizeCalculation`: `max` would allocate memory for all entries at once. */
const MAX_TOKENS = 50_000;
const FLUSH_MILLISECONDS = 5_000;
/** Milliseconds between queries for tokens of suspect addresses. */
const SUSPECT_INTERVAL_MS = 50;
/** Small enough not to delay other transactions. */
const USES_PER_WRITE = 500;

export interface AuthenticatedToken extends Principal {
  /** `client` for an application that acts as an account of its own. */
  kind: 'user' | 'client';
  tokenId: string;
  /** The id in the audit log: for the console, its session. */
  credentialId: string;
  userId: number;
  uid: string;
  emailKey: string;
  scopes: ReadonlySet<Scope>;
  /** `null` allows every address. */
  allowedAddresses: AddressSet | null;
  bounds: CredentialBounds;
}

interface Entry {
  token: AuthenticatedToken;
  /** The rights from which the token was built, to notice changes. */
  rights: string;
  expiresAt: number;
  /** The claims of a token of the external issuer, which is not stored. */
  external: ExternalToken | undefined;
  /** The entry is valid while the versions are these. */
  versions: CredentialVersions;
}

/** A token from an address with too many invalid ones. */
interface Suspect {
  token: string;
  now: number;
}

/**
 * Authenticates tokens. Caches a verified token by its SHA-256, so that its signature is checked once, and again when
 * signing keys change. Expiry is checked at every use, revocation and bans whenever the credential version changes.
 */
export class TokenCache {
  readonly #db: Database;
  readonly #keys: Keys;
  readonly #external: ExternalIssuer | undefined;
  readonly #entries = new LRUCache<string, Entry>({ maxSize: MAX_TOKENS, sizeCalculation: () => 1 });
  #uses = new Map<string, TokenUse>();
  readonly #timer: NodeJS.Timeout;
  readonly #suspects = new BatchLoader(
    (suspects: readonly Suspect[]) => this.#checkSuspects(suspects),
    SUSPECT_INTERVAL_MS,
  );
  readonly #versions = new SingleFlight(() => readCredentialVersions(this.#db.read));
  #hits = 0;
  #misses = 0;

  /** @param external an issuer whose tokens are accepted as well */
  constructor(db: Database, keys: Keys, external?: ExternalIssuer) {
    this.#db = db;
    this.#keys = keys;
    this.#external = external;
    // Uses that cannot be written stay queued for the next flush.
    this.#timer = setInterval(() => void this.flush().catch(() => undefined), FLUSH_MILLISECONDS).unref();
  }

  /**
   * @param isSuspect whether the address has sent too many invalid tokens: unknown tokens then wait for a shared
   *   query, so that they cost a few queries per second, regardless of their number
   * @returns `undefined` when the token is unknown, expired or revoked, or its user is banned
   */
  async authenticate(token: string, now: number, isSuspect = false): Promise<AuthenticatedToken | undefined> {
    const key = createHash('sha256').update(token).digest('base64');
    if (isSuspect && !this.#entries.has(key) && !(await this.#mayBeGood(token, now))) return undefined;
    // Read before the token, so that a change in between invalidates the entry.
    const versions = await this.#versions.run();
    const entry = this.#entries.get(key);
    // The signing key of one of our tokens may be gone, so verify it again.
    const valid = entry?.external !== undefined || entry?.versions.keys === versions.keys ? entry : undefined;
    if (valid?.versions.credentials === versions.credentials) {
      this.#hits += 1;
      return valid.expiresAt > now ? valid.token : undefined;
    }
    this.#misses += 1;
    const external = valid === undefined ? await this.#readExternal(token, now) : valid.external;
    const credential =
      external !== undefined
        ? await this.#credentialOf(external)
        : valid === undefined
          ? await this.#prove(token, now)
          : await credentialById(this.#db.read, valid.token.tokenId);
    if (credential === undefined || !isActive(credential, now)) {
      this.#entries.delete(key);
      return undefined;
    }
    const rights = rightsText(credential);
    const identity = valid?.rights === rights ? valid.token : toAuthenticatedToken(credential);
    this.#entries.set(key, {
      token: identity,
      rights,
      expiresAt: credential.expiresAt ?? Number.POSITIVE_INFINITY,
      external,
      versions,
    });
    return identity;
  }

  /** Records a use, which the next flush writes. */
  recordUse(tokenId: string, use: TokenUse): void {
    // External tokens have no row.
    if (!isExternalCredential(tokenId)) this.#uses.set(tokenId, use);
  }

  /** Writes the recorded uses. */
  async flush(): Promise<void> {
    if (this.#uses.size === 0) return;
    const waiting = [...this.#uses];
    this.#uses = new Map();
    while (waiting.length > 0) {
      const chunk = waiting.splice(0, USES_PER_WRITE);
      try {
        await this.#db.write((tx) => recordTokenUse(tx, new Map(chunk)));
      } catch (error) {
        this.#uses = new Map([...chunk, ...waiting, ...this.#uses]);
        throw error;
      }
    }
  }

  statistics(): { hits: number; misses: number } {
    return { hits: this.#hits, misses: this.#misses };
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush().catch(() => undefined);
  }

  /**
   * Verifies a token that claims to be of the external issuer.
   * @throws IssuerUnreachable
   */
  async #readExternal(token: string, now: number): Promise<ExternalToken | undefined> {
    return this.#external?.isClaimedIssuerOf(token) === true ? this.#external.verify(token, now) : undefined;
  }

  /** @returns the rights of an external token by the current state of its account */
  async #credentialOf({
    id,
    user,
    organization,
    scopes,
    expiresAt,
    issuedAt,
  }: ExternalToken): Promise<Credential | undefined> {
    const holder = await findTokenUser(this.#db.read, user);
    if (holder === undefined) return undefined;
    if (organization !== undefined && organization !== holder.organization) return undefined;
    // A ban ends tokens for good.
    if (issuedAt <= (holder.reactivatedAt ?? -1)) return undefined;
    return {
      ...holder,
      tokenId: id,
      scopes: scopes.join(' '),
      allowedAddresses: null,
      expiresAt,
      revokedAt: null,
      clientId: null,
      grantId: null,
    };
  }

  /** Whether a suspect token deserves the queries of `authenticate`. */
  async #mayBeGood(token: string, now: number): Promise<boolean> {
    if (hasPersonalPrefix(token) && !isPersonalToken(token)) return false;
    return this.#external?.isClaimedIssuerOf(token) === true || this.#suspects.load({ token, now });
  }

  async #checkSuspects(suspects: readonly Suspect[]): Promise<boolean[]> {
    this.#misses += 1;
    const names = await Promise.all(
      suspects.map(async ({ token, now }) =>
        hasPersonalPrefix(token)
          ? { hash: hashSecret(token), id: null }
          : { hash: null, id: (await this.#keys.verify(token, now))?.jti ?? null },
      ),
    );
    return areUnrevoked(this.#db.read, names);
  }

  /** Verifies a token of ours that is not cached. */
  async #prove(token: string, now: number): Promise<Credential | undefined> {
    if (hasPersonalPrefix(token)) {
      return isPersonalToken(token) ? credentialBySecret(this.#db.read, token) : undefined;
    }
    const claims = await this.#keys.verify(token, now);
    if (claims?.jti === undefined) return undefined;
    const credential = await credentialById(this.#db.read, claims.jti);
    return credential?.uid === claims.sub ? credential : undefined;
  }
}

/** The rights that can change during the life of a token, as text. */
function rightsText({ organizationId, admin, staff, assigned, emailKey }: Credential): string {
  return JSON.stringify([organizationId, admin, staff, assigned, emailKey]);
}

function toAuthenticatedToken(credential: Credential): AuthenticatedToken {
  const allowedAddresses =
    credential.allowedAddresses === null ? null : (JSON.parse(credential.allowedAddresses) as string[]);
  return {
    kind: credential.clientId !== null && credential.grantId === null ? 'client' : 'user',
    tokenId: credential.tokenId,
    credentialId:
      credential.clientId === CONSOLE_CLIENT && credential.grantId !== null
        ? credential.grantId
        : credential.tokenId,
    userId: credential.userId,
    uid: credential.uid,
    emailKey: credential.emailKey,
    ...accountOf(credential),
    scopes: new Set(effectiveScopes(credential)),
    allowedAddresses: allowedAddresses === null ? null : new AddressSet(allowedAddresses),
    bounds: { tokenId: credential.tokenId, allowedAddresses, expiresAt: credential.expiresAt },
  };
}
