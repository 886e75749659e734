import type { Transaction } from '../../db/engine.ts';
import { updateLastSeen } from '../assets/scans/queries.ts';
import type { DeltaAccumulator } from '../shared/counters.ts';
import { counterDeltas } from '../vulnerabilities/vulnerability-counters.ts';
import { fieldsEditedByPeople, lockFindings } from './update-findings.ts';
import { assetKey, findOrCreateAssets } from './resolve-assets.ts';
import type { SnapshotRecorder } from './finding-snapshots.ts';
import type { FindingsJob } from './import-types.ts';
import { insertVulnerabilityAssets } from '../vulnerabilities/insert-vulnerabilities.ts';
import { findingCounters } from './set-statuses.ts';
import type { RepeatedSighting, AssetLocation } from './sighting.ts';

/**
 * Links findings whose asset was deleted to the asset where they are seen now. Findings that a person unlinked stay
 * unlinked.
 * @returns the created assets
 */
export async function relinkAssets(
  tx: Transaction,
  job: FindingsJob,
  unlinked: readonly RepeatedSighting[],
  befores: SnapshotRecorder,
  sums: DeltaAccumulator,
  now: number,
): Promise<AssetLocation[]> {
  if (unlinked.length === 0) return [];
  const edited = await fieldsEditedByPeople(
    tx,
    unlinked.map(({ finding }) => finding.id),
  );
  const wanted = unlinked.flatMap(({ finding, sighting: { asset, seenAt } }) =>
    asset === null || edited.get(finding.id)?.has('asset_uids') === true
      ? []
      : [{ id: finding.id, asset, seenAt }],
  );
  const { ids, created } = await findOrCreateAssets(tx, job, wanted, now);
  const links = wanted.flatMap(({ id, asset, seenAt }) => {
    const found = ids.get(assetKey(asset));
    return found === undefined ? [] : [{ id, asset: found, seenAt }];
  });
  if (job.canWriteAssets) {
    const seenAt = new Map<number, number>();
    for (const link of links) seenAt.set(link.asset, Math.max(seenAt.get(link.asset) ?? 0, link.seenAt));
    await updateLastSeen(tx, [...seenAt]);
  }
  const held = await lockFindings(tx, { ids: links.map(({ id }) => id) });
  const rows = new Map(held.map((row) => [row.id, row]));
  await insertVulnerabilityAssets(
    tx,
    links.map(({ id, asset }) => [job.organizationId, id, asset]),
  );
  for (const { id, asset } of links) {
    const row = rows.get(id);
    if (row === undefined) continue;
    befores.add(id, { linked: asset });
    sums.add(counterDeltas(findingCounters(job, row), findingCounters(job, row, [asset])));
  }
  return created;
}
