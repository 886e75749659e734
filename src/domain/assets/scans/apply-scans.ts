import type { Attribution } from '../../../auth/callers.ts';
import type { InsertRow } from '../../../db/bulk-insert.ts';
import type { Transaction } from '../../../db/engine.ts';
import { type AuditedChange, recordEvents } from '../../audit/record-event.ts';
import { addDeltas } from '../../shared/counters.ts';
import {
  selectLargeHosts,
  insertPortCounts,
  insertPorts,
  type KnownHost,
  lockPorts,
  PORT_FIELDS,
  type PortNumberRange,
  toPortRow,
} from './queries.ts';
import { portDeltas } from '../organization-ports.ts';
import { toPortEventRow, insertPortEvents } from '../port-events.ts';
import {
  firstObservation,
  diffPorts,
  type PortCoverage,
  type HostObservation,
  type PortChange,
} from './diff-ports.ts';
import { refreshPortCounts } from '../ports.ts';

export interface ScannedHost extends HostObservation {
  /** Identifies the host within its organization. */
  address: string;
  /** The name of a new host; its address by default. */
  name?: string | undefined;
  /** Of a new host. */
  description?: string | undefined;
  /** The host did not respond: an unknown host creates no asset, and the ports of a known one are closed. */
  down?: boolean | undefined;
  /** Milliseconds since 1970; absent: now. */
  seenAt?: number | undefined;
}

export interface ScanSource {
  importId?: number | undefined;
  /** @returns the ids of the hosts that the scan may change; absent if it may change all */
  findWritable?(known: readonly KnownHost[]): Promise<ReadonlySet<number>>;
}

/** A scanned host with its asset. */
export type HostScan = Omit<ScannedHost, 'seenAt'> & KnownHost & { seenAt: number };

export interface ScanResult {
  /** Known hosts with a new, changed or closed port. */
  updated: number;
  unchanged: number;
  /** Known ports that became closed. */
  closedPorts: number;
  /** Ports that became open. */
  openedPorts: number;
}

export interface ScanApplication {
  tx: Transaction;
  by: Attribution;
  organizationId: number;
  source: ScanSource;
  coverage: Pick<PortCoverage, 'has'>;
}

/** Ports. A host with more, known or listed, is applied in chunks of port numbers. */
const LARGE_HOST_PORTS = 5_000;
const PORTS_PER_CHUNK = 2_048;
const PORT_NUMBERS = 65_536;

/** @returns the ids of hosts with too many ports to hold in memory at once */
export async function findLargeHosts(
  tx: Transaction,
  scans: readonly HostScan[],
): Promise<ReadonlySet<number>> {
  if (scans.length === 0) return new Set();
  const known = await selectLargeHosts(tx, { ids: scans.map(({ id }) => id), most: LARGE_HOST_PORTS });
  const listed = scans.filter(({ ports }) => ports.length > LARGE_HOST_PORTS);
  return new Set([...known, ...listed].map(({ id }) => id));
}

/** Applies the scan of a large host, one range of port numbers after the other. */
export async function applyLargeHost(
  applying: ScanApplication,
  scan: HostScan,
  isNew: boolean,
): Promise<ScanResult> {
  const done: ScanResult = { updated: 0, unchanged: 0, closedPorts: 0, openedPorts: 0 };
  let isUpdated = false;
  for (let first = 0; first < PORT_NUMBERS; first += PORTS_PER_CHUNK) {
    const numbers = { first, last: first + PORTS_PER_CHUNK - 1 };
    const { coverage } = applying;
    const range = coverAllPorts(numbers);
    const part: ScanApplication = {
      ...applying,
      coverage: { has: (protocol, number) => range.has(protocol, number) && coverage.has(protocol, number) },
    };
    const ports = scan.ports.filter(({ number }) => number >= numbers.first && number <= numbers.last);
    // The first chunk records the new host.
    const { updated, closedPorts, openedPorts } = await applyScans(part, {
      scans: [{ ...scan, ports }],
      isNew: () => isNew && first === 0,
      numbers,
    });
    isUpdated ||= updated > 0;
    done.closedPorts += closedPorts;
    done.openedPorts += openedPorts;
  }
  if (isNew || isUpdated || done.closedPorts > 0) await refreshPortCounts(applying.tx, [scan.id]);
  if (isNew || scan.down === true) return done;
  return { ...done, updated: isUpdated ? 1 : 0, unchanged: isUpdated ? 0 : 1 };
}

/** Covers all ports, or those of a range: a host that is down has no open port. */
function coverAllPorts(numbers: PortNumberRange | undefined): Pick<PortCoverage, 'has'> {
  if (numbers === undefined) return { has: () => true };
  return { has: (_protocol, number) => number >= numbers.first && number <= numbers.last };
}

/**
 * Writes the ports of scanned hosts, their changes, and an audit event for every new or changed host.
 * @param numbers the range of ports of one host; absent: all
 */
export async function applyScans(
  { tx, by, organizationId, source, coverage }: ScanApplication,
  {
    scans,
    isNew,
    numbers,
  }: { scans: readonly HostScan[]; isNew: (scan: HostScan) => boolean; numbers?: PortNumberRange },
): Promise<ScanResult> {
  const writing: PendingWrites = {
    source,
    ports: [],
    counts: [],
    recount: [],
    changes: [],
    portChanges: [],
    events: [],
  };
  const event = { organizationId };
  for (const scan of scans) if (isNew(scan)) addNewHost(writing, event, scan);
  const others = scans.filter((scan) => !isNew(scan));
  const outcome = await addKnownHosts(tx, writing, event, coverage, others, numbers);
  await insertPorts(tx, writing.ports);
  await insertPortCounts(tx, writing.counts);
  // A large host is counted at its end.
  if (numbers === undefined) await refreshPortCounts(tx, writing.recount);
  await insertPortEvents(tx, writing.events);
  await addDeltas(tx, portDeltas(organizationId, writing.portChanges));
  await recordEvents(
    tx,
    writing.changes.map((change) => ({ by, change })),
  );
  return { ...outcome, openedPorts: writing.portChanges.filter(isOpened).length };
}

/** Collected to be written in few statements. */
interface PendingWrites {
  source: ScanSource;
  ports: InsertRow[];
  counts: InsertRow[];
  /** Hosts whose port counts change. */
  recount: number[];
  changes: AuditedChange[];
  portChanges: PortChange[];
  events: InsertRow[];
}

function isOpened({ before, after }: PortChange): boolean {
  return after.observed_state === 'open' && before?.observed_state !== 'open';
}

function addNewHost(
  writing: PendingWrites,
  event: Pick<AuditedChange, 'organizationId'>,
  scan: HostScan,
): void {
  const steps = scan.ports.map((port): PortChange => ({
    before: null,
    after: firstObservation(port, scan.seenAt),
  }));
  const rows = steps.map(({ after }) => toPortRow(scan.id, after));
  addPortChanges(writing, scan, steps);
  const counts = new Map<string, number>();
  for (const row of rows) writing.ports.push(row);
  for (const { state } of scan.ports) counts.set(state, (counts.get(state) ?? 0) + 1);
  for (const [state, count] of counts) writing.counts.push([scan.id, state, count]);
  writing.changes.push({
    ...event,
    action: 'asset.create',
    object: ['asset', scan.uid],
    before: null,
    after: {
      type: 'host',
      location: scan.address,
      name: scan.name ?? scan.address,
      ...(scan.description === undefined ? {} : { description: scan.description }),
      criticality: 'undefined',
      writable_by: 'any',
      scanned_at: scan.seenAt,
      // Many ports, all new: a table is the most compact form.
      ports: { fields: PORT_FIELDS, rows: rows.map((row) => row.slice(1, 1 + PORT_FIELDS.length)) },
    },
  });
}

function addPortChanges(writing: PendingWrites, scan: HostScan, steps: readonly PortChange[]): void {
  writing.portChanges.push(...steps);
  const row = toPortEventRow(scan.id, scan.seenAt, steps, writing.source.importId);
  if (row !== undefined) writing.events.push(row);
}

async function addKnownHosts(
  tx: Transaction,
  writing: PendingWrites,
  event: Pick<AuditedChange, 'organizationId'>,
  coverage: Pick<PortCoverage, 'has'>,
  scans: readonly HostScan[],
  numbers: PortNumberRange | undefined,
): Promise<Pick<ScanResult, 'updated' | 'unchanged' | 'closedPorts'>> {
  const outcome = { updated: 0, unchanged: 0, closedPorts: 0 };
  const known = await lockPorts(
    tx,
    scans.map(({ id }) => id),
    numbers,
  );
  for (const scan of scans) {
    const covered = scan.down === true ? coverAllPorts(numbers) : coverage;
    const { rows, before, after, portChanges, closed } = diffPorts(
      known.get(scan.id) ?? [],
      scan,
      covered,
      scan.seenAt,
    );
    for (const port of rows) writing.ports.push(toPortRow(scan.id, port));
    addPortChanges(writing, scan, portChanges);
    outcome.closedPorts += closed;
    // The report counts hosts that are down.
    if (scan.down !== true) outcome[after.length === 0 ? 'unchanged' : 'updated'] += 1;
    if (after.length === 0) continue;
    writing.recount.push(scan.id);
    writing.changes.push({
      ...event,
      action: 'asset.scan',
      object: ['asset', scan.uid],
      before: { ports: before },
      after: { scanned_at: scan.seenAt, ...(scan.down === true ? { down: true } : {}), ports: after },
    });
  }
  return outcome;
}
