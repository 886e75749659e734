import { type SqlBool, sql } from 'kysely';
import type { Caller } from '../../auth/callers.ts';
import { inList, selectIds } from '../../db/dialect-sql.ts';
import type { ReadConnection } from '../../db/database.ts';
import {
  type FilterInput,
  type Filters,
  type ListContext,
  type ListPlan,
  organizationIds,
  READ_SIZES,
} from './filters.ts';
import {
  type IndexedRead,
  type IndexedTable,
  readAtOffset,
  readInOrder,
  type Rows,
} from './indexed-reader.ts';
import {
  afterPosition,
  orderTerms,
  positionColumns,
  type PositionedRow,
  type RowPosition,
} from './sort-order.ts';

/** SQLite combines up to 500 queries in a statement; there is one for each organization that has rows of the page. */
const MAX_MERGED_ORGANIZATIONS = 450;
/** Ids of a filter that are read before a long window, and after it. */
const FEW_IDS = 3_000;
const MANY_IDS = 60_000;
const IN_WINDOW: ListPlan = { strategy: 'scan', ids: new Map(), mode: 'window' };
const BY_IDS: ListPlan = { strategy: 'ids', ids: new Map(), mode: 'page' };

/** How a list is read that has an index for each of its orders. */
export interface ListIndexes<F extends Filters, O extends string> extends IndexedTable {
  /** The sorts with an index over the rows of all organizations, and the other columns of that index. */
  global: Readonly<Partial<Record<NoInfer<O>, readonly string[]>>>;
  /** The organizations of which a caller sees rows; `null` for all. */
  organizations(caller: Caller): readonly number[] | null;
  /** Whether filters exclude each other. */
  excludesAll(input: FilterInput<F>): boolean;
  /** Whether a filter selects ids faster than it tests rows. */
  plansFirst(input: FilterInput<F>): boolean;
  /** Whether a caller sees only some of the rows of these organizations. */
  seesPart(caller: Caller): boolean;
  /**
   * @param maxIds how many ids of a filter are read at most to find rows; absent if rows are only counted
   * @returns the ids that filters select; `undefined` if no filter has an index
   */
  plan(context: ListContext, input: FilterInput<F>, maxIds?: number): Promise<ListPlan | undefined>;
}

/** A list as one request reads it, and the ways of finding its rows. */
export interface IndexedPage<Row extends PositionedRow> extends Omit<IndexedRead<Row>, 'window'> {
  /** Whether there are other filters. */
  isFiltered: boolean;
  /** Whether filters exclude each other. */
  isEmpty: boolean;
  /** Whether to ask for the ids of filters before rows are tested. */
  plansFirst: boolean;
  /** @param maxIds how many ids of a filter are read at most */
  plan(context: ListContext, maxIds: number): Promise<ListContext>;
  /** @returns the same as `rows`, whatever the organization */
  matching(context: ListContext): Rows<Row>;
  /** @returns the visible rows */
  visible(context: ListContext): Rows<Row>;
}

/**
 * Reads a page in the order of an index as far as that is quick, and otherwise collects the rows that match and sorts
 * them.
 * @param start the position or the number of rows after which to start
 */
export async function readIndexedPage<Row extends PositionedRow>(
  page: IndexedPage<Row>,
  start: RowPosition | number,
  limit: number,
): Promise<Row[]> {
  const { organizations, context } = page;
  const sizes = context.readSizes ?? READ_SIZES;
  const [position, offset] = typeof start === 'number' ? [undefined, start] : [start, 0];
  if (page.isEmpty) return [];
  const isOne = organizations === null || organizations.length === 1;
  const readFew = async () => {
    const planned = await page.plan(context, FEW_IDS);
    return planned.plan?.strategy === 'ids' ? collectRows(page, planned, start, limit) : undefined;
  };
  const few = page.plansFirst ? await readFew() : undefined;
  if (few !== undefined) return few;
  const canMerge = isNear(context, start) && offset + limit < MAX_MERGED_ORGANIZATIONS;
  if (!page.isFiltered && (isOne || canMerge))
    return position === undefined
      ? readAtOffset(page, offset, limit)
      : ((await readInOrder(page, position, limit)) ?? []);
  const readWindow = async (window: number) => {
    if (!isNear(context, start) || !isOne) return undefined;
    const current = { ...context, plan: { ...IN_WINDOW, mostRows: window } };
    const rows = await readInOrder({ ...page, context: current, window }, position, offset + limit);
    return rows?.slice(offset);
  };
  return (
    (await readWindow(sizes.shortWindow)) ??
    (page.plansFirst ? undefined : await readFew()) ??
    (await readWindow(sizes.longWindow)) ??
    collectRows(page, await page.plan(context, MANY_IDS), start, limit)
  );
}

/** Collects the positions of all matching rows, and reads the rows of the page. */
async function collectRows<Row extends PositionedRow>(
  { order, matching, visible }: IndexedPage<Row>,
  context: ListContext,
  start: RowPosition | number,
  limit: number,
): Promise<Row[]> {
  const { db } = context;
  const collected = { ...order, column: sql.ref('position_value'), id: sql.ref<number>('position_id') };
  const candidates = context.plan?.candidates;
  const all = matching(context).clearSelect().select(positionColumns(order));
  const positions =
    candidates === undefined
      ? // With two conditions on an index, SQLite prefers it: rows are then read in the order of the table.
        all.where(sql<SqlBool>`${order.id} > 0`)
      : all.where(inList(db, order.id as typeof collected.id, candidates));
  const [condition, offset] =
    typeof start === 'number' ? [sql`1 = 1`, start] : [afterPosition(collected, start), 0];
  const ids = await selectIds(
    db,
    sql`select position_id from (with matching as materialized ${positions}
      select position_id from matching where ${condition}
      order by ${sql.join(orderTerms(collected))} limit ${sql.lit(limit)} offset ${sql.lit(offset)}) as page`,
  );
  const rows = await visible({ ...context, plan: BY_IDS })
    .where(inList(db, order.id as typeof collected.id, ids))
    .execute();
  const byId = new Map(rows.map((row) => [row.position_id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Whether a page starts so early that the rows before it are read as well. */
export const isNear = ({ readSizes = READ_SIZES }: ListContext, start: RowPosition | number): boolean =>
  typeof start !== 'number' || start <= readSizes.maxReadOffset;

/**
 * @param uids those that a filter selects
 * @returns the ids of the organizations to read
 */
export async function selectOrganizations(
  db: ReadConnection,
  visible: readonly number[] | null,
  uids: readonly string[] | undefined,
): Promise<readonly number[]> {
  if (uids === undefined && visible !== null) return visible;
  const selected = await selectIds(db, organizationIds(db, uids));
  return visible === null ? selected : selected.filter((id) => visible.includes(id));
}
