import type { Transaction } from '../../db/engine.ts';
import { noteAssetsSeen } from '../assets/scans/queries.ts';
import type { TallySums } from '../shared/counters.ts';
import { tallyDifferences } from '../vulnerabilities/vulnerability-counters.ts';
import { editedFields, holdFindings } from './update-findings.ts';
import { assetKey, findOrMakeAssets } from './resolve-assets.ts';
import type { FindingsBefore } from './finding-snapshots.ts';
import type { FindingsJob } from './import-types.ts';
import { insertAssetLinks } from '../vulnerabilities/insert-vulnerabilities.ts';
import { countedOf } from './set-statuses.ts';
import type { Again, SightedAsset } from './sighting.ts';

/**
 * Links findings that have no asset any more, as it was deleted, with the asset at the place where they are seen; those from
 * which a person took it away stay without.
 * @returns the assets that were made
 */
export async function linkAgain(
  tx: Transaction,
  job: FindingsJob,
  unlinked: readonly Again[],
  befores: FindingsBefore,
  sums: TallySums,
  now: number,
): Promise<SightedAsset[]> {
  if (unlinked.length === 0) return [];
  const edited = await editedFields(
    tx,
    unlinked.map(({ finding }) => finding.id),
  );
  const wanted = unlinked.flatMap(({ finding, sighting: { asset, seenAt } }) =>
    asset === null || edited.get(finding.id)?.has('asset_uids') === true
      ? []
      : [{ id: finding.id, asset, seenAt }],
  );
  const { ids, created } = await findOrMakeAssets(tx, job, wanted, now);
  const links = wanted.flatMap(({ id, asset, seenAt }) => {
    const found = ids.get(assetKey(asset));
    return found === undefined ? [] : [{ id, asset: found, seenAt }];
  });
  if (job.writesAssets) {
    const seenAt = new Map<number, number>();
    for (const link of links) seenAt.set(link.asset, Math.max(seenAt.get(link.asset) ?? 0, link.seenAt));
    await noteAssetsSeen(tx, [...seenAt]);
  }
  const held = await holdFindings(tx, { ids: links.map(({ id }) => id) });
  const rows = new Map(held.map((row) => [row.id, row]));
  await insertAssetLinks(
    tx,
    links.map(({ id, asset }) => [job.organizationId, id, asset]),
  );
  for (const { id, asset } of links) {
    const row = rows.get(id);
    if (row === undefined) continue;
    befores.note(id, { linked: asset });
    sums.add(tallyDifferences(countedOf(job, row), countedOf(job, row, [asset])));
  }
  return created;
}
