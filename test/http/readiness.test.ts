import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StorageError } from '../../src/db/database.ts';
import { logServerError } from '../../src/http/error-log.ts';
import { Problem, toProblem } from '../../src/http/problems.ts';
import { engine, startTestServer, type TestServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

let now = Date.UTC(2026, 10, 21);
let server: TestServer;
beforeEach(async () => {
  server = await startTestServer({}, () => now);
});
afterEach(() => server.close());

const readyz = async () => (await server.request('GET', '/readyz')).status;

/** Stops the database from growing, like a full disk, while reads succeed. */
async function setRoom(room: 'none' | 'enough'): Promise<void> {
  const { databaseUrl } = server.context.config;
  if (databaseUrl === undefined) {
    const limit = sql.lit(room === 'none' ? 1 : 4_294_967_294);
    // The limit belongs to the writing connection; the transaction must neither commit nor fail for lack of space.
    const transaction = server.context.db.write(async (tx) => {
      await sql`pragma max_page_count = ${limit}`.execute(tx);
      throw new Error('The limit is set.');
    });
    await expect(transaction).rejects.toThrow('The limit is set.');
    return;
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(
    room === 'none'
      ? `create function refuse() returns trigger language plpgsql
           as $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$;
         do $$ declare name text; begin
           for name in select tablename from pg_tables where schemaname = 'public' loop
             execute format('create trigger refuse before insert or update on %I execute function refuse()', name);
           end loop;
         end $$`
      : 'drop function refuse cascade',
  );
  await client.end();
}

/** Creates organizations until one fails, as existing pages have room for a few. */
async function fill(fixtures: ReturnType<typeof createFixtures>): Promise<unknown> {
  try {
    for (let count = 0; count < 1_000; count += 1) await fixtures.organization();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('A server without space to write', () => {
  it('is not ready from the first failed write until one succeeds, which it tries every five seconds', async () => {
    const fixtures = createFixtures(server);
    await setRoom('none');
    // No write has failed yet; on PostgreSQL a job's may have.
    if (engine() === 'sqlite') expect(await readyz()).toBe(200);
    expect(await fill(fixtures)).toBeInstanceOf(StorageError);
    const rejected = await server.request('GET', '/readyz');
    expect(rejected.status).toBe(503);
    expect(rejected.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    now += 4_999;
    expect(await readyz()).toBe(503);
    // It retries and fails.
    now += 1;
    expect(await readyz()).toBe(503);
    await setRoom('enough');
    now += 5_000;
    expect(await readyz()).toBe(200);
    await fixtures.organization('after');
  });

  it('is ready as soon as another write succeeds', async () => {
    const fixtures = createFixtures(server);
    await setRoom('none');
    expect(await fill(fixtures)).toBeInstanceOf(StorageError);
    expect(await readyz()).toBe(503);
    // A transaction that changes nothing needs no space.
    await server.context.db.write((tx) => tx.selectFrom('organizations').select('id').execute());
    expect(await readyz()).toBe(503);
    await setRoom('enough');
    await fixtures.organization('after');
    expect(await readyz()).toBe(200);
  });

  it('stays ready when a rule rejects a write', async () => {
    const fixtures = createFixtures(server);
    await fixtures.organization('once');
    await expect(fixtures.organization('once')).rejects.toThrow();
    expect(await readyz()).toBe(200);
  });
});

describe('Error log', () => {
  const unavailable = () => toProblem(new StorageError('unavailable', 'The database cannot answer now.'));
  const errors = () => server.logs().filter((line) => line['level'] === 50);

  it('summarizes equal errors once a second with their number', () => {
    vi.useFakeTimers();
    try {
      const { log } = server.context;
      for (let sent = 0; sent < 20_000; sent += 1) logServerError(log, `request-${sent}`, unavailable());
      expect(errors().map((line) => [line['requestId'], line['count']])).toEqual([['request-0', 1]]);
      vi.advanceTimersByTime(1_000);
      expect(
        errors()
          .slice(1)
          .map((line) => [line['requestId'], line['count']]),
      ).toEqual([['request-19999', 19_999]]);
      expect(JSON.stringify(errors())).not.toContain('stack');
      logServerError(log, 'within the next second', unavailable());
      expect(errors()).toHaveLength(2);
      vi.advanceTimersByTime(1_000);
      expect(errors()).toHaveLength(3);
      vi.advanceTimersByTime(10_000);
      expect(errors()).toHaveLength(3);
      logServerError(log, 'much later', unavailable());
      expect(errors().at(-1)).toMatchObject({ requestId: 'much later', count: 1 });
    } finally {
      vi.useRealTimers();
    }
  });

  it('summarizes different errors apart', () => {
    vi.useFakeTimers();
    try {
      const other = () => new Problem('unavailable', 'The issuer does not respond.');
      for (let sent = 0; sent < 3; sent += 1) {
        logServerError(server.context.log, `request-${sent}`, unavailable());
        logServerError(server.context.log, `other-${sent}`, other());
      }
      vi.advanceTimersByTime(1_000);
      const { message } = unavailable();
      expect(errors().map((line) => [line['msg'], line['count']])).toEqual([
        [message, 1],
        [other().message, 1],
        [message, 2],
        [other().message, 2],
      ]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('logs every unexpected error', () => {
    for (let sent = 0; sent < 5; sent += 1)
      logServerError(server.context.log, `request-${sent}`, new Problem('internal-error', 'It failed.'));
    expect(errors()).toHaveLength(5);
  });

  it.runIf(engine() === 'sqlite')('has few lines for many unavailable responses', async () => {
    const { token } = await createFixtures(server).user();
    await server.context.db.close();
    const responses = await Promise.all(
      Array.from({ length: 100 }, () =>
        server.request('GET', '/v1/assessments/none/testing_hours', { token }),
      ),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([503]));
    // One line a second at most, not one for each response.
    expect(errors().length).toBeLessThan(responses.length);
  });
});
