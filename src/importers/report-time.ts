import type { ImportJob } from '../domain/imports/import-types.ts';

/** In milliseconds. Earlier times are wrong, because no supported tool existed. */
const EARLIEST_PLAUSIBLE = Date.UTC(1995, 0, 1);

/**
 * Determines the time of a report, in milliseconds since 1970 (docs/companions.md, section 7): its own time, else the one in
 * the import's options, else that of the upload; of several imports of the same bytes the earliest.
 */
export class ReportTime {
  readonly #job: ImportJob;
  readonly #earlier: number | undefined;
  #own: number | undefined;
  /** Whether a time of the report, or of a finding, is present and not understood. */
  #isUnclear = false;
  #newestHost: number | undefined;

  /** @param earlier the earliest time that other imports give the same bytes */
  constructor(job: ImportJob, earlier: number | undefined) {
    this.#job = job;
    this.#earlier = earlier;
  }

  /** @returns the time if a scan can have that time: since 1995 and not after the upload */
  plausible(at: number | undefined): number | undefined {
    return at !== undefined && at >= EARLIEST_PLAUSIBLE && at <= this.#job.createdAt
      ? Math.trunc(at)
      : undefined;
  }

  /** False if the report has a time that is not understood, and the options give none. */
  get isKnown(): boolean {
    return this.#own !== undefined || !this.#isUnclear || this.#job.options.scannedAt !== null;
  }

  /** Records that a finding has a time that is not understood. */
  noteUnclear(): void {
    this.#isUnclear = true;
  }

  /** Sets the report's own time; the last one wins. NaN is one that is not understood. */
  set(at: number | undefined): void {
    if (Number.isNaN(at)) this.#isUnclear = true;
    this.#own = this.plausible(at) ?? this.#own;
  }

  /** @returns when a host was seen */
  hostTime(at: number | undefined): number {
    const believed = this.plausible(at);
    if (believed === undefined) return this.resolve(null);
    this.#newestHost = Math.max(believed, this.#newestHost ?? believed);
    return believed;
  }

  /** @param newest time of the findings, used if the report has none */
  resolve(newest: number | null): number {
    return this.#own ?? newest ?? this.#newestHost ?? Math.min(this.#fallback, this.#earlierOfSame);
  }

  /**
   * @param newest time of the findings
   * @returns the time in the options, or that of the upload, if the report has none itself and `resolve` returns it;
   *   `null` for a report that says when it was made, or says it in a way that is not understood
   */
  fallback(newest: number | null): number | null {
    const isStated = this.#own !== undefined || newest !== null || this.#newestHost !== undefined;
    return isStated || this.#isUnclear ? null : this.#fallback;
  }

  get #fallback(): number {
    return this.given ?? this.#job.createdAt;
  }

  /** Other imports of bytes with a time that is not understood say nothing. */
  get #earlierOfSame(): number {
    return this.#isUnclear ? Infinity : (this.#earlier ?? Infinity);
  }

  /** The time in the import's options. */
  get given(): number | undefined {
    return this.plausible(this.#job.options.scannedAt ?? undefined);
  }
}
