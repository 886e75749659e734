import { type SelectQueryBuilder, sql } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import {
  filterCondition,
  type FilterInput,
  type Filters,
  type ListContext,
  type ListPlan,
  organizationFilter,
} from './filters.ts';
import type { ListDefinition, ListRequest, QueryableList, WithOrganizationFilter } from './list.ts';
import { isNear, type ListIndexes, readIndexedPage, selectOrganizations } from './page-reader.ts';
import {
  afterPosition,
  orderTerms,
  positionColumns,
  type PositionedRow,
  positionOf,
  reversedOrder,
  type RowPosition,
  type SortOrder,
} from './sort-order.ts';

const DEFAULT_BATCH_SIZE = 200;
/** Bytes of large columns after which a batch ends, so that a page of large rows is never in memory as a whole. */
export const MAX_BATCH_BYTES = 1024 * 1024;

/** Rows of a list, or only their positions. */
interface PartOfList<Request> {
  context: ListContext;
  request: Request;
  order: SortOrder;
  /** The position or the number of rows after which to start. */
  start: RowPosition | number;
  limit: number;
  isBare: boolean;
}

/** @returns functions that build the queries of a list, and read its pages */
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
  const { rows, sorts, indexes, descendingIds = false } = definition;
  const id = sql.ref<number | string>(definition.id);
  const filteredRows = (context: ListContext, input: Input) => {
    const condition = filterCondition(context, filters, input);
    const query = rows(context);
    return condition === undefined ? query : query.where(condition);
  };
  const orderOf = (context: ListContext, { sort, descending, filters: input }: Request): SortOrder => {
    const { column, columnFor, nullable = false, limits } = sorts[sort];
    const isById = column === definition.id;
    return {
      column: columnFor?.(context) ?? sql.ref(column),
      id,
      value: descending ? 'desc' : 'asc',
      ids: descending && (descendingIds || isById) ? 'desc' : 'asc',
      nulls: nullable ? 'last' : 'none',
      isById,
      engine: context.db.engine,
      ...limits?.(context, input),
    };
  };
  const withPlan = async (
    context: ListContext,
    input: Input,
    mode: ListPlan['mode'],
    maxIds?: number,
  ): Promise<ListContext> => {
    const plan = await indexes?.plan(context, input, maxIds);
    return plan === undefined ? context : { ...context, plan: { ...plan, mode } };
  };
  /** Reads rows, or only their positions, from the nearer end of the order if `total` tells how many there are. */
  const readRows = async (
    context: ListContext,
    request: Request,
    start: RowPosition | number,
    limit: number,
    { total, isBare = false }: { total?: number | undefined; isBare?: boolean } = {},
  ): Promise<(Row & PositionedRow)[]> => {
    const order = orderOf(context, request);
    const readFrom = (from: SortOrder, first: RowPosition | number, count: number) => {
      const part = { context, request, order: from, start: first, limit: count, isBare };
      return indexes === undefined ? sortRows(part) : readIndexed(indexes, part);
    };
    if (typeof start !== 'number' || total === undefined || start <= total / 2)
      return readFrom(order, start, limit);
    const count = Math.min(limit, total - start);
    return count <= 0 ? [] : (await readFrom(reversedOrder(order), total - start - count, count)).reverse();
  };
  const sortRows = ({ context, request, order, start, limit, isBare }: PartOfList<Request>) => {
    const query = select(filteredRows(onSlowReader(context), request.filters), order, isBare);
    const started =
      typeof start === 'number' ? query.offset(start) : query.where(afterPosition(order, start));
    return orderTerms(order)
      .reduce((sorted, term) => sorted.orderBy(term), started)
      .limit(limit)
      .execute();
  };
  const readIndexed = async (
    list: ListIndexes<F, O>,
    { context, request, order, start, limit, isBare }: PartOfList<Request>,
  ) => {
    const { sort, filters: input } = request;
    const { organizationUid: uids } = input as { organizationUid?: readonly string[] };
    const inOrganizations: Input = { ...input, organizationUid: undefined };
    const visible = list.organizations(context.caller);
    const { column, indexColumns = [] } = sorts[sort];
    const globalColumns = visible === null && uids === undefined ? list.global[sort] : undefined;
    const organizations =
      globalColumns === undefined ? await selectOrganizations(onSlowReader(context).db, visible, uids) : null;
    const names = setFilters(inOrganizations);
    const covered = names.filter((name) => isCovered(name, [column, ...(globalColumns ?? indexColumns)]));
    const ofCovered = Object.fromEntries(covered.map((name) => [name, input[name]])) as Input;
    const isFiltered = list.seesPart(context.caller) || covered.length < names.length;
    const isFast =
      names.length === 0 &&
      !isFiltered &&
      (organizations === null || organizations.length === 1) &&
      isNear(context, start);
    return readIndexedPage<Row & PositionedRow>(
      {
        table: list,
        context: isFast ? context : onSlowReader(context),
        order,
        organizations,
        isFiltered,
        isEmpty: list.excludesAll(input),
        plansFirst: list.plansFirst(input),
        condition: filterCondition({ ...context, inEntries: true }, filters, ofCovered),
        plan: (current, maxIds) => withPlan(current, input, 'page', maxIds),
        rows: (current) =>
          select(filteredRows({ ...current, inEntries: true }, inOrganizations), order, isBare),
        matching: (current) => select(filteredRows(current, input), order, true),
        visible: (current) => select(rows(current), order, isBare),
      },
      start,
      limit,
    );
  };
  const setFilters = (input: Input) =>
    Object.keys(input).filter(
      (name) => input[name] !== undefined && (filters as Filters)[name]?.where !== undefined,
    );
  /** Whether an index with these columns has what a filter tests. */
  const isCovered = (name: string, columns: readonly string[]) =>
    (filters as Filters)[name]?.columns?.every((column) => columns.includes(column)) === true;
  // Kysely cannot infer the columns added to a generic row.
  const select = (query: SelectQueryBuilder<DB, TB, Row>, order: SortOrder, isBare: boolean) =>
    (isBare ? query.clearSelect() : query).select(positionColumns(order)) as unknown as SelectQueryBuilder<
      Tables,
      never,
      Row & PositionedRow
    >;
  return { filteredRows, withPlan, readRows };
}

/**
 * Defines a list from its rows, filters and sorts, and derives its SQL. A page is
 *
 *     select … from assets where <rows> and <filters> and (created_at, id) > (:value, :id)
 *     order by created_at, id limit :limit + 1
 *
 * with `offset` in place of the position for a numbered page, from the end if that is nearer. A list with indexes reads
 * in their order (ADR 102), here by a tag and by title:
 *
 * - without the filter: a few statements, each in the order of an index (`readInOrder`)
 * - window: the next 1,000 entries of the index of titles, of which each is tested for the tag
 * - `ids`, if these do not fill the page and the tag has up to 3,000 vulnerabilities: their ids are read and sorted
 * - `scan`, if it has more: a larger window, and then all that match are collected and sorted
 *
 * Statements run on the slow reader, except pages that an index returns in order.
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
  const { filteredRows, withPlan, readRows } = createQueries(definition, filters);
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
    async read(context, request, start, limit, total) {
      const prepared = await prepare(context);
      // One row more than requested shows whether more follow.
      const rows = await readRows(prepared, request, start, limit + 1, { total });
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
        items: await hydrate(prepared, batch, request.filters),
        rows: count,
        bytes,
        last: last && positionOf(last),
        hasMore: rows.length > count,
      };
    },
    async positions(context, request, start, skip, limit) {
      const prepared = await prepare(context);
      const rows =
        typeof start === 'number'
          ? await readRows(prepared, request, start + skip, limit, { isBare: true })
          : (await readRows(prepared, request, start, skip + limit, { isBare: true })).slice(skip);
      return rows.map(positionOf);
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
