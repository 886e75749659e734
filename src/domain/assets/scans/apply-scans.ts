import type { Act } from '../../../auth/callers.ts';
import type { Row } from '../../../db/bulk-insert.ts';
import type { Transaction } from '../../../db/engine.ts';
import { type Change, recordChanges } from '../../audit/record-event.ts';
import { addTallies } from '../../shared/counters.ts';
import {
  hostsWithManyPorts,
  insertCounts,
  insertPorts,
  type KnownHost,
  lockedPorts,
  PORT_FACTS,
  type PortNumbers,
  portRowOf,
} from './queries.ts';
import { portTallies } from '../organization-ports.ts';
import { eventRowOf, insertPortEvents } from '../port-events.ts';
import {
  firstSight,
  observe,
  type PortCoverage,
  type PortObservations,
  type PortStep,
} from './diff-ports.ts';
import { recountPorts } from '../ports.ts';

/** A host that a scan looked at. */
export interface ScannedHost extends PortObservations {
  /** The IP address, by which the host is known within its organization. */
  address: string;
  /** What to call the host when it is new; its address when absent. */
  name?: string | undefined;
  /** What else is known of it when it is new. */
  description?: string | undefined;
  /** Whether it did not answer at all. Then it is no asset if it was none, and the known ports of one are closed. */
  down?: boolean | undefined;
  /** When the scan was done with the host, in milliseconds since 1970; absent means now. */
  seenAt?: number | undefined;
}

/** Where a scan comes from, and what it may change. */
export interface ScanOrigin {
  importId?: number | undefined;
  /** The id of an assessment: only the hosts that it lists, and those that the import made, are changed. */
  listedBy?: number | undefined;
}

/** A host that a scan looked at, and its asset. */
export type Scan = Omit<ScannedHost, 'seenAt'> & KnownHost & { seenAt: number };

/** What scans did to hosts that were known, and to ports. */
export interface AppliedScans {
  /** Hosts that were known, and have a port that is new, changed or closed. */
  updated: number;
  unchanged: number;
  /** Known ports that are closed now and were not before. */
  closedPorts: number;
  /** Ports that are open now and were not before. */
  openedPorts: number;
}

/** What applying scans needs. */
export interface Applying {
  tx: Transaction;
  act: Act;
  organizationId: number;
  origin: ScanOrigin;
  /** Which ports the scans cover. */
  coverage: Pick<PortCoverage, 'has'>;
}

/** Known or listed ports above which a host is applied in pieces, and how many numbers of ports one has. */
const MANY_PORTS = 5_000;
const PIECE = 2_048;
const PORT_NUMBERS = 65_536;

/** @returns the ids of hosts that have so many ports that they are not held in memory at once */
export async function largeHosts(tx: Transaction, scans: readonly Scan[]): Promise<ReadonlySet<number>> {
  if (scans.length === 0) return new Set();
  const known = await hostsWithManyPorts(tx, { ids: scans.map(({ id }) => id), most: MANY_PORTS });
  const listed = scans.filter(({ ports }) => ports.length > MANY_PORTS);
  return new Set([...known, ...listed].map(({ id }) => id));
}

/** Applies the scan of a large host, some numbers of ports after the others. */
export async function applyInPieces(applying: Applying, scan: Scan, isNew: boolean): Promise<AppliedScans> {
  const done: AppliedScans = { updated: 0, unchanged: 0, closedPorts: 0, openedPorts: 0 };
  let isUpdated = false;
  for (let first = 0; first < PORT_NUMBERS; first += PIECE) {
    const numbers = { first, last: first + PIECE - 1 };
    const { coverage } = applying;
    const within = everyPort(numbers);
    const piece: Applying = {
      ...applying,
      coverage: { has: (protocol, number) => within.has(protocol, number) && coverage.has(protocol, number) },
    };
    const ports = scan.ports.filter(({ number }) => number >= numbers.first && number <= numbers.last);
    // What makes the host is the first of its pieces.
    const { updated, closedPorts, openedPorts } = await applyScans(piece, {
      scans: [{ ...scan, ports }],
      isNew: () => isNew && first === 0,
      numbers,
    });
    isUpdated ||= updated > 0;
    done.closedPorts += closedPorts;
    done.openedPorts += openedPorts;
  }
  // One in which nothing changed costs no count.
  if (isNew || isUpdated || done.closedPorts > 0) await recountPorts(applying.tx, [scan.id]);
  if (isNew || scan.down === true) return done;
  return { ...done, updated: isUpdated ? 1 : 0, unchanged: isUpdated ? 0 : 1 };
}

/** @returns what covers all ports of some numbers, or all there are: a host that does not answer has none that is open */
function everyPort(numbers: PortNumbers | undefined): Pick<PortCoverage, 'has'> {
  if (numbers === undefined) return { has: () => true };
  return { has: (_protocol, number) => number >= numbers.first && number <= numbers.last };
}

/**
 * Writes what scans tell of hosts: their ports, what became of them, and an event for every host that is new or changed.
 * @param numbers of which ports the scan of one host tells here; of all of them unless told
 */
export async function applyScans(
  { tx, act, organizationId, origin, coverage }: Applying,
  {
    scans,
    isNew,
    numbers,
  }: { scans: readonly Scan[]; isNew: (scan: Scan) => boolean; numbers?: PortNumbers },
): Promise<AppliedScans> {
  const writing: Writing = { origin, ports: [], counts: [], recount: [], changes: [], steps: [], events: [] };
  const event = { organizationId };
  for (const scan of scans) if (isNew(scan)) addNewHost(writing, event, scan);
  const others = scans.filter((scan) => !isNew(scan));
  const outcome = await addKnownHosts(tx, writing, event, coverage, others, numbers);
  await insertPorts(tx, writing.ports);
  await insertCounts(tx, writing.counts);
  // Of a host in pieces they are counted at its end.
  if (numbers === undefined) await recountPorts(tx, writing.recount);
  await insertPortEvents(tx, writing.events);
  await addTallies(tx, portTallies(organizationId, writing.steps));
  await recordChanges(
    tx,
    writing.changes.map((change) => ({ act, change })),
  );
  return { ...outcome, openedPorts: writing.steps.filter(isOpened).length };
}

/** What a unit of work collects to write it in few statements. */
interface Writing {
  origin: ScanOrigin;
  ports: Row[];
  counts: Row[];
  /** Hosts whose ports by state are to be counted again. */
  recount: number[];
  changes: Change[];
  /** What became of ports, which the organization counts. */
  steps: PortStep[];
  events: Row[];
}

function isOpened({ before, after }: PortStep): boolean {
  return after.observed_state === 'open' && before?.observed_state !== 'open';
}

function addNewHost(writing: Writing, event: Pick<Change, 'organizationId'>, scan: Scan): void {
  const steps = scan.ports.map((port): PortStep => ({ before: null, after: firstSight(port, scan.seenAt) }));
  const rows = steps.map(({ after }) => portRowOf(scan.id, after));
  noteSteps(writing, scan, steps);
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
      // Many ports and nothing to tell them from: a table takes the least room.
      ports: { fields: PORT_FACTS, rows: rows.map((row) => row.slice(1, 1 + PORT_FACTS.length)) },
    },
  });
}

function noteSteps(writing: Writing, scan: Scan, steps: readonly PortStep[]): void {
  writing.steps.push(...steps);
  const row = eventRowOf(scan.id, scan.seenAt, steps, writing.origin.importId);
  if (row !== undefined) writing.events.push(row);
}

async function addKnownHosts(
  tx: Transaction,
  writing: Writing,
  event: Pick<Change, 'organizationId'>,
  coverage: Pick<PortCoverage, 'has'>,
  scans: readonly Scan[],
  numbers: PortNumbers | undefined,
): Promise<Pick<AppliedScans, 'updated' | 'unchanged' | 'closedPorts'>> {
  const outcome = { updated: 0, unchanged: 0, closedPorts: 0 };
  const known = await lockedPorts(
    tx,
    scans.map(({ id }) => id),
    numbers,
  );
  for (const scan of scans) {
    const covered = scan.down === true ? everyPort(numbers) : coverage;
    const { rows, before, after, steps, closed } = observe(
      known.get(scan.id) ?? [],
      scan,
      covered,
      scan.seenAt,
    );
    for (const port of rows) writing.ports.push(portRowOf(scan.id, port));
    noteSteps(writing, scan, steps);
    outcome.closedPorts += closed;
    // Hosts that are down are counted by the report.
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
