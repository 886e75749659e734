import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts';

/**
 * Deduplicates concurrent loads. A caller never joins a load that has already started: its result could be older than
 * the request. It joins the next one, which starts when the current one has settled.
 */
export class SingleFlight<Result> {
  readonly #load: () => Promise<Result>;
  /** Settles when the load in flight has settled. */
  #inFlight: Promise<unknown> = Promise.resolve();
  #next: Promise<Result> | undefined;

  constructor(load: () => Promise<Result>) {
    this.#load = load;
  }

  run(): Promise<Result> {
    this.#next ??= this.#inFlight.then(async () => {
      // Callers in the same turn of the event loop share the load, even if loads take no time.
      await yieldToEventLoop();
      this.#next = undefined;
      const result = this.#load();
      this.#inFlight = result.catch(() => undefined);
      return result;
    });
    return this.#next;
  }
}
