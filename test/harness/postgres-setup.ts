import { rmSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import pg from 'pg';
import { startPostgres } from './postgres.ts';
import { temporaryFolder } from './temporary.ts';

/** Starts one PostgreSQL for the whole run, with a migrated template that each test file copies. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Imported late, because it is compiled first.
  const { openDatabase } = await import('../../src/db/open-database.ts');
  // The data of these tests need not be durable; test/crash starts its own cluster, which flushes. Autovacuum and JIT
  // do not pay off in databases that live for seconds.
  const cluster = await startPostgres(
    ['fsync=off', 'full_page_writes=off', 'max_wal_size=256MB', 'autovacuum=off', 'jit=off'].flatMap(
      (setting) => ['-c', setting],
    ),
    temporaryFolder(),
  );
  const client = new pg.Client({ connectionString: cluster.url('postgres') });
  await client.connect();
  await client.query('create database assay_template');
  await client.end();
  const template = await openDatabase({
    databaseUrl: cluster.url('assay_template'),
    dataDirectory: '',
    timeout: 30_000,
  });
  await template.migrate();
  await template.close();
  project.provide('postgresUrl', cluster.url('postgres'));
  const templates = temporaryFolder();
  project.provide('templates', templates);
  return async () => {
    rmSync(templates, { recursive: true, force: true });
    await cluster.stop();
  };
}
