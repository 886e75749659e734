/** Keys with a count of their own. Further ones are counted together. */
const MAX_KEYS = 10_000;
const OTHERS = '';

interface Repetitions {
  count: number;
  /** The fields of the last one. */
  fields: object;
}

/**
 * Limits the log lines of events that anyone can cause. Logs the first event of a key immediately, and then the number
 * of repetitions once per interval. Holds at most 10,000 keys.
 */
export class LogThrottle {
  readonly #interval: number;
  readonly #write: (fields: object, count: number) => void;
  readonly #byKey = new Map<string, Repetitions>();
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param interval in ms, from the first event after a pause
   * @param write logs the repetitions of a key, with the fields of the last one; `{ others: true }` for those of all
   *   keys beyond the maximum
   */
  constructor(interval: number, write: (fields: object, count: number) => void) {
    this.#interval = interval;
    this.#write = write;
  }

  /**
   * @param key not empty
   * @param fields kept until the end of the interval, so they should be small
   * @returns whether the caller logs the event now; otherwise it is counted
   */
  isFirst(key: string, fields: object): boolean {
    const entry = this.#byKey.get(key);
    if (entry !== undefined) {
      entry.count += 1;
      entry.fields = fields;
      return false;
    }
    this.#timer ??= setInterval(() => this.flush(), this.#interval).unref();
    if (this.#byKey.size < MAX_KEYS) {
      this.#byKey.set(key, { count: 0, fields });
      return true;
    }
    const othersEntry = this.#byKey.get(OTHERS);
    if (othersEntry === undefined) this.#byKey.set(OTHERS, { count: 1, fields: { others: true } });
    else othersEntry.count += 1;
    return false;
  }

  /** Logs the counts, and forgets the keys that had no event since the last time. */
  flush(): void {
    for (const [key, repetitions] of this.#byKey) {
      const { count, fields } = repetitions;
      if (count === 0 || key === OTHERS) this.#byKey.delete(key);
      repetitions.count = 0;
      if (count > 0) this.#write(fields, count);
    }
    if (this.#byKey.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
