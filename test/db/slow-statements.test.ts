import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { ReadConnection } from '../../src/db/database.ts';
import { useOwnDatabase } from '../harness/database.ts';
import { engine } from '../harness/server.ts';

const { db } = await useOwnDatabase();

/** @returns whether the connection that runs a statement has prepared it */
async function isPrepared(reader: ReadConnection, name: string): Promise<boolean> {
  const { rows } = await sql<
    Record<string, number>
  >`select count(*) as ${sql.id(name)} from pg_prepared_statements
    where statement like ${`%as "${name}"%`}`.execute(reader);
  return Number(rows[0]?.[name]) > 0;
}

describe.runIf(engine() === 'postgres')('A statement', () => {
  it('is prepared if it is fast', async () => {
    expect(await isPrepared(db.read, 'fast')).toBe(true);
  });

  // A prepared one may get a plan for any parameters, which suits few of them.
  it('is planned for its parameters if it may be slow', async () => {
    expect(await isPrepared(db.readLong, 'slow')).toBe(false);
    expect(await isPrepared(db.abortableRead(undefined), 'abortable')).toBe(false);
  });
});
