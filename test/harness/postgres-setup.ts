import type { TestProject } from 'vitest/node';
import pg from 'pg';
import { openDatabase } from '../../src/db/open.ts';
import { startPostgres } from './postgres.ts';

/** Starts one PostgreSQL for the whole run, with a migrated template that each test file copies. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // What these tests write need not outlive them; test/crash has a cluster of its own, which flushes.
  const cluster = await startPostgres(['-c', 'fsync=off', '-c', 'full_page_writes=off']);
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
  return () => cluster.stop();
}
