// Records a part of a SQLite database for the tests of migrations: up to 20 rows of each table, and the rows they refer
// to. Run it with a data directory of the released version, before the first migration after that version is added:
//   npx tsx scripts/record-database.ts <data directory> test/fixtures/databases/<last migration>.ndjson.gz
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { openDatabase } from '../src/db/open-database.ts';

type Row = Record<string, unknown>;
interface ForeignKey {
  id: number;
  table: string;
  from: string;
  to: string;
}

const ROWS_PER_TABLE = 20;
/** Written by the migration itself. */
const WITHOUT = /^(migrations|vulnerability_search.*)$/;

const [dataDirectory, target] = process.argv.slice(2);
if (dataDirectory === undefined || target === undefined)
  throw new Error('Usage: record-database.ts <data directory> <file>');
const db = await openDatabase({ dataDirectory, timeout: 30_000 });
const select = async <R>(text: string, ...values: unknown[]): Promise<R[]> =>
  (
    await sql<R>`${sql.join(
      text
        .split('?')
        .flatMap((part, index) =>
          index === 0 ? [sql.raw(part)] : [sql.val(values[index - 1]), sql.raw(part)],
        ),
      sql``,
    )}`.execute(db.read)
  ).rows;

const tables = (
  await select<{ name: string }>(
    "select name from sqlite_schema where type = 'table' and name not like 'sqlite%' order by rowid",
  )
)
  .map(({ name }) => name)
  .filter((name) => !WITHOUT.test(name));
const recorded = new Map<string, Map<string, Row>>(tables.map((table) => [table, new Map<string, Row>()]));

/** @returns the columns but generated ones, as SQL */
const columnsOf = async (table: string): Promise<string> =>
  (await select<{ name: string }>('select name from pragma_table_info(?)', table))
    .map(({ name }) => `"${name}"`)
    .join(', ');

/** Adds a row, after those that it refers to. */
async function add(table: string, row: Row): Promise<void> {
  const rows = recorded.get(table)!;
  const key = JSON.stringify(row);
  if (rows.has(key)) return;
  rows.set(key, row);
  const keys = await select<ForeignKey>(
    `select id, "table", "from", "to" from pragma_foreign_key_list(?)`,
    table,
  );
  for (const id of new Set(keys.map((foreignKey) => foreignKey.id))) {
    const columns = keys.filter((foreignKey) => foreignKey.id === id);
    if (columns.some(({ from }) => row[from] === null)) continue;
    const condition = columns.map(({ to }) => `"${to}" = ?`).join(' and ');
    const parent = columns[0]!.table;
    for (const one of await select<Row>(
      `select ${await columnsOf(parent)} from "${parent}" where ${condition}`,
      ...columns.map(({ from }) => row[from]),
    ))
      await add(parent, one);
  }
}

for (const table of tables)
  for (const row of await select<Row>(
    `select ${await columnsOf(table)} from "${table}" limit ${ROWS_PER_TABLE}`,
  ))
    await add(table, row);

const lines = tables.flatMap((table) => {
  const rows = [...recorded.get(table)!.values()];
  process.stdout.write(`${table}: ${rows.length}\n`);
  return rows.map((row) =>
    JSON.stringify([table, row], (_name, value: unknown) =>
      value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value,
    ),
  );
});
writeFileSync(target, gzipSync(`${lines.join('\n')}\n`, { level: 9 }));
await db.close();
