import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { isOneOf } from '../../db/dialect-sql.ts';
import {
  type Chosen,
  conditionOf,
  type Filter,
  type Filters,
  ORGANIZATION_UID_PATTERN,
  type Reading,
} from './filters.ts';
import { behind, type Direction, type Place, type Placed, placeOf, upTo } from './keyset.ts';

/** A column that a list can be sorted by. */
export interface Order {
  by: string;
  /** What stands in the place of the column for some readers. */
  insteadFor?(reading: Reading): Expression<unknown> | undefined;
  type: 'integer' | 'real' | 'text';
  /** Whether it can be null, which comes last in both directions. */
  nullable?: boolean;
}

/** Which rows are wanted, and in which order. */
export interface Selection<F extends Filters = Filters, O extends string = string> {
  filters: Chosen<F>;
  order: O;
  descending: boolean;
}

/** Rows of a list in their order, and the place of the last of them. */
export interface Piece<Item> {
  items: Item[];
  last: Place | undefined;
  /** Whether there are more behind them. */
  more: boolean;
}

type IdType = 'integer' | 'text';

/** A list that is read by pages, by cursor and as a stream, all by the same order. */
export interface List<Item, F extends Filters, O extends string> {
  /** What cursors of this list are told from those of others by. */
  name: string;
  filters: F;
  orders: Readonly<Record<O, Order>>;
  idType: IdType;
  /** How many rows are read at once, so that nothing holds the event loop. */
  piece: number;
  /** @returns the rows behind a place, or behind as many rows as `start` says */
  read(
    reading: Reading,
    selection: Selection<F, O>,
    start: Place | number,
    limit: number,
  ): Promise<Piece<Item>>;
  /** @returns the places of `limit` rows, after as many as `skip` says behind the start */
  places(
    reading: Reading,
    selection: Selection<F, O>,
    start: Place | number,
    skip: number,
    limit: number,
  ): Promise<Place[]>;
  /** @returns how many rows there are in all */
  count(reading: Reading, chosen: Chosen<F>): Promise<number>;
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
  rows(reading: Reading): SelectQueryBuilder<DB, TB, Row>;
  /** The column of what no other row has. */
  id: string;
  /** Absent for a whole number. */
  idType?: IdType;
  /** The column of the organization that a row is of: staff narrow the list by its uid. */
  organization: string;
  filters: F;
  orders: Readonly<Record<O, Order>>;
  /** Whether rows that are alike are told with the later id first where the order descends; as a log is. */
  descendingIds?: boolean;
  /** Completes the rows of a piece: what each of them refers to is read for all of them at once. */
  items(reading: Reading, rows: Row[], chosen: Chosen<F>): Promise<Item[]> | Item[];
  /** A cheaper way to count, where there is one for what was chosen. */
  total?(reading: Reading, chosen: Chosen<F>): Promise<number | undefined>;
  /** Tells which of the filters let many rows through and what others find, where that changes how rows are found. */
  judge?(reading: Reading, chosen: Chosen<F>): Promise<Pick<Reading, 'broad' | 'found' | 'narrow'>>;
  /** The orders by which an index gives this reader rows as they come, while nothing narrows the list. */
  indexed?(reading: Reading): readonly NoInfer<O>[];
  /** How many rows are read at once: fewer where they are large. */
  piece?: number;
}

/** A list with what it is made of, for those who want something else of the rows that it would have. */
export interface DefinedList<
  DB,
  TB extends keyof DB,
  Row,
  Item,
  F extends Filters,
  O extends string,
> extends List<Item, F, O> {
  /** @returns all rows that were chosen, in no order */
  query(reading: Reading, chosen: Chosen<F>): Promise<SelectQueryBuilder<DB, TB, Row>>;
}

type WithOrganization<F extends Filters> = F & { organizationUid: Filter<'texts'> };

const USUAL_PIECE = 200;
/** Rows that may be passed over in an index without a thought of how long that takes. */
const FEW = 1_000;
/** Rows of an order that are tried before what filters find is gathered. */
const TRIED = 4_000;

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
): DefinedList<DB, TB, Row, Item, WithOrganization<F>, O> {
  const {
    name,
    rows,
    orders,
    items,
    total,
    judge,
    indexed,
    descendingIds = false,
    idType = 'integer',
    piece = USUAL_PIECE,
  } = definition;
  const id = sql.ref<number | string>(definition.id);
  const filters: WithOrganization<F> = {
    ...definition.filters,
    organizationUid: ofOrganization(definition.organization),
  };
  const judged = async (reading: Reading, chosen: Chosen<WithOrganization<F>>): Promise<Reading> =>
    judge === undefined ? reading : { ...reading, ...(await judge(reading, chosen)) };
  const patient = (reading: Reading): Reading => ({ ...reading, db: reading.long ?? reading.db });
  const isShort = (reading: Reading, { filters: chosen, order }: Selection<F, O>, start: Place | number) =>
    (typeof start !== 'number' || start <= FEW) &&
    indexed?.(reading).includes(order) === true &&
    !Object.entries(chosen).some(([key, value]) => value !== undefined && filters[key]?.where !== undefined);
  /** Where rows are read, and how. */
  const readingOf = (
    reading: Reading,
    selection: Selection<F, O>,
    start: Place | number,
  ): Promise<Reading> =>
    isShort(reading, selection, start)
      ? Promise.resolve(reading)
      : judged(patient(reading), selection.filters);
  const rowsOf = (reading: Reading, chosen: Chosen<WithOrganization<F>>) => {
    const condition = conditionOf(reading, filters, chosen);
    const query = rows(reading);
    return condition === undefined ? query : query.where(condition);
  };
  const directionOf = (
    reading: Reading,
    { order, descending }: Pick<Selection<F, O>, 'order' | 'descending'>,
  ): Direction => {
    const { by, insteadFor, nullable = false } = orders[order];
    const idDescends = descending && (descendingIds || by === definition.id);
    return { column: insteadFor?.(reading) ?? sql.ref(by), id, nullable, descending, idDescends };
  };
  const ordered = <R>(
    reading: Reading,
    { order, descending }: Pick<Selection<F, O>, 'order' | 'descending'>,
    query: SelectQueryBuilder<DB, TB, R>,
    start: Place | number,
  ) => {
    const direction = directionOf(reading, { order, descending });
    const { column, nullable, idDescends } = direction;
    const placed = query
      .select(sql<string | number | null>`${column}`.as('place_value'))
      .select(sql<number | string>`${id}`.as('place_id'));
    const from = typeof start === 'number' ? placed.offset(start) : placed.where(behind(direction, start));
    const sorted =
      orders[order].by === definition.id
        ? from
        : from.orderBy(column, (item) => {
            const directed = descending ? item.desc() : item.asc();
            return nullable ? directed.nullsLast() : directed;
          });
    return sorted.orderBy(id, idDescends ? 'desc' : 'asc');
  };
  /** The rows of a page that the next few of an order have, where most fit; `undefined` where these do not fill it. */
  const tryNext = async (
    reading: Reading,
    selection: Selection<F, O>,
    start: Place | number,
    limit: number,
  ) => {
    const direction = directionOf(reading, selection);
    const isWalked = !direction.nullable && indexed?.(reading).includes(selection.order) === true;
    if (!reading.broad?.size || reading.narrow || !isWalked || (typeof start === 'number' && start > 0))
      return undefined;
    const next = ordered(reading, selection, rows(reading).clearSelect(), start).offset(TRIED - 1);
    const [bound] = (await next.limit(1).execute()) as Placed[];
    const how = { ...reading, trying: true };
    const tried = ordered(how, selection, rowsOf(how, selection.filters), start).limit(limit);
    const within = bound === undefined ? tried : tried.where(upTo(direction, placeOf(bound)));
    const found = await within.execute();
    return bound === undefined || found.length === limit ? found : undefined;
  };
  return {
    name,
    filters,
    orders,
    idType,
    piece,
    async read(reading, selection, start, limit) {
      const how = await readingOf(reading, selection, start);
      // One more than are wanted tells whether there are more.
      const placed =
        (await tryNext(how, selection, start, limit + 1)) ??
        (await ordered(how, selection, rowsOf(how, selection.filters), start)
          .limit(limit + 1)
          .execute());
      // Kysely cannot tell what two selects on a row of any type come to.
      const found = (placed as (Row & Placed)[]).slice(0, limit);
      const last = found.at(-1);
      return {
        items: await items(reading, found, selection.filters),
        last: last && placeOf(last),
        more: placed.length > limit,
      };
    },
    async places(reading, selection, start, skip, limit) {
      const how = await readingOf(reading, selection, typeof start === 'number' ? start + skip : start);
      const bare = rowsOf(how, selection.filters).clearSelect();
      const offset = typeof start === 'number' ? start + skip : skip;
      const found = await ordered(how, selection, bare, start).offset(offset).limit(limit).execute();
      return (found as Placed[]).map(placeOf);
    },
    async query(reading, chosen) {
      return rowsOf(await judged(reading, chosen), chosen);
    },
    async count(reading, chosen) {
      const known = await total?.(reading, chosen);
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

function ofOrganization(column: string): Filter<'texts'> {
  return {
    kind: 'texts',
    pattern: ORGANIZATION_UID_PATTERN,
    where: ({ db }, values) =>
      sql<SqlBool>`${sql.ref(column)} in (select organizations.id from organizations
        where organizations.kind = 'organization' and ${isOneOf(db, sql.ref<string>('organizations.uid'), values)})`,
  };
}
