interface SemaphoreOptions {
  permits: number;
  /** Maximum number of waiting callers; unlimited by default. */
  maxWaiting?: number;
  /** Milliseconds that a caller waits; unlimited by default. */
  timeout?: number;
  createError(waiting: number): Error;
}

/** Grants a limited number of permits in the order of requests. */
export class Semaphore {
  readonly #options: SemaphoreOptions;
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(options: SemaphoreOptions) {
    this.#options = options;
    this.#free = options.permits;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Throws what `acquire` would throw at once, for callers that check before they start other work. */
  requireCapacity(): void {
    const { maxWaiting = Number.POSITIVE_INFINITY, createError } = this.#options;
    if (this.#free === 0 && this.waiting >= maxWaiting) throw createError(this.waiting);
  }

  /**
   * Resolves with a permit, which the caller returns by `release`.
   * @throws what `createError` returns, when too many callers wait or the timeout has passed
   */
  async acquire(): Promise<void> {
    this.requireCapacity();
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    const { timeout, createError } = this.#options;
    await new Promise<void>((resolve, reject) => {
      const proceed = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer =
        timeout === undefined
          ? undefined
          : setTimeout(() => {
              this.#waiting.delete(proceed);
              reject(createError(this.waiting));
            }, timeout).unref();
      this.#waiting.add(proceed);
    });
  }

  release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }

  /** Runs `work` with a permit. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.acquire();
    try {
      return await work();
    } finally {
      this.release();
    }
  }
}
