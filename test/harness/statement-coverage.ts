import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { TestProject } from 'vitest/node';
import { isIn, ON_SQLITE_ALONE, SQL_OF_TESTS, WITH_OWN_SQL } from '../engine-matrix.ts';

const ROOT = join(import.meta.dirname, '../..');
/** The folder of the records, in the folder of the built product, which all projects of a run share. */
export const STATEMENTS_FOLDER = 'statements';

/** The statements of one test file on SQLite. */
export interface StatementRecord {
  /** An absolute path. */
  file: string;
  clauses: string[];
}

/**
 * Splits a statement into its columns, tables, joins, conditions and orders. Complete statements would differ in nearly
 * every test, because lists combine any filter with any order and caller.
 */
export function clausesOf(sql: string): string[] {
  return sql
    .replaceAll(/'[^']*'|\b\d+\b/g, '?')
    .replaceAll(/\s+/g, ' ')
    .split(
      /, | (?=(?:from|(?:left|inner) join|where|and|or|set|values|returning|on conflict|union|group by|order by|limit|asc|desc)\b)/,
    )
    .map((clause) => clause.replaceAll(/[()]/g, '').trim());
}

/**
 * Finds SQL clauses that only files of `ON_SQLITE_ALONE` run, and that are thus untested on PostgreSQL.
 * @param projects those on SQLite
 * @param product the folder of the built product
 * @returns each such clause with a file that runs it; nothing after an incomplete run
 */
export async function clausesOnSqliteAlone(
  projects: readonly TestProject[],
  product: string,
): Promise<Map<string, string>> {
  const folder = join(product, STATEMENTS_FOLDER);
  const records = (existsSync(folder) ? readdirSync(folder) : []).map(
    (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as StatementRecord,
  );
  const globbed = await Promise.all(projects.map((project) => project.globTestFiles()));
  if (records.length < globbed.flatMap(({ testFiles }) => testFiles).length) return new Map();
  const pathOf = ({ file }: StatementRecord) => relative(ROOT, file);
  const onBoth = new Set(SQL_OF_TESTS);
  for (const record of records)
    if (!isIn(ON_SQLITE_ALONE, pathOf(record))) for (const clause of record.clauses) onBoth.add(clause);
  const uncovered = new Map<string, string>();
  for (const record of records) {
    if (isIn(WITH_OWN_SQL, pathOf(record))) continue;
    for (const clause of record.clauses) if (!onBoth.has(clause)) uncovered.set(clause, pathOf(record));
  }
  return uncovered;
}
