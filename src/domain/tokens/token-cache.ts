import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { AddressSet } from '../../auth/ip-addresses.ts';
import { type ExternalIssuer, type ExternalToken, isExternalCredential } from '../../auth/external-issuer.ts';
import type { Keys } from '../../auth/keys.ts';
import type { Account, CredentialBounds } from '../../auth/callers.ts';
import type { Scope } from '../../auth/scopes.ts';
import { hashSecret, isPersonalToken, hasPersonalPrefix } from '../../auth/secrets.ts';
import type { Database } from '../../db/engine.ts';
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
  areActive,
  recordTokenUse,
  type TokenUse,
} from './credentials.ts';
import { CONSOLE_CLIENT } from './oauth-clients.ts';

/** Counted one by one: what has a largest number of entries takes the memory for all of them at once. */
const MAX_TOKENS = 50_000;
const FLUSH_MILLISECONDS = 5_000;
/** The least time between two questions for tokens that come from where bad ones do. */
const SUSPECT_INTERVAL_MS = 50;
/** Last uses written in one unit of work, so that others need not wait long. */
const USES_PER_WRITE = 500;

/** A token that is good now, and what it is good for. */
export interface AuthenticatedToken extends Account {
  /** An application that acts as an account of its own, or whoever else has the token. */
  kind: 'user' | 'client';
  tokenId: string;
  /** What the audit log calls it: of the console, the session that it came by. */
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
  /** What the identity was made of that may change while the token lives. */
  rights: string;
  expiresAt: number;
  /** What a token of the external issuer says, of which the database knows nothing. */
  external: ExternalToken | undefined;
  /** What had happened when this was read: while no more has, it holds. */
  versions: CredentialVersions;
}

/** A token from where too many bad ones came. */
interface Suspect {
  token: string;
  now: number;
}

/**
 * Turns tokens into identities. A verified token is remembered by its SHA-256, so its signature is checked once,
 * and again when a signing key came or went; expiry is checked at every use, and revocation and bans whenever the
 * database says that credentials have changed.
 */
export class TokenCache {
  readonly #db: Database;
  readonly #keys: Keys;
  readonly #external: ExternalIssuer | undefined;
  readonly #entries = new LRUCache<string, Entry>({ maxSize: MAX_TOKENS, sizeCalculation: () => 1 });
  #uses = new Map<string, TokenUse>();
  readonly #timer: NodeJS.Timeout;
  readonly #suspects = new BatchLoader(
    (suspects: readonly Suspect[]) => this.#goodAmong(suspects),
    SUSPECT_INTERVAL_MS,
  );
  readonly #changes = new SingleFlight(() => readCredentialVersions(this.#db.read));
  #hits = 0;
  #misses = 0;

  /** @param external whose tokens are accepted beside our own */
  constructor(db: Database, keys: Keys, external?: ExternalIssuer) {
    this.#db = db;
    this.#keys = keys;
    this.#external = external;
    // A use that could not be written is not lost: it waits for the next flush.
    this.#timer = setInterval(() => void this.flush().catch(() => undefined), FLUSH_MILLISECONDS).unref();
  }

  /**
   * @param suspect whether it comes from where too many bad tokens came from: one that is not known yet then waits, so
   *   that however many there are, they cost a few questions a second
   * @returns who holds the token; `undefined` when it is unknown, expired or revoked, or its user is banned
   */
  async authenticate(token: string, now: number, suspect = false): Promise<AuthenticatedToken | undefined> {
    const key = createHash('sha256').update(token).digest('base64');
    if (suspect && !this.#entries.has(key) && !(await this.#mayBeGood(token, now))) return undefined;
    // Counted before the reading that it stands for, so that a change in between is seen next time.
    const versions = await this.#changes.run();
    const entry = this.#entries.get(key);
    // Of ours, it may have been signed with a key that is gone, so it is proved anew.
    const known = entry?.external !== undefined || entry?.versions.keys === versions.keys ? entry : undefined;
    if (known?.versions.credentials === versions.credentials) {
      this.#hits += 1;
      return known.expiresAt > now ? known.token : undefined;
    }
    this.#misses += 1;
    const external = known === undefined ? await this.#readExternal(token, now) : known.external;
    const credential =
      external !== undefined
        ? await this.#credentialOf(external)
        : known === undefined
          ? await this.#prove(token, now)
          : await credentialById(this.#db.read, known.token.tokenId);
    if (credential === undefined || !isActive(credential, now)) {
      this.#entries.delete(key);
      return undefined;
    }
    const rights = rightsText(credential);
    const identity = known?.rights === rights ? known.token : toAuthenticatedToken(credential);
    this.#entries.set(key, {
      token: identity,
      rights,
      expiresAt: credential.expiresAt ?? Number.POSITIVE_INFINITY,
      external,
      versions,
    });
    return identity;
  }

  /** Remembers that a token was used; written with the next flush. */
  recordUse(tokenId: string, use: TokenUse): void {
    // Nobody has a row for those of others.
    if (!isExternalCredential(tokenId)) this.#uses.set(tokenId, use);
  }

  /** Writes the last uses that wait. */
  async flush(): Promise<void> {
    if (this.#uses.size === 0) return;
    const waiting = [...this.#uses];
    this.#uses = new Map();
    while (waiting.length > 0) {
      const some = waiting.splice(0, USES_PER_WRITE);
      try {
        await this.#db.write((tx) => recordTokenUse(tx, new Map(some)));
      } catch (error) {
        this.#uses = new Map([...some, ...waiting, ...this.#uses]);
        throw error;
      }
    }
  }

  /** Tokens that needed no look at the database, and those that did. */
  statistics(): { hits: number; misses: number } {
    return { hits: this.#hits, misses: this.#misses };
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush().catch(() => undefined);
  }

  /**
   * Checks a token that was not seen before, if it is of the external issuer.
   * @throws IssuerUnreachable when that cannot be said now
   */
  async #readExternal(token: string, now: number): Promise<ExternalToken | undefined> {
    return this.#external?.issued(token) === true ? this.#external.verify(token, now) : undefined;
  }

  /** @returns what a token of the external issuer is good for now: its account may have changed since it was seen last */
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
    // What a ban ended stays so.
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

  /** @returns whether a token is worth the questions that `identify` asks of each */
  async #mayBeGood(token: string, now: number): Promise<boolean> {
    if (hasPersonalPrefix(token) && !isPersonalToken(token)) return false;
    return this.#external?.issued(token) === true || this.#suspects.load({ token, now });
  }

  async #goodAmong(suspects: readonly Suspect[]): Promise<boolean[]> {
    this.#misses += 1;
    const names = await Promise.all(
      suspects.map(async ({ token, now }) =>
        hasPersonalPrefix(token)
          ? { hash: hashSecret(token), id: null }
          : { hash: null, id: (await this.#keys.verify(token, now))?.jti ?? null },
      ),
    );
    return areActive(this.#db.read, names);
  }

  /** Checks a token of ours that was not seen before. */
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

/** What can change about a token while it lives, as one text. */
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
    bounds: { allowedAddresses, expiresAt: credential.expiresAt },
  };
}
