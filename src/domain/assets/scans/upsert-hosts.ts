import type { Act } from '../../../auth/callers.ts';
import type { Transaction } from '../../../db/engine.ts';
import type { Row } from '../../../db/bulk-insert.ts';
import { addressKey } from '../asset-locations.ts';
import { newAssetUids } from '../insert-assets.ts';
import { searchKey } from '../../lists/filters.ts';
import {
  type AppliedScans,
  type Applying,
  applyInPieces,
  applyScans,
  largeHosts,
  type Scan,
  type ScannedHost,
  type ScanOrigin,
} from './apply-scans.ts';
import { hostsByAddress, insertAssets, type KnownHost, listedAssets, noteAssetsSeen } from './queries.ts';
import type { PortCoverage } from './diff-ports.ts';

/** What a scan did to what was known. */
interface ScanOutcome extends AppliedScans {
  created: number;
  /** Hosts that the scan may not change. */
  refused: number;
  /** The assets that were made. */
  made: { id: number; uid: string; address: string }[];
}

/**
 * Brings the host assets of an organization up to what a scan saw. A host that is new becomes an asset, with every
 * port that the scan lists; one that is known keeps its name, and its ports follow the rules of `observe`. The audit
 * log gets an event for every host that is new or changed.
 * @param act a scan by a clock that is ahead of it counts as one of its time
 * @param coverage which ports the scan covers
 * @param hosts each address once
 */
export async function putHostScans(
  tx: Transaction,
  act: Act,
  organizationId: number,
  coverage: PortCoverage,
  hosts: readonly ScannedHost[],
  origin: ScanOrigin = {},
): Promise<ScanOutcome> {
  const { now } = act;
  const { known, created } = await findOrCreate(tx, organizationId, hosts, now, origin);
  const refused = await leaveOthers(tx, known, origin);
  const scans = hosts.flatMap((host): Scan[] => {
    const asset = known.get(host.address);
    // That nobody is at an address that nobody knew is nothing to remember.
    return asset === undefined ? [] : [{ ...host, ...asset, seenAt: Math.min(host.seenAt ?? now, now) }];
  });
  const isNew = ({ uid }: Scan): boolean => created.has(uid);
  const large = await largeHosts(tx, scans);
  const applying: Applying = { tx, act, organizationId, origin, coverage };
  const applied = [await applyScans(applying, { scans: scans.filter(({ id }) => !large.has(id)), isNew })];
  for (const scan of scans)
    if (large.has(scan.id)) applied.push(await applyInPieces(applying, scan, isNew(scan)));
  await noteSeen(
    tx,
    scans.filter((scan) => !isNew(scan)),
  );
  const sum = (name: keyof AppliedScans) => applied.reduce((total, one) => total + one[name], 0);
  return {
    updated: sum('updated'),
    unchanged: sum('unchanged'),
    closedPorts: sum('closedPorts'),
    openedPorts: sum('openedPorts'),
    refused,
    created: created.size,
    made: scans.flatMap(({ id, uid, address }) => (created.has(uid) ? [{ id, uid, address }] : [])),
  };
}

/** Takes what the scan may not change out of what is known. @returns how many that were */
async function leaveOthers(
  tx: Transaction,
  known: Map<string, KnownHost>,
  { importId, listedBy }: ScanOrigin,
): Promise<number> {
  if (listedBy === undefined) return 0;
  const others = [...known.values()].filter(({ import_id }) => import_id === null || import_id !== importId);
  const listed = await listedAssets(tx, { assessment: listedBy, ids: others.map(({ id }) => id) });
  const ids = new Set(listed.map(({ asset_id }) => asset_id));
  const refused = others.filter(({ id }) => !ids.has(id));
  for (const { address } of refused) known.delete(address);
  return refused.length;
}

/** @returns the assets of the hosts by address, and the uids of those that this call created */
async function findOrCreate(
  tx: Transaction,
  organizationId: number,
  hosts: readonly ScannedHost[],
  now: number,
  { importId }: ScanOrigin,
): Promise<{ known: Map<string, KnownHost>; created: Set<string> }> {
  const known = new Map<string, KnownHost>();
  const find = async (wanted: readonly ScannedHost[]): Promise<void> => {
    const addresses = wanted.map(({ address }) => address);
    const found = await hostsByAddress(tx, { organization: organizationId, addresses });
    for (const host of found) known.set(host.address, host);
  };
  await find(hosts);
  const missing = hosts.filter(({ address, down }) => down !== true && !known.has(address));
  if (missing.length === 0) return { known, created: new Set() };

  const uids = newAssetUids(missing.length, now);
  const rows = missing.map(({ address, name, description, seenAt }, index): Row => [
    uids[index] as string,
    organizationId,
    'host',
    address,
    name ?? address,
    description ?? '',
    searchKey(address),
    searchKey(name ?? address),
    addressKey(address),
    Math.min(seenAt ?? now, now),
    Math.min(seenAt ?? now, now),
    now,
    now,
    importId ?? null,
  ]);
  await insertAssets(tx, rows);
  await find(missing);
  // Another import may have been faster with some of them.
  const created = uids.filter((uid, index) => known.get(missing[index]?.address ?? '')?.uid === uid);
  return { known, created: new Set(created) };
}

/** Remembers when known hosts were seen, of those that answered. */
async function noteSeen(tx: Transaction, scans: readonly Scan[]): Promise<void> {
  const seen = scans.filter(({ down }) => down !== true).map(({ id, seenAt }) => [id, seenAt]);
  await noteAssetsSeen(tx, seen);
}
