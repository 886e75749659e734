import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { inject } from 'vitest';
import { ensureDemo } from '../../src/cli/demo-database.ts';
import { loadConfig } from '../../src/config/config.ts';
import { openContext } from '../../src/runtime/context.ts';
import type { DemoManifest } from '../../src/demo/manifest.ts';
import { copyPostgres, dropPostgres } from './postgres-copies.ts';

/** Where the demo data is, to be copied while nobody uses it. */
export interface DemoTemplate {
  /** A server's folder: `assay.db` on SQLite, `keys/master.key`, `attachments`, `demo.json`. */
  dataDirectory: string;
  /** The name of its database in the cluster; `undefined` on SQLite. */
  database: string | undefined;
}

const DATABASE = 'assay_demo_template';

/**
 * Loads the demo data as the product does, at the first call of a run on an engine: whoever of the other workers needs
 * it in the meantime waits. What of it is a secret is the same in every copy.
 */
export async function demoTemplate(): Promise<DemoTemplate> {
  const dataDirectory = join(inject('templates'), 'demo');
  const lock = `${dataDirectory}.lock`;
  while (!existsSync(dataDirectory)) {
    if (!takeLock(lock)) {
      await delay(100);
      continue;
    }
    try {
      // Another worker may have ended between the look and the lock.
      if (!existsSync(dataDirectory)) await createTemplate(dataDirectory);
    } finally {
      rmSync(lock, { recursive: true });
    }
  }
  return { dataDirectory, database: inject('engine') === 'sqlite' ? undefined : DATABASE };
}

/** @returns what the demo made, and the secrets of its accounts, from the folder of a database that began with it */
export function demoManifest(dataDirectory: string): DemoManifest {
  return JSON.parse(readFileSync(join(dataDirectory, 'demo.json'), 'utf8')) as DemoManifest;
}

function takeLock(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function createTemplate(dataDirectory: string): Promise<void> {
  const making = `${dataDirectory}.making`;
  mkdirSync(making);
  const isSqlite = inject('engine') === 'sqlite';
  if (isSqlite) copyFileSync(inject('sqliteTemplate'), join(making, 'assay.db'));
  const databaseUrl = isSqlite ? undefined : await copyPostgres(DATABASE, 'assay_template');
  const config = { ...loadConfig({}, {}), dataDirectory: making, databaseUrl };
  try {
    const context = await openContext(config, { write: () => undefined });
    try {
      const demo = await ensureDemo(context, false);
      if (demo?.outcome !== 'loaded') throw new Error('No demo data was made.');
    } finally {
      // The last connection to close brings everything into the one file.
      await context.db.close();
    }
    renameSync(making, dataDirectory);
  } catch (error) {
    rmSync(making, { recursive: true, force: true });
    if (!isSqlite) await dropPostgres(DATABASE);
    throw error;
  }
}
