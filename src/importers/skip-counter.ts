import type { SkippedRecords } from '../domain/imports/import-types.ts';
import { ReportError, type SourceLocation } from './report.ts';

/** Distinct reasons; later ones are counted together. */
const MAX_REASONS = 50;
/** Reasons in the message of an error. */
const MAX_NAMED = 5;
const OTHER_REASONS = 'other reasons';

/** Counts skipped records by reason, with the location of the first. */
export class SkipCounter {
  readonly #skips = new Map<string, SkippedRecords>();
  #count = 0;
  #unreadable = 0;

  get count(): number {
    return this.#count;
  }

  /** Counts a record that could not be read. */
  addUnreadable(reason: string, at?: SourceLocation): void {
    this.add(reason, at);
    this.#unreadable += 1;
  }

  /** @throws ReportError if every record was unreadable */
  failIfNothingWasRead(): void {
    if (this.#count === 0 || this.#unreadable < this.#count) return;
    const reasons = this.list().map(({ reason, count }) => `${reason} (${count})`);
    const [{ line, offset } = {}] = this.list();
    throw new ReportError(
      `None of the ${this.#count} records could be read: ${reasons.slice(0, MAX_NAMED).join(', ')}.`,
      { ...(line === undefined ? {} : { line }), ...(offset === undefined ? {} : { offset }) },
    );
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
