import { type Expression, type SqlBool, sql } from 'kysely';
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
  /** What the filters tell about the column, so that an index is read only where they match. */
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
export function orderTerms({ column, id, value, ids, nulls, isById }: SortOrder) {
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
  /** The direction of the column; absent if all rows have the same value. */
  value: Direction | undefined;
  ids: Direction;
}

/** @returns the terms of `order by` for the rows of a run */
export function runTerms({ column, id }: Pick<SortOrder, 'column' | 'id'>, { value, ids }: Run) {
  return orderTerms({ column, id, value: value ?? 'asc', ids, nulls: 'none', isById: value === undefined });
}

/**
 * Splits an order at its nulls, at its values if there are few, and at the position after which it starts.
 * @returns the runs in the order of their rows
 */
export function runsOf(order: SortOrder, start?: RowPosition): Run[] {
  const { column, id, value, ids, nulls, isById, values, conditions: limits = [] } = order;
  const laterIds = start === undefined ? [] : [sql<SqlBool>`${id} ${AFTER[ids]} ${start.id}`];
  const ofOneValue = (...conditions: Expression<SqlBool>[]): Run => ({
    conditions: [...conditions, ...limits],
    value: undefined,
    ids,
  });
  const equals = (to: unknown) => sql<SqlBool>`${column} = ${to}`;
  if (isById) return [ofOneValue(...laterIds)];
  if (values !== undefined) {
    const from = start === undefined ? undefined : Number(start.value);
    return (value === 'asc' ? values : [...values].reverse())
      .filter((one) => from === undefined || (value === 'asc' ? one >= from : one <= from))
      .map((one) => ofOneValue(equals(one), ...(one === from ? laterIds : [])));
  }
  const inDirection = (...conditions: Expression<SqlBool>[]): Run => ({
    conditions: [...conditions, ...limits],
    value,
    ids,
  });
  const nullRuns = (...conditions: Expression<SqlBool>[]) =>
    nulls === 'none' ? [] : [ofOneValue(sql<SqlBool>`${column} is null`, ...conditions)];
  const valueRuns =
    start === undefined || start.value === null
      ? [nulls === 'none' ? inDirection() : inDirection(sql<SqlBool>`${column} is not null`)]
      : [
          ofOneValue(equals(start.value), ...laterIds),
          inDirection(sql<SqlBool>`${column} ${AFTER[value]} ${start.value}`),
        ];
  if (start === undefined)
    return nulls === 'first' ? [...nullRuns(), ...valueRuns] : [...valueRuns, ...nullRuns()];
  if (start.value === null) return [...nullRuns(...laterIds), ...(nulls === 'first' ? valueRuns : [])];
  return nulls === 'first' ? valueRuns : [...valueRuns, ...nullRuns()];
}

/** @returns the condition that the column of a row comes before a value, where none is null */
export const beforeValue = ({ column, value: direction }: SortOrder, value: unknown) =>
  sql<SqlBool>`${column} ${AFTER[opposite(direction)]} ${value}`;
