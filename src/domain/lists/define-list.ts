import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { inList } from '../../db/dialect-sql.ts';
import {
  type Filter,
  filterCondition,
  type FilterInput,
  type Filters,
  type ListContext,
  ORGANIZATION_UID_PATTERN,
} from './filters.ts';
import {
  afterPosition,
  type PositionedRow,
  positionOf,
  type RowPosition,
  type SortDirection,
  untilPosition,
} from './keyset.ts';
import { mayScanRows, INDEX_PLAN, type PlannableList, planCount, planRows, withPlan } from './plan.ts';

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

/** Consecutive rows of a list. */
export interface RowBatch<Item> {
  items: Item[];
  /** The rows read, some of which may have been deleted before their item was. */
  rows: number;
  /** Of the items' large columns; 0 for a list without any. */
  bytes: number;
  /** The position of the last row. */
  last: RowPosition | undefined;
  /** Whether rows follow. */
  more: boolean;
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
> extends PlannableList<F, O> {
  name: string;
  /** Selects the rows that the caller can access. */
  rows(context: ListContext): SelectQueryBuilder<DB, TB, Row>;
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
  /** Smaller for large rows. */
  batchSize?: number;
  /** Bytes of the large columns of a row, which `rows` does not select and `hydrate` loads. */
  bytesOf?(row: Row): number;
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

/** Defines a list from its rows, filters and sorts, and derives its SQL. */
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
  type Input = FilterInput<WithOrganizationFilter<F>>;
  type Request = ListRequest<WithOrganizationFilter<F>, O>;
  const {
    name,
    rows,
    sorts,
    hydrate,
    cheapCount,
    descendingIds = false,
    idType = 'integer',
    batchSize = DEFAULT_BATCH_SIZE,
    bytesOf = () => 0,
  } = definition;
  const id = sql.ref<number | string>(definition.id);
  const filters: WithOrganizationFilter<F> = {
    ...definition.filters,
    organizationUid: organizationFilter(definition.organization),
  };
  const plannable: PlannableList<WithOrganizationFilter<F>, O> = { ...definition, filters };

  const filteredRows = (context: ListContext, input: Input) => {
    const condition = filterCondition(context, filters, input);
    const query = rows(context);
    return condition === undefined ? query : query.where(condition);
  };
  const directionOf = (context: ListContext, { sort, descending }: Request): SortDirection => {
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
    const direction = directionOf(context, request);
    const { column, nullable, descending, idDescends } = direction;
    const positioned = query
      .select(sql<string | number | null>`${column}`.as('position_value'))
      .select(sql<number | string>`${id}`.as('position_id'));
    const started =
      typeof start === 'number'
        ? positioned.offset(start)
        : positioned.where(afterPosition(direction, start));
    const sorted =
      sorts[request.sort].column === definition.id
        ? started
        : started.orderBy(column, (item) => {
            const directed = descending ? item.desc() : item.asc();
            return nullable ? directed.nullsLast() : directed;
          });
    return sorted.orderBy(id, idDescends ? 'desc' : 'asc');
  };
  /** Tests the next `PROBE_ROWS` entries of the sort's index. Returns `undefined` unless they fill the page. */
  const probeIndex = async (
    context: ListContext,
    request: Request,
    start: RowPosition | number,
    limit: number,
  ) => {
    const direction = directionOf(context, request);
    if (direction.nullable || !mayScanRows(plannable, context, request.sort, start)) return undefined;
    const [bound] = (await ordered(context, request, rows(context).clearSelect(), start)
      .offset(PROBE_ROWS - 1)
      .limit(1)
      .execute()) as PositionedRow[];
    const probing = { ...context, plan: { ...(context.plan ?? INDEX_PLAN), mode: 'probe' as const } };
    const query = ordered(probing, request, filteredRows(probing, request.filters), start).limit(limit);
    const found = await (
      bound === undefined ? query : query.where(untilPosition(direction, positionOf(bound)))
    ).execute();
    return bound === undefined || found.length === limit ? found : undefined;
  };
  return {
    name,
    filters,
    sorts,
    idType,
    batchSize,
    async read(context, request, start, limit) {
      const planned = await planRows(plannable, context, request, start);
      // One row more than requested shows whether more follow.
      const found =
        (await probeIndex(planned, request, start, limit + 1)) ??
        (await ordered(planned, request, filteredRows(planned, request.filters), start)
          .limit(limit + 1)
          .execute());
      // Kysely cannot infer the columns added to a generic row.
      const rowsFound = found as (Row & PositionedRow)[];
      let bytes = 0;
      let count = 0;
      for (; count < limit; count += 1) {
        const row = rowsFound[count];
        const size = row === undefined ? Infinity : bytesOf(row);
        if (row === undefined || (count > 0 && bytes + size > MAX_BATCH_BYTES)) break;
        bytes += size;
      }
      const batch = rowsFound.slice(0, count);
      const last = batch.at(-1);
      return {
        items: await hydrate(planned, batch, request.filters),
        rows: count,
        bytes,
        last: last && positionOf(last),
        more: found.length > count,
      };
    },
    async positions(context, request, start, skip, limit) {
      const offset = typeof start === 'number' ? start + skip : skip;
      const planned = await planRows(plannable, context, request, typeof start === 'number' ? offset : start);
      const bare = filteredRows(planned, request.filters).clearSelect();
      const found = await ordered(planned, request, bare, start).offset(offset).limit(limit).execute();
      return (found as PositionedRow[]).map(positionOf);
    },
    async query(context, input) {
      return filteredRows(await withPlan(plannable, context, input, 'page'), input);
    },
    async count(context, input) {
      const known = await cheapCount?.(context, input);
      if (known !== undefined) return known;
      const [counted] = await filteredRows(await planCount(plannable, context, input), input)
        .clearSelect()
        .select(sql<number>`count(*)`.as('total'))
        .execute();
      return (counted as { total: number } | undefined)?.total ?? 0;
    },
  };
}

function organizationFilter(column: string): Filter<'texts'> {
  return {
    kind: 'texts',
    pattern: ORGANIZATION_UID_PATTERN,
    where: ({ db }, values) =>
      sql<SqlBool>`${sql.ref(column)} in (select organizations.id from organizations
        where organizations.kind = 'organization' and ${inList(db, sql.ref<string>('organizations.uid'), values)})`,
  };
}
