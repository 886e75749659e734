import { type OrderByItemBuilder, sql } from 'kysely';
import type { Caller } from '../../auth/callers.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { inList, forNoKeyUpdate } from '../../db/dialect-sql.ts';
import { prepareQuery, preparePipelined } from '../../db/prepared-queries.ts';
import type { Row } from '../../db/schema.ts';
import { notFound } from '../shared/errors.ts';
import { assetIsVisible } from '../shared/asset-visibility.ts';
import {
  memoizeByVisibility,
  visibilityOf,
  type VisibilityParameters,
  visibilityParameters,
} from '../shared/visibility.ts';
import type { CounterDelta } from '../shared/counters.ts';
import { memoizeByShape, type PageRequest, readPage, type ReadableRun } from '../lists/reverse-paging.ts';
import { lockRows } from '../shared/lock-rows.ts';

export const LISTED_PORT_STATES = ['open', 'closed'] as const;
export const PORT_SORT_FIELDS = ['number', 'service_name', 'service_banner'] as const;
export const PROTOCOLS = ['tcp', 'udp', 'sctp'] as const;

/** Times are milliseconds since 1970; `null` means unknown. */
export type Port = Omit<Row<'ports'>, 'asset_id'>;

export const STORED_PORT_FIELDS = [
  'number',
  'protocol',
  'observed_state',
  'service_name',
  'service_banner',
  'product_name',
  'product_version',
  'cpe',
  'first_seen',
  'last_seen',
] as const satisfies (keyof Port)[];

type PortId = Pick<Port, 'number' | 'protocol'>;

/** Compares ports by number, then protocol. */
export function comparePorts(one: PortId, other: PortId): number {
  return one.number - other.number || (one.protocol < other.protocol ? -1 : 1);
}

export interface PortQuery extends PageRequest {
  state: (typeof LISTED_PORT_STATES)[number];
  orderBy: (typeof PORT_SORT_FIELDS)[number];
  descending: boolean;
  /** The maximum number of ports on all pages. */
  limit?: number | undefined;
}

export interface PortPage {
  ports: Port[];
  /** The number of ports on all pages. */
  total: number;
}

const ORGANIZATION_UID = /^[-_0-9a-z]{1,50}$/;
const ASSET_UID = /^[0-9a-f]{24}$/;

/**
 * Reads a page of the open or closed ports of an asset (operation 14; docs/decided.md, section 3). Only hosts have
 * ports.
 * @throws DomainError `not-found` for the organization or the asset
 */
export async function readPorts(
  db: ReadConnection,
  caller: Caller,
  organizationUid: string,
  assetUid: string,
  { state, orderBy, descending, limit, page, perPage }: PortQuery,
): Promise<PortPage> {
  const asset =
    ORGANIZATION_UID.test(organizationUid) && ASSET_UID.test(assetUid)
      ? (
          await selectAssetWithCount(visibilityOf(caller, 'read'))(db, {
            ...visibilityParameters(caller),
            organization: organizationUid,
            asset: assetUid,
            state,
          })
        )[0]
      : undefined;
  if (asset === undefined) throw notFound('asset');
  const total = Math.min(asset.portCount, limit ?? asset.portCount);
  const offset = (page - 1) * perPage;
  const range: ReadableRun<Port> = {
    rowCount: asset.portCount,
    read: ({ reversed, ...window }) =>
      pageQuery({ orderBy, descending: descending !== reversed, reversed })(db, {
        asset: asset.id,
        state,
        ...window,
      }),
  };
  return { ports: await readPage([range], offset, Math.min(perPage, total - offset)), total };
}

/** @returns the asset, if the caller can see its ports */
export async function findVisibleAsset(
  db: ReadConnection,
  caller: Caller,
  organizationUid: string,
  assetUid: string,
): Promise<{ id: number; type: string } | undefined> {
  if (!ORGANIZATION_UID.test(organizationUid) || !ASSET_UID.test(assetUid)) return undefined;
  return db
    .selectFrom('assets')
    .innerJoin('organizations', 'organizations.id', 'assets.organization_id')
    .select(['assets.id', 'assets.type'])
    .where('assets.uid', '=', assetUid)
    .where('organizations.uid', '=', organizationUid)
    .where(assetIsVisible(visibilityOf(caller, 'read'), visibilityParameters(caller)))
    .executeTakeFirst();
}

/** Selects a visible asset and the number of its ports in a state. */
const selectAssetWithCount = memoizeByVisibility((visibility) =>
  prepareQuery<
    VisibilityParameters & { organization: string; asset: string; state: string },
    { id: number; portCount: number }
  >((db, p) =>
    db
      .selectFrom('assets')
      .innerJoin('organizations', 'organizations.id', 'assets.organization_id')
      .leftJoin('port_counts', (join) =>
        join
          .onRef('port_counts.asset_id', '=', 'assets.id')
          .on('port_counts.observed_state', '=', p.state)
          .on('assets.type', '=', sql.lit('host')),
      )
      .select(['assets.id', sql<number>`coalesce(port_counts.ports, 0)`.as('portCount')])
      .where('assets.uid', '=', p.asset)
      .where('organizations.uid', '=', p.organization)
      .where(assetIsVisible(visibility, p)),
  ),
);

interface PageParameters {
  asset: number;
  state: string;
  limit: number;
  offset: number;
}

interface PageShape {
  orderBy: PortQuery['orderBy'];
  /** The direction of reading: the opposite of the sort when `reversed`. */
  descending: boolean;
  reversed: boolean;
}

/** Unknown values come last in both directions. Ties are broken by number and protocol, ascending. */
const pageQuery = memoizeByShape(({ orderBy, descending, reversed }: PageShape) => {
  const ties = (item: OrderByItemBuilder) => (reversed ? item.desc() : item.asc());
  return prepareQuery<PageParameters, Port>((db, p) => {
    const matching = db
      .selectFrom('ports')
      .select(STORED_PORT_FIELDS)
      .where('asset_id', '=', p.asset)
      .where('observed_state', '=', p.state);
    const ordered =
      orderBy === 'number'
        ? matching.orderBy('number', descending ? 'desc' : 'asc')
        : matching
            .orderBy(orderBy, (item) => {
              const directed = descending ? item.desc() : item.asc();
              return reversed ? directed.nullsFirst() : directed.nullsLast();
            })
            .orderBy('number', ties);
    return ordered.orderBy('protocol', ties).limit(p.limit).offset(p.offset);
  });
});

/** @returns the counter deltas of all ports of a host, times `amount` */
export async function readPortDeltas(
  tx: Transaction,
  assetId: number,
  amount: number,
): Promise<CounterDelta[]> {
  const rows = await tx
    .selectFrom('ports')
    .innerJoin('assets', 'assets.id', 'ports.asset_id')
    .select(['assets.organization_id', 'ports.number', 'ports.protocol', 'ports.observed_state'])
    .where('ports.asset_id', '=', assetId)
    .where('assets.type', '=', 'host')
    .where('ports.observed_state', 'in', LISTED_PORT_STATES)
    .execute();
  return rows.map((row) => portDelta(row.organization_id, row, amount));
}

/** @returns the counter delta of one port */
export function portDelta(
  organizationId: number,
  { number, protocol, observed_state }: Pick<Port, 'number' | 'protocol' | 'observed_state'>,
  amount: number,
): CounterDelta {
  const bucket = `${observed_state}:${String(number).padStart(5, '0')}/${protocol}`;
  return { kind: 'organization-ports', subject: organizationId, bucket, amount };
}

interface AssetIds {
  ids: readonly number[];
}

const deleteCounts = preparePipelined<AssetIds>((tx, p) =>
  tx.deleteFrom('port_counts').where((eb) => inList(tx, eb.ref('asset_id'), p.ids)),
);

const insertCounts = preparePipelined<AssetIds>((tx, p) =>
  tx
    .insertInto('port_counts')
    .columns(['asset_id', 'observed_state', 'ports'])
    .expression((eb) =>
      eb
        .selectFrom('ports')
        .select(({ fn }) => ['asset_id', 'observed_state', fn.countAll<number>().as('ports')])
        .where(({ ref }) => inList(tx, ref('asset_id'), p.ids))
        .groupBy(['asset_id', 'observed_state']),
    ),
);

/** Recounts the ports of assets by state. Call it once in every transaction that writes ports, after the writes. */
export async function refreshPortCounts(tx: Transaction, assetIds: readonly number[]): Promise<void> {
  if (assetIds.length === 0) return;
  const ids = [...new Set(assetIds)];
  await lockRows(tx, 'assets', ids, forNoKeyUpdate);
  await deleteCounts(tx, { ids });
  await insertCounts(tx, { ids });
}
