import type { FilterInput, Filters, ListContext } from './filters.ts';
import type { RowPosition } from './keyset.ts';

/** How a list finds the rows that its filters select. */
export interface ListPlan {
  /**
   * - `index`: the engine finds rows by the indexes of their own columns
   * - `ids`: filters by other tables select few rows, whose ids have been read
   * - `scan`: filters by other tables select so many rows that testing each row of the list is faster
   */
  strategy: 'index' | 'ids' | 'scan';
  /** Ids by the name of the filter that selects them; filters that select too many are absent. */
  ids: ReadonlyMap<string, readonly number[]>;
  /** The requested result: rows in an order, the number of rows, or the next few rows of an index. */
  mode: 'page' | 'count' | 'probe';
}

export const INDEX_PLAN: ListPlan = { strategy: 'index', ids: new Map(), mode: 'page' };

/** The properties of a list that determine its plan. */
export interface PlannableList<F extends Filters, O extends string> {
  filters: F;
  /** Reads the ids that filters by other tables select, where the list has such filters. */
  plan?(context: ListContext, input: FilterInput<F>): Promise<ListPlan>;
  /** The sorts for which an index returns this caller's rows in order, as long as no filter is set. */
  indexedSorts?(context: ListContext): readonly NoInfer<O>[];
}

/** Offsets up to this many index entries are skipped on the connection for short reads. */
const MAX_CHEAP_OFFSET = 1_000;

/**
 * Plans a read of rows.
 * @returns the context with the plan; its connection is the one for long statements unless an index has the page
 */
export async function planRows<F extends Filters, O extends string>(
  list: PlannableList<F, O>,
  context: ListContext,
  { filters: input, sort }: { filters: FilterInput<F>; sort: O },
  start: RowPosition | number,
): Promise<ListContext> {
  const isIndexPage =
    (typeof start !== 'number' || start <= MAX_CHEAP_OFFSET) &&
    hasIndexedSort(list, context, sort) &&
    !Object.entries(input).some(
      ([name, value]) => value !== undefined && list.filters[name]?.where !== undefined,
    );
  return isIndexPage ? context : withPlan(list, onSlowReader(context), input, 'page');
}

/** Plans a count of all rows. */
export async function planCount<F extends Filters>(
  list: PlannableList<F, string>,
  context: ListContext,
  input: FilterInput<F>,
): Promise<ListContext> {
  return withPlan(list, onSlowReader(context), input, 'count');
}

export async function withPlan<F extends Filters>(
  list: Pick<PlannableList<F, string>, 'plan'>,
  context: ListContext,
  input: FilterInput<F>,
  mode: ListPlan['mode'],
): Promise<ListContext> {
  const plan = (await list.plan?.(context, input)) ?? INDEX_PLAN;
  return { ...context, plan: { ...plan, mode } };
}

/** Whether the next rows of the sort's index are worth testing before all matching rows are collected and sorted. */
export function mayScanRows<O extends string>(
  list: Pick<PlannableList<Filters, O>, 'indexedSorts'>,
  context: ListContext,
  sort: O,
  start: RowPosition | number,
): boolean {
  return (
    context.plan?.strategy === 'scan' &&
    hasIndexedSort(list, context, sort) &&
    (typeof start !== 'number' || start === 0)
  );
}

function hasIndexedSort<O extends string>(
  list: Pick<PlannableList<Filters, O>, 'indexedSorts'>,
  context: ListContext,
  sort: O,
): boolean {
  return list.indexedSorts?.(context).includes(sort) === true;
}

function onSlowReader(context: ListContext): ListContext {
  return { ...context, db: context.slowReader ?? context.db };
}
