import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import S3rver from 's3rver';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Database } from '../../src/db/engine.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { formOf } from '../harness/imports.ts';
import { engine, send } from '../harness/server.ts';
import { host, port, report } from '../importers/reports.ts';
import { type Release, releaseOver } from './killed-server.ts';

const HOSTS = 2_000;
const REPORT = report(
  Array.from({ length: HOSTS }, (_, index) =>
    host(`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`, port(80) + port(443)),
  ).join(''),
);

let database: TestDatabase;
let release: Release;
let db: Database;
let token = '';
let s3: S3rver | undefined;

/** Starts an S3 server and returns the environment of instances that store files in it. */
async function startS3(): Promise<Record<string, string>> {
  s3 = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory: join(database.dataDirectory, 's3'),
    configureBuckets: [{ name: 'reports', configs: [] }],
  });
  const { port: s3Port } = await s3.run();
  return {
    ASSAY_ATTACHMENTS: 's3://reports/kept',
    AWS_ENDPOINT_URL: `http://127.0.0.1:${s3Port}`,
    AWS_ACCESS_KEY_ID: 'S3RVER',
    AWS_SECRET_ACCESS_KEY: 'S3RVER',
  };
}

async function open(store: string): Promise<void> {
  // SIGKILL loses no written data, so this database need not be on disk.
  database = await createTestDatabase();
  release = releaseOver(database, store === 'a bucket' ? await startS3() : {});
  ({ db, token } = await release.openWorld());
}
afterEach(async () => {
  await release.end();
  await db.close();
  await s3?.close();
  s3 = undefined;
  await database.drop();
});

/** Returns the number of objects in the bucket. */
function objects(): number {
  const folder = join(database.dataDirectory, 's3/reports/kept');
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('_object')).length : 0;
}

const count = async (table: 'assets' | 'ports' | 'blobs') => {
  const row = await db.read
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return row.count;
};
/** Expires the leases of jobs. */
const endLeases = () =>
  db.write((tx) => tx.updateTable('jobs').set({ run_at: 0 }).where('kind', '=', 'import').execute());

/** One file store per engine; evidence.test.ts uses the folder. */
const STORES = engine() === 'sqlite' ? ['a bucket'] : ['the database'];

describe.each(STORES)('An import whose process is killed, of a file in %s', (store) => {
  it('is taken over by one of two other instances with the same result', async () => {
    await open(store);
    const first = await release.serve();
    const started = await send(first.origin, 'POST', '/v1/imports', {
      token,
      ...formOf([['file', REPORT, 'large.xml']]),
    });
    expect(started.status).toBe(202);
    const { id } = started.body as { id: number };
    const job = async (origin: string) =>
      (await send(origin, 'GET', `/v1/imports/${id}`, { token })).body as Record<string, any>;
    await vi.waitFor(async () => expect(await count('assets')).toBeGreaterThan(0), {
      timeout: 30_000,
      interval: 20,
    });
    await first.kill();
    const left = await count('assets');
    expect(left).toBeLessThan(HOSTS);
    expect(objects()).toBe(store === 'a bucket' ? 1 : 0);

    const [second, third] = await Promise.all([release.serve(), release.serve()]);
    expect((await job(second.origin))['state']).toBe('running');
    await endLeases();
    await vi.waitFor(async () => expect((await job(third.origin))['finished_at']).not.toBeNull(), {
      timeout: 90_000,
      interval: 200,
    });
    const ended = await job(second.origin);
    expect(ended).toMatchObject({
      state: 'succeeded',
      progress: { hosts: HOSTS, ports: 2 * HOSTS, bytes_read: REPORT.length },
      result: { assets_created: HOSTS, ports_opened: 2 * HOSTS, ports_closed: 0 },
    });
    expect([await count('assets'), await count('ports')]).toEqual([HOSTS, 2 * HOSTS]);
    const events = await db.read
      .selectFrom('audit_events')
      .select('action')
      .where('object_type', '=', 'import')
      .orderBy('id')
      .execute();
    expect(events.map(({ action }) => action)).toEqual(['import.start', 'import.end']);
    await vi.waitFor(async () => expect(await count('blobs')).toBe(0), { timeout: 10_000 });
    expect(objects()).toBe(0);
  }, 360_000);
});
