import { type Configuration, type CustomFetch, setJwksCache } from 'openid-client';
import { fetchWithLimit } from '../auth/fetch-with-limit.ts';
import { RemoteKeys } from '../auth/remote-keys.ts';

/** Milliseconds between two requests for keys. */
const FETCH_INTERVAL = 10_000;
/** Milliseconds for which keys are used without asking whether they still are the provider's. */
const LIFETIME = 300_000;
/** Seconds: from this age on, the library fetches keys again if it does not find one. */
const REFETCH_AGE = 60;

/**
 * The cached keys of a provider. Fetches them again for an unknown key, at most every ten seconds, so that sign-ins
 * work right after a key rotation.
 */
export class ProviderKeys {
  readonly #url: string;
  readonly #clock: () => number;
  readonly #keys: RemoteKeys;

  /** @param url a valid URL */
  constructor(url: string, clock: () => number) {
    // The library requests the normalized URL.
    this.#url = new URL(url).href;
    this.#clock = clock;
    this.#keys = new RemoteKeys(this.#url, LIFETIME);
  }

  /** Requests to the provider. Those for its keys share a response, or a failure, for ten seconds. */
  readonly fetch: CustomFetch = async (url, options) => {
    if (url !== this.#url) return fetchWithLimit(url, options);
    const keys = await this.#keys.fetch(this.#clock(), FETCH_INTERVAL);
    return Response.json(keys.jwks());
  };

  /**
   * Gives the known keys to a client.
   * @param configuration an unused configuration, because the library would prefer the keys that a used one has cached
   */
  provide(configuration: Configuration): void {
    const jwks = this.#keys.cached(this.#clock())?.jwks();
    // Uses the clock of the machine, as the library does.
    const uat = Math.floor(Date.now() / 1_000) - REFETCH_AGE;
    if (jwks !== undefined) setJwksCache(configuration, { jwks, uat });
  }
}
