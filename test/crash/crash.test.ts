import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import type { TestDatabase } from '../harness/database.ts';
import { engine, send } from '../harness/server.ts';
import { createDurableDatabase } from './durable-database.ts';

const ROUNDS = 3;
const WRITERS = 32;
/** The server is killed once so many writes of a round were acknowledged, with others on their way. */
const ACKNOWLEDGED = 150;

interface Process {
  child: ChildProcess;
  origin: string;
}

/** Where the database is in no folder, commands need one. */
const masterKey = randomBytes(32).toString('base64');
let database: TestDatabase;
let token = '';
let running: Process | undefined;

beforeAll(async () => {
  database = await createDurableDatabase();
  await command('organization', 'create', 'acme', '--name', 'Acme');
  await command('user', 'create', '--email', 'admin@acme.example', '--organization', 'acme', '--admin');
  token = (
    JSON.parse(await command('token', 'create', '--user', 'admin@acme.example', '--json')) as {
      token: string;
    }
  ).token;
});
afterAll(async () => {
  await kill(running);
  await database.drop();
});

function start(args: readonly string[]): ChildProcess {
  return spawn(
    process.execPath,
    [join(inject('release'), 'dist/main.js'), ...args, '--data', database.dataDirectory],
    {
      env: {
        ...process.env,
        ASSAY_RATE_LIMIT: '0',
        ASSAY_LOG_LEVEL: 'silent',
        ...(database.databaseUrl === undefined
          ? {}
          : { ASSAY_DATABASE_URL: database.databaseUrl, ASSAY_MASTER_KEY: masterKey }),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
}

async function command(...args: string[]): Promise<string> {
  const child = start(args);
  let output = '';
  let errors = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`${args.join(' ')}: ${errors}`);
  return output;
}

async function serve(): Promise<Process> {
  const child = start(['serve', '--port', '0', '--no-demo']);
  const origin = await new Promise<string>((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const found = /assay listening on (http:\/\/\S+)/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', () => reject(new Error(output)));
  });
  return { child, origin };
}

async function kill(server: Process | undefined): Promise<void> {
  if (server === undefined || server.child.exitCode !== null || server.child.signalCode !== null) return;
  const gone = once(server.child, 'exit');
  server.child.kill('SIGKILL');
  await gone;
}

const createTag = (origin: string, name: string) =>
  send(origin, 'POST', '/api/tagging/v1.0/organizations/acme/tags', { token, body: { tags: [{ name }] } });

describe('A server that is killed while it writes', () => {
  it.runIf(engine() === 'postgres')('writes to a PostgreSQL that waits for the disk', async () => {
    const db = await openDatabase({ ...database, timeout: 5_000 });
    const setting = async (name: string) =>
      (await db.write((tx) => sql<object>`show ${sql.raw(name)}`.execute(tx))).rows;
    expect(await setting('fsync')).toEqual([{ fsync: 'on' }]);
    expect(await setting('full_page_writes')).toEqual([{ full_page_writes: 'on' }]);
    expect(await setting('synchronous_commit')).toEqual([{ synchronous_commit: 'on' }]);
    await db.close();
  });

  it('has every acknowledged write when it starts again', async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const server = await serve();
      running = server;
      const target = acknowledged.length + ACKNOWLEDGED;
      let interrupted = 0;
      const write = async (writer: number): Promise<void> => {
        for (let number = 0; ; number += 1) {
          const name = `tag ${round}-${writer}-${number}`;
          const response = await createTag(server.origin, name).catch(() => undefined);
          if (response === undefined) {
            interrupted += 1;
            return;
          }
          if (response.status === 503) return;
          expect(response.status).toBe(201);
          acknowledged.push(name);
          if (acknowledged.length === target) server.child.kill('SIGKILL');
        }
      };
      await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
      expect(interrupted).toBeGreaterThan(0);
    }

    const server = await serve();
    running = server;
    const lost: string[] = [];
    for (const name of acknowledged) {
      // A name that is there cannot be created again.
      if ((await createTag(server.origin, name)).status !== 409) lost.push(name);
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(ROUNDS * ACKNOWLEDGED);
    expect(lost).toEqual([]);
  }, 120_000);
});
