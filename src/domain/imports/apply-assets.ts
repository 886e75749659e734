import { type SqlBool, sql } from 'kysely';
import { prepareInsert } from '../../db/bulk-insert.ts';
import { forKeyShare, inList, itemInteger, jsonRowsTable } from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/database.ts';
import { prepareQuery, prepareWrite } from '../../db/prepared-queries.ts';
import { updateSeenRange } from '../assets/scans/host-queries.ts';
import type { ImportJob } from './import-types.ts';
import { insertAssets, newAssetUids } from '../assets/insert-assets.ts';
import { listOrFindUnlisted, lockListing } from './import-listing.ts';
import { findPermittedAssets } from './import-permissions.ts';
import type { AssetLocation, Detection } from './finding-detections.ts';
import type { ScannedHost, TimedRecord } from '../assets/scans/apply-scans.ts';
import { upsertScannedHosts } from '../assets/scans/upsert-hosts.ts';

/** The result of applying hosts in one transaction. */
interface AppliedHosts {
  /** Addresses of the created assets. */
  created: string[];
  /** Addresses of known hosts with changed ports. */
  updated: string[];
  portsOpened: number;
  portsClosed: number;
  /** Addresses of hosts that the importer may not change. */
  denied: string[];
  /** Addresses of hosts that answered and that the assessment does not list. */
  outside: string[];
  /** Records to apply in the next transaction. */
  deferred: TimedRecord[];
}

/**
 * Creates or updates the assets of reported hosts, and lists those that answered if the import lists assets. Skips hosts
 * that the importer may not change.
 * @param hosts may have several records of a host, in any order
 * @param now milliseconds since 1970
 */
export async function applyReportedHosts(
  tx: Transaction,
  job: ImportJob,
  hosts: readonly ScannedHost[],
  now: number,
): Promise<AppliedHosts> {
  const by = { actor: job.caller, now };
  const answered = new Set(hosts.flatMap(({ address, down }) => (down === true ? [] : [address])));
  const outside: string[] = [];
  await lockListing(tx, job);
  const applied = await upsertScannedHosts(tx, by, job.organizationId, hosts, {
    importId: job.id,
    findWritable: async (scannedHosts) => {
      const present = scannedHosts.filter(({ address }) => answered.has(address));
      const unlisted = await listOrFindUnlisted(tx, job, present, now);
      const { writable } = await findPermittedAssets(tx, job, scannedHosts);
      for (const { id, address } of present) if (unlisted.has(id) && writable.has(id)) outside.push(address);
      return writable;
    },
  });
  await recordAssetDetections(
    tx,
    job,
    applied.seenRanges.map(({ id, first, last }) => ({ id, firstSeenAt: first, seenAt: last })),
  );
  return {
    created: applied.createdHosts.map(({ address }) => address),
    updated: applied.updated,
    portsOpened: applied.openedPorts,
    portsClosed: applied.closedPorts,
    denied: applied.skipped,
    outside,
    deferred: applied.deferred,
  };
}

export interface ResolvedAssets {
  /** Ids by `assetKey`. Omits assets that the importer cannot see and may not create. */
  ids: ReadonlyMap<string, number>;
  /** The ids of these assets whose `last_seen` the importer may change. */
  writable: ReadonlySet<number>;
  created: AssetLocation[];
  /** Those of `ids` that the assessment does not list. */
  outside: AssetLocation[];
}

export const assetKey = ({ type, location }: AssetLocation): string => `${type} ${location}`;

const findAssetsByLocation = prepareQuery((db, p: { organization: number; locations: readonly string[] }) =>
  db
    .selectFrom('assets')
    .select(['id', 'uid', 'type', 'location', 'writable_by', 'import_id'])
    .where('organization_id', '=', p.organization)
    .where('type', 'in', ['host', 'webapp'])
    .where((eb) => inList(db, eb.ref('location'), p.locations)),
);

interface LocatedAsset {
  asset: AssetLocation;
  /** Milliseconds since 1970. */
  seenAt: number;
  /** Whether to create it if it is missing. */
  mayCreate: boolean;
  /** False below the minimum severity: then the import does not see the asset, and does not list it. */
  createsVulnerability: boolean;
}

/**
 * Finds the assets of findings by type and location. Creates missing ones if the importer may, and lists all of them if
 * the import lists assets.
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
  const outside: AssetLocation[] = [];
  if (missing.size === 0) return { ids, writable, created: [], outside };
  const find = async (): Promise<void> => {
    const locations = [...new Set([...missing.values()].map(({ asset }) => asset.location))];
    const assets = await findAssetsByLocation(tx, { organization: job.organizationId, locations });
    const rows = assets.flatMap((row) => {
      const key = assetKey(row as AssetLocation);
      const entry = missing.get(key);
      return entry !== undefined && missing.delete(key) ? [{ ...row, ...entry }] : [];
    });
    const unlisted = await listOrFindUnlisted(tx, job, rows, now);
    const permitted = await findPermittedAssets(tx, job, rows);
    for (const { id, asset } of rows) {
      if (!permitted.linkable.has(id)) continue;
      ids.set(assetKey(asset), id);
      if (unlisted.has(id)) outside.push(asset);
    }
    for (const id of permitted.writable) writable.add(id);
  };
  await find();
  if (missing.size === 0 || !job.canWriteAssets) return { ids, writable, created: [], outside };

  const by = { actor: job.caller, now };
  const toCreate = [...missing.values()].filter(({ mayCreate }) => mayCreate);
  if (toCreate.length === 0) return { ids, writable, created: [], outside };
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
  // A concurrent import may have created some of them first.
  await find();
  return {
    ids,
    writable,
    created: toCreate.flatMap(({ asset }, index) =>
      createdAssets.has(uids[index] as string) ? [asset] : [],
    ),
    outside,
  };
}

/** A detection, and whether its asset may be created or counts as seen. */
interface DetectionOnAsset {
  detection: Detection;
  /** False below the minimum severity: then the asset was not seen. */
  createsVulnerability: boolean;
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
  const located = new Map<string, LocatedAsset & { firstSeenAt: number }>();
  for (const { detection, createsVulnerability, mayCreate } of detections) {
    const { asset, firstSeenAt, seenAt } = detection;
    if (asset === null) continue;
    const key = assetKey(asset);
    const merged = located.get(key);
    if (merged === undefined) {
      located.set(key, { asset, firstSeenAt, seenAt, mayCreate, createsVulnerability });
      continue;
    }
    merged.mayCreate ||= mayCreate;
    if (!createsVulnerability) continue;
    if (!merged.createsVulnerability || firstSeenAt < merged.firstSeenAt) merged.firstSeenAt = firstSeenAt;
    if (!merged.createsVulnerability || seenAt > merged.seenAt) merged.seenAt = seenAt;
    merged.createsVulnerability = true;
  }
  const assets = await findOrCreateAssets(tx, job, located, now);
  const seenAssets: { id: number; firstSeenAt: number; seenAt: number }[] = [];
  for (const [key, { firstSeenAt, seenAt, createsVulnerability }] of located) {
    const id = assets.ids.get(key);
    if (id !== undefined && createsVulnerability && assets.writable.has(id))
      seenAssets.push({ id, firstSeenAt, seenAt });
  }
  await recordAssetDetections(tx, job, seenAssets);
  return assets;
}

const insertDetections = prepareInsert(
  'asset_detections',
  { organization_id: 'int', asset_id: 'int', import_id: 'int', first_seen_at: 'int', seen_at: 'int' },
  `on conflict (asset_id, import_id) do update set
    first_seen_at = case when excluded.first_seen_at < asset_detections.first_seen_at then excluded.first_seen_at
      else asset_detections.first_seen_at end,
    seen_at = case when excluded.seen_at > asset_detections.seen_at then excluded.seen_at
      else asset_detections.seen_at end`,
);

const insertDetectedAssets = prepareInsert(
  'detected_assets',
  { organization_id: 'int', assessment_id: 'int', asset_id: 'int' },
  'on conflict do nothing',
);

/**
 * Records that an import saw assets. An asset that imports created belongs to the import that saw it first.
 * @param assets each asset once
 */
export async function recordAssetDetections(
  tx: Transaction,
  job: Pick<ImportJob, 'id' | 'organizationId'> & {
    assessment: { id: number } | null;
    options: Pick<ImportJob['options'], 'draft'>;
  },
  assets: readonly { id: number; firstSeenAt: number; seenAt: number }[],
): Promise<void> {
  if (assets.length === 0) return;
  const ids = assets.map(({ id }) => id);
  const stored = new Map((await lockSeen(tx, { ids })).map((row) => [row.id, row]));
  await updateSeenRange(
    tx,
    assets.flatMap(({ id, firstSeenAt, seenAt }) => {
      const { first_seen: first = null, last_seen: last = null } = stored.get(id) ?? {};
      const isWithin = first !== null && last !== null && first <= firstSeenAt && seenAt <= last;
      return isWithin ? [] : [{ id, first: firstSeenAt, last: seenAt }];
    }),
  );
  await insertDetections(
    tx,
    assets.map(({ id, firstSeenAt, seenAt }) => [job.organizationId, id, job.id, firstSeenAt, seenAt]),
  );
  // Only staff see an asset through a draft. Once it is published, others see the asset through the vulnerability.
  if (job.assessment !== null && job.options.draft !== true) {
    const { organizationId, assessment } = job;
    await insertDetectedAssets(
      tx,
      ids.map((id) => [organizationId, assessment.id, id]),
    );
  }
  const madeByOthers = ids.filter((id) => {
    const creator = stored.get(id)?.import_id ?? null;
    return creator !== null && creator !== job.id;
  });
  if (madeByOthers.length === 0) return;
  const earlier = await selectEarlierSeen(tx, { ids: madeByOthers, import: job.id });
  await moveToImports(
    tx,
    earlier.map(({ id }) => [id, job.id]),
  );
}

/**
 * Undoing an import and correcting a report's time lock assets for update. So they wait for this transaction, and then
 * read the detections that it inserts.
 */
const lockSeen = prepareWrite<
  { ids: readonly number[] },
  { id: number; first_seen: number | null; last_seen: number | null; import_id: number | null }
>((tx, p) =>
  tx
    .selectFrom('assets')
    .select(['id', 'first_seen', 'last_seen', 'import_id'])
    .where((eb) => inList(tx, eb.ref('id'), p.ids))
    .orderBy('id')
    .modifyEnd(forKeyShare(tx)),
);

/** Selects assets that an import saw earlier than the import that they belong to. */
const selectEarlierSeen = prepareQuery<{ ids: readonly number[]; import: number }, { id: number }>((db, p) =>
  db
    .selectFrom('assets')
    .innerJoin('asset_detections as own', 'own.asset_id', 'assets.id')
    // Absent if that import was undone and the asset remains because of a person's change.
    .leftJoin('asset_detections as first', (join) =>
      join.onRef('first.asset_id', '=', 'assets.id').onRef('first.import_id', '=', 'assets.import_id'),
    )
    .select('assets.id')
    .where((eb) => inList(db, eb.ref('assets.id'), p.ids))
    .where('own.import_id', '=', p.import)
    .where('assets.import_id', '<>', p.import)
    .where(
      sql<SqlBool>`(first.import_id is null or (own.first_seen_at, own.import_id) < (first.first_seen_at, first.import_id))`,
    ),
);

/** Assigns assets to other imports. */
export async function moveToImports(
  tx: Transaction,
  moves: readonly (readonly [asset: number, toImport: number])[],
): Promise<void> {
  if (moves.length === 0) return;
  await sql`update assets set import_id = ${itemInteger(1)} from ${jsonRowsTable(tx, moves)}
    where assets.id = ${itemInteger(0)}`.execute(tx);
}
