import { type Expression, type SqlBool, sql } from 'kysely';

/** A row's place in an order: the reading goes on behind it. */
export interface RowPosition {
  value: string | number | null;
  id: number | string;
}

/** What a row is read with that tells its place. */
export interface PositionedRow {
  place_value: string | number | null;
  place_id: number | string;
}

export const positionOf = (row: PositionedRow): RowPosition => ({ value: row.place_value, id: row.place_id });

/** How an order goes: by a column, and by the id among rows that are alike. */
export interface SortDirection {
  column: Expression<unknown>;
  id: Expression<number | string>;
  nullable: boolean;
  descending: boolean;
  idDescends: boolean;
}

/** The condition that a row comes behind a place. An index of the column and the id finds where that is. */
export function afterPosition(
  { column, id, nullable, descending, idDescends }: SortDirection,
  place: RowPosition,
): Expression<SqlBool> {
  const laterId = idDescends ? sql`${id} < ${place.id}` : sql`${id} > ${place.id}`;
  if (place.value === null) return sql<SqlBool>`(${column} is null and ${laterId})`;
  const beyond = descending ? sql`${column} < ${place.value}` : sql`${column} > ${place.value}`;
  if (nullable)
    return sql<SqlBool>`(${column} is null or ${beyond} or (${column} = ${place.value} and ${laterId}))`;
  const from = descending ? sql`${column} <= ${place.value}` : sql`${column} >= ${place.value}`;
  return sql<SqlBool>`(${from} and (${beyond} or ${laterId}))`;
}

/** The condition that a row comes no later than a place, in an order by a column that is never null. */
export function untilPosition(
  { column, id, descending, idDescends }: SortDirection,
  { value, id: last }: RowPosition,
): Expression<SqlBool> {
  const until = descending ? sql`${column} >= ${value}` : sql`${column} <= ${value}`;
  const before = descending ? sql`${column} > ${value}` : sql`${column} < ${value}`;
  const earlierId = idDescends ? sql`${id} >= ${last}` : sql`${id} <= ${last}`;
  return sql<SqlBool>`(${until} and (${before} or ${earlierId}))`;
}
