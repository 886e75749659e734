import pg from 'pg';
import { inject } from 'vitest';

/** Makes a database in the run's cluster. @returns its address */
export async function copyPostgres(name: string, template: string): Promise<string> {
  // Through the write-ahead log, as is usual, each of some thousand blocks would be written twice.
  await administer(`create database ${name} template ${template} strategy file_copy`);
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${name}`;
  return url.href;
}

/** Removes one, whoever is connected to it. */
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
