import { type Configuration, type CustomFetch, getJwksCache, type JWKS, setJwksCache } from 'openid-client';
import { fetchWithLimit } from '../auth/fetch-with-limit.ts';

/** Milliseconds between two requests for keys. */
const FETCH_INTERVAL = 10_000;
/** Milliseconds for which keys are used without asking whether they still are the provider's. */
const LIFETIME = 300_000;
/** Seconds: from this age on, the library fetches keys again if it does not find one. */
const REFETCH_AGE = 60;

/**
 * The keys of a provider. A key that is not among the known ones is looked for at the provider at once, so that sign-ins
 * work after a rotation without overlap, but at most once in ten seconds.
 */
export class ProviderKeys {
  readonly #url: string;
  readonly #clock: () => number;
  #known: { keys: JWKS; fetchedAt: number } | undefined;
  #request: { response: Promise<Response>; at: number } | undefined;

  /** @param url a valid URL */
  constructor(url: string, clock: () => number) {
    // As the library requests it.
    this.#url = new URL(url).href;
    this.#clock = clock;
  }

  /** Requests to the provider. Those for its keys share a response, or a failure, for ten seconds. */
  readonly fetch: CustomFetch = async (url, options) => {
    if (url !== this.#url) return fetchWithLimit(url, options);
    const now = this.#clock();
    if (this.#request === undefined || now >= this.#request.at + FETCH_INTERVAL)
      this.#request = { response: fetchWithLimit(url, options), at: now };
    return (await this.#request.response).clone();
  };

  /**
   * Runs a verification with the known keys, and keeps keys that it fetched.
   * @param configuration not used before: the library would prefer keys that it has seen
   */
  async use<T>(configuration: Configuration, verify: () => Promise<T>): Promise<T> {
    const known = this.#known;
    // By the clock of the machine, which the library compares it with.
    const givenAt = Math.floor(Date.now() / 1_000) - REFETCH_AGE;
    if (known !== undefined && this.#clock() < known.fetchedAt + LIFETIME)
      setJwksCache(configuration, { jwks: known.keys, uat: givenAt });
    try {
      return await verify();
    } finally {
      const cache = getJwksCache(configuration);
      if (cache !== undefined && cache.uat !== givenAt && this.#request !== undefined)
        this.#known = { keys: cache.jwks, fetchedAt: this.#request.at };
    }
  }
}
