import { CompiledQuery } from 'kysely';
import { expect } from 'vitest';
import type { Transaction } from '../../src/db/database.ts';
import { engine, type TestServer } from './server.ts';

const WAITING = CompiledQuery.raw(
  "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
);

/**
 * Starts a second transaction while the first is open. The first continues and ends once the second waits for it or has
 * ended. SQLite runs them one after the other.
 * @param rest of the first transaction
 * @throws the error of either
 */
export function interleave(
  server: TestServer,
  first: (tx: Transaction) => Promise<unknown>,
  second: (tx: Transaction) => Promise<unknown>,
  rest?: (tx: Transaction) => Promise<unknown>,
): Promise<void> {
  return duringTransaction(server, first, () => server.context.db.write(second), rest);
}

/** Like `interleave`, with second work that starts its own transactions. */
export async function duringTransaction(
  { context: { db } }: TestServer,
  first: (tx: Transaction) => Promise<unknown>,
  work: () => Promise<unknown>,
  rest: (tx: Transaction) => Promise<unknown> = async () => undefined,
): Promise<void> {
  let later: Promise<unknown> | undefined;
  await db.write(async (tx) => {
    await first(tx);
    let done = false;
    later = work().finally(() => (done = true));
    later.catch(() => undefined);
    if (engine() === 'postgres')
      await expect.poll(async () => done || (await db.read.executeQuery(WAITING)).rows.length > 0).toBe(true);
    await rest(tx);
  });
  await later;
}
