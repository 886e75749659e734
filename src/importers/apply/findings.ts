import type { Database } from '../../db/engine.ts';
import { putFindings, type SightingFate } from '../../domain/imports/upsert-findings.ts';
import { describeFindings, findCandidates, markGone } from '../../domain/imports/mark-gone.ts';
import { type Covered, noteCoverage } from '../../domain/imports/coverage.ts';
import {
  type FindingsJob,
  type ImportPreview,
  type ImportResult,
  MAX_PREVIEWED,
} from '../../domain/imports/import-types.ts';
import type { Cover, Sighting } from '../../domain/imports/sighting.ts';
import { targetNamed } from '../finding-identity.ts';
import { coverOf } from '../targets.ts';
import type { Skips } from '../skip-counter.ts';
import type { SpoolPlace } from '../spool/finding-spool.ts';
import type { Spool } from '../spool/report-spool.ts';
import { Units } from '../../domain/imports/adaptive-writer.ts';

export interface FindingRun {
  db: Database;
  job: FindingsJob;
  clock: () => number;
  signal: AbortSignal;
  spool: Spool;
  skips: Skips;
  /** What is counted in. */
  result: ImportResult;
  preview: ImportPreview;
  /** Milliseconds since 1970. */
  reportAt: number;
  /** Told the part of the findings that is applied, from 0 to 1. */
  applied: (part: number) => void;
}

/** Findings in the first unit of work and in the largest. */
const FIRST = 100;
const MOST = 1_000;
/** Of what a report covers, so much is looked at together. */
const AT_ONCE = 500;

const unitsOf = ({ db, signal, job }: FindingRun): Units =>
  new Units(db, signal, { dryRun: job.options.dryRun, size: FIRST, most: MOST });

/** Up to so many are applied in the order of the report; of more, those of one asset and neighbours in the index together. */
const IN_ORDER = 10_000;

/** Applies what was spooled. */
export async function applyFindings(run: FindingRun): Promise<void> {
  const { job, clock, spool, skips, result, reportAt } = run;
  const units = unitsOf(run);
  const inOrder = job.options.dryRun || spool.findings.count <= IN_ORDER;
  let after: SpoolPlace = inOrder ? 0 : '';
  let applied = 0;
  for (;;) {
    const read = spool.findings.read(after, units.size, reportAt);
    const last = read.at(-1);
    if (last === undefined) break;
    const sightings = read.map(({ sighting }) => sighting);
    const done = await units.write(read.length, (tx) => putFindings(tx, job, sightings, clock()));
    for (const { cut } of read) if (cut) skips.add('cut', {}, false);
    for (const asset of done.assetsCreated) {
      // What a dry run makes is there no more when it is asked for again.
      if (!job.options.dryRun || spool.countAsset(asset)) result.assets_created += 1;
    }
    count(run, sightings, done.fates);
    after = inOrder ? last.number : last.sighting.identity;
    applied += read.length;
    run.applied(applied / spool.findings.count);
  }
}

const FATES = {
  new: 'findings_created',
  again: 'findings_seen_again',
  reopened: 'findings_reopened',
} as const satisfies Partial<Record<SightingFate, keyof ImportResult>>;

function count(
  { job, result, preview, skips }: FindingRun,
  sightings: readonly Sighting[],
  fates: readonly SightingFate[],
): void {
  for (const [index, fate] of fates.entries()) {
    const sighting = sightings[index] as Sighting;
    if (fate === 'below') {
      skips.add('below minimum severity');
      continue;
    }
    result[FATES[fate]] += 1;
    const { asset } = sighting;
    if (!job.options.dryRun) continue;
    if (preview[fate].length < MAX_PREVIEWED)
      preview[fate].push({
        title: sighting.columns().title,
        ...(asset === null ? {} : { asset: asset.location }),
      });
  }
}

/** Finds what a whole report covered and no longer has. */
export async function applyGone(run: FindingRun): Promise<void> {
  const units = unitsOf(run);
  for (const covered of coveredBy(run)) {
    await markUncovered(run, units, covered);
    await units.write(covered.covers.length, (tx) => noteCoverage(tx, run.job, covered, run.reportAt));
  }
}

async function markUncovered(run: FindingRun, units: Units, covered: Covered): Promise<void> {
  const { db, job, spool, result, preview, reportAt, clock } = run;
  for await (const found of findCandidates(db.read, job, covered, reportAt)) {
    const missing = found.filter(({ identity }) => !spool.findings.has(identity));
    result.findings_gone += missing.filter(({ isGone }) => isGone).length;
    const ids = missing.flatMap(({ id, isGone }) => (isGone ? [] : [id]));
    for (let start = 0; start < ids.length;) {
      const some = ids.slice(start, start + units.size);
      start += some.length;
      result.findings_gone += await units.write(some.length, (tx) =>
        markGone(tx, job, some, reportAt, clock()),
      );
    }
    if (job.options.dryRun && preview.gone.length < MAX_PREVIEWED)
      preview.gone.push(
        ...(await describeFindings(db.read, ids.slice(0, MAX_PREVIEWED - preview.gone.length))),
      );
  }
}

/** @returns what the report covers: what it says, and the targets that whoever imports names */
function* coveredBy({ spool, job }: FindingRun): Generator<Covered> {
  let after: readonly [string, string, string] = ['', '', ''];
  for (;;) {
    const rows = spool.covered(after, AT_ONCE);
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.place;
    let some: Cover[] = [];
    for (const [index, { source, cover }] of rows.entries()) {
      some.push(cover);
      const next = rows[index + 1];
      if (next?.source === source && next.cover.ports === cover.ports) continue;
      yield { source, covers: some, ports: cover.ports, withSites: false };
      some = [];
    }
  }
  const targets = job.options.targets.flatMap((target) => coverOf(targetNamed(target)) ?? []);
  if (targets.length > 0)
    for (const source of spool.sources()) yield { source, covers: targets, ports: '', withSites: true };
}
