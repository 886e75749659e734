import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StorageError } from '../../src/db/engine.ts';
import { logServerError } from '../../src/http/error-log.ts';
import { Problem, toProblem } from '../../src/http/problems.ts';
import { engine, startTestServer, type TestServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

let now = Date.UTC(2026, 10, 21);
let server: TestServer;
beforeEach(async () => {
  server = await startTestServer({ requestTimeout: 400 }, () => now);
});
afterEach(() => server.close());

const readyz = async () => (await server.request('GET', '/readyz')).status;

/** Lets the database grow no more, as a disk that is full does, while every read succeeds. */
async function setRoom(room: 'none' | 'enough'): Promise<void> {
  const { databaseUrl } = server.context.config;
  if (databaseUrl === undefined) {
    const limit = sql.lit(room === 'none' ? 1 : 4_294_967_294);
    // The limit stays with the connection that writes, and the unit neither succeeds nor fails for want of room.
    const unit = server.context.db.write(async (tx) => {
      await sql`pragma max_page_count = ${limit}`.execute(tx);
      throw new Error('The limit is set.');
    });
    await expect(unit).rejects.toThrow('The limit is set.');
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

/** Makes organizations until one is refused: what is there has room for a few. */
async function fill(world: ReturnType<typeof createFixtures>): Promise<unknown> {
  try {
    for (let made = 0; made < 1_000; made += 1) await world.organization();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('A server without room to write', () => {
  it('is not ready from the first write that fails until one succeeds, which it tries every five seconds', async () => {
    const world = createFixtures(server);
    await setRoom('none');
    // Nobody was refused yet, so nobody knows; on PostgreSQL the jobs may have been, in that instant.
    if (engine() === 'sqlite') expect(await readyz()).toBe(200);
    expect(await fill(world)).toBeInstanceOf(StorageError);
    const refused = await server.request('GET', '/readyz');
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    now += 4_999;
    expect(await readyz()).toBe(503);
    // It tries now, and fails.
    now += 1;
    expect(await readyz()).toBe(503);
    await setRoom('enough');
    now += 5_000;
    expect(await readyz()).toBe(200);
    await world.organization('after');
  });

  it('is ready again at once when somebody else’s write succeeds', async () => {
    const world = createFixtures(server);
    await setRoom('none');
    expect(await fill(world)).toBeInstanceOf(StorageError);
    expect(await readyz()).toBe(503);
    // What changes nothing needs no room.
    await server.context.db.write((tx) => tx.selectFrom('organizations').select('id').execute());
    expect(await readyz()).toBe(503);
    await setRoom('enough');
    await world.organization('after');
    expect(await readyz()).toBe(200);
  });

  it('is not unready because a rule refused something', async () => {
    const world = createFixtures(server);
    await world.organization('once');
    await expect(world.organization('once')).rejects.toThrow();
    expect(await readyz()).toBe(200);
  });
});

describe('The log', () => {
  const unavailable = () => toProblem(new StorageError('unavailable', 'The database cannot answer now.'));
  const errors = () => server.logs().filter((line) => line['level'] === 50);

  it('tells of requests that all fail alike at once, and then once a second with their number', () => {
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

  it('tells of every failure that nobody foresaw', () => {
    for (let sent = 0; sent < 5; sent += 1)
      logServerError(server.context.log, `request-${sent}`, new Problem('internal-error', 'It failed.'));
    expect(errors()).toHaveLength(5);
  });

  it.runIf(engine() === 'sqlite')(
    'has few lines of a flood of requests that cannot be answered',
    async () => {
      const { token } = await createFixtures(server).user();
      await server.context.db.close();
      const answers = await Promise.all(
        Array.from({ length: 100 }, () =>
          server.request('GET', '/v1/assessments/none/testing_hours', { token }),
        ),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
      expect(errors().length).toBeLessThan(20);
    },
  );
});
