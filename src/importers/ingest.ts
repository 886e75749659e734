import type { Database } from '../db/engine.ts';
import {
  type ImportJob,
  type ImportOutcome,
  type ImportProgress,
  NOTHING_DONE,
} from '../domain/imports/import-job.ts';
import { HostUnits } from './host-units.ts';
import { type Format, ReportError, type ReportSource } from './report.ts';
import { Skips } from './skips.ts';

/** A run of an import. */
export interface ImportRun {
  db: Database;
  /** The bytes of the report, unpacked. */
  source: ReportSource;
  format: Format;
  job: ImportJob;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Ends the run at the next record or unit: what was applied stays. */
  signal: AbortSignal;
  /** Told often, and cheap to be told: whoever writes it does so at times. */
  onProgress?: (progress: ImportProgress) => void;
}

/** Before it no report has a time that is believed. */
const EARLIEST = Date.UTC(1995, 0, 1);

/**
 * Runs an import: hosts are applied as they come, findings once the report was read, in units of work that leave others
 * room. Run again after a crash it ends the same.
 * @returns how it ended, also for a report that breaks off and for a run that was cancelled
 * @throws Unavailable when the database cannot take it now; what was applied stays, and it can be run again
 */
export async function runImport({
  db,
  source,
  format,
  job,
  clock,
  signal,
  onProgress = () => undefined,
}: ImportRun): Promise<ImportOutcome> {
  const skips = new Skips();
  const result = { ...NOTHING_DONE };
  const progress: ImportProgress = { hosts: 0, ports: 0, findings: 0, skipped: 0, applied: 0 };
  const outcome: ImportOutcome = {
    state: 'succeeded',
    result,
    skips: [],
    preview: null,
    error: null,
    progress,
    reportAt: job.options.scannedAt ?? job.createdAt,
  };
  const told = (): void => {
    progress.skipped = skips.count;
    onProgress({ ...progress });
  };
  const hosts = new HostUnits({ db, job, clock, signal, skips, result });
  try {
    try {
      for await (const record of format.read(source, { mapping: job.options.mapping })) {
        signal.throwIfAborted();
        switch (record.kind) {
          case 'report':
            if (isBelieved(record.scannedAt, job)) outcome.reportAt = record.scannedAt;
            break;
          case 'ports':
            await hosts.cover(record.ranges);
            break;
          case 'host':
            progress.hosts += 1;
            progress.ports += record.host.ports.length;
            await hosts.add(record.host, outcome.reportAt);
            told();
            break;
          case 'skipped':
            skips.add(record.reason, record.at);
            break;
          case 'finding':
          case 'covered':
            break;
        }
      }
    } finally {
      if (!signal.aborted) await hosts.flush();
    }
  } catch (error) {
    if (signal.aborted) outcome.state = 'cancelled';
    else if (error instanceof ReportError) {
      outcome.state = 'failed';
      outcome.error = { message: error.message, ...error.place };
    } else throw error;
  }
  told();
  return { ...outcome, skips: skips.all() };
}

/** @returns whether a time can be one of a report: since 1995, and not after its upload */
export function isBelieved(at: number | undefined, { createdAt }: ImportJob): at is number {
  return at !== undefined && at >= EARLIEST && at <= createdAt;
}
