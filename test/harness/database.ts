import { randomBytes } from 'node:crypto';
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { temporaryFolder } from './temporary.ts';

/** A database of a test's own, on the engine that the run is for, and a folder for its keys. */
export interface TestDatabase {
  dataDirectory: string;
  databaseUrl: string | undefined;
  drop(): Promise<void>;
}

/** Makes a database that holds nothing: a copy of the run's migrated template, or, with `'unmigrated'`, not even tables. */
export async function createTestDatabase(
  state: 'migrated' | 'unmigrated' = 'migrated',
): Promise<TestDatabase> {
  const dataDirectory = temporaryFolder();
  const removeFolder = () => rmSync(dataDirectory, { recursive: true, force: true });
  if (inject('engine') === 'sqlite') {
    if (state === 'migrated') copyFileSync(inject('sqliteTemplate'), join(dataDirectory, 'assay.db'));
    return { dataDirectory, databaseUrl: undefined, drop: async () => removeFolder() };
  }
  const name = `assay_${randomBytes(8).toString('hex')}`;
  const template = state === 'migrated' ? 'assay_template' : 'template1';
  await administer(`create database ${name} template ${template}`);
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
