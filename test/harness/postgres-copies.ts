import pg from 'pg';
import { inject } from 'vitest';

/** Creates a database in the cluster of the run. @returns its URL */
export async function copyPostgres(name: string, template: string): Promise<string> {
  // The default strategy, WAL_LOG, would write each of some thousand blocks twice.
  await administer(`create database ${name} template ${template} strategy file_copy`);
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${name}`;
  return url.href;
}

/** Drops a database, even while clients are connected. */
export const dropPostgres = (name: string): Promise<void> => administer(`drop database ${name} with (force)`);

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
