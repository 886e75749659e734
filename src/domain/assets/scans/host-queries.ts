import { type SqlBool, sql } from 'kysely';
import { prepareInsert, type InsertRow } from '../../../db/bulk-insert.ts';
import type { ReadConnection, Transaction } from '../../../db/database.ts';
import {
  forNoKeyUpdate,
  inList,
  itemInteger,
  itemText,
  jsonRowsTable,
  pairsTable,
} from '../../../db/dialect-sql.ts';
import { prepareQuery, preparePipelined } from '../../../db/prepared-queries.ts';
import type { Row } from '../../../db/schema.ts';
import { type Port } from '../ports.ts';
import { lockRows } from '../../shared/lock-rows.ts';
import type { PortNumberRange } from './diff-ports.ts';

export type KnownHost = Pick<Row<'assets'>, 'id' | 'uid' | 'writable_by' | 'import_id'> & { address: string };

export const selectListedAssets = prepareQuery<
  { assessment: number; ids: readonly number[] },
  { asset_id: number }
>((db, p) =>
  db
    .selectFrom('listing_assets')
    .select('asset_id')
    .where('assessment_id', '=', p.assessment)
    .where((eb) => inList(db, eb.ref('asset_id'), p.ids)),
);

/** When an asset was seen, in milliseconds since 1970. */
export interface SeenRange {
  id: number;
  first: number;
  last: number;
}

/** Widens the times at which assets were seen; each asset once. */
export async function updateSeenRange(tx: Transaction, ranges: readonly SeenRange[]): Promise<void> {
  await addSeenTimes(
    tx,
    ranges.map(({ id, last }) => [id, last]),
  );
  await addSeenTimes(
    tx,
    ranges.flatMap(({ id, first, last }) => (first < last ? [[id, first]] : [])),
  );
}

/** @param times ids with milliseconds since 1970, each asset once */
export async function addSeenTimes(tx: Transaction, times: readonly (readonly number[])[]): Promise<void> {
  if (times.length === 0) return;
  const parameters = { seen: JSON.stringify(times) };
  // SQLite has one writer at a time.
  if (tx.engine === 'postgres') await lockWidened(tx, parameters);
  await widenSeenRange(tx, parameters);
}

const isWidened = sql<SqlBool>`(first_seen is null or other < first_seen or other > last_seen)`;

/** An update locks in any order, in which concurrent transactions could deadlock. */
const lockWidened = preparePipelined<{ seen: string }>((tx, p) =>
  tx
    .selectFrom('assets')
    .innerJoin(pairsTable(tx, p.seen).as('item'), (join) => join.onRef('assets.id', '=', sql.ref('one')))
    .select('assets.id')
    .where(isWidened)
    .orderBy('assets.id')
    .modifyEnd(forNoKeyUpdate(tx, 'assets')),
);

const widenSeenRange = preparePipelined<{ seen: string }>((tx, p) =>
  tx
    .updateTable('assets')
    .from(pairsTable(tx, p.seen).as('item'))
    .set({
      first_seen: sql`case when first_seen < other then first_seen else other end`,
      last_seen: sql`case when last_seen > other then last_seen else other end`,
    })
    .whereRef('assets.id', '=', sql.ref('one'))
    .where(isWidened),
);

const PORT_COLUMNS = {
  asset_id: 'int',
  protocol: 'text',
  number: 'int',
  observed_state: 'text',
  service_name: 'text',
  service_banner: 'text',
  product_name: 'text',
  product_version: 'text',
  cpe: 'text',
  first_seen: 'int',
  last_seen: 'int',
} as const;

export async function deletePorts(tx: Transaction, assetId: number, ports: readonly Port[]): Promise<void> {
  if (ports.length === 0) return;
  const rows = ports.map(({ number, protocol }) => [number, protocol]);
  await sql`delete from ports where asset_id = ${assetId} and (number, protocol) in (
    select ${itemInteger(0)}, ${itemText(1)} from ${jsonRowsTable(tx, rows)})`.execute(tx);
}

/** The values of `STORED_FIELDS`. */
type PortValues = [
  Port['protocol'],
  number,
  string,
  string | null,
  string | null,
  string | null,
  string | null,
  string | null,
  number,
  number,
];

const toPort = (values: PortValues): Port => ({
  protocol: values[0],
  number: values[1],
  observed_state: values[2],
  service_name: values[3],
  service_banner: values[4],
  product_name: values[5],
  product_version: values[6],
  cpe: values[7],
  first_seen: values[8],
  last_seen: values[9],
});

/** All columns but the asset and the times. */
export const PORT_FIELDS = Object.keys(PORT_COLUMNS).slice(1, -2);

/** @returns the values of `PORT_COLUMNS` */
export function toPortRow(assetId: number, port: Port): InsertRow {
  return [
    assetId,
    port.protocol,
    port.number,
    port.observed_state,
    port.service_name,
    port.service_banner,
    port.product_name,
    port.product_version,
    port.cpe,
    port.first_seen,
    port.last_seen,
  ];
}

export const selectHostsByAddress = prepareQuery<
  { organization: number; addresses: readonly string[] },
  KnownHost
>((db, p) =>
  db
    .selectFrom('assets')
    .select(['id', 'uid', 'location as address', 'writable_by', 'import_id'])
    .where('organization_id', '=', p.organization)
    .where('type', '=', sql.lit('host'))
    .where((eb) => inList(db, eb.ref('location'), p.addresses)),
);

/** All columns but the asset. */
const STORED_FIELDS = Object.keys(PORT_COLUMNS).slice(1) as (keyof Port)[];

/** The ports of a host as one JSON value, which is faster than a value for each of their columns. */
function portList(db: Pick<ReadConnection, 'engine'>) {
  const values = sql.join(STORED_FIELDS.map((field) => sql.ref(field)));
  return db.engine === 'postgres'
    ? sql<string>`json_agg(json_build_array(${values}))::text`
    : sql<string>`json_group_array(json_array(${values}))`;
}

const portsOfAssets = prepareQuery<{ ids: readonly number[] }, { id: number; ports: string | null }>(
  (db, p) =>
    db
      .selectFrom('assets')
      .select((eb) => [
        'id',
        eb
          .selectFrom('ports')
          .select(portList(db).as('list'))
          .whereRef('ports.asset_id', '=', 'assets.id')
          .as('ports'),
      ])
      .where((eb) => inList(db, eb.ref('id'), p.ids)),
);

const portsInRange = prepareQuery<
  { id: number; first: number; last: number },
  { id: number; ports: string | null }
>((db, p) =>
  db
    .selectFrom('ports')
    .select([sql<number>`cast(${p.id} as bigint)`.as('id'), portList(db).as('ports')])
    .where('asset_id', '=', p.id)
    .where('number', '>=', p.first)
    .where('number', '<=', p.last),
);

/** Hosts with more than `most` ports. */
export const selectLargeHosts = prepareQuery<{ ids: readonly number[]; most: number }, { id: number }>(
  (db, p) =>
    db
      .selectFrom('port_counts')
      .select('asset_id as id')
      .where((eb) => inList(db, eb.ref('asset_id'), p.ids))
      .groupBy('asset_id')
      .having(({ fn }) => fn.sum('ports'), '>', p.most),
);

export const selectPortCounts = prepareQuery<
  { ids: readonly number[]; state: string },
  { id: number; ports: number }
>((db, p) =>
  db
    .selectFrom('port_counts')
    .select(['asset_id as id', 'ports'])
    .where('observed_state', '=', p.state)
    .where((eb) => inList(db, eb.ref('asset_id'), p.ids)),
);

export const insertHosts = prepareInsert(
  'assets',
  {
    uid: 'text',
    organization_id: 'int',
    type: 'text',
    location: 'text',
    name: 'text',
    description: 'text',
    search_location: 'text',
    search_name: 'text',
    address_hex: 'text',
    first_seen: 'int',
    last_seen: 'int',
    created_at: 'int',
    updated_at: 'int',
    import_id: 'int',
  },
  'on conflict (organization_id, type, location) do nothing',
);

export const insertPortCounts = prepareInsert('port_counts', {
  asset_id: 'int',
  observed_state: 'text',
  ports: 'int',
});

/** An existing port is overwritten completely. */
export const insertPorts = prepareInsert(
  'ports',
  PORT_COLUMNS,
  `on conflict (asset_id, number, protocol) do update set
    observed_state = excluded.observed_state,
    service_name = excluded.service_name,
    service_banner = excluded.service_banner,
    product_name = excluded.product_name,
    product_version = excluded.product_version,
    cpe = excluded.cpe,
    first_seen = excluded.first_seen,
    last_seen = excluded.last_seen`,
);

/**
 * Locks hosts and reads their ports.
 * @param numbers the range of ports of one host; absent: all
 * @returns ports by asset id
 */
export async function lockPorts(
  tx: Transaction,
  ids: readonly number[],
  numbers?: PortNumberRange,
): Promise<Map<number, Port[]>> {
  const ports = new Map<number, Port[]>();
  const [firstId] = ids;
  if (firstId === undefined) return ports;
  await lockRows(tx, 'assets', ids, forNoKeyUpdate);
  const rows = await (numbers === undefined
    ? portsOfAssets(tx, { ids })
    : portsInRange(tx, { id: firstId, ...numbers }));
  for (const { id, ports: list } of rows) {
    const lists = JSON.parse(list ?? '[]') as PortValues[];
    if (lists.length > 0) ports.set(id, lists.map(toPort));
  }
  return ports;
}
