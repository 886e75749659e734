import type { ImportJob } from '../domain/imports/import-types.ts';

/** Milliseconds. Earlier times are wrong: no supported tool existed. */
const EARLIEST_PLAUSIBLE = Date.UTC(1995, 0, 1);

/**
 * Determines the time of a report, in milliseconds since 1970 (docs/companions.md, section 7): its own time, else that
 * of its first import if the same bytes were imported before, else the one in the import's options, else the upload. The
 * options come before the first import if the report has a time that is not understood.
 */
export class ReportTime {
  readonly #job: ImportJob;
  readonly #earlier: number | undefined;
  #own: number | undefined;
  /** Whether a time of the report, or of a finding, is present and not understood. */
  #isUnclear = false;
  #newestHost: number | undefined;

  /** @param earlier the time of the same bytes on their first import */
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
    const given = this.given;
    // An earlier import of the same bytes could only use the time of its upload.
    const earlier = this.#isUnclear ? (given ?? this.#earlier) : this.#earlier;
    return this.#own ?? newest ?? this.#newestHost ?? earlier ?? given ?? this.#job.createdAt;
  }

  /** The time in the import's options. */
  get given(): number | undefined {
    return this.plausible(this.#job.options.scannedAt ?? undefined);
  }
}
