import { LRUCache } from 'lru-cache';
import type { Database } from '../../db/database.ts';
import { SingleFlight } from '../../db/concurrency/single-flight.ts';
import { tokenAccount, type TokenAccount } from './token-claims.ts';
import { type CredentialVersions, readCredentialVersions } from './credentials.ts';
import { clientById, type OAuthClient } from './oauth-clients.ts';

/** Counted by `sizeCalculation`: `max` would allocate memory for all entries at once. */
const MAX_CLIENTS = 10_000;

/** A client and the account that it acts as, unless that is banned or deleted. */
export interface CachedClient extends OAuthClient {
  account: TokenAccount | undefined;
}

/** Caches clients and their accounts until the credential version changes. */
export class ClientCache {
  readonly #db: Database;
  readonly #versions: SingleFlight<CredentialVersions>;
  readonly #cache = new LRUCache<string, { client: CachedClient; version: number }>({
    maxSize: MAX_CLIENTS,
    sizeCalculation: () => 1,
  });

  constructor(db: Database) {
    this.#db = db;
    this.#versions = new SingleFlight(() => readCredentialVersions(db.read));
  }

  async find(id: string): Promise<CachedClient | undefined> {
    // Read before the client, so that a change in between invalidates the entry.
    const { credentials: version } = await this.#versions.run();
    const cached = this.#cache.get(id);
    if (cached?.version === version) return cached.client;
    const stored = await clientById(this.#db.read, id);
    // Unknown clients are not cached, because creating a client does not bump the version.
    if (stored === undefined) return undefined;
    const account = stored.userId === null ? undefined : await tokenAccount(this.#db.read, stored.userId);
    const client = { ...stored, account };
    this.#cache.set(id, { client, version });
    return client;
  }
}
