import { LRUCache } from 'lru-cache';
import type { Database } from '../../db/engine.ts';
import { SingleFlight } from '../../db/concurrency/single-flight.ts';
import { tokenAccount, type TokenAccount } from './token-claims.ts';
import { type CredentialVersions, readCredentialVersions } from './credentials.ts';
import { clientById, type OAuthClient } from './oauth-clients.ts';

/** Counted one by one: what has a largest number of entries takes the memory for all of them at once. */
const MAX_CLIENTS = 10_000;

/** A client, and the account that it acts as; without one when that is banned or gone. */
export interface CachedClient extends OAuthClient {
  account: TokenAccount | undefined;
}

/** Remembers the clients that ask for tokens, and their accounts, while the number of credential changes stands. */
export class ClientCache {
  readonly #db: Database;
  readonly #changes: SingleFlight<CredentialVersions>;
  readonly #known = new LRUCache<string, { client: CachedClient; changes: number }>({
    maxSize: MAX_CLIENTS,
    sizeCalculation: () => 1,
  });

  constructor(db: Database) {
    this.#db = db;
    this.#changes = new SingleFlight(() => readCredentialVersions(db.read));
  }

  /** @returns the client with this id, as it is now */
  async find(id: string): Promise<CachedClient | undefined> {
    // Counted before the reading that it stands for, so that a change in between is seen next time.
    const { credentials: changes } = await this.#changes.run();
    const known = this.#known.get(id);
    if (known?.changes === changes) return known.client;
    const found = await clientById(this.#db.read, id);
    // That of nobody is not remembered: no number tells of a client that is made.
    if (found === undefined) return undefined;
    const account = found.userId === null ? undefined : await tokenAccount(this.#db.read, found.userId);
    const client = { ...found, account };
    this.#known.set(id, { client, changes });
    return client;
  }
}
