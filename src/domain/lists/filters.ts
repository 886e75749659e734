import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Caller } from '../../auth/callers.ts';
import type { ReadConnection } from '../../db/database.ts';
import { containsSubstring, inList } from '../../db/dialect-sql.ts';
import type { FieldErrorReason } from '../shared/errors.ts';
import { foldCase } from '../../lib/fold-case.ts';

/** The connection, caller and time of a read. */
export interface ListContext {
  db: ReadConnection;
  /** A connection for statements that may take long; `db` is used where there is none, as in a transaction. */
  slowReader?: ReadConnection;
  caller: Caller;
  /** Milliseconds since 1970. */
  now: number;
  /** The assessments that limit the list for this caller (`loadAssessmentIds`). */
  assessmentIds?: readonly number[];
  /** Absent without filters that have an index. */
  plan?: ListPlan;
  /** A subquery with the next rows of an order, which is read in place of the list's table. */
  window?: RawBuilder<unknown>;
  /** Whether conditions are those of the entries of an order, which its index has. */
  inEntries?: boolean;
  readSizes?: ReadSizes;
  /** Whether the query counts the rows and reads no page. */
  isCounting?: boolean;
}

/** How many rows of an index are read at a time; smaller in tests. */
export interface ReadSizes {
  /** Entries that are tested for the filters before the ids that filters select are read. */
  shortWindow: number;
  /** The same before more ids are read, and at last all matching rows. */
  longWindow: number;
  /** Offsets up to this are read through. */
  maxReadOffset: number;
}

export const READ_SIZES: ReadSizes = { shortWindow: 1_000, longWindow: 20_000, maxReadOffset: 1_000 };

/** How filters find rows. Only the vulnerability list has a plan (`planFilters`). */
export interface ListPlan {
  /**
   * - `ids`: the filters select few rows, whose ids have been read
   * - `scan`: the filters select so many rows that testing rows in the order of the list is faster
   */
  strategy: 'ids' | 'scan';
  /** Ids by the name of the filter that selects them; filters that select too many are absent. */
  ids: ReadonlyMap<string, readonly number[]>;
  /** Ids with all matching rows, from a filter by a column of the row. */
  candidates?: readonly number[];
  /** The most rows that can match: those of a window, or as many as ids have been read. */
  mostRows?: number;
  /** The requested result: rows in an order, the number of rows, or those among the rows of a window. */
  mode: 'page' | 'count' | 'window';
}

/** The input of each kind of filter. */
export interface FilterValues {
  /** Any of these. */
  integers: readonly number[];
  /** Any of these. */
  texts: readonly string[];
  flag: boolean;
  /** Milliseconds since 1970. */
  moment: number;
  /** `2026-11-22`. */
  day: string;
  /** A non-negative integer. */
  count: number;
  /** Part of a text, as typed. */
  search: string;
}

export type FilterKind = keyof FilterValues;

/** A filter of a list. Filters combine with AND, the values of one filter with OR (docs/companions.md). */
export interface Filter<K extends FilterKind = FilterKind> {
  kind: K;
  oneOf?: readonly string[];
  /** The source of a regular expression that texts have to match. */
  pattern?: string;
  /** Applies when the request does not set the filter. */
  default?: FilterValues[K];
  /** Validates texts that a pattern cannot describe. */
  custom?: { accepts(value: string): boolean; problem: FieldErrorReason; example: string };
  /** The columns of the row that the condition reads, if it reads nothing else. */
  columns?: readonly string[];
  /** The condition on a row; absent for options that only change how rows are returned. */
  where?(context: ListContext, value: FilterValues[K]): Expression<SqlBool>;
}

export type Filters = Readonly<Record<string, { [K in FilterKind]: Filter<K> }[FilterKind]>>;

export type FilterInput<F extends Filters> = {
  readonly [N in keyof F]?: FilterValues[F[N]['kind']] | undefined;
};

export const ORGANIZATION_UID_PATTERN = '^[0-9a-z]{1,50}$';

/** @returns the column of a filter; within the entries of an order, one that SQLite reads from the index of the order */
export function filterColumn<T>({ db, inEntries = false }: ListContext, column: string): Expression<T> {
  return inEntries && db.engine === 'sqlite' ? sql<T>`+${sql.ref(column)}` : sql.ref<T>(column);
}

export function integerFilter(column: string): Filter<'integers'> {
  return {
    kind: 'integers',
    columns: [column],
    where: (context, values) => inList(context.db, filterColumn<number>(context, column), values),
  };
}

export function textFilter(column: string, options: Pick<Filter, 'oneOf' | 'pattern'> = {}): Filter<'texts'> {
  return {
    kind: 'texts',
    ...options,
    columns: [column],
    where: (context, values) => inList(context.db, filterColumn<string>(context, column), values),
  };
}

/** Selects rows of these organizations. @param column the organization's id */
export function organizationFilter(column: string): Filter<'texts'> {
  return {
    kind: 'texts',
    pattern: ORGANIZATION_UID_PATTERN,
    where: ({ db }, values) => sql<SqlBool>`${sql.ref(column)} in (${organizationIds(db, values)})`,
  };
}

/** Selects the ids of organizations. @param uids all if absent */
export function organizationIds(db: ReadConnection, uids?: readonly string[]): RawBuilder<unknown> {
  return sql`select organizations.id from organizations where organizations.kind = 'organization'
    and ${uids === undefined ? sql`1 = 1` : inList(db, sql.ref<string>('organizations.uid'), uids)}`;
}

export function sinceFilter(column: string): Filter<'moment'> {
  return {
    kind: 'moment',
    columns: [column],
    where: (context, value) => sql<SqlBool>`${filterColumn(context, column)} >= ${value}`,
  };
}

export function untilFilter(column: string): Filter<'moment'> {
  return {
    kind: 'moment',
    columns: [column],
    where: (context, value) => sql<SqlBool>`${filterColumn(context, column)} < ${value}`,
  };
}

/** Selects rows with the text in any of the columns, which hold texts as `foldCase` returns them. */
export function searchFilter(...columns: readonly string[]): Filter<'search'> {
  return {
    kind: 'search',
    where(_context, value) {
      const key = foldCase(value);
      return sql<SqlBool>`(${sql.join(
        columns.map((column) => containsSubstring(sql.ref<string>(column), key)),
        sql` or `,
      )})`;
    },
  };
}

/** @returns the conjunction of all filters that are set; `undefined` when none is */
export function filterCondition<F extends Filters>(
  context: ListContext,
  filters: F,
  input: FilterInput<F>,
): Expression<SqlBool> | undefined {
  const conditions = Object.entries(input).flatMap(([name, value]) => {
    const filter = filters[name] as Filter | undefined;
    // `FilterInput` pairs each filter with a value of its kind.
    return value === undefined ? [] : (filter?.where?.(context, value as never) ?? []);
  });
  return conditions.length === 0 ? undefined : sql<SqlBool>`(${sql.join(conditions, sql` and `)})`;
}
