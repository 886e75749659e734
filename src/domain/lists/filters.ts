import { type Expression, type SqlBool, sql } from 'kysely';
import type { Caller } from '../../auth/callers.ts';
import type { ReadConnection } from '../../db/engine.ts';
import { containsSubstring, inList } from '../../db/dialect-sql.ts';
import type { FieldProblem } from '../shared/errors.ts';

/** Who reads, from where and when. */
export interface ListContext {
  db: ReadConnection;
  /** For statements that may take long; `db` where there is none, as in a unit of work. */
  slowReader?: ReadConnection;
  caller: Caller;
  /** Milliseconds since 1970. */
  now: number;
  /** Filters that let many rows through, where the list knows: rows are better tried by them than found. */
  broad?: ReadonlySet<string>;
  /** The ids that other filters find, by their names, where there are few. */
  found?: ReadonlyMap<string, readonly number[]>;
  /** Whether another one finds few: then nothing else needs to find rows. */
  narrow?: boolean;
  /** Whether all rows are counted, and not some read in an order. */
  counting?: boolean;
  /** Whether a few rows of an order are tried, one after the other. */
  trying?: boolean;
}

/** What a filter of each kind is given. */
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
  /** A whole number of something, at least 0. */
  count: number;
  /** Part of a text, as it was typed. */
  search: string;
}

export type FilterKind = keyof FilterValues;

/** What a list may be narrowed by. Filters are joined by AND, the values of one by OR (docs/companions.md). */
export interface Filter<K extends FilterKind = FilterKind> {
  kind: K;
  /** The only values that a text may have. */
  oneOf?: readonly string[];
  /** What a text has to look like, as the source of a regular expression: a uid. */
  pattern?: string;
  /** What is chosen where the query says nothing. */
  default?: FilterValues[K];
  /** What a text has to be, where a pattern cannot say it. */
  custom?: { accepts(value: string): boolean; problem: FieldProblem; example: string };
  /** The condition that a row fits; absent where it says only how rows are told. */
  where?(reading: ListContext, value: FilterValues[K]): Expression<SqlBool>;
}

export type Filters = Readonly<Record<string, { [K in FilterKind]: Filter<K> }[FilterKind]>>;

/** Values of filters by name; what is absent narrows nothing. */
export type FilterInput<F extends Filters> = {
  readonly [N in keyof F]?: FilterValues[F[N]['kind']] | undefined;
};

/** What is asked of an organization by its uid; a value that cannot be one is refused. */
export const ORGANIZATION_UID_PATTERN = '^[0-9a-z]{1,50}$';

/** @returns a filter by whole numbers in a column */
export function integerFilter(column: string): Filter<'integers'> {
  return { kind: 'integers', where: ({ db }, values) => inList(db, sql.ref<number>(column), values) };
}

/** @returns a filter by texts in a column */
export function textFilter(column: string, more: Pick<Filter, 'oneOf' | 'pattern'> = {}): Filter<'texts'> {
  return { kind: 'texts', ...more, where: ({ db }, values) => inList(db, sql.ref<string>(column), values) };
}

/** @returns a filter by the moments of a column from its value on */
export function sinceFilter(column: string): Filter<'moment'> {
  return { kind: 'moment', where: (_reading, value) => sql<SqlBool>`${sql.ref(column)} >= ${value}` };
}

/** @returns a filter by the moments of a column before its value */
export function untilFilter(column: string): Filter<'moment'> {
  return { kind: 'moment', where: (_reading, value) => sql<SqlBool>`${sql.ref(column)} < ${value}` };
}

/** @returns a filter by a part of a text, in any of these columns, which hold what `searchKey` makes of it */
export function searchFilter(...columns: readonly string[]): Filter<'search'> {
  return {
    kind: 'search',
    where(_reading, value) {
      const key = normalizeForSearch(value);
      return sql<SqlBool>`(${sql.join(
        columns.map((column) => containsSubstring(sql.ref<string>(column), key)),
        sql` or `,
      )})`;
    },
  };
}

/** @returns the form in which texts are searched: without regard to case or composition, outer space kept */
export function normalizeForSearch(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/** @returns the condition of all that was chosen */
export function filterCondition<F extends Filters>(
  reading: ListContext,
  filters: F,
  chosen: FilterInput<F>,
): Expression<SqlBool> | undefined {
  const conditions = Object.entries(chosen).flatMap(([name, value]) => {
    const filter = filters[name] as Filter | undefined;
    // Which kind goes with which value is what `Chosen` says.
    return value === undefined ? [] : (filter?.where?.(reading, value as never) ?? []);
  });
  return conditions.length === 0 ? undefined : sql<SqlBool>`(${sql.join(conditions, sql` and `)})`;
}
