import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestDatabase } from '../harness/database.ts';
import { startPostgres } from '../harness/postgres.ts';
import { engine } from '../harness/server.ts';

/**
 * Makes an empty database that waits for the disk: SQLite in a folder for temporary files, not in memory where other
 * tests have theirs, or a PostgreSQL of its own with `fsync` on, which the one that they share has off.
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
