import type { SkippedRecords, ImportJob } from '../domain/imports/import-types.ts';
import { ReportError, type SourceLocation } from './report.ts';
import { replaceControlCharacters, validateName } from '../domain/shared/names.ts';
import { foldName } from '../lib/fold-case.ts';

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
  addUnreadable(reason: string, location?: SourceLocation): void {
    this.add(reason, location);
    this.#unreadable += 1;
  }

  /** Call it only if no host or finding was read. @throws ReportError if every skipped record was unreadable */
  failIfNothingWasRead(): void {
    if (this.#count === 0 || this.#unreadable < this.#count) return;
    const reasons = this.list().map(({ reason, count }) => `${reason} (${count})`);
    const [{ line, offset } = {}] = this.list();
    throw new ReportError(
      `None of the ${this.#count} records could be read: ${reasons.slice(0, MAX_NAMED).join(', ')}.`,
      { ...(line === undefined ? {} : { line }), ...(offset === undefined ? {} : { offset }) },
    );
  }

  /** @param isCounted false if the record was imported and only cut */
  add(reason: string, { line, offset }: SourceLocation = {}, isCounted = true): void {
    if (isCounted) this.#count += 1;
    const name = this.#skips.has(reason) || this.#skips.size < MAX_REASONS - 1 ? reason : OTHER_REASONS;
    const skip = this.#skips.get(name);
    if (skip === undefined) {
      const position = line === undefined ? (offset === undefined ? {} : { offset }) : { line };
      this.#skips.set(name, { reason: name, count: 1, ...position });
    } else skip.count += 1;
  }

  list(): SkippedRecords[] {
    return [...this.#skips.values()];
  }
}

/** Milliseconds since 1970. No supported tool existed before, so earlier times are wrong. */
const EARLIEST_PLAUSIBLE = Date.UTC(1995, 0, 1);

/**
 * Determines the time of a report, in milliseconds since 1970 (docs/companions.md, section 7): its own time, else that
 * of its newest finding, else that of its newest host, else the one in the import's options, else that of the upload.
 * Of several imports of the same bytes without a time of their own, the earliest.
 */
export class ReportTime {
  readonly #job: ImportJob;
  readonly #earlier: number | undefined;
  #ownTime: number | undefined;
  /** Whether a time of the report, or of a finding, is present and not understood. */
  #isUnclear = false;
  #newestHost: number | undefined;

  /** @param earlier the earliest time that other imports give the same bytes */
  constructor(job: ImportJob, earlier: number | undefined) {
    this.#job = job;
    this.#earlier = earlier;
  }

  /** @returns the time if a scan can have that time: since 1995 and not after the upload */
  plausible(time: number | undefined): number | undefined {
    return time !== undefined && time >= EARLIEST_PLAUSIBLE && time <= this.#job.createdAt
      ? Math.trunc(time)
      : undefined;
  }

  /** False if the report has a time that is not understood, and the options give none. */
  get isKnown(): boolean {
    return this.#ownTime !== undefined || !this.#isUnclear || this.#job.options.scannedAt !== null;
  }

  /** Records that a finding has a time that is not understood. */
  noteUnclear(): void {
    this.#isUnclear = true;
  }

  /** Sets the report's own time; the last one wins. NaN stands for a time that is not understood. */
  set(time: number | undefined): void {
    if (Number.isNaN(time)) this.#isUnclear = true;
    this.#ownTime = this.plausible(time) ?? this.#ownTime;
  }

  /** @returns when a host was seen */
  hostTime(time: number | undefined): number {
    const plausibleTime = this.plausible(time);
    if (plausibleTime === undefined) return this.resolve(null);
    this.#newestHost = Math.max(plausibleTime, this.#newestHost ?? plausibleTime);
    return plausibleTime;
  }

  /** @param newest time of the findings, used if the report has none */
  resolve(newest: number | null): number {
    return this.#ownTime ?? newest ?? this.#newestHost ?? Math.min(this.#fallback, this.#earlierImportTime);
  }

  /**
   * @param newest time of the findings
   * @returns the time in the options, or that of the upload, if the report has no time; `null` for a report that states
   *   its time, even in a form that is not understood
   */
  fallback(newest: number | null): number | null {
    const isStated = this.#ownTime !== undefined || newest !== null || this.#newestHost !== undefined;
    return isStated || this.#isUnclear ? null : this.#fallback;
  }

  get #fallback(): number {
    return this.optionsTime ?? this.#job.createdAt;
  }

  /** The earliest time of other imports of the same bytes; ignored if the report has a time that is not understood. */
  get #earlierImportTime(): number {
    return this.#isUnclear ? Infinity : (this.#earlier ?? Infinity);
  }

  get optionsTime(): number | undefined {
    return this.plausible(this.#job.options.scannedAt ?? undefined);
  }
}

/** Distinct names per report, and per finding: each becomes a tag of the organization. */
const MAX_NAMES = 200;
const MAX_PER_FINDING = 50;

export class ReportTags {
  readonly #names = new Set<string>();

  /** @returns the valid names within the limits; adds the others to `skips` */
  take(names: readonly string[], skips: SkipCounter, location: SourceLocation | undefined): string[] {
    const validNames = names.slice(0, MAX_PER_FINDING).flatMap((text) => {
      const name = replaceControlCharacters(text).trim();
      const key = foldName(name);
      if (validateName('tag', name) !== undefined) return [];
      if (!this.#names.has(key) && this.#names.size >= MAX_NAMES) return [];
      this.#names.add(key);
      return name;
    });
    if (validNames.length < names.length) skips.add('tag not imported', location, false);
    return [...new Set(validNames)];
  }
}
