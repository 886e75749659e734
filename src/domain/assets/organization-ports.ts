import { sql } from 'kysely';
import type { Caller } from '../../auth/callers.ts';
import type { ReadConnection } from '../../db/database.ts';
import { inList } from '../../db/dialect-sql.ts';
import type { Row } from '../../db/schema.ts';
import type { PortChange } from './scans/diff-ports.ts';
import { LISTED_PORT_STATES, type Port, portDelta } from './ports.ts';
import { notFound } from '../shared/errors.ts';
import type { PageRequest } from '../lists/reverse-paging.ts';
import { assetIsVisibleByIndex } from '../shared/asset-visibility.ts';
import {
  inAccessibleOrganization,
  type Visibility,
  assessmentIsVisible,
  loadAssessmentIds,
  visibilityOf,
  visibilityParameters,
  type VisibilityParameters,
} from '../shared/visibility.ts';
import type { CounterDelta } from '../shared/counters.ts';
import { foldCase } from '../../lib/fold-case.ts';

export interface OrganizationPort {
  number: number;
  protocol: string;
  assetCount: number;
  /** The uids of up to 100 assets, on request. */
  assetUids?: string[];
}

export interface OrganizationPortQuery extends PageRequest {
  state: (typeof LISTED_PORT_STATES)[number];
  number?: number | undefined;
  /** Exact, case-insensitive. */
  service?: string | undefined;
  product?: string | undefined;
  listing?: string | undefined;
  withAssets: boolean;
  /** Maximum number of ports over all pages. */
  limit?: number | undefined;
}

const ORGANIZATION_UID = /^[0-9a-z]{1,50}$/;
const MAX_ASSETS_PER_PORT = 100;
/** Hosts per statement, so that no statement blocks the event loop for long. */
const HOSTS_PER_QUERY = 500;

/** @returns the counter deltas of port changes */
export function portChangeDeltas(organizationId: number, changes: readonly PortChange[]): CounterDelta[] {
  return changes.flatMap(({ before, after }) => {
    if (before?.observed_state === after.observed_state) return [];
    return [
      ...(before !== null && isListed(before) ? [portDelta(organizationId, before, -1)] : []),
      ...(isListed(after) ? [portDelta(organizationId, after, 1)] : []),
    ];
  });
}

/** @returns the counter deltas of ports that are no longer known */
export function removedPortDeltas(organizationId: number, ports: readonly Port[]): CounterDelta[] {
  return ports.filter(isListed).map((port) => portDelta(organizationId, port, -1));
}

const isListed = ({ observed_state }: { observed_state: string }) =>
  (LISTED_PORT_STATES as readonly string[]).includes(observed_state);

interface PortQueryContext {
  db: ReadConnection;
  organizationId: number;
  visibility: Visibility;
  p: VisibilityParameters;
  query: OrganizationPortQuery;
}

/**
 * Lists the ports of an organization with the number of hosts that have each, most hosts first (operation 80). Counts
 * the hosts whose ports the caller can see.
 * @throws DomainError `not-found` unless it is the caller's own organization or, for staff, one that they have access
 *   to
 */
export async function readOrganizationPorts(
  db: ReadConnection,
  caller: Caller,
  organizationUid: string,
  query: OrganizationPortQuery,
): Promise<{ ports: OrganizationPort[]; total: number }> {
  const visibility = visibilityOf(caller, 'read');
  const p = visibilityParameters(caller);
  const organization = ORGANIZATION_UID.test(organizationUid)
    ? await db
        .selectFrom('organizations')
        .select('id')
        .where('uid', '=', organizationUid)
        .where('kind', '=', 'organization')
        .where((eb) => inAccessibleOrganization(visibility, eb.ref('organizations.id'), p))
        .executeTakeFirst()
    : undefined;
  if (organization === undefined) throw notFound('organization');
  const context: PortQueryContext = { db, organizationId: organization.id, visibility, p, query };
  // The counters cover a whole organization.
  const isCounted =
    (caller.staff || caller.admin) &&
    query.service === undefined &&
    query.product === undefined &&
    query.listing === undefined;
  const { ports, total } = await (isCounted ? readFromCounters(context) : countFromPorts(context));
  if (query.withAssets) await addAssetUids(context, ports);
  return { ports, total };
}

function pageBounds(
  { page, perPage, limit = Number.MAX_SAFE_INTEGER }: OrganizationPortQuery,
  matchCount: number,
) {
  const total = Math.min(matchCount, limit);
  const offset = (page - 1) * perPage;
  return { total, offset, size: Math.max(0, Math.min(perPage, total - offset)) };
}

async function readFromCounters({ db, organizationId, query }: PortQueryContext) {
  const { state, number } = query;
  const digits = number === undefined ? '' : String(number).padStart(5, '0');
  // In ASCII, `0` follows `/` and `;` follows `:`.
  const [start, end] =
    number === undefined ? [`${state}:`, `${state};`] : [`${state}:${digits}/`, `${state}:${digits}0`];
  const selectAmounts = (table: string) => sql`select bucket, amount from ${sql.table(table)}
    where kind = 'organization-ports' and subject = ${organizationId} and bucket >= ${start} and bucket < ${end}`;
  const counts = sql`select bucket, cast(sum(amount) as bigint) as assets
    from (${selectAmounts('counters')} union all ${selectAmounts('counter_deltas')}) as amounts group by bucket having sum(amount) > 0`;
  const count = await sql<{ count: number }>`select count(*) as count from (${counts}) as counts`.execute(db);
  const { total, offset, size } = pageBounds(query, count.rows[0]?.count ?? 0);
  if (size === 0) return { ports: [], total };
  const { rows } = await sql<{ bucket: string; assets: number }>`
    select bucket, assets from (${counts}) as counts order by assets desc, bucket limit ${size} offset ${offset}`.execute(
    db,
  );
  return {
    total,
    ports: rows.map(({ bucket, assets }): OrganizationPort => {
      const [numberText = '', protocol = ''] = bucket.slice(state.length + 1).split('/');
      return { number: Number(numberText), protocol, assetCount: assets };
    }),
  };
}

type CountRow = Pick<Row<'ports'>, 'number' | 'protocol' | 'service_name' | 'product_name'> & {
  assets: number;
};

async function countFromPorts(context: PortQueryContext) {
  const { db, query } = context;
  const matchesName = (filter: string | undefined, name: string | null) =>
    filter === undefined || (name !== null && foldCase(name) === foldCase(filter));
  const names = [
    ...(query.service === undefined ? [] : (['service_name'] as const)),
    ...(query.product === undefined ? [] : (['product_name'] as const)),
  ];
  const ports = new Map<string, OrganizationPort>();
  for await (const hosts of hostsOf(context)) {
    const rows = (await db
      .selectFrom('ports')
      .select(['number', 'protocol', ...names])
      .select(sql<number>`count(*)`.as('assets'))
      .where((eb) => inList(db, eb.ref('asset_id'), hosts))
      .where('observed_state', '=', query.state)
      .$if(query.number !== undefined, (qb) => qb.where('number', '=', query.number ?? 0))
      .groupBy(['number', 'protocol', ...names])
      .execute()) as CountRow[];
    for (const { number, protocol, service_name, product_name, assets } of rows) {
      if (!matchesName(query.service, service_name) || !matchesName(query.product, product_name)) continue;
      const key = `${number}/${protocol}`;
      const port = ports.get(key);
      if (port === undefined) ports.set(key, { number, protocol, assetCount: assets });
      else port.assetCount += assets;
    }
  }
  const sorted = [...ports.values()].sort(
    (one, other) =>
      other.assetCount - one.assetCount ||
      one.number - other.number ||
      (one.protocol < other.protocol ? -1 : 1),
  );
  const { total, offset, size } = pageBounds(query, sorted.length);
  return { total, ports: sorted.slice(offset, offset + size) };
}

/** Yields the ids of matching hosts in chunks, ascending. */
async function* hostsOf({
  db,
  organizationId,
  visibility,
  p,
  query,
}: PortQueryContext): AsyncGenerator<number[]> {
  const assessmentIds = await loadAssessmentIds(db, visibility, p);
  for (let last = 0; ;) {
    const after = last;
    const rows = await db
      .selectFrom('assets')
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('type', '=', 'host')
      .where('id', '>', after)
      .where(assetIsVisibleByIndex(db, visibility, p, assessmentIds, false))
      .$if(query.listing !== undefined, (qb) =>
        qb.where(
          sql<boolean>`assets.id in (
            select listing_assets.asset_id from assessments
            join listing_assets on listing_assets.assessment_id = assessments.id
            where assessments.uid = ${query.listing} and ${assessmentIsVisible(visibility, p)})`,
        ),
      )
      .orderBy('id')
      .limit(HOSTS_PER_QUERY)
      .execute();
    if (rows.length > 0) yield rows.map(({ id }) => id);
    last = rows.at(-1)?.id ?? last;
    if (rows.length < HOSTS_PER_QUERY) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Adds the uids of the first hosts to each port. */
async function addAssetUids(context: PortQueryContext, ports: readonly OrganizationPort[]): Promise<void> {
  const { db, query } = context;
  const matchesName = (filter: string | undefined, name: string | null) =>
    filter === undefined || (name !== null && foldCase(name) === foldCase(filter));
  const uidsByPort = new Map<string, string[]>();
  for (const port of ports) uidsByPort.set(`${port.number}/${port.protocol}`, (port.assetUids = []));
  const numbers = new Set(ports.map(({ number }) => number));
  const findIncomplete = () =>
    ports.filter(
      ({ assetCount, assetUids = [] }) => assetUids.length < Math.min(assetCount, MAX_ASSETS_PER_PORT),
    );
  for await (const hosts of hostsOf(context)) {
    if (findIncomplete().length === 0) return;
    const rows = await db
      .selectFrom('ports')
      .innerJoin('assets', 'assets.id', 'ports.asset_id')
      .select(['assets.uid', 'ports.number', 'ports.protocol', 'ports.service_name', 'ports.product_name'])
      .where((eb) => inList(db, eb.ref('ports.asset_id'), hosts))
      .where((eb) => inList(db, eb.ref('ports.number'), [...numbers]))
      .where('ports.observed_state', '=', query.state)
      .orderBy('assets.id')
      .execute();
    for (const row of rows) {
      const uids = uidsByPort.get(`${row.number}/${row.protocol}`);
      if (uids === undefined || uids.length >= MAX_ASSETS_PER_PORT) continue;
      if (matchesName(query.service, row.service_name) && matchesName(query.product, row.product_name))
        uids.push(row.uid);
    }
    numbers.clear();
    for (const { number } of findIncomplete()) numbers.add(number);
  }
}
