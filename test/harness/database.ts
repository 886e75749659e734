import { randomBytes } from 'node:crypto';
import { copyFileSync, cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, inject } from 'vitest';
import { openDatabase } from '../../src/db/open-database.ts';
import { ensureDemoTemplate } from './demo-template.ts';
import { copyPostgres, dropPostgres } from './postgres-copies.ts';
import { temporaryFolder } from './temporary.ts';

/** A test's own database on the engine of the run, and a folder for its keys. */
export interface TestDatabase {
  dataDirectory: string;
  databaseUrl: string | undefined;
  drop(): Promise<void>;
}

export type InitialState = 'unmigrated' | 'migrated' | 'demo';

/**
 * Creates a database: a copy of the run's migrated, empty template, or with `'unmigrated'` one without tables. With
 * `'demo'` it has the demo data, and the folder has the master key, the attachments and `demo.json`.
 * @param folder the parent folder, whose removal also removes the database
 */
export async function createTestDatabase(
  state: InitialState = 'migrated',
  folder?: string,
): Promise<TestDatabase> {
  const demo = state === 'demo' ? await ensureDemoTemplate() : undefined;
  const dataDirectory = temporaryFolder(folder);
  const removeFolder = () => rmSync(dataDirectory, { recursive: true, force: true });
  if (demo !== undefined) cpSync(demo.dataDirectory, dataDirectory, { recursive: true });
  if (inject('engine') === 'sqlite') {
    if (state === 'migrated') copyFileSync(inject('sqliteTemplate'), join(dataDirectory, 'assay.db'));
    return { dataDirectory, databaseUrl: undefined, drop: async () => removeFolder() };
  }
  const name = `assay_${randomBytes(8).toString('hex')}`;
  const template = state === 'unmigrated' ? 'template1' : (demo?.database ?? 'assay_template');
  return {
    dataDirectory,
    databaseUrl: await copyPostgres(name, template),
    async drop() {
      await dropPostgres(name);
      removeFolder();
    },
  };
}

/** Opens a migrated database for the tests of a file, at its top. It ends with them. */
export async function useOwnDatabase(options: { workerDirectory?: URL } = {}) {
  const testDatabase = await createTestDatabase();
  const db = await openDatabase({ ...testDatabase, timeout: 30_000, ...options });
  afterAll(async () => {
    await db.close();
    await testDatabase.drop();
  });
  return { db, testDatabase };
}
