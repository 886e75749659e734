import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { inList } from '../../db/dialect-sql.ts';
import {
  type FilterInput,
  filterCondition,
  type Filter,
  type Filters,
  ORGANIZATION_UID_PATTERN,
  type ListContext,
} from './filters.ts';
import {
  afterPosition,
  type SortDirection,
  type RowPosition,
  type PositionedRow,
  positionOf,
  untilPosition,
} from './keyset.ts';

/** A column that a list can be sorted by. */
export interface SortColumn {
  column: string;
  /** What stands in the place of the column for some readers. */
  columnFor?(reading: ListContext): Expression<unknown> | undefined;
  type: 'integer' | 'real' | 'text';
  /** Whether it can be null, which comes last in both directions. */
  nullable?: boolean;
}

/** Which rows are wanted, and in which order. */
export interface ListRequest<F extends Filters = Filters, O extends string = string> {
  filters: FilterInput<F>;
  sort: O;
  descending: boolean;
}

/** Rows of a list in their order, and the place of the last of them. */
export interface RowBatch<Item> {
  items: Item[];
  last: RowPosition | undefined;
  /** Whether there are more behind them. */
  more: boolean;
}

type IdType = 'integer' | 'text';

/** A list that is read by pages, by cursor and as a stream, all by the same order. */
export interface List<Item, F extends Filters, O extends string> {
  /** What cursors of this list are told from those of others by. */
  name: string;
  filters: F;
  sorts: Readonly<Record<O, SortColumn>>;
  idType: IdType;
  /** How many rows are read at once, so that nothing holds the event loop. */
  batchSize: number;
  /** @returns the rows behind a place, or behind as many rows as `start` says */
  read(
    reading: ListContext,
    selection: ListRequest<F, O>,
    start: RowPosition | number,
    limit: number,
  ): Promise<RowBatch<Item>>;
  /** @returns the places of `limit` rows, after as many as `skip` says behind the start */
  positions(
    reading: ListContext,
    selection: ListRequest<F, O>,
    start: RowPosition | number,
    skip: number,
    limit: number,
  ): Promise<RowPosition[]>;
  /** @returns how many rows there are in all */
  count(reading: ListContext, chosen: FilterInput<F>): Promise<number>;
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
  /** What the caller reaches, with the columns of a row. */
  rows(reading: ListContext): SelectQueryBuilder<DB, TB, Row>;
  /** The column of what no other row has. */
  id: string;
  /** Absent for a whole number. */
  idType?: IdType;
  /** The column of the organization that a row is of: staff narrow the list by its uid. */
  organization: string;
  filters: F;
  sorts: Readonly<Record<O, SortColumn>>;
  /** Whether rows that are alike are told with the later id first where the order descends; as a log is. */
  descendingIds?: boolean;
  /** Completes the rows of a piece: what each of them refers to is read for all of them at once. */
  hydrate(reading: ListContext, rows: Row[], chosen: FilterInput<F>): Promise<Item[]> | Item[];
  /** A cheaper way to count, where there is one for what was chosen. */
  cheapCount?(reading: ListContext, chosen: FilterInput<F>): Promise<number | undefined>;
  /** Tells which of the filters let many rows through and what others find, where that changes how rows are found. */
  plan?(
    reading: ListContext,
    chosen: FilterInput<F>,
  ): Promise<Pick<ListContext, 'broad' | 'found' | 'narrow'>>;
  /** The orders by which an index gives this reader rows as they come, while nothing narrows the list. */
  indexedSorts?(reading: ListContext): readonly NoInfer<O>[];
  /** How many rows are read at once: fewer where they are large. */
  batchSize?: number;
}

/** A list with what it is made of, for those who want something else of the rows that it would have. */
export interface QueryableList<
  DB,
  TB extends keyof DB,
  Row,
  Item,
  F extends Filters,
  O extends string,
> extends List<Item, F, O> {
  /** @returns all rows that were chosen, in no order */
  query(reading: ListContext, chosen: FilterInput<F>): Promise<SelectQueryBuilder<DB, TB, Row>>;
}

type WithOrganizationFilter<F extends Filters> = F & { organizationUid: Filter<'texts'> };

const DEFAULT_BATCH_SIZE = 200;
/** Rows that may be passed over in an index without a thought of how long that takes. */
const MAX_CHEAP_OFFSET = 1_000;
/** Rows of an order that are tried before what filters find is gathered. */
const PROBE_ROWS = 4_000;

/** Declares a list by its rows, filters and orders; its SQL follows from them. */
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
    rows,
    sorts,
    hydrate,
    cheapCount,
    plan,
    indexedSorts,
    descendingIds = false,
    idType = 'integer',
    batchSize = DEFAULT_BATCH_SIZE,
  } = definition;
  const id = sql.ref<number | string>(definition.id);
  const filters: WithOrganizationFilter<F> = {
    ...definition.filters,
    organizationUid: organizationFilter(definition.organization),
  };
  const judged = async (
    reading: ListContext,
    chosen: FilterInput<WithOrganizationFilter<F>>,
  ): Promise<ListContext> =>
    plan === undefined ? reading : { ...reading, ...(await plan(reading, chosen)) };
  const patient = (reading: ListContext): ListContext => ({
    ...reading,
    db: reading.slowReader ?? reading.db,
  });
  const isShort = (
    reading: ListContext,
    { filters: chosen, sort }: ListRequest<F, O>,
    start: RowPosition | number,
  ) =>
    (typeof start !== 'number' || start <= MAX_CHEAP_OFFSET) &&
    indexedSorts?.(reading).includes(sort) === true &&
    !Object.entries(chosen).some(([key, value]) => value !== undefined && filters[key]?.where !== undefined);
  /** Where rows are read, and how. */
  const readingOf = (
    reading: ListContext,
    selection: ListRequest<F, O>,
    start: RowPosition | number,
  ): Promise<ListContext> =>
    isShort(reading, selection, start)
      ? Promise.resolve(reading)
      : judged(patient(reading), selection.filters);
  const rowsOf = (reading: ListContext, chosen: FilterInput<WithOrganizationFilter<F>>) => {
    const condition = filterCondition(reading, filters, chosen);
    const query = rows(reading);
    return condition === undefined ? query : query.where(condition);
  };
  const directionOf = (
    reading: ListContext,
    { sort, descending }: Pick<ListRequest<F, O>, 'sort' | 'descending'>,
  ): SortDirection => {
    const { column: by, columnFor, nullable = false } = sorts[sort];
    const idDescends = descending && (descendingIds || by === definition.id);
    return { column: columnFor?.(reading) ?? sql.ref(by), id, nullable, descending, idDescends };
  };
  const ordered = <R>(
    reading: ListContext,
    { sort, descending }: Pick<ListRequest<F, O>, 'sort' | 'descending'>,
    query: SelectQueryBuilder<DB, TB, R>,
    start: RowPosition | number,
  ) => {
    const direction = directionOf(reading, { sort, descending });
    const { column, nullable, idDescends } = direction;
    const placed = query
      .select(sql<string | number | null>`${column}`.as('place_value'))
      .select(sql<number | string>`${id}`.as('place_id'));
    const from =
      typeof start === 'number' ? placed.offset(start) : placed.where(afterPosition(direction, start));
    const sorted =
      sorts[sort].column === definition.id
        ? from
        : from.orderBy(column, (item) => {
            const directed = descending ? item.desc() : item.asc();
            return nullable ? directed.nullsLast() : directed;
          });
    return sorted.orderBy(id, idDescends ? 'desc' : 'asc');
  };
  /** The rows of a page that the next few of an order have, where most fit; `undefined` where these do not fill it. */
  const tryNext = async (
    reading: ListContext,
    selection: ListRequest<F, O>,
    start: RowPosition | number,
    limit: number,
  ) => {
    const direction = directionOf(reading, selection);
    const isWalked = !direction.nullable && indexedSorts?.(reading).includes(selection.sort) === true;
    if (!reading.broad?.size || reading.narrow || !isWalked || (typeof start === 'number' && start > 0))
      return undefined;
    const next = ordered(reading, selection, rows(reading).clearSelect(), start).offset(PROBE_ROWS - 1);
    const [bound] = (await next.limit(1).execute()) as PositionedRow[];
    const how = { ...reading, trying: true };
    const tried = ordered(how, selection, rowsOf(how, selection.filters), start).limit(limit);
    const within = bound === undefined ? tried : tried.where(untilPosition(direction, positionOf(bound)));
    const found = await within.execute();
    return bound === undefined || found.length === limit ? found : undefined;
  };
  return {
    name,
    filters,
    sorts,
    idType,
    batchSize,
    async read(reading, selection, start, limit) {
      const how = await readingOf(reading, selection, start);
      // One more than are wanted tells whether there are more.
      const placed =
        (await tryNext(how, selection, start, limit + 1)) ??
        (await ordered(how, selection, rowsOf(how, selection.filters), start)
          .limit(limit + 1)
          .execute());
      // Kysely cannot tell what two selects on a row of any type come to.
      const found = (placed as (Row & PositionedRow)[]).slice(0, limit);
      const last = found.at(-1);
      return {
        items: await hydrate(reading, found, selection.filters),
        last: last && positionOf(last),
        more: placed.length > limit,
      };
    },
    async positions(reading, selection, start, skip, limit) {
      const how = await readingOf(reading, selection, typeof start === 'number' ? start + skip : start);
      const bare = rowsOf(how, selection.filters).clearSelect();
      const offset = typeof start === 'number' ? start + skip : skip;
      const found = await ordered(how, selection, bare, start).offset(offset).limit(limit).execute();
      return (found as PositionedRow[]).map(positionOf);
    },
    async query(reading, chosen) {
      return rowsOf(await judged(reading, chosen), chosen);
    },
    async count(reading, chosen) {
      const known = await cheapCount?.(reading, chosen);
      if (known !== undefined) return known;
      const how = { ...(await judged(patient(reading), chosen)), counting: true };
      const [counted] = await rowsOf(how, chosen)
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
