import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/db/open-database.ts';
import type { TestDatabase } from '../harness/database.ts';
import { engine, send } from '../harness/server.ts';
import { createDurableDatabase } from './durable-database.ts';
import { type ServerRunner, createServerRunner } from './killed-server.ts';

const WRITERS = 16;
/** The server is killed after this many acknowledged writes, while others are running. */
const ACKNOWLEDGED = 100;

let database: TestDatabase;
let servers: ServerRunner;
let token = '';

beforeAll(async () => {
  database = await createDurableDatabase();
  servers = createServerRunner(database);
  const fixtures = await servers.openWorld();
  ({ token } = fixtures);
  await fixtures.db.close();
});
afterAll(async () => {
  await servers.end();
  await database.drop();
});

const TAGS = '/api/tagging/v1.0/organizations/acme/tags';
const createTag = (origin: string, name: string) =>
  send(origin, 'POST', TAGS, { token, body: { tags: [{ name }] } });

describe('A server that is killed while it writes', () => {
  it.runIf(engine() === 'postgres')('uses a PostgreSQL with fsync', async () => {
    const db = await openDatabase({ ...database, timeout: 30_000 });
    const setting = async (name: string) =>
      (await db.write((tx) => sql<object>`show ${sql.raw(name)}`.execute(tx))).rows;
    expect(await setting('fsync')).toEqual([{ fsync: 'on' }]);
    expect(await setting('full_page_writes')).toEqual([{ full_page_writes: 'on' }]);
    expect(await setting('synchronous_commit')).toEqual([{ synchronous_commit: 'on' }]);
    await db.close();
  });

  it('has every acknowledged write when it starts again', async () => {
    const acknowledged: string[] = [];
    const first = await servers.serve();
    let interrupted = 0;
    const write = async (writer: number): Promise<void> => {
      for (let number = 0; ; number += 1) {
        const name = `tag ${writer}-${number}`;
        const response = await createTag(first.origin, name).catch(() => undefined);
        if (response === undefined) {
          interrupted += 1;
          return;
        }
        if (response.status === 503) return;
        expect(response.status).toBe(201);
        acknowledged.push(name);
        if (acknowledged.length === ACKNOWLEDGED) void first.kill();
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
    expect(interrupted).toBeGreaterThan(0);

    const server = await servers.serve();
    const tags = await send(server.origin, 'GET', `${TAGS}?perPage=5000`, { token });
    const names = (tags.body as { name: string }[]).map(({ name }) => name);
    const lost = acknowledged.filter((name) => !names.includes(name));
    expect(acknowledged.length).toBeGreaterThanOrEqual(ACKNOWLEDGED);
    expect(lost).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });
});
