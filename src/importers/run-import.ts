import type { Database } from '../db/engine.ts';
import {
  type ImportJob,
  type ImportOutcome,
  type ImportPreview,
  type ImportProgress,
  NOTHING_DONE,
} from '../domain/imports/import-types.ts';
import { appliedBefore, firstTimeOf, noteReportTime } from '../domain/imports/previous-runs.ts';
import { applyFindings, applyGone } from './apply/findings.ts';
import { HostUnits } from './apply/hosts.ts';
import { identityOf } from './finding-identity.ts';
import { coverOf, sightedAssetOf } from './targets.ts';
import { type Format, ReportError, type ReportRecord, type ReportSource } from './report.ts';
import { ReportTime } from './report-time.ts';
import { settleFinding } from './normalize-finding.ts';
import { Skips } from './skip-counter.ts';
import { Spool } from './spool/report-spool.ts';

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
  const spool = new Spool();
  const result = { ...NOTHING_DONE };
  const preview: ImportPreview = { new: [], again: [], reopened: [], gone: [] };
  const progress: ImportProgress = { hosts: 0, ports: 0, findings: 0, skipped: 0, applied: 0 };
  const told = (): void => {
    progress.findings = spool.findings.count;
    progress.skipped = skips.count;
    onProgress({ ...progress });
  };
  const outcome: ImportOutcome = {
    state: 'succeeded',
    result,
    skips: [],
    preview: job.options.dryRun ? preview : null,
    error: null,
    progress,
    reportAt: null,
  };
  const end = (error: unknown): void => {
    if (signal.aborted) outcome.state = 'cancelled';
    else if (error instanceof ReportError) {
      outcome.state = 'failed';
      outcome.error = { message: error.message, ...error.place };
    } else throw error;
  };
  try {
    if (!job.options.dryRun) Object.assign(result, await appliedBefore(db.read, job));
    const time = new ReportTime(job, await firstTimeOf(db.read, job));
    const hosts = new HostUnits({ db, job, clock, signal, skips, result, spool });
    try {
      await readRecords({ format, source, job, signal, skips, spool, progress, told, time, hosts });
    } catch (error) {
      end(error);
    }
    spool.findings.group();
    const reportAt = time.at(spool.findings.newest);
    if (!job.options.dryRun) {
      outcome.reportAt = reportAt;
      await db.write((tx) => noteReportTime(tx, job, reportAt));
    }
    const { assessment } = job;
    if (assessment !== null && outcome.state !== 'cancelled') {
      const applied = (part: number): void => {
        progress.applied = part;
        told();
      };
      const run = {
        db,
        job: { ...job, assessment },
        clock,
        signal,
        spool,
        skips,
        result,
        preview,
        reportAt,
        applied,
      };
      try {
        await applyFindings(run);
        if (outcome.state === 'succeeded') await applyGone(run);
      } catch (error) {
        end(error);
      }
    }
    if (outcome.state === 'succeeded') progress.applied = 1;
    told();
    return { ...outcome, progress: { ...progress }, skips: skips.all() };
  } finally {
    spool.close();
  }
}

/** What reading a report needs. */
interface Reading extends Pick<ImportRun, 'format' | 'source' | 'job' | 'signal'> {
  skips: Skips;
  spool: Spool;
  progress: ImportProgress;
  told: () => void;
  time: ReportTime;
  hosts: HostUnits;
}

/** Takes the records of a report as they come; hosts that came before it breaks off are applied. */
async function readRecords(reading: Reading): Promise<void> {
  const { format, source, job, signal, hosts } = reading;
  reading.spool.addSource(format.name);
  try {
    for await (const record of format.read(source, { mapping: job.options.mapping })) {
      signal.throwIfAborted();
      // Most records wait for nothing, and a wait for nothing costs as much as a small one.
      const waits = takeRecord(reading, record);
      if (waits !== undefined) await waits;
    }
  } finally {
    if (!signal.aborted) await hosts.flush();
  }
}

/** @returns what to wait for before the next record */
function takeRecord(
  { format, job, skips, spool, progress, told, time, hosts }: Reading,
  record: ReportRecord,
): Promise<void> | undefined {
  switch (record.kind) {
    case 'report':
      time.tell(record.scannedAt);
      return undefined;
    case 'ports':
      return hosts.cover(record.ranges);
    case 'host':
      progress.hosts += 1;
      progress.ports += record.host.ports.length;
      told();
      return hosts.add(record.host, time);
    case 'finding': {
      const { finding, at } = record;
      if (job.assessment === null) skips.add('no assessment for findings', at);
      else {
        const { target } = finding;
        const from = finding.source ?? format.name;
        const asset = sightedAssetOf(target);
        const head = {
          identity: identityOf(finding, from, asset),
          source: from,
          asset,
          cover: coverOf(target, finding.ports),
          seenAt: time.believed(finding.seenAt) ?? null,
        };
        spool.add(head, settleFinding(finding));
      }
      break;
    }
    case 'covered': {
      const cover = coverOf(record.target, record.ports);
      if (cover !== null) spool.cover(record.source ?? format.name, cover);
      return undefined;
    }
    case 'skipped':
      skips.add(record.reason, record.at);
      break;
  }
  told();
  return undefined;
}
