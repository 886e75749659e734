import { randomBytes } from 'node:crypto';
import { copyFileSync, cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { demoTemplate } from './demo-template.ts';
import { copyPostgres, dropPostgres } from './postgres-copies.ts';
import { temporaryFolder } from './temporary.ts';

/** A database of a test's own, on the engine that the run is for, and a folder for its keys. */
export interface TestDatabase {
  dataDirectory: string;
  databaseUrl: string | undefined;
  drop(): Promise<void>;
}

/** What a database begins with. */
export type InitialState = 'unmigrated' | 'migrated' | 'demo';

/**
 * Makes a database: a copy of the run's migrated template, which holds nothing, or, with `'unmigrated'`, not even tables.
 * With `'demo'` it is a server's with the demo data; the folder then has its key, its attachments and `demo.json`.
 * @param within a folder that the database's own goes with, where nobody drops it
 */
export async function createTestDatabase(
  state: InitialState = 'migrated',
  within?: string,
): Promise<TestDatabase> {
  const demo = state === 'demo' ? await demoTemplate() : undefined;
  const dataDirectory = temporaryFolder(within);
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
