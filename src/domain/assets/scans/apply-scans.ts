import type { ChangeContext } from '../../../auth/callers.ts';
import type { InsertRow } from '../../../db/bulk-insert.ts';
import type { Transaction } from '../../../db/database.ts';
import { type AuditedChange, recordEvents } from '../../audit/record-event.ts';
import { addDeltas } from '../../shared/counters.ts';
import {
  selectLargeHosts,
  insertPortCounts,
  insertPorts,
  type KnownHost,
  lockPorts,
  PORT_FIELDS,
  toPortRow,
} from './host-queries.ts';
import { portChangeDeltas } from '../organization-ports.ts';
import { toPortEventRow, insertPortEvents } from '../port-events.ts';
import { type HostDetection, partOf, storeDetections, storeCurrentPorts } from './host-detections.ts';
import { HostPorts, type HostObservation, type PortChange, type PortNumberRange } from './diff-ports.ts';
import { type Port, refreshPortCounts } from '../ports.ts';

/** One record of a host; a scan may have several. */
export interface ScannedHost extends HostObservation {
  /** Identifies the host within its organization. */
  address: string;
  /** The name of a new host; its address by default. */
  name?: string | undefined;
  /** The description of a new host. */
  description?: string | undefined;
  /** Milliseconds since 1970; absent: now. */
  seenAt?: number | undefined;
  /** The number of this record among the records of the host in the report, from 1; absent: 1. */
  recordNumber?: number | undefined;
}

export interface ScanSource {
  importId?: number | undefined;
  /** @returns the ids of the hosts that the scan may change; absent if it may change all */
  findWritable?(hosts: readonly KnownHost[]): Promise<ReadonlySet<number>>;
}

export type TimedRecord = ScannedHost & { seenAt: number };

export interface HostScan extends KnownHost {
  isNew: boolean;
  /** The records in the order in which they apply. */
  records: readonly TimedRecord[];
}

export interface ScanResult {
  /** Addresses of known hosts with a new, changed or closed port. Hosts that are down do not count. */
  updated: string[];
  /** How often a known port became closed. */
  closedPorts: number;
  /** How often a port became open. */
  openedPorts: number;
}

export interface ScanContext {
  tx: Transaction;
  by: ChangeContext;
  organizationId: number;
  source: ScanSource;
}

/** Ports. A host with more, known or listed, is applied in chunks of port numbers. */
export const LARGE_HOST_PORTS = 5_000;
const PORTS_PER_CHUNK = 2_048;
const PORT_NUMBERS = 65_536;

/**
 * The ranges of port numbers in which a large host is applied. The highest comes first, as the history of a host lists
 * the last row of a time first.
 */
export const CHUNKS: readonly PortNumberRange[] = Array.from(
  { length: PORT_NUMBERS / PORTS_PER_CHUNK },
  (_, index) => ({ first: index * PORTS_PER_CHUNK, last: (index + 1) * PORTS_PER_CHUNK - 1 }),
).reverse();

/** @returns the ids of hosts with too many ports to hold in memory at once */
export async function findLargeHosts(
  tx: Transaction,
  scans: readonly HostScan[],
): Promise<ReadonlySet<number>> {
  if (scans.length === 0) return new Set();
  const stored = await selectLargeHosts(tx, { ids: scans.map(({ id }) => id), most: LARGE_HOST_PORTS });
  const scanned = scans.filter(
    ({ records }) => records.reduce((sum, { ports }) => sum + ports.length, 0) > LARGE_HOST_PORTS,
  );
  return new Set([...stored, ...scanned].map(({ id }) => id));
}

/** Applies the scan of a large host, one range of port numbers after the other. */
export async function applyHostWithManyPorts(scanContext: ScanContext, scan: HostScan): Promise<ScanResult> {
  const done: ScanResult = { updated: [], closedPorts: 0, openedPorts: 0 };
  for (const numbers of CHUNKS) {
    // The first chunk records the new host.
    const part = { ...scan, isNew: scan.isNew && numbers === CHUNKS[0] };
    const chunkResult = await applyScans(scanContext, [part], numbers);
    done.updated = scan.isNew || chunkResult.updated.length === 0 ? done.updated : chunkResult.updated;
    done.closedPorts += chunkResult.closedPorts;
    done.openedPorts += chunkResult.openedPorts;
  }
  await refreshPortCounts(scanContext.tx, [scan.id]);
  return done;
}

/**
 * Writes the ports of scanned hosts, their changes, and an audit event for every new or changed host.
 * @param numbers the range of ports of one host; absent: all
 */
export async function applyScans(
  { tx, by, organizationId, source }: ScanContext,
  scans: readonly HostScan[],
  numbers?: PortNumberRange,
): Promise<ScanResult> {
  const writing: PendingWrites = {
    source,
    numbers,
    ports: [],
    counts: [],
    recount: [],
    changes: [],
    portChanges: [],
    detections: [],
    replaced: [],
    events: [],
    result: { updated: [], closedPorts: 0, openedPorts: 0 },
  };
  const event = { organizationId };
  const portsByHost = await lockPorts(
    tx,
    scans.flatMap(({ id, isNew }) => (isNew ? [] : [id])),
    numbers,
  );
  for (const scan of scans) {
    if (scan.isNew) addNewHost(writing, event, scan);
    else addKnownHost(writing, event, scan, portsByHost.get(scan.id) ?? []);
  }
  await insertPorts(tx, writing.ports);
  await insertPortCounts(tx, writing.counts);
  // A large host is counted at its end, and its detections are stored before.
  if (numbers === undefined) {
    await refreshPortCounts(tx, writing.recount);
    await storeCurrentPorts(tx, organizationId, writing.replaced, portsByHost);
    await storeDetections(tx, organizationId, writing.detections);
  }
  await insertPortEvents(tx, writing.events);
  await addDeltas(tx, portChangeDeltas(organizationId, writing.portChanges));
  await recordEvents(
    tx,
    writing.changes.map((change) => ({ by, change })),
  );
  return writing.result;
}

/** Collected changes, which few statements write. */
interface PendingWrites {
  source: ScanSource;
  numbers: PortNumberRange | undefined;
  ports: InsertRow[];
  counts: InsertRow[];
  /** Hosts whose port counts change. */
  recount: number[];
  changes: AuditedChange[];
  portChanges: PortChange[];
  detections: HostDetection[];
  /** Known hosts whose ports change. */
  replaced: number[];
  events: InsertRow[];
  result: ScanResult;
}

/** Applies the records of a host one after the other. */
function observeRecords(writing: PendingWrites, scan: HostScan, stored: readonly Port[]): HostPorts {
  const ports = new HostPorts(stored);
  const { result, source } = writing;
  for (const record of scan.records) {
    const steps = ports.observe(record, record.seenAt, writing.numbers);
    for (const { before, after } of steps) {
      if (before?.observed_state === after.observed_state) continue;
      if (after.observed_state === 'open') result.openedPorts += 1;
      if (after.observed_state === 'closed' && before !== null) result.closedPorts += 1;
    }
    const row = toPortEventRow(scan.id, record.seenAt, steps, source.importId);
    if (row !== undefined) writing.events.push(row);
  }
  if (writing.numbers === undefined)
    for (const record of scan.records) {
      const key = {
        assetId: scan.id,
        seenAt: record.seenAt,
        importId: source.importId ?? 0,
        part: partOf(record.recordNumber),
      };
      writing.detections.push({ key, observation: { ...record, states: ports.statesOf(record) } });
    }
  return ports;
}

function addNewHost(
  writing: PendingWrites,
  event: Pick<AuditedChange, 'organizationId'>,
  scan: HostScan,
): void {
  const ports = observeRecords(writing, scan, []).list();
  const rows = ports.map((port) => toPortRow(scan.id, port));
  const counts = new Map<string, number>();
  for (const row of rows) writing.ports.push(row);
  for (const after of ports) {
    writing.portChanges.push({ before: null, after });
    counts.set(after.observed_state, (counts.get(after.observed_state) ?? 0) + 1);
  }
  // A large host is counted at its end.
  if (writing.numbers === undefined)
    for (const [state, count] of counts) writing.counts.push([scan.id, state, count]);
  const { name, description } = describeHost(scan.records);
  writing.changes.push({
    ...event,
    action: 'asset.create',
    object: ['asset', scan.uid],
    before: null,
    after: {
      type: 'host',
      location: scan.address,
      name: name ?? scan.address,
      ...(description === undefined ? {} : { description }),
      criticality: 'undefined',
      writable_by: 'any',
      scanned_at: lastSeen(scan.records),
      // Many ports, all new: a table is the most compact form.
      ports: { fields: PORT_FIELDS, rows: rows.map((row) => row.slice(1, 1 + PORT_FIELDS.length)) },
    },
  });
}

/** @returns the first name and description of a host that its records have */
export function describeHost(records: readonly ScannedHost[]): Pick<ScannedHost, 'name' | 'description'> {
  return {
    name: records.find(({ name }) => name !== undefined)?.name,
    description: records.find(({ description }) => description !== undefined)?.description,
  };
}

export const lastSeen = (records: readonly TimedRecord[]): number =>
  records.reduce((last, { seenAt }) => Math.max(last, seenAt), Number.MIN_SAFE_INTEGER);

function addKnownHost(
  writing: PendingWrites,
  event: Pick<AuditedChange, 'organizationId'>,
  scan: HostScan,
  stored: readonly Port[],
): void {
  const { rows, before, after, changes } = observeRecords(writing, scan, stored).diff();
  for (const port of rows) writing.ports.push(toPortRow(scan.id, port));
  writing.portChanges.push(...changes);
  if (changes.length > 0) writing.replaced.push(scan.id);
  if (after.length === 0) return;
  const isDown = scan.records.every(({ down }) => down === true);
  if (!isDown) writing.result.updated.push(scan.address);
  writing.recount.push(scan.id);
  writing.changes.push({
    ...event,
    action: 'asset.scan',
    object: ['asset', scan.uid],
    before: { ports: before },
    after: { scanned_at: lastSeen(scan.records), ...(isDown ? { down: true } : {}), ports: after },
  });
}
