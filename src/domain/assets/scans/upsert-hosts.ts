import type { ChangeContext } from '../../../auth/callers.ts';
import type { Transaction } from '../../../db/database.ts';
import type { InsertRow } from '../../../db/bulk-insert.ts';
import { addressKey } from '../../../auth/ip-addresses.ts';
import { newAssetUids } from '../insert-assets.ts';
import {
  type ScanResult,
  type ScanContext,
  applyHostWithManyPorts,
  applyScans,
  describeHost,
  findLargeHosts,
  type HostScan,
  type ScanSource,
  type ScannedHost,
  type TimedRecord,
} from './apply-scans.ts';
import { storeCurrentPorts } from './host-detections.ts';
import { applyEarlierScan, orderScans, storeScans } from './order-scans.ts';
import {
  selectHostsByAddress,
  insertHosts,
  type KnownHost,
  type SeenRange,
  updateSeenRange,
} from './host-queries.ts';
import { foldCase } from '../../../lib/fold-case.ts';
import { lockRows } from '../../shared/lock-rows.ts';
import { forNoKeyUpdate } from '../../../db/dialect-sql.ts';

interface UpsertHostsResult extends ScanResult {
  /** Addresses of hosts that the scan must not change. */
  skipped: string[];
  /** When hosts that answered were seen. For an import, the caller stores it. */
  seenRanges: SeenRange[];
  /** Records that a transaction has no room for: apply them in the next one. */
  deferred: TimedRecord[];
  createdHosts: { id: number; uid: string; address: string }[];
}

/**
 * Applies scanned hosts to an organization. A new host becomes an asset with every port that the scan lists; a known
 * one keeps its name, and its ports follow the rules of `HostPorts`. Each new or changed host gets an audit event.
 * @param by a scan time in the future counts as `by.now`
 * @param hosts records in any order, several per host allowed; applied in the order of their times
 */
export async function upsertScannedHosts(
  tx: Transaction,
  by: ChangeContext,
  organizationId: number,
  hosts: readonly ScannedHost[],
  source: ScanSource = {},
): Promise<UpsertHostsResult> {
  const { now } = by;
  const recordsOf = new Map<string, TimedRecord[]>();
  for (const host of hosts) {
    const record = { ...host, seenAt: Math.min(host.seenAt ?? now, now) };
    const records = recordsOf.get(host.address);
    if (records === undefined) recordsOf.set(host.address, [record]);
    else records.push(record);
  }
  const { assets, created } = await findOrCreateHosts(tx, organizationId, recordsOf, now, source);
  const skipped = await dropUnwritable(assets, source);
  const scans = [...recordsOf].flatMap(([address, records]): HostScan[] => {
    const asset = assets.get(address);
    records.sort(
      (one, other) => one.seenAt - other.seenAt || (one.recordNumber ?? 1) - (other.recordNumber ?? 1),
    );
    // An unknown host that is down creates nothing, and a skipped host is left out.
    return asset === undefined ? [] : [{ ...asset, isNew: created.has(asset.uid), records }];
  });
  await lockRows(
    tx,
    'assets',
    scans.map(({ id }) => id),
    forNoKeyUpdate,
  );
  const importId = source.importId ?? 0;
  const order = await orderScans(tx, scans, importId);
  const largeIds = await findLargeHosts(tx, order.later);
  const largeScans = order.later.filter(({ id }) => largeIds.has(id));
  await storeCurrentPorts(tx, organizationId, [...largeIds]);
  await storeScans(tx, organizationId, importId, [...largeScans, ...order.earlier]);
  const scanContext: ScanContext = { tx, by, organizationId, source };
  const applied = [
    await applyScans(
      scanContext,
      order.later.filter(({ id }) => !largeIds.has(id)),
    ),
  ];
  for (const scan of largeScans) applied.push(await applyHostWithManyPorts(scanContext, scan));
  for (const scan of order.earlier) applied.push(await applyEarlierScan(scanContext, scan));
  const waiting = new Set(order.deferred);
  const seenRanges = seenRangesOf(scans.filter((scan) => !waiting.has(scan)));
  if (source.importId === undefined) await updateSeenRange(tx, seenRanges);
  return {
    updated: applied.flatMap(({ updated }) => updated),
    closedPorts: applied.reduce((total, result) => total + result.closedPorts, 0),
    openedPorts: applied.reduce((total, result) => total + result.openedPorts, 0),
    skipped,
    seenRanges,
    deferred: order.deferred.flatMap(({ records }) => records),
    createdHosts: scans.flatMap(({ id, uid, address, isNew }) => (isNew ? [{ id, uid, address }] : [])),
  };
}

/**
 * Removes from `hosts` those that the scan must not change.
 * @returns their addresses
 */
async function dropUnwritable(
  hosts: Map<string, KnownHost>,
  { findWritable }: ScanSource,
): Promise<string[]> {
  if (findWritable === undefined) return [];
  const writable = await findWritable([...hosts.values()]);
  const rejected = [...hosts.values()].filter(({ id }) => !writable.has(id));
  for (const { address } of rejected) hosts.delete(address);
  return rejected.map(({ address }) => address);
}

/** @returns assets by address, and the uids of the new ones */
async function findOrCreateHosts(
  tx: Transaction,
  organizationId: number,
  recordsOf: ReadonlyMap<string, readonly TimedRecord[]>,
  now: number,
  { importId }: ScanSource,
): Promise<{ assets: Map<string, KnownHost>; created: Set<string> }> {
  const assets = new Map<string, KnownHost>();
  const find = async (addresses: readonly string[]): Promise<void> => {
    const rows = await selectHostsByAddress(tx, { organization: organizationId, addresses });
    for (const host of rows) assets.set(host.address, host);
  };
  await find([...recordsOf.keys()]);
  const missing = [...recordsOf].flatMap(([address, records]) => {
    const times = records.flatMap(({ down, seenAt }) => (down === true ? [] : [seenAt]));
    return times.length === 0 || assets.has(address) ? [] : [{ address, times, ...describeHost(records) }];
  });
  if (missing.length === 0) return { assets, created: new Set() };

  const uids = newAssetUids(missing.length, now);
  const rows = missing.map(({ address, name, description, times }, index): InsertRow => [
    uids[index] as string,
    organizationId,
    'host',
    address,
    name ?? address,
    description ?? '',
    foldCase(address),
    foldCase(name ?? address),
    addressKey(address),
    Math.min(...times),
    Math.max(...times),
    now,
    now,
    importId ?? null,
  ]);
  await insertHosts(tx, rows);
  await find(missing.map(({ address }) => address));
  // A concurrent import can have created some of them.
  const created = uids.filter((uid, index) => assets.get(missing[index]?.address ?? '')?.uid === uid);
  return { assets, created: new Set(created) };
}

/** @returns when each host that answered was seen */
function seenRangesOf(scans: readonly HostScan[]): SeenRange[] {
  return scans.flatMap(({ id, records }) => {
    const times = records.flatMap(({ down, seenAt }) => (down === true ? [] : [seenAt]));
    return times.length === 0 ? [] : [{ id, first: Math.min(...times), last: Math.max(...times) }];
  });
}
