import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { Caller } from '../../auth/callers.ts';
import type { ReadConnection } from '../../db/database.ts';
import {
  type Filter,
  filterCondition,
  type FilterInput,
  type Filters,
  type ListContext,
  type ListPlan,
  organizationFilter,
} from './filters.ts';

/** The position of a row in an order, after which a read continues. */
export interface RowPosition {
  value: string | number | null;
  id: number | string;
}

interface PositionedRow {
  position_value: string | number | null;
  position_id: number | string;
}

/** A column that a list can be sorted by. */
export interface SortColumn {
  column: string;
  /** Replaces the column for some callers. */
  columnFor?(context: ListContext): Expression<unknown> | undefined;
  type: 'integer' | 'real' | 'text';
  /** Nulls sort last in both directions. */
  nullable?: boolean;
}

/** The filters and the order of a read. */
export interface ListRequest<F extends Filters = Filters, O extends string = string> {
  filters: FilterInput<F>;
  sort: O;
  descending: boolean;
}

export interface RowBatch<Item> {
  items: Item[];
  /** The number of rows read. There are fewer items if rows were deleted before their items were loaded. */
  rows: number;
  /** Bytes in the items' large columns; 0 for a list without any. */
  bytes: number;
  /** The position of the last row. */
  last: RowPosition | undefined;
  hasMore: boolean;
}

type IdType = 'integer' | 'text';

/** A list that is read by page, by cursor and as a stream, always in the same order. */
export interface List<Item, F extends Filters, O extends string> {
  /** Distinguishes the cursors of this list from those of others. */
  name: string;
  filters: F;
  sorts: Readonly<Record<O, SortColumn>>;
  idType: IdType;
  /** Rows read at once, few enough not to block the event loop. */
  batchSize: number;
  /** @returns a context for several reads of one request, with what each of them would otherwise read by itself */
  prepare(context: ListContext): Promise<ListContext>;
  /**
   * Reads fewer rows than `limit` if their large columns have more than `MAX_BATCH_BYTES`.
   * @param start the position or the number of rows to read after
   */
  read(
    context: ListContext,
    request: ListRequest<F, O>,
    start: RowPosition | number,
    limit: number,
  ): Promise<RowBatch<Item>>;
  /** @returns the positions of `limit` rows, `skip` rows after the start */
  positions(
    context: ListContext,
    request: ListRequest<F, O>,
    start: RowPosition | number,
    skip: number,
    limit: number,
  ): Promise<RowPosition[]>;
  count(context: ListContext, input: FilterInput<F>): Promise<number>;
}

interface ListDefinition<
  DB,
  TB extends keyof DB,
  Row extends object,
  Item,
  F extends Filters,
  O extends string,
> {
  name: string;
  filters: F;
  rows(context: ListContext): SelectQueryBuilder<DB, TB, Row>;
  /** Reads what `rows` needs as `assessmentIds` of the context. */
  loadAssessmentIds?(db: ReadConnection, caller: Caller): Promise<readonly number[]>;
  /** A unique column. */
  id: string;
  /** Defaults to `integer`. */
  idType?: IdType;
  /** The column with the organization's id, by which staff can filter. */
  organization: string;
  sorts: Readonly<Record<O, SortColumn>>;
  /** Whether rows with equal values come with the latest id first in a descending order, as in a log. */
  descendingIds?: boolean;
  /** Turns the rows of a batch into items, reading what they refer to in one query for all of them. */
  hydrate(context: ListContext, rows: Row[], input: FilterInput<F>): Promise<Item[]> | Item[];
  /** Counts from counters, for the filters that allow it; else returns `undefined`. */
  cheapCount?(context: ListContext, input: FilterInput<F>): Promise<number | undefined>;
  /** Plans reads with filters by other tables. */
  planner?: ListPlanner<F, O>;
  /** Rows per batch; fewer for a list of large rows. */
  batchSize?: number;
  /** Bytes of the large columns of a row, which `rows` does not select and `hydrate` loads. */
  bytesOf?(row: Row): number;
}

interface ListPlanner<F extends Filters, O extends string> {
  /** @returns the plan of a page; `undefined` if no filter by another table is set */
  plan(context: ListContext, input: FilterInput<F>): Promise<ListPlan | undefined>;
  /** The sorts for which an index returns this caller's rows in order if no filter is set. */
  indexedSorts(context: ListContext): readonly NoInfer<O>[];
}

/** A list whose rows other queries build on. */
export interface QueryableList<
  DB,
  TB extends keyof DB,
  Row,
  Item,
  F extends Filters,
  O extends string,
> extends List<Item, F, O> {
  /** @returns a query of all selected rows, unordered */
  query(context: ListContext, input: FilterInput<F>): Promise<SelectQueryBuilder<DB, TB, Row>>;
}

type WithOrganizationFilter<F extends Filters> = F & { organizationUid: Filter<'texts'> };

const DEFAULT_BATCH_SIZE = 200;
/** Bytes of large columns after which a batch ends, so that a page of large rows is never in memory as a whole. */
export const MAX_BATCH_BYTES = 1024 * 1024;
/** Index entries tested before all matching rows are collected. */
const PROBE_ROWS = 4_000;
/** Offsets up to this many index entries are skipped on the connection for short reads. */
const MAX_CHEAP_OFFSET = 1_000;

/**
 * @returns functions that build the queries of a list, and decide how a page is read with the planner if there is one
 */
function createQueries<
  DB,
  TB extends keyof DB,
  Row extends object,
  Item,
  F extends Filters,
  O extends string,
>(definition: ListDefinition<DB, TB, Row, Item, F, O>, filters: WithOrganizationFilter<F>) {
  type Input = FilterInput<WithOrganizationFilter<F>>;
  type Request = ListRequest<WithOrganizationFilter<F>, O>;
  const { rows, sorts, planner, descendingIds = false } = definition;
  const id = sql.ref<number | string>(definition.id);
  const filteredRows = (context: ListContext, input: Input) => {
    const condition = filterCondition(context, filters, input);
    const query = rows(context);
    return condition === undefined ? query : query.where(condition);
  };
  const orderOf = (context: ListContext, { sort, descending }: Request): SortOrder => {
    const { column, columnFor, nullable = false } = sorts[sort];
    const idDescends = descending && (descendingIds || column === definition.id);
    return { column: columnFor?.(context) ?? sql.ref(column), id, nullable, descending, idDescends };
  };
  /** Orders a query and starts it after the position, with the columns of `PositionedRow` added. */
  const ordered = <R>(
    context: ListContext,
    request: Request,
    query: SelectQueryBuilder<DB, TB, R>,
    start: RowPosition | number,
  ) => {
    const order = orderOf(context, request);
    const { column, nullable, descending, idDescends } = order;
    const positioned = query
      .select(sql<string | number | null>`${column}`.as('position_value'))
      .select(sql<number | string>`${id}`.as('position_id'));
    const started =
      typeof start === 'number' ? positioned.offset(start) : positioned.where(afterPosition(order, start));
    const sorted =
      sorts[request.sort].column === definition.id
        ? started
        : started.orderBy(column, (item) => {
            const directed = descending ? item.desc() : item.asc();
            return nullable ? directed.nullsLast() : directed;
          });
    return sorted.orderBy(id, idDescends ? 'desc' : 'asc');
  };
  const isIndexed = (context: ListContext, sort: O) => planner?.indexedSorts(context).includes(sort) === true;
  const isFiltered = (input: Input) =>
    Object.entries(input).some(
      ([filter, value]) => value !== undefined && (filters as Filters)[filter]?.where !== undefined,
    );
  const withPlan = async (
    context: ListContext,
    input: Input,
    mode: ListPlan['mode'],
  ): Promise<ListContext> => {
    const plan = await planner?.plan(context, input);
    return plan === undefined ? context : { ...context, plan: { ...plan, mode } };
  };
  const planRows = (context: ListContext, { filters: input, sort }: Request, start: RowPosition | number) =>
    isIndexed(context, sort) && !isFiltered(input) && (typeof start !== 'number' || start <= MAX_CHEAP_OFFSET)
      ? context
      : withPlan(onSlowReader(context), input, 'page');
  /** Tests the next `PROBE_ROWS` entries of the sort's index. Returns `undefined` unless they fill the page. */
  const probeIndex = async (
    context: ListContext,
    request: Request,
    start: RowPosition | number,
    limit: number,
  ) => {
    const order = orderOf(context, request);
    const { plan } = context;
    const hasNoOffset = typeof start !== 'number' || start === 0;
    if (plan?.strategy !== 'scan' || !hasNoOffset || order.nullable || !isIndexed(context, request.sort))
      return undefined;
    const [bound] = (await ordered(context, request, rows(context).clearSelect(), start)
      .offset(PROBE_ROWS - 1)
      .limit(1)
      .execute()) as PositionedRow[];
    const probing: ListContext = { ...context, plan: { ...plan, mode: 'probe' } };
    const query = ordered(probing, request, filteredRows(probing, request.filters), start).limit(limit);
    const page = await (
      bound === undefined ? query : query.where(untilPosition(order, positionOf(bound)))
    ).execute();
    return bound === undefined || page.length === limit ? page : undefined;
  };
  return { filteredRows, ordered, withPlan, planRows, probeIndex };
}

/**
 * Defines a list from its rows, filters and sorts, and derives its SQL. A page is
 *
 *     select … from assets where <rows> and <filters> and (created_at, id) > (:value, :id)
 *     order by created_at, id limit :limit + 1
 *
 * with `offset` in place of the position for a numbered page. Statements run on the slow reader, except pages that an index
 * returns in order. A list with a planner reads in one of four ways, here by a tag and the latest first:
 *
 * - no filter by another table: the statement above
 * - `ids`, the tag has up to 3,000 vulnerabilities: their ids are read first, and the page has `id in (:ids)`
 * - `scan`, it has more: the page tests each row, `exists (select 1 from vulnerability_taggings where …)`
 * - probe, before a scan in the order of an index: the same for the next 4,000 entries of the index only,
 *   `created_at >= :bound`, which fill a page of a frequent tag without sorting all its vulnerabilities
 */
export function defineList<
  DB,
  TB extends keyof DB,
  Row extends object,
  Item,
  F extends Filters,
  O extends string,
>(
  definition: ListDefinition<DB, TB, Row, Item, F, O>,
): QueryableList<DB, TB, Row, Item, WithOrganizationFilter<F>, O> {
  const {
    name,
    sorts,
    hydrate,
    loadAssessmentIds,
    cheapCount,
    idType = 'integer',
    batchSize = DEFAULT_BATCH_SIZE,
    bytesOf = () => 0,
  } = definition;
  const filters: WithOrganizationFilter<F> = {
    ...definition.filters,
    organizationUid: organizationFilter(definition.organization),
  };
  const { filteredRows, ordered, withPlan, planRows, probeIndex } = createQueries(definition, filters);
  const prepare = async (context: ListContext): Promise<ListContext> =>
    loadAssessmentIds === undefined || context.assessmentIds !== undefined
      ? context
      : { ...context, assessmentIds: await loadAssessmentIds(onSlowReader(context).db, context.caller) };
  return {
    name,
    filters,
    sorts,
    idType,
    batchSize,
    prepare,
    async read(context, request, start, limit) {
      const planned = await planRows(await prepare(context), request, start);
      // One row more than requested shows whether more follow.
      const result =
        (await probeIndex(planned, request, start, limit + 1)) ??
        (await ordered(planned, request, filteredRows(planned, request.filters), start)
          .limit(limit + 1)
          .execute());
      // Kysely cannot infer the columns added to a generic row.
      const rows = result as (Row & PositionedRow)[];
      let bytes = 0;
      let count = 0;
      for (; count < limit; count += 1) {
        const row = rows[count];
        const size = row === undefined ? Infinity : bytesOf(row);
        if (row === undefined || (count > 0 && bytes + size > MAX_BATCH_BYTES)) break;
        bytes += size;
      }
      const batch = rows.slice(0, count);
      const last = batch.at(-1);
      return {
        items: await hydrate(planned, batch, request.filters),
        rows: count,
        bytes,
        last: last && positionOf(last),
        hasMore: result.length > count,
      };
    },
    async positions(context, request, start, skip, limit) {
      const offset = typeof start === 'number' ? start + skip : skip;
      const planned = await planRows(
        await prepare(context),
        request,
        typeof start === 'number' ? offset : start,
      );
      const bare = filteredRows(planned, request.filters).clearSelect();
      const rows = await ordered(planned, request, bare, start).offset(offset).limit(limit).execute();
      return (rows as PositionedRow[]).map(positionOf);
    },
    async query(context, input) {
      return filteredRows(await withPlan(await prepare(context), input, 'page'), input);
    },
    async count(context, input) {
      const total = await cheapCount?.(context, input);
      if (total !== undefined) return total;
      const limited = { ...onSlowReader(await prepare(context)), isCounting: true };
      const [counted] = await filteredRows(await withPlan(limited, input, 'count'), input)
        .clearSelect()
        .select(sql<number>`count(*)`.as('total'))
        .execute();
      return (counted as { total: number } | undefined)?.total ?? 0;
    },
  };
}

function onSlowReader(context: ListContext): ListContext {
  return { ...context, db: context.slowReader ?? context.db };
}

const positionOf = (row: PositionedRow): RowPosition => ({
  value: row.position_value,
  id: row.position_id,
});

/** An order by a column, then by id among equal values. */
interface SortOrder {
  column: Expression<unknown>;
  id: Expression<number | string>;
  nullable: boolean;
  descending: boolean;
  idDescends: boolean;
}

/** The condition that a row comes after a position. An index of the column and the id can seek to it. */
function afterPosition(
  { column, id, nullable, descending, idDescends }: SortOrder,
  position: RowPosition,
): Expression<SqlBool> {
  const laterId = idDescends ? sql`${id} < ${position.id}` : sql`${id} > ${position.id}`;
  if (position.value === null) return sql<SqlBool>`(${column} is null and ${laterId})`;
  const laterValue = descending ? sql`${column} < ${position.value}` : sql`${column} > ${position.value}`;
  if (nullable)
    return sql<SqlBool>`(${column} is null or ${laterValue} or (${column} = ${position.value} and ${laterId}))`;
  const seek = descending ? sql`${column} <= ${position.value}` : sql`${column} >= ${position.value}`;
  return sql<SqlBool>`(${seek} and (${laterValue} or ${laterId}))`;
}

/** The condition that a row comes no later than a position, in an order by a column without nulls. */
function untilPosition(
  { column, id, descending, idDescends }: SortOrder,
  { value, id: lastId }: RowPosition,
): Expression<SqlBool> {
  const seek = descending ? sql`${column} >= ${value}` : sql`${column} <= ${value}`;
  const earlierValue = descending ? sql`${column} > ${value}` : sql`${column} < ${value}`;
  const earlierId = idDescends ? sql`${id} >= ${lastId}` : sql`${id} <= ${lastId}`;
  return sql<SqlBool>`(${seek} and (${earlierValue} or ${earlierId}))`;
}
