import { sql } from 'kysely';
import type { InsertRow } from '../../../db/bulk-insert.ts';
import { inList } from '../../../db/dialect-sql.ts';
import type { Transaction } from '../../../db/database.ts';
import { addDeltas } from '../../shared/counters.ts';
import { portChangeDeltas, removedPortDeltas } from '../organization-ports.ts';
import { countTransitions, insertPortEvents, toPortEventRow } from '../port-events.ts';
import { refreshPortCounts } from '../ports.ts';
import { CHUNKS, LARGE_HOST_PORTS } from './apply-scans.ts';
import { diffPorts, HostPorts, type PortNumberRange, type PortsDiff } from './diff-ports.ts';
import { readDetections, storeCurrentPorts } from './host-detections.ts';
import { deletePorts, insertPorts, lockPorts, selectLargeHosts, toPortRow } from './host-queries.ts';

/** The changes of a host for the audit log, and how many more ports an import opened and closed than before. */
export interface DerivedChange extends Pick<PortsDiff, 'before' | 'after'> {
  opened: number;
  closed: number;
}

/**
 * Replays the scans of a host that have not been undone in the order of their times, and updates its ports, their
 * counts and their history to the result. Lock the host first.
 * @param importId the import whose changes are counted
 */
export async function deriveHost(
  tx: Transaction,
  organizationId: number,
  assetId: number,
  importId: number,
): Promise<DerivedChange> {
  await storeCurrentPorts(tx, organizationId, [assetId]);
  const isLarge = (await selectLargeHosts(tx, { ids: [assetId], most: LARGE_HOST_PORTS })).length > 0;
  const change: DerivedChange = { before: [], after: [], opened: 0, closed: 0 };
  const events: InsertRow[] = [];
  let lastOldEvent = 0;
  let isChanged = false;
  for (const numbers of isLarge ? CHUNKS : [undefined]) {
    const derived = await observeAll(tx, organizationId, assetId, numbers);
    events.push(...derived.events);
    lastOldEvent = Math.max(lastOldEvent, derived.lastOldEvent);
    const stored = (await lockPorts(tx, [assetId], numbers)).get(assetId) ?? [];
    const { rows, removed, changes, before, after } = diffPorts(stored, derived.ports.list());
    await insertPorts(
      tx,
      rows.map((port) => toPortRow(assetId, port)),
    );
    await deletePorts(tx, assetId, removed);
    await addDeltas(tx, [
      ...portChangeDeltas(organizationId, changes),
      ...removedPortDeltas(organizationId, removed),
    ]);
    change.before.push(...before);
    change.after.push(...after);
    isChanged ||= changes.length > 0 || removed.length > 0;
  }
  if (isChanged) await refreshPortCounts(tx, [assetId]);
  // The events of each chunk are sorted, but not those of different chunks.
  events.sort((one, other) => Number(one[1]) - Number(other[1]));
  return { ...change, ...(await rewriteEvents(tx, assetId, lastOldEvent, events, importId)) };
}

async function observeAll(
  tx: Transaction,
  organizationId: number,
  assetId: number,
  numbers: PortNumberRange | undefined,
) {
  const ports = new HostPorts([]);
  const events: InsertRow[] = [];
  let lastOldEvent = 0;
  for await (const { key, stored } of readDetections(tx, organizationId, assetId, numbers)) {
    if ('baseline' in stored) {
      const { baseline } = stored;
      ports.restore(
        numbers === undefined ? baseline : baseline.filter((port) => isWithin(port.number, numbers)),
      );
      lastOldEvent = Math.max(lastOldEvent, stored.lastEvent);
      continue;
    }
    const steps = ports.observe(stored, key.seenAt, intersect(numbers, stored.numbers));
    const row = toPortEventRow(assetId, key.seenAt, steps, key.importId === 0 ? undefined : key.importId);
    if (row !== undefined) events.push(row);
  }
  return { ports, events, lastOldEvent };
}

const isWithin = (number: number, { first, last }: PortNumberRange) => number >= first && number <= last;

function intersect(
  one: PortNumberRange | undefined,
  other: PortNumberRange | undefined,
): PortNumberRange | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return { first: Math.max(one.first, other.first), last: Math.min(one.last, other.last) };
}

/** @param lastOldEvent the last event from before scans were stored; it and earlier events are not changed */
async function rewriteEvents(
  tx: Transaction,
  assetId: number,
  lastOldEvent: number,
  events: readonly InsertRow[],
  importId: number,
): Promise<{ opened: number; closed: number }> {
  const stored = await tx
    .selectFrom('port_events')
    .select(['id', 'at', 'import_id', 'changes'])
    .where('asset_id', '=', assetId)
    .where('id', '>', lastOldEvent)
    .orderBy('at')
    .orderBy('id')
    .execute();
  const count = { opened: 0, closed: 0 };
  const countEvent = (changes: string, sign: 1 | -1): void => {
    const { opened, closed } = countTransitions(changes);
    count.opened += sign * opened;
    count.closed += sign * closed;
  };
  let unchangedCount = 0;
  const isUnchanged = (row: (typeof stored)[number] | undefined, event: InsertRow | undefined) =>
    row !== undefined && row.at === event?.[1] && row.import_id === event[2] && row.changes === event[4];
  while (isUnchanged(stored[unchangedCount], events[unchangedCount])) unchangedCount += 1;
  const [staleEvents, newEvents] = [stored.slice(unchangedCount), events.slice(unchangedCount)];
  for (const row of staleEvents) if (row.import_id === importId) countEvent(row.changes, -1);
  for (const event of newEvents) if (event[2] === importId) countEvent(String(event[4]), 1);
  if (staleEvents.length > 0)
    await tx
      .deleteFrom('port_events')
      .where((eb) =>
        inList(
          tx,
          eb.ref('id'),
          staleEvents.map(({ id }) => id),
        ),
      )
      .execute();
  await insertPortEvents(tx, newEvents);
  return count;
}

/** @returns the id of the last port event of a host; 0 for none */
export async function lastPortEvent(tx: Transaction, assetId: number): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select coalesce(max(id), 0) as id from port_events where asset_id = ${assetId}`.execute(tx);
  return rows[0]?.id ?? 0;
}
