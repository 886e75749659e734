import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { childProcessesOf, isRunning } from '../harness/machine.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { eventually } from '../harness/eventually.ts';
import { type ImportGate, startImportGate } from '../harness/import-gate.ts';
import { formOf, waitForImport } from '../harness/imports.ts';
import { send, type TestServer } from '../harness/server.ts';
import { host, port, report } from '../importers/reports.ts';
import { type ServerRunner, createServerRunner } from './killed-server.ts';

/** Half of them exceed one transaction. */
const HOSTS = 2_000;
const REPORT = report(
  Array.from({ length: HOSTS }, (_, index) =>
    host(`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`, port(80) + port(443)),
  ).join(''),
);

let database: TestDatabase;
let servers: ServerRunner;
let db: Database;
let token = '';
let gate: ImportGate;

beforeEach(async () => {
  gate = await startImportGate();
  // SIGKILL loses no written data, so this database need not be on disk.
  database = await createTestDatabase();
  servers = createServerRunner(database, gate.environment);
  ({ db, token } = await servers.openWorld());
});
afterEach(async () => {
  await servers.end();
  await db.close();
  await gate.stop();
  await database.drop();
});

const count = async (table: 'assets' | 'ports' | 'blobs') => {
  const row = await db.read
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return row.count;
};
const endLeases = () =>
  db.write((tx) => tx.updateTable('jobs').set({ run_at: 0 }).where('kind', '=', 'import').execute());

describe('An import whose process is killed', () => {
  it('is taken over by one of two other instances with the same result', async () => {
    gate.hold();
    const first = await servers.serve();
    const started = await send(first.origin, 'POST', '/v1/imports', {
      token,
      ...formOf([['file', REPORT, 'large.xml']]),
    });
    expect(started.status).toBe(202);
    const { id } = started.body as { id: number };
    const job = async (origin: string) =>
      (await send(origin, 'GET', `/v1/imports/${id}`, { token })).body as Record<string, any>;
    await eventually(async () => expect(await count('assets')).toBeGreaterThan(0));
    const workers = childProcessesOf(first.pid);
    if (process.platform === 'linux') expect(workers).toHaveLength(1);
    await first.kill();
    await eventually(() => expect(workers.filter(({ pid }) => isRunning(pid))).toEqual([]));
    const left = await count('assets');
    expect(left).toBeLessThan(HOSTS);
    expect(gate.size()).toBe(1);

    const [second, third] = await Promise.all([servers.serve(), servers.serve()]);
    expect((await job(second.origin))['state']).toBe('running');
    gate.release();
    await endLeases();
    const request: TestServer['request'] = (method, path, options) =>
      send(third.origin, method, path, options);
    await waitForImport({ context: { db }, request }, token, id);
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
    await eventually(async () => expect(await count('blobs')).toBe(0));
    expect(gate.size()).toBe(0);
  });
});
