import type { Transaction } from '../../db/database.ts';
import { inList } from '../../db/dialect-sql.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import { addNewAssetsToListing } from '../assessments/update-listing.ts';
import { insertAssets, newAssetUids } from '../assets/insert-assets.ts';
import type { ImportJob } from './import-types.ts';
import { permittedAssets } from './import-permissions.ts';
import { recordAssetDetections } from './asset-detections.ts';
import type { AssetLocation, Detection } from './detection.ts';

export interface ResolvedAssets {
  /** By `assetKey`. Omits assets that the importer cannot see and may not create. */
  ids: ReadonlyMap<string, number>;
  /** The ids of these assets whose `last_seen` the importer may change. */
  writable: ReadonlySet<number>;
  created: AssetLocation[];
}

export const assetKey = ({ type, location }: AssetLocation): string => `${type} ${location}`;

const findAssetsByLocation = prepareQuery((db, p: { organization: number; locations: readonly string[] }) =>
  db
    .selectFrom('assets')
    .select(['id', 'type', 'location', 'writable_by', 'import_id'])
    .where('organization_id', '=', p.organization)
    .where('type', 'in', ['host', 'webapp'])
    .where((eb) => inList(db, eb.ref('location'), p.locations)),
);

/** An asset of findings. */
interface LocatedAsset {
  asset: AssetLocation;
  /** Milliseconds since 1970. */
  seenAt: number;
  /** Whether to create it if it is missing. */
  mayCreate: boolean;
}

/**
 * Finds the assets of findings by type and location. Creates missing ones if the importer may, and lists them in the
 * assessment.
 * @param located by `assetKey`
 */
async function findOrCreateAssets(
  tx: Transaction,
  job: ImportJob,
  located: ReadonlyMap<string, LocatedAsset>,
  now: number,
): Promise<ResolvedAssets> {
  const missing = new Map(located);
  const ids = new Map<string, number>();
  const writable = new Set<number>();
  if (missing.size === 0) return { ids, writable, created: [] };
  const find = async (): Promise<void> => {
    const locations = [...new Set([...missing.values()].map(({ asset }) => asset.location))];
    const rows = await findAssetsByLocation(tx, { organization: job.organizationId, locations });
    const permitted = await permittedAssets(tx, job, rows);
    for (const row of rows) {
      const key = assetKey(row as AssetLocation);
      if (missing.delete(key) && permitted.linkable.has(row.id)) ids.set(key, row.id);
    }
    for (const id of permitted.writable) writable.add(id);
  };
  await find();
  if (missing.size === 0 || !job.canWriteAssets) return { ids, writable, created: [] };

  const by = { actor: job.caller, now };
  const toCreate = [...missing.values()].filter(({ mayCreate }) => mayCreate);
  if (toCreate.length === 0) return { ids, writable, created: [] };
  const uids = newAssetUids(toCreate.length, now);
  const createdAssets = await insertAssets(
    tx,
    by,
    toCreate.map(({ asset, seenAt }, index) => ({
      uid: uids[index] as string,
      organizationId: job.organizationId,
      importId: job.id,
      seenAt,
      values: {
        ...asset,
        name: asset.location.length > 255 ? '' : asset.location,
        description: '',
        criticality: 'undefined' as const,
        writable_by: 'any' as const,
      },
    })),
  );
  if (job.assessment !== null && createdAssets.size > 0)
    await addNewAssetsToListing(
      tx,
      by,
      job.assessment.uid,
      [...createdAssets].map(([uid, id]) => ({ id, uid })),
    );
  // A concurrent import may have created some of them first.
  await find();
  return {
    ids,
    writable,
    created: toCreate.flatMap(({ asset }, index) =>
      createdAssets.has(uids[index] as string) ? [asset] : [],
    ),
  };
}

/** A detection, and the changes of its asset that it allows. */
export interface DetectionOnAsset {
  detection: Detection;
  /** False below the minimum severity: then the asset was not seen. */
  isMade: boolean;
  /** Whether to create the asset if it is missing. */
  mayCreate: boolean;
}

/** Finds the assets of detections, creates missing ones, and records that they were seen. */
export async function resolveFindingAssets(
  tx: Transaction,
  job: ImportJob,
  detections: readonly DetectionOnAsset[],
  now: number,
): Promise<ResolvedAssets> {
  const located = new Map<string, LocatedAsset & { firstSeenAt: number; isMade: boolean }>();
  for (const { detection, isMade, mayCreate } of detections) {
    const { asset, firstSeenAt, seenAt } = detection;
    if (asset === null) continue;
    const key = assetKey(asset);
    const other = located.get(key);
    if (other === undefined) {
      located.set(key, { asset, firstSeenAt, seenAt, mayCreate, isMade });
      continue;
    }
    other.mayCreate ||= mayCreate;
    if (!isMade) continue;
    if (!other.isMade || firstSeenAt < other.firstSeenAt) other.firstSeenAt = firstSeenAt;
    if (!other.isMade || seenAt > other.seenAt) other.seenAt = seenAt;
    other.isMade = true;
  }
  const assets = await findOrCreateAssets(tx, job, located, now);
  const seen: { id: number; firstSeenAt: number; seenAt: number }[] = [];
  for (const [key, { firstSeenAt, seenAt, isMade }] of located) {
    const id = assets.ids.get(key);
    if (id !== undefined && isMade && assets.writable.has(id)) seen.push({ id, firstSeenAt, seenAt });
  }
  await recordAssetDetections(tx, job, seen);
  return assets;
}
