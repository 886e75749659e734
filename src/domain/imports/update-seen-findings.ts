import { sql } from 'kysely';
import type { Transaction } from '../../db/engine.ts';
import { jsonRowsTable, inList } from '../../db/dialect-sql.ts';
import type { DeltaAccumulator } from '../shared/counters.ts';
import { FIXED } from '../vulnerabilities/statuses-and-severities.ts';
import { lockFindings, applyScannerChanges } from './update-findings.ts';
import { SnapshotRecorder } from './finding-snapshots.ts';
import type { FindingsJob } from './import-types.ts';
import { relinkAssets } from './relink-assets.ts';
import { REOPENED, changeFindingStatuses } from './set-statuses.ts';
import type { RepeatedSighting, AssetLocation } from './sighting.ts';

export interface SeenResult {
  /** Ids of the findings that this import reopened, in this run or an interrupted one. */
  reopened: ReadonlySet<number>;
  assetsCreated: AssetLocation[];
}

/**
 * Updates known findings whose sighting is newer than the last one.
 * @param sums collects the counter changes
 */
export async function updateSeenFindings(
  tx: Transaction,
  job: FindingsJob,
  seen: readonly RepeatedSighting[],
  sums: DeltaAccumulator,
  now: number,
): Promise<SeenResult> {
  const befores = new SnapshotRecorder();
  const later = seen.filter(({ sighting, finding }) => sighting.seenAt > finding.last_seen_at);
  const earlier = seen.filter(({ sighting, finding }) => sighting.firstSeenAt < finding.first_seen_at);
  for (const { finding } of earlier) befores.add(finding.id, { firstSeenAt: finding.first_seen_at });
  await lowerFirstSeen(tx, earlier);
  await advanceLastSeen(tx, job, later);
  const back = later.filter(({ sighting, finding }) => sighting.seenAt > (finding.gone_at ?? Infinity));
  for (const { finding } of back)
    befores.add(finding.id, { gone: [finding.gone_at as number, finding.gone_import_id] });
  const changed = later.filter(({ sighting, finding }) => sighting.contentHash !== finding.content);
  const reopened = later.filter(
    ({ sighting, finding }) =>
      finding.status_id === FIXED && sighting.seenAt > (finding.closed_at ?? Infinity),
  );
  await applyScannerChanges(tx, job, changed, back, befores, sums, now);
  const ids = await reopenFixed(tx, job, reopened, sums, now);
  const unlinked = later.filter(
    ({ sighting, finding }) => finding.is_linked === 0 && sighting.asset !== null,
  );
  const assetsCreated = await relinkAssets(tx, job, unlinked, befores, sums, now);
  await befores.save(tx, job, now);
  // Findings that an interrupted run of this import has updated.
  const before = seen.flatMap(({ finding }) => (finding.last_import_id === job.id ? [finding.id] : []));
  if (before.length === 0) return { reopened: ids, assetsCreated };
  const rows = await tx
    .selectFrom('import_statuses')
    .select('vulnerability_id')
    .where('import_id', '=', job.id)
    .where('after', '=', REOPENED)
    .where((eb) => inList(tx, eb.ref('vulnerability_id'), before))
    .execute();
  return {
    reopened: new Set([...ids, ...rows.map(({ vulnerability_id: id }) => id)]),
    assetsCreated,
  };
}

const int = (index: number) => sql<number>`cast(item.value ->> ${sql.lit(index)} as bigint)`;
const text = (index: number) => sql<string>`item.value ->> ${sql.lit(index)}`;

async function lowerFirstSeen(tx: Transaction, seen: readonly RepeatedSighting[]): Promise<void> {
  if (seen.length === 0) return;
  const rows = seen.map(({ sighting, finding }) => [finding.id, sighting.firstSeenAt]);
  await sql`update scanner_findings set first_seen_at = ${int(1)}
    from ${jsonRowsTable(tx, rows)} where vulnerability_id = ${int(0)}`.execute(tx);
}

/** The only write for a finding that has not changed. */
async function advanceLastSeen(
  tx: Transaction,
  job: FindingsJob,
  seen: readonly RepeatedSighting[],
): Promise<void> {
  if (seen.length === 0) return;
  const rows = seen.map(({ sighting, finding }) => [finding.id, sighting.seenAt, sighting.contentHash]);
  await sql`update scanner_findings set last_seen_at = ${int(1)}, last_import_id = ${job.id}, content = ${text(2)},
      prior_seen_at = last_seen_at, prior_import_id = last_import_id,
      gone_at = case when gone_at < ${int(1)} then null else gone_at end,
      gone_import_id = case when gone_at < ${int(1)} then null else gone_import_id end
    from ${jsonRowsTable(tx, rows)} where vulnerability_id = ${int(0)}`.execute(tx);
}

/** @returns the ids of the reopened findings */
async function reopenFixed(
  tx: Transaction,
  job: FindingsJob,
  seen: readonly RepeatedSighting[],
  sums: DeltaAccumulator,
  now: number,
): Promise<Set<number>> {
  if (seen.length === 0) return new Set();
  const seenAt = new Map(seen.map(({ sighting, finding }) => [finding.id, sighting.seenAt]));
  const held = await lockFindings(tx, { ids: [...seenAt.keys()] });
  // A person may have decided in the meantime; their decision stays.
  const rows = held.filter(
    ({ id, status_id, closed_at }) => status_id === FIXED && (seenAt.get(id) ?? 0) > (closed_at ?? Infinity),
  );
  await changeFindingStatuses(tx, job, rows, { status: REOPENED, closedAt: null }, sums, now);
  return new Set(rows.map(({ id }) => id));
}
