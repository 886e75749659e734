import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Database, DatabaseConfig } from './database.ts';
import { withWriteProbe } from './write-probe.ts';

/**
 * @returns whether a data directory has a SQLite database; `true` also if it is unreadable, so that opening it says why
 */
export function hasSqlite(dataDirectory: string): boolean {
  try {
    return statSync(join(dataDirectory, 'assay.db')).isFile();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

/** Opens the configured database. Loads only the driver that it needs. */
export async function openDatabase(config: DatabaseConfig): Promise<Database> {
  if (config.databaseUrl === undefined) {
    const { openSqlite } = await import('./sqlite/open-sqlite.ts');
    return withWriteProbe(await openSqlite(config));
  }
  const { openPostgres } = await import('./postgres/open-postgres.ts');
  return withWriteProbe(await openPostgres({ ...config, databaseUrl: config.databaseUrl }));
}
