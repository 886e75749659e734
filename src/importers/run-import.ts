import type { Database } from '../db/database.ts';
import {
  type ImportJob,
  type ImportOutcome,
  type ImportPreview,
  type RunProgress,
  EMPTY_RESULT,
} from '../domain/imports/import-types.ts';
import { AdaptiveWriter } from '../db/concurrency/adaptive-writer.ts';
import { countAlreadyApplied } from '../domain/imports/resume-point.ts';
import { alignReportTimes, earliestReportTime, saveReportTime } from '../domain/imports/report-times.ts';
import { applyFindings, applyGone } from './apply/findings.ts';
import { HostApplier } from './apply/hosts.ts';
import { identityOf, scanScopeKeyOf, assetOfTarget } from './targets.ts';
import { type ReportFormat, ReportError, type ReportRecord, type ByteSource } from './report.ts';
import { ReportTags, ReportTime, SkipCounter } from './reading-state.ts';
import { toUtf8 } from './parsing/encodings.ts';
import { normalizeFinding } from './normalize-finding.ts';
import { ReportSpool } from './spool/report-spool.ts';

export interface ImportRun {
  db: Database;
  /** The decompressed bytes of the report. */
  source: ByteSource;
  format: ReportFormat;
  job: ImportJob;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Stops the run at the next record or transaction; applied changes are kept. */
  signal: AbortSignal;
  /**
   * Called for each finding, host and skipped record, and after each transaction, even if no count has changed; must be
   * cheap.
   */
  onProgress?: (progress: RunProgress) => void;
  /** Called before the findings are grouped, which may block the thread for minutes. */
  onGroup?: () => void;
}

/**
 * Runs an import: applies hosts while it reads the report, findings afterwards, in small transactions. A run that is
 * repeated after a crash has the same result.
 * @returns how the run ended, also for a truncated report and a cancelled run
 * @throws StorageError; applied changes are kept, and the run may be repeated
 */
export async function runImport({
  db,
  source,
  format,
  job,
  clock,
  signal,
  onProgress = () => undefined,
  onGroup = () => undefined,
}: ImportRun): Promise<ImportOutcome> {
  const skips = new SkipCounter();
  const spool = new ReportSpool();
  const result = { ...EMPTY_RESULT };
  const preview: ImportPreview = { new: [], again: [], reopened: [], gone: [] };
  const progress: RunProgress = { hosts: 0, ports: 0, findings: 0, skipped: 0, applied: 0 };
  const reportProgress = (): void => {
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
  const recordStop = (error: unknown): void => {
    if (signal.aborted) outcome.state = 'cancelled';
    else if (error instanceof ReportError) {
      outcome.state = 'failed';
      outcome.error = { message: error.message, ...error.location };
    } else throw error;
  };
  try {
    if (!job.options.dryRun) Object.assign(result, await countAlreadyApplied(db.read, job, spool));
    const time = new ReportTime(job, await earliestReportTime(db.read, job));
    const hostApplier = new HostApplier({
      db,
      job,
      clock,
      signal,
      skips,
      result,
      spool,
      onWrite: reportProgress,
    });
    try {
      const tags = new ReportTags();
      await readRecords({
        format,
        source,
        job,
        signal,
        skips,
        spool,
        progress,
        reportProgress,
        time,
        hosts: hostApplier,
        tags,
      });
      if (progress.hosts === 0 && spool.findings.count === 0) skips.failIfNothingWasRead();
    } catch (error) {
      recordStop(error);
    }
    const { line, offset } = outcome.error ?? {};
    if (outcome.error !== null && line === undefined && offset !== undefined)
      Object.assign(outcome.error, await lineAt(source, offset, signal));
    onGroup();
    spool.findings.group();
    reportProgress();
    const reportAt = time.resolve(spool.findings.newest);
    if (!job.options.dryRun) {
      outcome.reportAt = reportAt;
      const fallbackAt = time.fallback(spool.findings.newest);
      await db.write((tx) => saveReportTime(tx, job, reportAt, fallbackAt));
    }
    const { assessment } = job;
    if (assessment !== null && job.canReport && outcome.state !== 'cancelled') {
      const onApplied = (appliedShare: number): void => {
        progress.applied = appliedShare;
        reportProgress();
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
        isTimeKnown: time.isKnown,
        onApplied,
        onStep: reportProgress,
      };
      try {
        await applyFindings(run);
        // A report of unknown time may be older than what is stored.
        if (outcome.state === 'succeeded' && time.isKnown) await applyGone(run);
      } catch (error) {
        recordStop(error);
      }
    }
    if (!job.options.dryRun && outcome.state !== 'cancelled')
      await alignImports({ db, job, clock, signal }, reportProgress).catch(recordStop);
    if (outcome.state === 'succeeded') progress.applied = 1;
    reportProgress();
    return { ...outcome, progress: { ...progress }, skips: skips.list() };
  } finally {
    spool.close();
  }
}

/** Gives this and other imports of the same bytes the same time. */
function alignImports(
  { db, job, clock, signal }: Pick<ImportRun, 'db' | 'job' | 'clock' | 'signal'>,
  onWrite: () => void,
) {
  const writer = new AdaptiveWriter(db, signal, { dryRun: false, size: 100, maxSize: 1_000, onWrite });
  const by = () => ({ actor: job.caller, now: clock() });
  return alignReportTimes({ db, writer, by }, { ...job, assessmentId: job.assessment?.id ?? null });
}

/**
 * Finds the line of an error in JSON. Its parser counts only bytes, because counting lines as well would slow it down.
 * @returns the line of a byte, from 1; nothing if the report cannot be read up to there again
 */
async function lineAt(source: ByteSource, offset: number, signal: AbortSignal): Promise<{ line?: number }> {
  let line = 1;
  let position = 0;
  try {
    for await (const chunk of toUtf8(source())) {
      const end = Math.min(chunk.length, offset - position);
      for (let index = chunk.indexOf(0x0a); index >= 0 && index < end; index = chunk.indexOf(0x0a, index + 1))
        line += 1;
      position += chunk.length;
      if (position >= offset) break;
    }
    return { line };
  } catch (error) {
    if (error instanceof ReportError || signal.aborted) return {};
    throw error;
  }
}

const UNCLEAR_TIME = 'time not understood';

interface ReadContext extends Pick<ImportRun, 'format' | 'source' | 'job' | 'signal'> {
  tags: ReportTags;
  skips: SkipCounter;
  spool: ReportSpool;
  progress: RunProgress;
  reportProgress: () => void;
  time: ReportTime;
  hosts: HostApplier;
}

/** Handles the records of a report one by one. Applies the hosts that precede an error. */
async function readRecords(context: ReadContext): Promise<void> {
  const { format, source, job, signal, hosts } = context;
  context.spool.addSource(format.name);
  try {
    for await (const record of format.read(source, job.options)) {
      signal.throwIfAborted();
      // Awaiting `undefined` for every record would be measurably slower.
      const written = handleRecord(context, record);
      if (written !== undefined) await written;
    }
  } finally {
    await (signal.aborted ? hosts.whenWritten() : hosts.finish());
  }
}

/** @returns a promise to await before the next record, if any */
function handleRecord(
  { format, job, skips, spool, progress, reportProgress, time, hosts, tags }: ReadContext,
  record: ReportRecord,
): Promise<void> | undefined {
  switch (record.kind) {
    case 'report':
      if (Number.isNaN(record.scannedAt)) skips.add(UNCLEAR_TIME, {}, false);
      time.set(record.scannedAt);
      return undefined;
    case 'ports':
      hosts.setScannedPorts(record.ranges);
      return undefined;
    case 'host':
      if (spool.addHost(record.host.address)) progress.hosts += 1;
      progress.ports += record.host.ports.length;
      if (Number.isNaN(record.host.seenAt)) skips.add(UNCLEAR_TIME, {}, false);
      reportProgress();
      return hosts.add(record.host, time);
    case 'finding': {
      const { finding, location } = record;
      if (job.assessment === null) skips.add('no assessment for findings', location);
      else if (!job.canReport) skips.add('your role does not permit reporting findings', location);
      else {
        const { target } = finding;
        const source = finding.source ?? format.name;
        const asset = assetOfTarget(target);
        const isUnclear = Number.isNaN(finding.seenAt);
        if (isUnclear) {
          skips.add(finding.unclearTime ?? UNCLEAR_TIME, location, false);
          time.noteUnclear();
        }
        const header = {
          identity: identityOf(finding, source, asset),
          source,
          asset,
          scanScope: scanScopeKeyOf(target, finding.ports, finding.checks),
          seenAt: (isUnclear ? time.optionsTime : time.plausible(finding.seenAt)) ?? null,
          isTimeUnclear: isUnclear && job.options.scannedAt === null,
          tags: finding.tags === undefined ? [] : tags.take(finding.tags, skips, location),
        };
        spool.add(header, normalizeFinding(finding));
        spool.addChecks(source, finding.checks ?? '');
      }
      break;
    }
    case 'covered':
      spool.addScanScope(
        record.source ?? format.name,
        scanScopeKeyOf(record.target, record.ports),
        record.checks,
      );
      return undefined;
    case 'untested':
      spool.addUntested(identityOf(record.finding, record.finding.source ?? format.name));
      skips.add(record.reason, record.location);
      break;
    case 'skipped':
      skips.add(record.reason, record.location);
      break;
    case 'partial':
      skips.add(record.reason, record.location, false);
      break;
    case 'unreadable':
      skips.addUnreadable(record.reason, record.location);
      break;
  }
  reportProgress();
  return undefined;
}
