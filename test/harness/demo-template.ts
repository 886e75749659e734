import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { inject } from 'vitest';
import { ensureDemo } from '../../src/cli/demo-database.ts';
import { loadConfig } from '../../src/config/config.ts';
import { openContext } from '../../src/context.ts';
import type { DemoManifest } from '../../src/demo/manifest.ts';
import { copyPostgres, dropPostgres } from './postgres-copies.ts';

/** A database with the demo data. Copy it; do not open it. */
export interface DemoTemplate {
  /** Contains `assay.db` on SQLite, `keys/master.key`, `attachments` and `demo.json`. */
  dataDirectory: string;
  /** The name of its database in the cluster; `undefined` on SQLite. */
  database: string | undefined;
}

const DATABASE = 'assay_demo_template';

/**
 * Returns the template, which the first call of a run creates for each engine while other workers wait. All copies have
 * the same passwords, tokens and keys.
 */
export async function ensureDemoTemplate(): Promise<DemoTemplate> {
  const dataDirectory = join(inject('templates'), 'demo');
  const lock = `${dataDirectory}.lock`;
  while (!existsSync(dataDirectory)) {
    if (!takeLock(lock)) {
      await delay(100);
      continue;
    }
    try {
      // Another worker may have finished before this one took the lock.
      if (!existsSync(dataDirectory)) await createTemplate(dataDirectory);
    } finally {
      rmSync(lock, { recursive: true });
    }
  }
  return { dataDirectory, database: inject('engine') === 'sqlite' ? undefined : DATABASE };
}

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
  const unfinishedDirectory = `${dataDirectory}.unfinished`;
  mkdirSync(unfinishedDirectory);
  const isSqlite = inject('engine') === 'sqlite';
  if (isSqlite) copyFileSync(inject('sqliteTemplate'), join(unfinishedDirectory, 'assay.db'));
  const databaseUrl = isSqlite ? undefined : await copyPostgres(DATABASE, 'assay_template');
  const config = { ...loadConfig({}, {}), dataDirectory: unfinishedDirectory, databaseUrl };
  try {
    const context = await openContext(config, { write: () => undefined });
    try {
      const demo = await ensureDemo(context, false);
      if (demo?.outcome !== 'loaded') throw new Error('No demo data was made.');
    } finally {
      // Closing the last connection checkpoints the WAL.
      await context.db.close();
    }
    renameSync(unfinishedDirectory, dataDirectory);
  } catch (error) {
    rmSync(unfinishedDirectory, { recursive: true, force: true });
    if (!isSqlite) await dropPostgres(DATABASE);
    throw error;
  }
}
