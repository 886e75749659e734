import { prepareInsert, type InsertRow } from '../../db/bulk-insert.ts';
import type { ReadConnection } from '../../db/database.ts';
import type { Row } from '../../db/schema.ts';
import type { Caller } from '../../auth/callers.ts';
import type { PortChange } from './scans/diff-ports.ts';
import { comparePorts, findVisibleAsset, type Port } from './ports.ts';
import { notFound } from '../shared/errors.ts';
import type { PageRequest } from '../lists/reverse-paging.ts';

export const PORT_EVENT_KINDS = ['opened', 'closed', 'changed'] as const;

/** The properties of a port that a scan can change. */
export type PortFields = Pick<
  Port,
  'observed_state' | 'service_name' | 'service_banner' | 'product_name' | 'product_version' | 'cpe'
>;

export interface PortEvent {
  /** Milliseconds since 1970. */
  at: number;
  number: number;
  protocol: string;
  kind: (typeof PORT_EVENT_KINDS)[number];
  before: PortFields | null;
  after: PortFields;
  /** `null` for a scan without an import. */
  importId: number | null;
}

type PackedFields = (string | null)[];
type StoredChange = [number: number, protocol: string, before: PackedFields | null, after: PackedFields];

export const insertPortEvents = prepareInsert('port_events', {
  asset_id: 'int',
  at: 'int',
  import_id: 'int',
  changes_count: 'int',
  changes: 'text',
});

/** @returns the row of a host's port changes; `undefined` when there are none */
export function toPortEventRow(
  assetId: number,
  at: number,
  portChanges: readonly PortChange[],
  importId?: number,
): InsertRow | undefined {
  const changes = portChanges
    // A port that is first seen in any state but open is no event.
    .filter(({ before, after }) => before !== null || after.observed_state === 'open')
    .sort((one, other) => comparePorts(one.after, other.after))
    .map(({ before, after }): StoredChange => [
      after.number,
      after.protocol,
      before && packFields(before),
      packFields(after),
    ]);
  return changes.length === 0
    ? undefined
    : [assetId, at, importId ?? null, changes.length, JSON.stringify(changes)];
}

/** @returns the numbers of ports that became open, and of known ports that became closed */
export function countTransitions(changes: string): { opened: number; closed: number } {
  const count = { opened: 0, closed: 0 };
  for (const [, , before, [state]] of JSON.parse(changes) as StoredChange[]) {
    if (state === 'open' && before?.[0] !== 'open') count.opened += 1;
    if (state === 'closed' && before !== null && before[0] !== 'closed') count.closed += 1;
  }
  return count;
}

function packFields(port: PortFields): PackedFields {
  return [
    port.observed_state,
    port.service_name,
    port.service_banner,
    port.product_name,
    port.product_version,
    port.cpe,
  ];
}

function unpackFields([state, service, banner, product, version, cpe]: PackedFields): PortFields {
  return {
    observed_state: state ?? '',
    service_name: service ?? null,
    service_banner: banner ?? null,
    product_name: product ?? null,
    product_version: version ?? null,
    cpe: cpe ?? null,
  };
}

function kindOf(before: string | undefined, after: string): PortEvent['kind'] {
  if (after === before) return 'changed';
  return after === 'open' ? 'opened' : after === 'closed' ? 'closed' : 'changed';
}

export interface PortHistoryQuery extends PageRequest {
  /** Milliseconds since 1970. */
  since?: number | undefined;
  number?: number | undefined;
  /** The maximum number of events on all pages. */
  limit?: number | undefined;
}

/** Rows per query, so that no query blocks the event loop for long. */
const ROWS_PER_QUERY = 100;

/**
 * Lists the port changes of a host, newest first (operation 81).
 * @throws DomainError `not-found` as `readPorts`
 */
export async function readPortHistory(
  db: ReadConnection,
  caller: Caller,
  organizationUid: string,
  assetUid: string,
  { since = Number.MIN_SAFE_INTEGER, number, limit = Infinity, page, perPage }: PortHistoryQuery,
): Promise<{ events: PortEvent[]; total: number }> {
  const asset = await findVisibleAsset(db, caller, organizationUid, assetUid);
  if (asset === undefined) throw notFound('asset');
  const start = (page - 1) * perPage;
  const end = Math.min(start + perPage, limit);
  const events: PortEvent[] = [];
  let total = 0;
  let last: { at: number; id: number } | undefined;
  while (asset.type === 'host') {
    const rows = await readRows(db, asset.id, since, last);
    for (const row of rows) {
      // Without a filter by number, rows outside the page are counted without parsing them.
      if (number === undefined && (total + row.changes_count <= start || total >= end)) {
        total += row.changes_count;
        continue;
      }
      for (const event of eventsOf(row)) {
        if (number !== undefined && event.number !== number) continue;
        if (total >= start && total < end) events.push(event);
        total += 1;
      }
    }
    last = rows.at(-1);
    if (rows.length < ROWS_PER_QUERY) break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { events, total: Math.min(total, limit) };
}

function readRows(
  db: ReadConnection,
  assetId: number,
  since: number,
  last: { at: number; id: number } | undefined,
) {
  return db
    .selectFrom('port_events')
    .select(['id', 'at', 'import_id', 'changes_count', 'changes'])
    .where('asset_id', '=', assetId)
    .where('at', '>=', since)
    .$if(last !== undefined, (query) =>
      query
        .where('at', '<=', last?.at ?? 0)
        .where((eb) => eb.or([eb('at', '<', last?.at ?? 0), eb('id', '<', last?.id ?? 0)])),
    )
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(ROWS_PER_QUERY)
    .execute();
}

function eventsOf({
  at,
  import_id,
  changes,
}: Pick<Row<'port_events'>, 'at' | 'import_id' | 'changes'>): PortEvent[] {
  return (JSON.parse(changes) as StoredChange[]).map(([number, protocol, before, after]) => ({
    at,
    number,
    protocol,
    kind: kindOf(before?.[0] ?? undefined, after[0] ?? ''),
    before: before && unpackFields(before),
    after: unpackFields(after),
    importId: import_id,
  }));
}
