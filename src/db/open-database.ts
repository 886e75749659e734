import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Database, DatabaseConfig } from './engine.ts';
import { withWriteProbe } from './write-probe.ts';

/**
 * @returns whether there is a SQLite database in a data folder, which opening it would make; `true` also where that cannot
 *   be found out, which opening it then tells
 */
export function hasSqlite(dataDirectory: string): boolean {
  try {
    return statSync(join(dataDirectory, 'assay.db')).isFile();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

/** Opens the database that the configuration names; only the driver that it needs is loaded. */
export async function openDatabase(config: DatabaseConfig): Promise<Database> {
  if (config.databaseUrl === undefined) {
    const { openSqlite } = await import('./sqlite/open-sqlite.ts');
    return withWriteProbe(await openSqlite(config));
  }
  const { openPostgres } = await import('./postgres/open-postgres.ts');
  return withWriteProbe(await openPostgres({ ...config, databaseUrl: config.databaseUrl }));
}
