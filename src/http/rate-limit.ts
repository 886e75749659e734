import { LRUCache } from 'lru-cache';

const WINDOW_MILLISECONDS = 60_000;
/** `max` would allocate memory for all of them at once; `maxSize` does not. */
const MAX_WINDOWS = 100_000;

export interface RateDecision {
  allowed: boolean;
  headers: Record<string, string>;
}

/** Limits requests per minute by key, in fixed windows that start at a key's first request. In memory only. */
export class RateLimiter {
  readonly #limit: number;
  readonly #windows = new LRUCache<string, { count: number; endsAt: number }>({
    maxSize: MAX_WINDOWS,
    sizeCalculation: () => 1,
  });

  /** @param limit requests a minute; 0 disables it */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @returns whether the next request of the key would exceed the limit, without counting it */
  isExhausted(key: string, now: number): boolean {
    const window = this.#windows.get(key);
    return this.#limit > 0 && window !== undefined && window.endsAt > now && window.count >= this.#limit;
  }

  /**
   * Counts a request.
   * @returns whether it is allowed, with the `RateLimit` and `RateLimit-Policy` headers
   *   (draft-ietf-httpapi-ratelimit-headers-10)
   */
  consume(key: string, now: number): RateDecision {
    if (this.#limit === 0) return { allowed: true, headers: {} };
    let window = this.#windows.get(key);
    if (window === undefined || window.endsAt <= now) {
      window = { count: 0, endsAt: now + WINDOW_MILLISECONDS };
      this.#windows.set(key, window);
    }
    window.count += 1;
    const seconds = Math.ceil((window.endsAt - now) / 1000);
    const allowed = window.count <= this.#limit;
    const remaining = Math.max(0, this.#limit - window.count);
    return {
      allowed,
      headers: {
        'ratelimit-policy': `"default";q=${this.#limit};w=${WINDOW_MILLISECONDS / 1000}`,
        ratelimit: `"default";r=${remaining};t=${seconds}`,
        ...(allowed ? {} : { 'retry-after': String(seconds) }),
      },
    };
  }
}
