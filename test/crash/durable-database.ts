import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestDatabase } from '../harness/database.ts';
import { startPostgres } from '../harness/postgres.ts';
import { engine } from '../harness/server.ts';

/**
 * Creates an empty database on disk: SQLite in the folder for temporary files, where other tests use memory, or a new
 * PostgreSQL cluster with `fsync`, which the shared one has off.
 */
export async function createDurableDatabase(): Promise<TestDatabase> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'assay-crash-'));
  const cluster = engine() === 'postgres' ? await startPostgres() : undefined;
  return {
    dataDirectory,
    databaseUrl: cluster?.url('postgres'),
    async drop() {
      await cluster?.stop();
      rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}
