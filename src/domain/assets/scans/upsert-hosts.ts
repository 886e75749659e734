import type { Attribution } from '../../../auth/callers.ts';
import type { Transaction } from '../../../db/engine.ts';
import type { InsertRow } from '../../../db/bulk-insert.ts';
import { addressKey } from '../asset-locations.ts';
import { newAssetUids } from '../insert-assets.ts';
import {
  type ScanResult,
  type ScanApplication,
  applyLargeHost,
  applyScans,
  findLargeHosts,
  type HostScan,
  type ScannedHost,
  type ScanSource,
} from './apply-scans.ts';
import { selectHostsByAddress, insertHosts, type KnownHost, updateLastSeen } from './queries.ts';
import type { PortCoverage } from './diff-ports.ts';
import { foldCase } from '../../../runtime/fold-case.ts';
import { lockRows } from '../../shared/lock-rows.ts';
import { forNoKeyUpdate } from '../../../db/dialect-sql.ts';

interface UpsertHostsResult extends ScanResult {
  created: number;
  /** Hosts that the scan must not change. */
  skipped: number;
  createdHosts: { id: number; uid: string; address: string }[];
}

/**
 * Applies scanned hosts to an organization. A new host becomes an asset with every port that the scan lists; a known
 * one keeps its name, and its ports follow the rules of `diffPorts`. Each new or changed host gets an audit event.
 * @param by a scan time in the future counts as `by.now`
 * @param hosts each address once
 */
export async function upsertScannedHosts(
  tx: Transaction,
  by: Attribution,
  organizationId: number,
  coverage: PortCoverage,
  hosts: readonly ScannedHost[],
  source: ScanSource = {},
): Promise<UpsertHostsResult> {
  const { now } = by;
  const { known, created } = await findOrCreateHosts(tx, organizationId, hosts, now, source);
  const skipped = await dropUnwritable(known, source);
  const scans = hosts.flatMap((host): HostScan[] => {
    const asset = known.get(host.address);
    // An unknown host that is down creates nothing.
    return asset === undefined ? [] : [{ ...host, ...asset, seenAt: Math.min(host.seenAt ?? now, now) }];
  });
  const isNew = ({ uid }: HostScan): boolean => created.has(uid);
  await lockRows(
    tx,
    'assets',
    scans.map(({ id }) => id),
    forNoKeyUpdate,
  );
  const large = await findLargeHosts(tx, scans);
  const applying: ScanApplication = { tx, by, organizationId, source, coverage };
  const applied = [await applyScans(applying, { scans: scans.filter(({ id }) => !large.has(id)), isNew })];
  for (const scan of scans)
    if (large.has(scan.id)) applied.push(await applyLargeHost(applying, scan, isNew(scan)));
  await updateSeenTimes(
    tx,
    scans.filter((scan) => !isNew(scan)),
  );
  const sum = (name: keyof ScanResult) => applied.reduce((total, one) => total + one[name], 0);
  return {
    updated: sum('updated'),
    unchanged: sum('unchanged'),
    closedPorts: sum('closedPorts'),
    openedPorts: sum('openedPorts'),
    skipped,
    created: created.size,
    createdHosts: scans.flatMap(({ id, uid, address }) => (created.has(uid) ? [{ id, uid, address }] : [])),
  };
}

/**
 * Removes hosts that the scan must not change.
 * @returns their number
 */
async function dropUnwritable(known: Map<string, KnownHost>, { findWritable }: ScanSource): Promise<number> {
  if (findWritable === undefined) return 0;
  const writable = await findWritable([...known.values()]);
  const refused = [...known.values()].filter(({ id }) => !writable.has(id));
  for (const { address } of refused) known.delete(address);
  return refused.length;
}

/** @returns assets by address, and the uids of the new ones */
async function findOrCreateHosts(
  tx: Transaction,
  organizationId: number,
  hosts: readonly ScannedHost[],
  now: number,
  { importId }: ScanSource,
): Promise<{ known: Map<string, KnownHost>; created: Set<string> }> {
  const known = new Map<string, KnownHost>();
  const find = async (some: readonly ScannedHost[]): Promise<void> => {
    const addresses = some.map(({ address }) => address);
    const found = await selectHostsByAddress(tx, { organization: organizationId, addresses });
    for (const host of found) known.set(host.address, host);
  };
  await find(hosts);
  const missing = hosts.filter(({ address, down }) => down !== true && !known.has(address));
  if (missing.length === 0) return { known, created: new Set() };

  const uids = newAssetUids(missing.length, now);
  const rows = missing.map(({ address, name, description, seenAt }, index): InsertRow => [
    uids[index] as string,
    organizationId,
    'host',
    address,
    name ?? address,
    description ?? '',
    foldCase(address),
    foldCase(name ?? address),
    addressKey(address),
    Math.min(seenAt ?? now, now),
    Math.min(seenAt ?? now, now),
    now,
    now,
    importId ?? null,
  ]);
  await insertHosts(tx, rows);
  await find(missing);
  // A concurrent import can have created some of them.
  const created = uids.filter((uid, index) => known.get(missing[index]?.address ?? '')?.uid === uid);
  return { known, created: new Set(created) };
}

/** Of hosts that answered. */
async function updateSeenTimes(tx: Transaction, scans: readonly HostScan[]): Promise<void> {
  const seen = scans.filter(({ down }) => down !== true).map(({ id, seenAt }) => [id, seenAt]);
  await updateLastSeen(tx, seen);
}
