import type { Act } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import type { Row } from '../../db/bulk.ts';
import { addressKey } from './asset-locations.ts';
import { newAssetUids } from './assets.ts';
import { type Change, recordChanges } from '../shared/audit.ts';
import { searchKey } from '../shared/filters.ts';
import { eventRowOf, insertPortEvents } from './port-events.ts';
import {
  hostsByAddress,
  insertAssets,
  insertCounts,
  insertPorts,
  type KnownHost,
  listedAssets,
  lockedPorts,
  noteAssetsSeen,
  PORT_FACTS,
  portRowOf,
} from './host-scan-statements.ts';
import {
  firstSight,
  observe,
  type PortCoverage,
  type PortObservations,
  type PortStep,
} from './port-observations.ts';
import { portTallies } from './organization-ports.ts';
import { addTallies } from '../shared/tallies.ts';
import { recountPorts } from './ports.ts';

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

/** What a scan did to what was known. */
interface ScanOutcome {
  created: number;
  /** Hosts that were known, and have a port that is new, changed or closed. */
  updated: number;
  unchanged: number;
  /** Known ports that are closed now and were not before. */
  closedPorts: number;
  /** Ports that are open now and were not before. */
  openedPorts: number;
  /** Hosts that the scan may not change. */
  refused: number;
  /** The assets that were made. */
  made: { id: number; uid: string; address: string }[];
}

/** Where a scan comes from, and what it may change. */
export interface ScanOrigin {
  importId?: number | undefined;
  /** The id of an assessment: only the hosts that it lists, and those that the import made, are changed. */
  listedBy?: number | undefined;
}

type Scan = Omit<ScannedHost, 'seenAt'> & KnownHost & { seenAt: number };

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
  const writing: Writing = { origin, ports: [], counts: [], recount: [], changes: [], steps: [], events: [] };
  const event = { organizationId };
  const others = scans.filter((scan) => !created.has(scan.uid));
  for (const scan of scans) if (created.has(scan.uid)) addNewHost(writing, event, scan);
  const outcome = await addKnownHosts(tx, writing, event, coverage, others);

  await noteSeen(tx, others);
  await insertPorts(tx, writing.ports);
  await insertCounts(tx, writing.counts);
  await recountPorts(tx, writing.recount);
  await insertPortEvents(tx, writing.events);
  await addTallies(tx, portTallies(organizationId, writing.steps));
  await recordChanges(
    tx,
    writing.changes.map((change) => ({ act, change })),
  );
  return {
    ...outcome,
    refused,
    created: created.size,
    openedPorts: writing.steps.filter(isOpened).length,
    made: scans.flatMap(({ id, uid, address }) => (created.has(uid) ? [{ id, uid, address }] : [])),
  };
}

function isOpened({ before, after }: PortStep): boolean {
  return after.observed_state === 'open' && before?.observed_state !== 'open';
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
  coverage: PortCoverage,
  scans: readonly Scan[],
): Promise<Pick<ScanOutcome, 'updated' | 'unchanged' | 'closedPorts'>> {
  const outcome = { updated: 0, unchanged: 0, closedPorts: 0 };
  const known = await lockedPorts(
    tx,
    scans.map(({ id }) => id),
  );
  for (const scan of scans) {
    const covered = scan.down === true ? EVERY_PORT : coverage;
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

/** Remembers when known hosts were seen, of those that answered. */
async function noteSeen(tx: Transaction, scans: readonly Scan[]): Promise<void> {
  const seen = scans.filter(({ down }) => down !== true).map(({ id, seenAt }) => [id, seenAt]);
  await noteAssetsSeen(tx, seen);
}

/** A host that does not answer has none that is open. */
const EVERY_PORT: Pick<PortCoverage, 'has'> = { has: () => true };
