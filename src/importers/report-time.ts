import type { ImportJob } from '../domain/imports/import-types.ts';

/** Before it no report has a time that is believed. */
const EARLIEST_PLAUSIBLE = Date.UTC(1995, 0, 1);

/**
 * The time of a report, in milliseconds since 1970 (docs/companions.md, section 7): its own, else what whoever imports says,
 * else that of its upload, and for bytes that were seen before the time that they had then.
 */
export class ReportTime {
  readonly #job: ImportJob;
  readonly #earlier: number | undefined;
  #own: number | undefined;
  #newestHost: number | undefined;

  /** @param earlier which time the same bytes had at first */
  constructor(job: ImportJob, earlier: number | undefined) {
    this.#job = job;
    this.#earlier = earlier;
  }

  /** @returns a time that can be one of a scan: since 1995, and not after the upload */
  plausible(at: number | undefined): number | undefined {
    return at !== undefined && at >= EARLIEST_PLAUSIBLE && at <= this.#job.createdAt
      ? Math.trunc(at)
      : undefined;
  }

  /** Takes what the report says of itself; the last word counts. */
  set(at: number | undefined): void {
    this.#own = this.plausible(at) ?? this.#own;
  }

  /** @returns when a host was seen */
  hostTime(at: number | undefined): number {
    const believed = this.plausible(at);
    if (believed === undefined) return this.resolve(null);
    this.#newestHost = Math.max(believed, this.#newestHost ?? believed);
    return believed;
  }

  /** @param newest of its findings, which tells the time of a report that does not */
  resolve(newest: number | null): number {
    return (
      this.#own ??
      newest ??
      this.#newestHost ??
      this.#earlier ??
      this.plausible(this.#job.options.scannedAt ?? undefined) ??
      this.#job.createdAt
    );
  }
}
