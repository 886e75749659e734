import type { TestProject } from 'vitest/node';
import pg from 'pg';
import { openDatabase } from '../../src/db/open.ts';
import { startPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    engine: 'sqlite' | 'postgres';
    /** The address of the cluster's `postgres` database; empty on SQLite. */
    postgresUrl: string;
  }
}

/** Starts one PostgreSQL for the whole run, with a migrated template that each test file copies. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
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
