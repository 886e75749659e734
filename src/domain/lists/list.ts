import type { SelectQueryBuilder } from 'kysely';
import type { Caller } from '../../auth/callers.ts';
import type { ReadConnection } from '../../db/database.ts';
import type { Filter, FilterInput, Filters, ListContext } from './filters.ts';
import type { ListIndexes } from './page-reader.ts';
import type { RowPosition, SortColumn } from './sort-order.ts';

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
   * @param total the number of rows of the list, so that rows near its end are read from there
   */
  read(
    context: ListContext,
    request: ListRequest<F, O>,
    start: RowPosition | number,
    limit: number,
    total?: number,
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

/** What a list is defined by. */
export interface ListDefinition<
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
  /** Present if each sort has an index that begins with the organization. */
  indexes?: ListIndexes<F, O>;
  /** Rows per batch; fewer for a list of large rows. */
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

export type WithOrganizationFilter<F extends Filters> = F & { organizationUid: Filter<'texts'> };
