import { DatabaseBusy } from '../engine.ts';

/** So many at a time, in the order in which they came; who waits too long is refused. */
export class Semaphore {
  readonly #patience: number;
  readonly #waiting = new Set<() => void>();
  #free: number;

  /** @param patience how long one waits, in milliseconds */
  constructor(count: number, patience: number) {
    this.#free = count;
    this.#patience = patience;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves when it is one's turn, which lasts until `give`.
   * @throws Busy when all were taken for too long
   */
  async acquire(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const proceed = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(proceed);
        reject(new DatabaseBusy('Every connection to the database is in use.'));
      }, this.#patience).unref();
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
}
