import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { Unavailable } from '../../src/db/engine.ts';
import { logFailure } from '../../src/http/failure-log.ts';
import { Problem, toProblem } from '../../src/http/problems.ts';
import { engine, startTestServer, type TestServer } from '../harness/server.ts';
import { worldOf } from '../harness/world.ts';

let now = Date.UTC(2026, 10, 21);
let server: TestServer;
beforeEach(async () => {
  server = await startTestServer({ requestTimeout: 400 }, () => now);
});
afterEach(() => server.close());

const readyz = async () => (await server.request('GET', '/readyz')).status;

/**
 * Lets every write fail, and every read succeed: another process holds SQLite's file, and PostgreSQL takes no writes, as
 * after a failover.
 * @returns what ends that
 */
async function refuseWrites(): Promise<() => Promise<void>> {
  const { databaseUrl, dataDirectory } = server.context.config;
  if (databaseUrl === undefined) {
    const other = new DatabaseSync(join(dataDirectory, 'assay.db'));
    other.exec('begin immediate');
    return async () => other.close();
  }
  const name = new URL(databaseUrl).pathname.slice(1);
  const administer = async (statement: string): Promise<void> => {
    const client = new pg.Client({ connectionString: inject('postgresUrl') });
    await client.connect();
    await client.query(statement);
    await client.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`,
    );
    await client.end();
  };
  await administer(`alter database ${name} set default_transaction_read_only = on`);
  return () => administer(`alter database ${name} reset default_transaction_read_only`);
}

describe('A server whose writes fail', () => {
  it.runIf(engine() === 'sqlite')(
    'is not ready from the first that fails until one succeeds, which it tries every five seconds',
    async () => {
      const world = worldOf(server);
      await world.organization('before');
      expect(await readyz()).toBe(200);
      const allowWrites = await refuseWrites();
      try {
        // Nobody has written yet, so nobody knows.
        expect(await readyz()).toBe(200);
        await expect(world.organization('refused')).rejects.toBeInstanceOf(Unavailable);
        const refused = await server.request('GET', '/readyz');
        expect(refused.status).toBe(503);
        expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
        now += 4_999;
        expect(await readyz()).toBe(503);
      } finally {
        await allowWrites();
      }
      // Not tried again yet.
      expect(await readyz()).toBe(503);
      now += 1;
      expect(await readyz()).toBe(200);
    },
  );

  it.runIf(engine() === 'sqlite')('is ready again at once when somebody else’s write succeeds', async () => {
    const world = worldOf(server);
    const allowWrites = await refuseWrites();
    try {
      await expect(world.organization('refused')).rejects.toBeInstanceOf(Unavailable);
      expect(await readyz()).toBe(503);
    } finally {
      await allowWrites();
    }
    expect(await readyz()).toBe(503);
    await world.organization('after');
    expect(await readyz()).toBe(200);
  });

  it('is not unready because a rule refused something', async () => {
    const world = worldOf(server);
    await world.organization('once');
    await expect(world.organization('once')).rejects.toThrow();
    expect(await readyz()).toBe(200);
  });
});

describe('The log', () => {
  const unavailable = () => toProblem(new Unavailable('The database cannot answer now.'));
  const errors = () => server.logs().filter((line) => line['level'] === 50);

  it('tells of requests that all fail alike at once, and then once a second with their number', () => {
    vi.useFakeTimers();
    try {
      const { log } = server.context;
      for (let sent = 0; sent < 20_000; sent += 1) logFailure(log, `request-${sent}`, unavailable());
      expect(errors().map((line) => [line['requestId'], line['count']])).toEqual([['request-0', 1]]);
      vi.advanceTimersByTime(1_000);
      expect(
        errors()
          .slice(1)
          .map((line) => [line['requestId'], line['count']]),
      ).toEqual([['request-19999', 19_999]]);
      logFailure(log, 'within the next second', unavailable());
      expect(errors()).toHaveLength(2);
      vi.advanceTimersByTime(1_000);
      expect(errors()).toHaveLength(3);
      vi.advanceTimersByTime(10_000);
      expect(errors()).toHaveLength(3);
      logFailure(log, 'much later', unavailable());
      expect(errors().at(-1)).toMatchObject({ requestId: 'much later', count: 1 });
    } finally {
      vi.useRealTimers();
    }
  });

  it('tells of every failure that nobody foresaw', () => {
    for (let sent = 0; sent < 5; sent += 1)
      logFailure(server.context.log, `request-${sent}`, new Problem('internal-error', 'It failed.'));
    expect(errors()).toHaveLength(5);
  });

  it.runIf(engine() === 'sqlite')(
    'has few lines of a flood of requests that cannot be answered',
    async () => {
      const { token } = await worldOf(server).user();
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
