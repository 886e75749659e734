import type { SkippedRecords } from '../domain/imports/import-types.ts';
import type { SourceLocation } from './report.ts';

/** Distinct reasons; later ones are counted together. */
const MAX_REASONS = 50;
const OTHER_REASONS = 'other reasons';

/** Counts skipped records by reason, with the location of the first. */
export class SkipCounter {
  readonly #skips = new Map<string, SkippedRecords>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** @param counted false if the record was imported and only cut */
  add(reason: string, at: SourceLocation = {}, counted = true): void {
    if (counted) this.#count += 1;
    const name = this.#skips.has(reason) || this.#skips.size < MAX_REASONS - 1 ? reason : OTHER_REASONS;
    const skip = this.#skips.get(name);
    if (skip === undefined) {
      const position =
        at.line === undefined ? (at.offset === undefined ? {} : { offset: at.offset }) : { line: at.line };
      this.#skips.set(name, { reason: name, count: 1, ...position });
    } else skip.count += 1;
  }

  list(): SkippedRecords[] {
    return [...this.#skips.values()];
  }
}
