import type { Transaction } from '../../../db/database.ts';
import { recordEvent } from '../../audit/record-event.ts';
import {
  CHUNKS,
  findLargeHosts,
  type HostScan,
  LARGE_HOST_PORTS,
  lastSeen,
  type ScanContext,
  type ScanResult,
} from './apply-scans.ts';
import { deriveHost, lastPortEvent } from './derive-ports.ts';
import {
  countDetections,
  type HostDetection,
  partOf,
  selectNewestDetections,
  storeBaseline,
  storeDetections,
} from './host-detections.ts';
import { lockPorts } from './host-queries.ts';

/** Limit of detections that a transaction reads again; all detections of the first host are read in any case. */
const MAX_REREAD = 1_000;

interface OrderedScans {
  /** Records of hosts that no stored scan saw later. */
  later: HostScan[];
  /** Records of hosts that a stored scan saw later. */
  earlier: HostScan[];
  /** The earlier records that do not fit into this transaction. */
  deferred: HostScan[];
}

/** Compares scans with those that are stored. Stores the ports of hosts that no stored scan explains. */
export async function orderScans(
  tx: Transaction,
  scans: readonly HostScan[],
  importId: number,
): Promise<OrderedScans> {
  const ids = scans.flatMap(({ id, isNew }) => (isNew ? [] : [id]));
  const newest = new Map<number, { seen_at: number; import_id: number }>();
  if (ids.length > 0)
    for (const row of await selectNewestDetections(tx, { ids })) newest.set(row.asset_id, row);
  const unexplained = scans.filter(({ id, isNew }) => !isNew && !newest.has(id));
  for (const [id, seen_at] of await storeBaselines(tx, unexplained))
    newest.set(id, { seen_at, import_id: 0 });
  const order: OrderedScans = { later: [], earlier: [], deferred: [] };
  for (const scan of scans) {
    const last = newest.get(scan.id);
    const first = scan.records[0]?.seenAt ?? 0;
    const isLater =
      last === undefined || first > last.seen_at || (first === last.seen_at && importId > last.import_id);
    order[isLater ? 'later' : 'earlier'].push(scan);
  }
  if (order.earlier.length < 2) return order;
  const counts = new Map(
    (await countDetections(tx, { ids: order.earlier.map(({ id }) => id) })).map((row) => [
      row.asset_id,
      row.count,
    ]),
  );
  let reread = 0;
  const earlier = order.earlier.filter(({ id }, index) => {
    reread += counts.get(id) ?? 0;
    return index === 0 || reread <= MAX_REREAD;
  });
  return { ...order, earlier, deferred: order.earlier.filter((scan) => !earlier.includes(scan)) };
}

/** @returns for each host that now has a baseline, by asset id, when its ports were last seen */
async function storeBaselines(tx: Transaction, scans: readonly HostScan[]): Promise<Map<number, number>> {
  const seenTimes = new Map<number, number>();
  if (scans.length === 0) return seenTimes;
  const largeIds = await findLargeHosts(tx, scans);
  const smallIds = scans.flatMap(({ id }) => (largeIds.has(id) ? [] : [id]));
  const portsById = await lockPorts(tx, smallIds);
  for (const { id } of scans) {
    const lastEvent = largeIds.has(id) || portsById.has(id) ? await lastPortEvent(tx, id) : 0;
    for (const numbers of largeIds.has(id) ? CHUNKS : [undefined]) {
      const ports = numbers === undefined ? portsById.get(id) : (await lockPorts(tx, [id], numbers)).get(id);
      if (ports === undefined) continue;
      await storeBaseline(tx, id, { baseline: ports, lastEvent }, numbers?.first);
      for (const { last_seen } of ports)
        seenTimes.set(id, Math.max(last_seen, seenTimes.get(id) ?? last_seen));
    }
  }
  return seenTimes;
}

/** Stores the detections of scans with their ports; the ports of a large record in chunks. */
export async function storeScans(
  tx: Transaction,
  organizationId: number,
  importId: number,
  scans: readonly HostScan[],
): Promise<void> {
  const detections: HostDetection[] = [];
  for (const { id, records } of scans)
    for (const record of records) {
      const { seenAt, recordNumber, ports } = record;
      for (const numbers of ports.length > LARGE_HOST_PORTS ? CHUNKS : [undefined]) {
        const key = { assetId: id, seenAt, importId, part: partOf(recordNumber, numbers?.first) };
        const listed =
          numbers === undefined
            ? ports
            : ports.filter(({ number }) => number >= numbers.first && number <= numbers.last);
        detections.push({ key, observation: { ...record, ports: listed, numbers } });
      }
    }
  await storeDetections(tx, organizationId, detections);
}

/** Applies a stored scan of a host that a later scan saw. */
export async function applyEarlierScan(
  { tx, by, organizationId, source }: ScanContext,
  { id, uid, address, records }: HostScan,
): Promise<ScanResult> {
  const { before, after, opened, closed } = await deriveHost(tx, organizationId, id, source.importId ?? 0);
  const result: ScanResult = { updated: [], openedPorts: opened, closedPorts: closed };
  if (before.length === 0 && after.length === 0) return result;
  const isDown = records.every(({ down }) => down === true);
  if (!isDown) result.updated.push(address);
  await recordEvent(tx, by, {
    action: 'asset.scan',
    object: ['asset', uid],
    organizationId,
    before: { ports: before },
    after: { scanned_at: lastSeen(records), ...(isDown ? { down: true } : {}), ports: after },
  });
  return result;
}
