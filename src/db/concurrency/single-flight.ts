import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * A question that every request has to ask, and that those which wait at the same time ask together. Nobody gets an
 * answer to a question that was put before they came: what is true when a request arrives is true for it.
 */
export class SingleFlight<Answer> {
  readonly #put: () => Promise<Answer>;
  /** Settles when the last question that was put is answered. */
  #asked: Promise<unknown> = Promise.resolve();
  /** The answer to the question that is put next. */
  #next: Promise<Answer> | undefined;

  /** @param put asks once */
  constructor(put: () => Promise<Answer>) {
    this.#put = put;
  }

  run(): Promise<Answer> {
    this.#next ??= this.#asked.then(async () => {
      // Those that arrive in the same turn of the event loop share it, also where answers take no time.
      await nextTurn();
      this.#next = undefined;
      const answer = this.#put();
      this.#asked = answer.catch(() => undefined);
      return answer;
    });
    return this.#next;
  }
}
