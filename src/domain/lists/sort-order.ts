import { type Expression, type SqlBool, sql } from 'kysely';
import type { Engine } from '../../db/database.ts';
import type { ListContext } from './filters.ts';

/** The position of a row in an order, after which a read continues. */
export interface RowPosition {
  value: string | number | null;
  id: number | string;
}

/** A column that a list can be sorted by. */
export interface SortColumn {
  column: string;
  /** Replaces the column for some callers. */
  columnFor?(context: ListContext): Expression<unknown> | undefined;
  type: 'integer' | 'real' | 'text';
  /** Nulls sort last in both directions. */
  nullable?: boolean;
  /** The columns that the index of the sort has besides the organization, the column itself and the id. */
  indexColumns?: readonly string[];
  /** @returns the limits that filters by this column put on the range of its index */
  limits?(context: ListContext, input: object): OrderLimits;
}

interface OrderLimits {
  /** All values of the column, ascending, if there are few: rows are then read value by value. */
  values?: readonly number[];
  /** Conditions on the column. */
  conditions?: readonly Expression<SqlBool>[];
}

export interface PositionedRow {
  position_value: string | number | null;
  position_id: number | string;
}

/** The columns of `PositionedRow`. */
export const positionColumns = ({ column, id }: Pick<SortOrder, 'column' | 'id'>) => [
  sql<string | number | null>`${column}`.as('position_value'),
  sql<number | string>`${id}`.as('position_id'),
];

export const positionOf = (row: PositionedRow): RowPosition => ({
  value: row.position_value,
  id: row.position_id,
});

export type Direction = 'asc' | 'desc';

const DIRECTIONS = { asc: sql`asc`, desc: sql`desc` };
const NULLS = { none: sql``, first: sql` nulls first`, last: sql` nulls last` };
const AFTER = { asc: sql`>`, desc: sql`<` };
const AT_OR_AFTER = { asc: sql`>=`, desc: sql`<=` };

const opposite = (direction: Direction): Direction => (direction === 'asc' ? 'desc' : 'asc');

/** An order by a column, then by id among equal values. */
export interface SortOrder extends OrderLimits {
  column: Expression<unknown>;
  id: Expression<number | string>;
  value: Direction;
  ids: Direction;
  /** Whether nulls come at all, and where. */
  nulls: 'none' | 'first' | 'last';
  /** Whether the column is the id. */
  isById: boolean;
  engine: Engine;
}

/** @returns the order that lists the same rows from the end */
export function reversedOrder(order: SortOrder): SortOrder {
  const nulls = { none: 'none', first: 'last', last: 'first' } as const;
  return {
    ...order,
    value: opposite(order.value),
    ids: opposite(order.ids),
    nulls: nulls[order.nulls],
  };
}

/** The terms of `order by`. */
export function orderTerms({
  column,
  id,
  value,
  ids,
  nulls,
  isById,
}: Pick<SortOrder, 'column' | 'id' | 'value' | 'ids' | 'nulls' | 'isById'>) {
  const idTerm = sql`${id} ${DIRECTIONS[ids]}`;
  return isById ? [idTerm] : [sql`${column} ${DIRECTIONS[value]}${NULLS[nulls]}`, idTerm];
}

/** The condition that a row comes after a position. An index of the column and the id can seek to it. */
export function afterPosition(order: SortOrder, position: RowPosition): Expression<SqlBool> {
  const { column, id, nulls } = order;
  const laterId = sql<SqlBool>`${id} ${AFTER[order.ids]} ${position.id}`;
  if (order.isById) return laterId;
  if (position.value === null) return sql<SqlBool>`(${column} is null and ${laterId})`;
  const laterValue = sql<SqlBool>`${column} ${AFTER[order.value]} ${position.value}`;
  if (nulls === 'last')
    return sql<SqlBool>`(${column} is null or ${laterValue} or (${column} = ${position.value} and ${laterId}))`;
  return sql<SqlBool>`(${column} ${AT_OR_AFTER[order.value]} ${position.value} and (${laterValue} or ${laterId}))`;
}

/** Adjacent rows of an order, which one statement reads in the order of an index. */
export interface Run {
  conditions: readonly Expression<SqlBool>[];
  /** The direction of the column; absent if its index has the rows by id, as all have the same value. */
  value: Direction | undefined;
  ids: Direction;
}

/** @returns the terms of `order by` for the rows of a run */
export function runTerms({ column, id }: Pick<SortOrder, 'column' | 'id'>, { value, ids }: Run) {
  return orderTerms({ column, id, value: value ?? 'asc', ids, nulls: 'none', isById: value === undefined });
}

/**
 * PostgreSQL drops a column with one value from an order, and may then read all rows by their primary key until it finds
 * some of that value. It cannot with a range, whose order only the index of the column has. SQLite seeks in the index by
 * equality alone.
 * @param after the id after which to start
 * @returns the rows with a value
 */
export function runOfValue(order: SortOrder, value: RowPosition['value'], after?: RowPosition['id']): Run {
  const { engine, column, id, ids, conditions = [] } = order;
  const later = after === undefined ? [] : [sql<SqlBool>`${id} ${AFTER[ids]} ${after}`];
  if (value === null)
    return {
      conditions: [sql<SqlBool>`${column} is null`, ...later, ...conditions],
      value: engine === 'postgres' ? ids : undefined,
      ids,
    };
  if (engine === 'sqlite')
    return {
      conditions: [sql<SqlBool>`${column} = ${value}`, ...later, ...conditions],
      value: undefined,
      ids,
    };
  const isLater =
    after === undefined ? [] : [sql<SqlBool>`(${column}, ${id}) ${AFTER[ids]} (${value}, ${after})`];
  return {
    conditions: [sql<SqlBool>`${column} between ${value} and ${value}`, ...isLater, ...conditions],
    value: ids,
    ids,
  };
}

/**
 * Splits an order at its nulls, at its values if there are few, and at the position after which it starts.
 * @returns the runs in the order of their rows
 */
export function runsOf(order: SortOrder, start?: RowPosition): Run[] {
  const { column, id, value, ids, nulls, isById, values, conditions = [] } = order;
  if (isById) {
    const isLater = start && sql<SqlBool>`${id} ${AFTER[ids]} ${start.id}`;
    return [{ conditions: isLater === undefined ? [] : [isLater], value: undefined, ids }];
  }
  if (values !== undefined) {
    const from = start === undefined ? undefined : Number(start.value);
    return (value === 'asc' ? values : [...values].reverse())
      .filter((one) => from === undefined || (value === 'asc' ? one >= from : one <= from))
      .map((one) => runOfValue(order, one, one === from ? start?.id : undefined));
  }
  const inDirection = (...more: Expression<SqlBool>[]): Run => ({
    conditions: [...more, ...conditions],
    value,
    ids,
  });
  const valueRuns =
    start === undefined || start.value === null
      ? [nulls === 'none' ? inDirection() : inDirection(sql<SqlBool>`${column} is not null`)]
      : [
          runOfValue(order, start.value, start.id),
          inDirection(sql<SqlBool>`${column} ${AFTER[value]} ${start.value}`),
        ];
  if (nulls === 'none') return valueRuns;
  if (start?.value === null)
    return [runOfValue(order, null, start.id), ...(nulls === 'first' ? valueRuns : [])];
  if (nulls === 'last') return [...valueRuns, runOfValue(order, null)];
  return start === undefined ? [runOfValue(order, null), ...valueRuns] : valueRuns;
}

/** @returns the condition that the column of a row comes before a value, where none is null */
export const beforeValue = ({ column, value: direction }: SortOrder, value: unknown) =>
  sql<SqlBool>`${column} ${AFTER[opposite(direction)]} ${value}`;
