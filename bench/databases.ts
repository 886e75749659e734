import pg from 'pg';
import { openDatabase } from '../src/db/open-database.ts';
import { fillDatabase } from './dataset.ts';

/** Creates a database in the cluster. @returns its URL */
export async function createDatabase(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create database bench');
  await client.end();
  return url.replace(/\/postgres$/, '/bench');
}

/** Creates the data for the 14 operations. @param issuer of the tokens in it */
export async function fill(databaseUrl: string | undefined, dataDirectory: string, issuer: string) {
  const db = await openDatabase({ databaseUrl, dataDirectory, timeout: 30_000 });
  await db.migrate();
  const data = await fillDatabase(db, dataDirectory, issuer);
  await db.close();
  await analyze(databaseUrl);
  return data;
}

/** Updates PostgreSQL's statistics. */
export async function analyze(databaseUrl: string | undefined): Promise<void> {
  if (databaseUrl === undefined) return;
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('vacuum analyze');
  await client.end();
}
