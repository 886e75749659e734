import { LRUCache } from 'lru-cache';

const WINDOW_MILLISECONDS = 60_000;
/** Counted one by one: what has a largest number of entries takes the memory for all of them at once. */
const MAX_WINDOWS = 100_000;

export interface RateDecision {
  allowed: boolean;
  headers: Record<string, string>;
}

/** Counts requests a minute by key, in fixed windows that begin at a key's first request; kept in memory. */
export class RateLimiter {
  readonly #limit: number;
  readonly #windows = new LRUCache<string, { count: number; endsAt: number }>({
    maxSize: MAX_WINDOWS,
    sizeCalculation: () => 1,
  });

  /** @param limit requests a minute; 0 switches it off */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @returns whether the next request of this key would be one too many; it is not counted */
  isExhausted(key: string, now: number): boolean {
    const window = this.#windows.get(key);
    return this.#limit > 0 && window !== undefined && window.endsAt > now && window.count >= this.#limit;
  }

  /**
   * Counts one request.
   * @returns whether it may go on, and the `RateLimit` and `RateLimit-Policy` headers that tell so
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
