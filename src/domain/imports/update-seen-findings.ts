import { sql } from 'kysely';
import { inList, itemInteger, itemText, jsonRowsTable, forNoKeyUpdate } from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/engine.ts';
import { updateLastSeen } from '../assets/scans/queries.ts';
import { SnapshotRecorder } from './finding-snapshots.ts';
import { changeFindingStatuses, findingCounters } from './import-status-changes.ts';
import type { FindingsJob } from './import-types.ts';
import { assetKey, findOrCreateAssets } from './resolve-assets.ts';
import type { AssetLocation, RepeatedSighting } from './sighting.ts';
import { applyScannerChanges, fieldsEditedByPeople, lockFindings } from './update-findings.ts';
import type { DeltaAccumulator } from '../shared/counters.ts';
import { insertVulnerabilityAssets } from '../vulnerabilities/vulnerability-links.ts';
import { STATUS } from '../shared/statuses-and-severities.ts';
import { counterDeltas } from '../vulnerabilities/vulnerability-counters.ts';
import { lockRows } from '../shared/lock-rows.ts';

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
  const snapshots = new SnapshotRecorder();
  const timed = seen.filter(({ sighting }) => sighting.isTimeKnown);
  const later = timed.filter(({ sighting, finding }) => sighting.seenAt > finding.last_seen_at);
  const earlier = timed.filter(({ sighting, finding }) => sighting.firstSeenAt < finding.first_seen_at);
  const unlinked = later.filter(
    ({ sighting, finding }) => finding.is_linked === 0 && sighting.asset !== null,
  );
  for (const { finding } of earlier) snapshots.add(finding.id, { firstSeenAt: finding.first_seen_at });
  const noLongerGone = later.filter(
    ({ sighting, finding }) => sighting.seenAt > (finding.gone_at ?? Infinity),
  );
  for (const { finding } of noLongerGone)
    snapshots.add(finding.id, { gone: [finding.gone_at as number, finding.gone_import_id] });
  const changed = later.filter(({ sighting, finding }) => sighting.contentHash !== finding.content);
  const reopened = later.filter(
    ({ sighting, finding }) =>
      finding.status_id === STATUS.fixed && sighting.seenAt > (finding.closed_at ?? Infinity),
  );
  // The steps below lock parts of these, so lock all of them in the order of their ids first. A deletion locks a
  // vulnerability before its sighting, too.
  await lockRows(
    tx,
    'vulnerabilities',
    [...changed, ...reopened, ...unlinked].map(({ finding }) => finding.id),
    forNoKeyUpdate,
  );
  await lowerFirstSeen(tx, earlier);
  await advanceLastSeen(tx, job, later);
  await updateCoverageKeys(
    tx,
    later.filter(({ sighting, finding }) => (sighting.coverage?.key ?? null) !== finding.cover_key),
  );
  await applyScannerChanges(tx, job, changed, noLongerGone, snapshots, sums, now);
  const ids = await reopenFixed(tx, job, reopened, sums, now);
  const assetsCreated = await relinkAssets(tx, job, unlinked, snapshots, sums, now);
  await snapshots.save(tx, job, now);
  // Findings that an interrupted run of this import has updated.
  const alreadySeen = seen.flatMap(({ finding }) => (finding.last_import_id === job.id ? [finding.id] : []));
  if (alreadySeen.length === 0) return { reopened: ids, assetsCreated };
  const rows = await tx
    .selectFrom('import_status_changes')
    .select('vulnerability_id')
    .where('import_id', '=', job.id)
    .where('after', '=', STATUS.pendingFix)
    .where((eb) => inList(tx, eb.ref('vulnerability_id'), alreadySeen))
    .execute();
  return {
    reopened: new Set([...ids, ...rows.map(({ vulnerability_id: id }) => id)]),
    assetsCreated,
  };
}

async function lowerFirstSeen(tx: Transaction, seen: readonly RepeatedSighting[]): Promise<void> {
  if (seen.length === 0) return;
  const rows = seen.map(({ sighting, finding }) => [finding.id, sighting.firstSeenAt]);
  await sql`update scanner_findings set first_seen_at = ${itemInteger(1)}
    from ${jsonRowsTable(tx, rows)} where vulnerability_id = ${itemInteger(0)}`.execute(tx);
}

/** The only write for a finding that has not changed. */
async function advanceLastSeen(
  tx: Transaction,
  job: FindingsJob,
  seen: readonly RepeatedSighting[],
): Promise<void> {
  if (seen.length === 0) return;
  const rows = seen.map(({ sighting, finding }) => [finding.id, sighting.seenAt, sighting.contentHash]);
  await sql`update scanner_findings set last_seen_at = ${itemInteger(1)}, last_import_id = ${job.id}, content_hash = ${itemText(2)},
      previous_seen_at = last_seen_at, previous_import_id = last_import_id,
      gone_at = case when gone_at < ${itemInteger(1)} then null else gone_at end,
      gone_import_id = case when gone_at < ${itemInteger(1)} then null else gone_import_id end
    from ${jsonRowsTable(tx, rows)} where vulnerability_id = ${itemInteger(0)}`.execute(tx);
}

/** Other checks than before may have found it. */
async function updateCoverageKeys(tx: Transaction, seen: readonly RepeatedSighting[]): Promise<void> {
  if (seen.length === 0) return;
  const rows = seen.map(({ sighting: { coverage }, finding }) => [
    finding.id,
    coverage?.key ?? null,
    coverage?.host ?? null,
  ]);
  await sql`update scanner_findings set cover_key = ${itemText(1)}, cover_host = ${itemText(2)}
    from ${jsonRowsTable(tx, rows)} where vulnerability_id = ${itemInteger(0)}`.execute(tx);
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
  const locked = await lockFindings(tx, { ids: [...seenAt.keys()] });
  // A person may have decided in the meantime; their decision stays.
  const rows = locked.filter(
    ({ id, status_id, closed_at }) =>
      status_id === STATUS.fixed && (seenAt.get(id) ?? 0) > (closed_at ?? Infinity),
  );
  await changeFindingStatuses(tx, job, rows, { status: STATUS.pendingFix, closedAt: null }, sums, now);
  return new Set(rows.map(({ id }) => id));
}

/**
 * Links findings whose asset was deleted to the asset where they are seen now. Findings that a person unlinked stay
 * unlinked.
 * @returns the created assets
 */
async function relinkAssets(
  tx: Transaction,
  job: FindingsJob,
  unlinked: readonly RepeatedSighting[],
  snapshots: SnapshotRecorder,
  sums: DeltaAccumulator,
  now: number,
): Promise<AssetLocation[]> {
  if (unlinked.length === 0) return [];
  const edited = await fieldsEditedByPeople(
    tx,
    unlinked.map(({ finding }) => finding.id),
  );
  const relinkable = unlinked.flatMap(({ finding, sighting: { asset, seenAt } }) =>
    asset === null || edited.get(finding.id)?.has('asset_uids') === true
      ? []
      : [{ id: finding.id, asset, seenAt }],
  );
  const { ids, writable, created } = await findOrCreateAssets(tx, job, relinkable, now);
  const links = relinkable.flatMap(({ id, asset, seenAt }) => {
    const found = ids.get(assetKey(asset));
    return found === undefined ? [] : [{ id, asset: found, seenAt }];
  });
  const lastSeen = new Map<number, number>();
  for (const { asset, seenAt } of links)
    if (writable.has(asset)) lastSeen.set(asset, Math.max(lastSeen.get(asset) ?? 0, seenAt));
  await updateLastSeen(tx, [...lastSeen]);
  const locked = await lockFindings(tx, { ids: links.map(({ id }) => id) });
  const rows = new Map(locked.map((row) => [row.id, row]));
  await insertVulnerabilityAssets(
    tx,
    links.map(({ id, asset }) => [job.organizationId, id, asset]),
  );
  for (const { id, asset } of links) {
    const row = rows.get(id);
    if (row === undefined) continue;
    snapshots.add(id, { linked: asset });
    sums.add(counterDeltas(findingCounters(job, row), findingCounters(job, row, [asset])));
  }
  return created;
}
