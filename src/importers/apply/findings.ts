import type { Database } from '../../db/database.ts';
import { upsertFindings, type DetectionOutcome } from '../../domain/imports/upsert-findings.ts';
import { previewFindings, findStaleFindings, markStale } from '../../domain/imports/stale-findings.ts';
import {
  ALL_CHECKS,
  type ScanScope,
  recordScanScope,
  recordUntested,
  splitScanScopeKey,
} from '../../domain/imports/scan-scopes.ts';
import {
  type FindingsJob,
  type ImportPreview,
  type ImportResult,
  MAX_PREVIEWED,
} from '../../domain/imports/import-types.ts';
import type { ScanScopeKey, Detection } from '../../domain/imports/finding-detections.ts';
import { scanScopeKeyOf, parseTarget } from '../targets.ts';
import type { SkipCounter } from '../reading-state.ts';
import type { SpoolCursor } from '../spool/finding-spool.ts';
import type { ReportSpool } from '../spool/report-spool.ts';
import { AdaptiveWriter } from '../../db/concurrency/adaptive-writer.ts';

export interface ApplyContext {
  db: Database;
  job: FindingsJob;
  clock: () => number;
  signal: AbortSignal;
  spool: ReportSpool;
  skips: SkipCounter;
  /** Counts are added here. */
  result: ImportResult;
  preview: ImportPreview;
  /** Milliseconds since 1970. */
  reportAt: number;
  /** False if the time of the report is not understood, and the import's options give none. */
  isTimeKnown: boolean;
  /** Called with the fraction of the findings that is applied, from 0 to 1. */
  onApplied: (part: number) => void;
  /** Called for each page of gone findings and after each transaction, which may change no count. */
  onStep: () => void;
}

/** Findings in the first transaction and in the largest. */
const FIRST_BATCH = 100;
const MAX_BATCH = 4_000;
/** Scan scope rows, or identities of untested findings, per read. */
const PAGE_SIZE = 500;

const createWriter = ({ db, signal, job, onStep }: ApplyContext): AdaptiveWriter =>
  new AdaptiveWriter(db, signal, {
    dryRun: job.options.dryRun,
    size: FIRST_BATCH,
    maxSize: MAX_BATCH,
    onWrite: onStep,
  });

/**
 * Up to this many findings are applied in report order. More are applied in identity order, which keeps assets and
 * index pages together.
 */
const MAX_IN_ORDER = 10_000;

export async function applyFindings(run: ApplyContext): Promise<void> {
  const { job, clock, spool, skips, result, reportAt, isTimeKnown } = run;
  const writer = createWriter(run);
  const appliesInOrder = job.options.dryRun || spool.findings.count <= MAX_IN_ORDER;
  let after: SpoolCursor = appliesInOrder ? 0 : '';
  let applied = 0;
  for (;;) {
    const spooled = spool.findings.read(after, writer.batchSize, { reportAt, isTimeKnown });
    const last = spooled.at(-1);
    if (last === undefined) break;
    const detections = spooled.map(({ detection }) => detection);
    const upserted = await writer.write(spooled.length, (tx) => upsertFindings(tx, job, detections, clock()));
    for (const { isTruncated } of spooled) if (isTruncated) skips.add('truncated', {}, false);
    for (const asset of upserted.assetsCreated) {
      // Dry runs roll back, so every batch reports the same asset as created: count it once.
      if (!job.options.dryRun || spool.addCreatedAsset(asset)) result.assets_created += 1;
    }
    for (const asset of upserted.assetsOutside)
      if (spool.addOutsideAsset(asset)) result.assets_outside_scope += 1;
    countOutcomes(run, detections, upserted.outcomes);
    after = appliesInOrder ? last.sequence : last.detection.identity;
    applied += spooled.length;
    run.onApplied(applied / spool.findings.count);
  }
}

const RESULT_COUNTS = {
  new: 'findings_created',
  again: 'findings_seen_again',
  reopened: 'findings_reopened',
} as const satisfies Partial<Record<DetectionOutcome, keyof ImportResult>>;

function countOutcomes(
  { job, result, preview, skips }: ApplyContext,
  detections: readonly Detection[],
  outcomes: readonly DetectionOutcome[],
): void {
  for (const [index, outcome] of outcomes.entries()) {
    const detection = detections[index] as Detection;
    if (outcome === 'below') {
      skips.add('below minimum severity');
      continue;
    }
    result[RESULT_COUNTS[outcome]] += 1;
    const { asset } = detection;
    if (!job.options.dryRun) continue;
    if (preview[outcome].length < MAX_PREVIEWED)
      preview[outcome].push({
        title: detection.columns().title,
        ...(asset === null ? {} : { asset: asset.location }),
      });
  }
}

/** Marks findings as gone that a complete report covers and no longer contains. */
export async function applyGone(run: ApplyContext): Promise<void> {
  const writer = createWriter(run);
  const { job, spool, reportAt } = run;
  for (let after = ''; ;) {
    const identities = spool.readUntested(after, PAGE_SIZE);
    const last = identities.at(-1);
    if (last === undefined) break;
    await writer.write(identities.length, (tx) => recordUntested(tx, job, identities));
    after = last;
  }
  for (const scanScope of scanScopesOf(run)) {
    await writer.write(scanScope.keys.length, (tx) => recordScanScope(tx, job, scanScope, reportAt));
    await markMissing(run, writer, scanScope);
  }
}

async function markMissing(run: ApplyContext, writer: AdaptiveWriter, scanScope: ScanScope): Promise<void> {
  const { db, job, spool, result, preview, reportAt, clock, onStep } = run;
  for await (const staleFindings of findStaleFindings(db.read, job, scanScope, reportAt)) {
    onStep();
    const missing = staleFindings.filter(
      ({ identity }) => !spool.findings.has(identity) && !spool.isUntested(identity),
    );
    result.findings_gone += missing.filter(({ isGone, isHidden }) => isGone && !isHidden).length;
    const ids = missing.flatMap(({ id, isGone }) => (isGone ? [] : [id]));
    for (let start = 0; start < ids.length;) {
      const batch = ids.slice(start, start + writer.batchSize);
      start += batch.length;
      const goneIds = await writer.write(batch.length, (tx) => markStale(tx, job, batch, reportAt, clock()));
      result.findings_gone += goneIds.length;
      if (job.options.dryRun && preview.gone.length < MAX_PREVIEWED)
        preview.gone.push(
          ...(await previewFindings(db.read, goneIds.slice(0, MAX_PREVIEWED - preview.gone.length))),
        );
    }
  }
}

/** @returns `http` for `http/cves`, which is the group of findings whose report does not name the folder */
const parentOf = (checks: string): string => checks.replace(/\/[^]*/, '');

/** Yields the scan scopes of the report, then those of the import's options. */
function* scanScopesOf({ spool, job }: ApplyContext): Generator<ScanScope> {
  let after: readonly [string, string, string] = ['', '', ''];
  for (;;) {
    const rows = spool.readScanScopes(after, PAGE_SIZE);
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.cursor;
    let [keys, complete]: [ScanScopeKey[], ScanScopeKey[]] = [[], []];
    for (const [index, { source, key }] of rows.entries()) {
      const [checks, target] = splitScanScopeKey(key.key);
      if (checks === `${ALL_CHECKS}|`) complete.push({ ...key, key: target });
      else keys.push(key);
      const next = rows[index + 1];
      if (next?.source === source && next.key.ports === key.ports) continue;
      const { ports } = key;
      if (keys.length > 0) yield { source, keys, ports, checks: undefined, withSites: false };
      if (complete.length > 0) yield { source, keys: complete, ports, checks: 'all', withSites: false };
      [keys, complete] = [[], []];
    }
  }
  const targets = job.options.targets.flatMap((target) => scanScopeKeyOf(parseTarget(target)) ?? []);
  if (targets.length === 0) return;
  for (const source of spool.readSources()) {
    // The options say where the scan looked. The findings say which checks ran; without findings, all count.
    const checks = spool.readChecks(source);
    yield {
      source,
      keys: targets,
      ports: '',
      checks: checks.length === 0 ? 'all' : ['', ...checks, ...checks.map(parentOf)],
      withSites: true,
    };
  }
}
