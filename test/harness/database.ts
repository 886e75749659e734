import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';

/** A database of a test's own, on the engine that the run is for, and a folder for its keys. */
export interface TestDatabase {
  dataDirectory: string;
  databaseUrl: string | undefined;
  drop(): Promise<void>;
}

/** Makes an empty database; on PostgreSQL a copy of the migrated template. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'assay-test-'));
  const removeFolder = () => rmSync(dataDirectory, { recursive: true, force: true });
  if (inject('engine') === 'sqlite') {
    return { dataDirectory, databaseUrl: undefined, drop: async () => removeFolder() };
  }
  const name = `assay_${randomBytes(8).toString('hex')}`;
  await administer(`create database ${name} template assay_template`);
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${name}`;
  return {
    dataDirectory,
    databaseUrl: url.href,
    async drop() {
      await administer(`drop database ${name} with (force)`);
      removeFolder();
    },
  };
}

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
