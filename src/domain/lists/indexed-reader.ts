import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { numbersTable } from '../../db/dialect-sql.ts';
import type { Tables } from '../../db/schema.ts';
import { type ListContext, READ_SIZES } from './filters.ts';
import {
  beforeValue,
  positionColumns,
  type PositionedRow,
  type RowPosition,
  type Run,
  runOfValue,
  runsOf,
  runTerms,
  type SortOrder,
} from './sort-order.ts';

/** A table whose orders have indexes by organization, column and id. */
export interface IndexedTable {
  name: string;
  /** The column with the organization's id. */
  organization: string;
  id: string;
}

/** A query of rows of any list. */
export type Rows<Row> = SelectQueryBuilder<Tables, never, Row>;

export interface IndexedRead<Row extends PositionedRow> {
  table: IndexedTable;
  context: ListContext;
  order: SortOrder;
  /** The organizations whose rows are read; `null` for all, if an index has this order for them. */
  organizations: readonly number[] | null;
  /** The condition of those filters that the index can test. */
  condition: Expression<SqlBool> | undefined;
  /** With other filters: the most rows that each statement tests. */
  window?: number;
  /** @returns the rows that the caller can see and the filters match, from `context.window` if it is set */
  rows(context: ListContext): Rows<Row>;
}

/**
 * Reads rows in the order of an index.
 * @param start the position after which to start
 * @returns `undefined` if the window has too few
 */
export async function readInOrder<Row extends PositionedRow>(
  read: IndexedRead<Row>,
  start: RowPosition | undefined,
  limit: number,
): Promise<Row[] | undefined> {
  // Each statement sees the rows as they are then: one whose value changes in between could come twice.
  const rows = new Map<number | string, Row>();
  for (const run of runsOf(read.order, start)) {
    const next = await readRun(read, run, limit - rows.size);
    if (next === undefined) return undefined;
    for (const row of next) if (!rows.has(row.position_id)) rows.set(row.position_id, row);
    if (rows.size >= limit) break;
  }
  return [...rows.values()];
}

/**
 * An index has one direction: read backwards, it has equal values with descending ids, while orders have ascending ids
 * in both directions. So a run is read backwards for its values, and then the rows of the last value by ascending ids.
 * Those of the other values are complete, and are only turned round. However many rows share a value, this reads few.
 */
async function readRun<Row extends PositionedRow>(
  read: IndexedRead<Row>,
  run: Run,
  limit: number,
): Promise<Row[] | undefined> {
  if (isDirect(run)) return readEntries(read, run, limit);
  const backwards = await readEntries(read, backwardsOf(run), limit + 1);
  if (backwards === undefined) return undefined;
  const groups = groupByValue(backwards);
  const incomplete = backwards.length > limit ? groups.pop()?.[0] : undefined;
  const rows = groups.flatMap((group) => group.reverse());
  if (incomplete === undefined || rows.length === limit) return rows;
  const rest = await readEntries(
    read,
    runOfValue(read.order, incomplete.position_value),
    limit - rows.length,
  );
  return rest && [...rows, ...rest];
}

/** Whether an index has the rows in this order, or in its exact opposite. */
const isDirect = ({ value, ids }: Run) => value === undefined || value === ids;

const backwardsOf = (run: Run): Run => ({ ...run, ids: run.value ?? run.ids });

function groupByValue<Row extends PositionedRow>(rows: readonly Row[]): Row[][] {
  const groups: Row[][] = [];
  for (const row of rows) {
    const group = groups.at(-1);
    if (group?.[0]?.position_value === row.position_value) group?.push(row);
    else groups.push([row]);
  }
  return groups;
}

async function readEntries<Row extends PositionedRow>(
  read: IndexedRead<Row>,
  run: Run,
  limit: number,
): Promise<Row[] | undefined> {
  const { context, table, organizations, window: size } = read;
  if (organizations !== null && organizations.length !== 1) return mergeOrganizations(read, run, limit);
  if (size === undefined) return sortedRows(read, run, limit).execute();
  const entries = sql`from ${sql.table(table.name)}
    where ${conditionOf(table, withCondition(read, run), organizations?.[0])}
    order by ${sql.join(runTerms(read.order, run))}`;
  const window = sql`(select * ${entries} limit ${sql.lit(size)})`;
  const rows = await sortedRows({ ...read, context: { ...context, window } }, run, limit).execute();
  if (rows.length === limit) return rows;
  const next = await sql`select 1 ${entries} limit 1 offset ${sql.lit(size)}`.execute(context.db);
  return next.rows.length === 0 ? rows : undefined;
}

const withCondition = ({ condition }: Pick<IndexedRead<PositionedRow>, 'condition'>, run: Run): Run =>
  condition === undefined ? run : { ...run, conditions: [...run.conditions, condition] };

/** @param organization instead of those of the read */
function sortedRows<Row extends PositionedRow>(
  read: IndexedRead<Row>,
  run: Run,
  limit: number,
  organization: number | undefined = read.organizations?.[0],
): Rows<Row> {
  const { table, context, order, rows } = read;
  const selected =
    context.window === undefined ? rows(context).where(conditionOf(table, run, organization)) : rows(context);
  return runTerms(order, run)
    .reduce((sorted, term) => sorted.orderBy(term), selected)
    .limit(limit);
}

/** @param id of the organization; `undefined` for all */
function conditionOf({ organization }: IndexedTable, { conditions }: Pick<Run, 'conditions'>, id: unknown) {
  const all = id === undefined ? conditions : [sql<SqlBool>`${sql.ref(organization)} = ${id}`, ...conditions];
  return all.length === 0 ? sql<SqlBool>`1 = 1` : sql<SqlBool>`${sql.join(all, sql` and `)}`;
}

/**
 * Reads the first rows of several organizations: those of the organizations whose own first rows come first, as no
 * others can be among them.
 */
async function mergeOrganizations<Row extends PositionedRow>(
  read: IndexedRead<Row>,
  run: Run,
  limit: number,
): Promise<Row[]> {
  const { context, table, order, organizations } = read;
  const terms = sql.join(runTerms(order, run));
  const { rows: nearest } = await sql<{ organization: number }>`
    select ${sql.ref(table.organization)} as organization
    from ${numbersTable(context.db, organizations ?? [])} join ${sql.table(table.name)} on ${sql.ref(table.id)} = (
      select ${sql.ref(table.id)} from ${sql.table(table.name)} where ${conditionOf(table, withCondition(read, run), sql`item.value`)}
      order by ${terms} limit 1)
    order by ${terms} limit ${sql.lit(limit)}`.execute(context.db);
  if (nearest.length === 0) return [];
  const parts = nearest.map(
    ({ organization }) => sql`select * from ${sortedRows(read, run, limit, organization)} as part`,
  );
  const merged = { column: sql.ref('position_value'), id: sql.ref<number>('position_id') };
  const { rows } = await sql<Row>`select * from (${sql.join(parts, sql` union all `)}) as merged
    order by ${sql.join(runTerms(merged, run))} limit ${sql.lit(limit)}`.execute(context.db);
  return rows;
}

/** Reads rows after a number of others, without a window. Of those, it reads the entries of the index alone. */
export async function readAtOffset<Row extends PositionedRow>(
  read: IndexedRead<Row>,
  offset: number,
  limit: number,
): Promise<Row[]> {
  if (offset <= (read.context.readSizes ?? READ_SIZES).maxReadOffset)
    return ((await readInOrder(read, undefined, offset + limit)) ?? []).slice(offset);
  let skipped = offset;
  const runs = runsOf(read.order);
  for (const run of runs) {
    const size = run === runs.at(-1) ? Infinity : await countRows(read, run);
    if (skipped < size) {
      const row = await entryAtOffset(read, run, skipped);
      return row === undefined ? [] : ((await readInOrder(read, justBefore(read.order, row), limit)) ?? []);
    }
    skipped -= size;
  }
  return [];
}

const justBefore = ({ ids }: SortOrder, row: PositionedRow): RowPosition => ({
  value: row.position_value,
  id: Number(row.position_id) - (ids === 'asc' ? 1 : -1),
});

async function entryAtOffset(
  read: IndexedRead<PositionedRow>,
  run: Run,
  offset: number,
): Promise<PositionedRow | undefined> {
  const entryOf = (one: Run, skip: number) =>
    sortedRows(read, one, 1)
      .clearSelect()
      .select(positionColumns(read.order))
      .offset(skip)
      .executeTakeFirst() as Promise<PositionedRow | undefined>;
  if (isDirect(run)) return entryOf(run, offset);
  const row = await entryOf(backwardsOf(run), offset);
  if (row === undefined) return undefined;
  const before = [...run.conditions, beforeValue(read.order, row.position_value)];
  const within = offset - (await countRows(read, { conditions: before }));
  return entryOf(runOfValue(read.order, row.position_value), Math.max(0, within));
}

async function countRows<Row extends PositionedRow>(
  { table, context, organizations, rows }: IndexedRead<Row>,
  run: Pick<Run, 'conditions'>,
): Promise<number> {
  const [counted] = await rows(context)
    .clearSelect()
    .select(sql<number>`count(*)`.as('count'))
    .where(conditionOf(table, run, organizations?.[0]))
    .execute();
  return counted?.count ?? 0;
}
