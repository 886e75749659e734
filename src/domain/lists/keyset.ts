import { type Expression, type SqlBool, sql } from 'kysely';

/** The position of a row in an order, after which a read continues. */
export interface RowPosition {
  value: string | number | null;
  id: number | string;
}

/** The columns that a row is read with to know its position. */
export interface PositionedRow {
  position_value: string | number | null;
  position_id: number | string;
}

export const positionOf = (row: PositionedRow): RowPosition => ({
  value: row.position_value,
  id: row.position_id,
});

/** An order by a column, then by id among equal values. */
export interface SortDirection {
  column: Expression<unknown>;
  id: Expression<number | string>;
  nullable: boolean;
  descending: boolean;
  idDescends: boolean;
}

/** The condition that a row comes after a position. An index of the column and the id can seek to it. */
export function afterPosition(
  { column, id, nullable, descending, idDescends }: SortDirection,
  position: RowPosition,
): Expression<SqlBool> {
  const laterId = idDescends ? sql`${id} < ${position.id}` : sql`${id} > ${position.id}`;
  if (position.value === null) return sql<SqlBool>`(${column} is null and ${laterId})`;
  const laterValue = descending ? sql`${column} < ${position.value}` : sql`${column} > ${position.value}`;
  if (nullable)
    return sql<SqlBool>`(${column} is null or ${laterValue} or (${column} = ${position.value} and ${laterId}))`;
  const seek = descending ? sql`${column} <= ${position.value}` : sql`${column} >= ${position.value}`;
  return sql<SqlBool>`(${seek} and (${laterValue} or ${laterId}))`;
}

/** The condition that a row comes no later than a position, in an order by a column without nulls. */
export function untilPosition(
  { column, id, descending, idDescends }: SortDirection,
  { value, id: lastId }: RowPosition,
): Expression<SqlBool> {
  const seek = descending ? sql`${column} >= ${value}` : sql`${column} <= ${value}`;
  const earlierValue = descending ? sql`${column} > ${value}` : sql`${column} < ${value}`;
  const earlierId = idDescends ? sql`${id} >= ${lastId}` : sql`${id} <= ${lastId}`;
  return sql<SqlBool>`(${seek} and (${earlierValue} or ${earlierId}))`;
}
