import { createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { fetchWithLimit } from './fetch-with-limit.ts';

const TIMEOUT = 5_000;

/** Finds the key of a token among fetched ones. */
export type FetchedKeys = ReturnType<typeof createLocalJWKSet>;

/** The keys (RFC 7517, section 5) that an issuer publishes at a URL. Times are milliseconds. */
export class RemoteKeys {
  readonly #url: string;
  readonly #lifetime: number;
  #cached: { keys: FetchedKeys; at: number } | undefined;
  #request: { keys: Promise<FetchedKeys>; at: number; running: boolean } | undefined;

  /** @param lifetime how long keys are used before they are requested again */
  constructor(url: string, lifetime: number) {
    this.#url = url;
    this.#lifetime = lifetime;
  }

  /** @returns the keys of the last request that succeeded; `undefined` if there are none, or they are too old */
  cached(now: number): FetchedKeys | undefined {
    return this.#cached !== undefined && isWithin(now, this.#cached.at, this.#lifetime)
      ? this.#cached.keys
      : undefined;
  }

  /**
   * Requests the keys. Calls share a running request, and its result until `interval` has passed since it began.
   * @throws Error if they cannot be fetched, or could not be fetched by a request that is shared
   */
  fetch(now: number, interval: number): Promise<FetchedKeys> {
    const last = this.#request;
    if (last !== undefined && (last.running || isWithin(now, last.at, interval))) return last.keys;
    const request = { keys: requestKeys(this.#url), at: now, running: true };
    this.#request = request;
    request.keys = request.keys
      .then((keys) => {
        this.#cached = { keys, at: now };
        return keys;
      })
      .finally(() => {
        request.running = false;
      });
    return request.keys;
  }
}

async function requestKeys(url: string): Promise<FetchedKeys> {
  const response = await fetchWithLimit(url, {
    method: 'GET',
    headers: { accept: 'application/jwk-set+json, application/json' },
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT),
  });
  if (response.status !== 200)
    throw new Error(`The response for the keys has the status ${response.status}.`);
  return createLocalJWKSet((await response.json()) as JSONWebKeySet);
}

/** Whether less than `span` has passed; not after the clock was set back. */
function isWithin(now: number, since: number, span: number): boolean {
  return now >= since && now < since + span;
}
