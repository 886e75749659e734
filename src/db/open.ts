import type { Database, DatabaseConfig } from './engine.ts';
import { watchWrites } from './write-health.ts';

/** Opens the database that the configuration names; only the driver that it needs is loaded. */
export async function openDatabase(config: DatabaseConfig): Promise<Database> {
  if (config.databaseUrl === undefined) {
    const { openSqlite } = await import('./sqlite.ts');
    return watchWrites(await openSqlite(config));
  }
  const { openPostgres } = await import('./postgres.ts');
  return watchWrites(await openPostgres({ ...config, databaseUrl: config.databaseUrl }));
}
