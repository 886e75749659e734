import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import type { Database } from '../../../src/db/database.ts';
import { openDatabase } from '../../../src/db/open-database.ts';
import {
  IDLE_LIMIT,
  ImportStuck,
  runImportInWorker,
  SILENCE_LIMIT,
} from '../../../src/importers/worker/import-worker-host.ts';
import type { ImportWorkerData, WorkerProgress } from '../../../src/importers/worker/import-worker.ts';
import { eventually } from '../../harness/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';

let database: TestDatabase;
let db: Database;
beforeEach(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ ...database, timeout: 30_000 });
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await db.close();
  await database.drop();
});

/** Lines of a worker module; `send` sends progress. */
const PRELUDE = `
  import { once } from 'node:events';
  const [workerData] = await once(process, 'message');
  const send = (steps) => process.send({ progress: { steps } });
`;
const OPEN = `
  import { openDatabase } from ${JSON.stringify(pathToFileURL(join(inject('product'), 'src/db/open-database.js')).href)};
  const db = await openDatabase(workerData.database);
`;

function run(body: string, onProgress: (progress: WorkerProgress) => void) {
  const path = join(database.dataDirectory, 'worker.mjs');
  writeFileSync(path, PRELUDE + body);
  const { signal } = new AbortController();
  const data = { database: { ...database, timeout: 30_000, drop: undefined }, memory: 256 };
  return runImportInWorker(
    pathToFileURL(path),
    data as unknown as ImportWorkerData,
    { cancelled: signal, abandoned: signal },
    onProgress,
  );
}

/** A worker whose outcomes tell its process, and what it received. */
const REPEATING = `
  const runJob = (job) =>
    job.error
      ? process.send({ failure: { name: 'Error', message: 'It failed.' } })
      : process.send({ outcome: { pid: process.pid, job }, progress: {}, memory: job.used });
  runJob(workerData);
  process.on('message', (job) => job === 'stop' || runJob(job));
`;

/** @returns a function that runs a job, and tells in which process */
function repeatingWorker() {
  const path = join(database.dataDirectory, 'repeating.mjs');
  writeFileSync(path, PRELUDE + REPEATING);
  const { signal } = new AbortController();
  return async (job: object, { memory = 256, cancelled = signal } = {}) => {
    const { outcome } = await runImportInWorker(
      pathToFileURL(path),
      { ...job, memory } as unknown as ImportWorkerData,
      { cancelled, abandoned: signal },
      () => undefined,
    );
    return outcome as unknown as { pid: number; job: object };
  };
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const SMALL = 50 * 1024 * 1024;
const LARGE = 1024 * SMALL;

describe('A process', () => {
  it('runs the next job with the same limit, and no other', async () => {
    const runJob = repeatingWorker();
    const first = await runJob({ number: 1, used: SMALL });
    const second = await runJob({ number: 2, used: SMALL });
    expect(second).toMatchObject({ pid: first.pid, job: { number: 2 } });
    expect((await runJob({ used: SMALL }, { memory: 128 })).pid).not.toBe(first.pid);
  });

  it('runs one job at a time', async () => {
    const runJob = repeatingWorker();
    const pids = await Promise.all([1, 2, 3].map((number) => runJob({ number, used: SMALL })));
    expect(new Set(pids.map(({ pid }) => pid)).size).toBe(3);
  });

  it('that has used much memory ends', async () => {
    const runJob = repeatingWorker();
    const { pid } = await runJob({ used: LARGE });
    expect((await runJob({ used: SMALL })).pid).not.toBe(pid);
    await eventually(() => expect(isAlive(pid)).toBe(false));
  });

  it('ends after a failure, and after a request to stop', async () => {
    const runJob = repeatingWorker();
    const { pid } = await runJob({ used: SMALL });
    await expect(runJob({ error: true })).rejects.toThrow('It failed.');
    await eventually(() => expect(isAlive(pid)).toBe(false));
    const stopped = await runJob({ used: SMALL }, { cancelled: AbortSignal.abort() });
    await eventually(() => expect(isAlive(stopped.pid)).toBe(false));
  });

  it('that ended between two jobs is replaced', async () => {
    const runJob = repeatingWorker();
    const { pid } = await runJob({ used: SMALL });
    process.kill(pid, 'SIGKILL');
    await eventually(() => expect(isAlive(pid)).toBe(false));
    expect((await runJob({ used: SMALL })).pid).not.toBe(pid);
  });

  it('ends if no job follows', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const runJob = repeatingWorker();
    const { pid } = await runJob({ used: SMALL });
    vi.advanceTimersByTime(60_000);
    vi.useRealTimers();
    // Its exit is not reported yet.
    expect((await runJob({ used: SMALL })).pid).not.toBe(pid);
    await eventually(() => expect(isAlive(pid)).toBe(false));
  });
});

const advance = (milliseconds: number) => () => void vi.advanceTimersByTime(milliseconds);
const WELL_BEYOND = 2;

describe('A worker that is stuck', () => {
  it.each([
    ['a loop', 'for (;;);'],
    ['a regular expression', `/^(?:a|a)+$/.test('a'.repeat(100) + '!');`],
    ['promises', 'for (;;) await undefined;'],
    ['statements', `for (;;) await tx.selectFrom('organizations').selectAll().execute();`],
  ])('in %s is ended, and its transaction rolled back', async (_where, loop) => {
    const stuck = run(
      `${OPEN}
      await db.write(async (tx) => {
        await tx.insertInto('job_queues').values({ kind: 'stuck' }).execute();
        send(1);
        ${loop}
      });`,
      advance(SILENCE_LIMIT * WELL_BEYOND),
    );
    await expect(stuck).rejects.toMatchObject({ name: 'ImportStuck', duration: SILENCE_LIMIT });
    // On PostgreSQL, the same key waits for the end of the transaction that has it.
    await db.write((tx) => tx.insertInto('job_queues').values({ kind: 'stuck' }).execute());
  });

  it('but sends messages without progress is ended later', async () => {
    let messages = 0;
    const stuck = run(`setInterval(() => send(1), 1);`, () => {
      messages += 1;
      vi.advanceTimersByTime(SILENCE_LIMIT / 2);
    });
    await expect(stuck).rejects.toEqual(new ImportStuck(IDLE_LIMIT));
    expect(messages).toBeGreaterThanOrEqual((IDLE_LIMIT / SILENCE_LIMIT) * 2);
  });

  it('and announced that it groups findings is ended later', async () => {
    const stuck = run(
      `process.send({ progress: { steps: 1 }, isGrouping: true }); for (;;);`,
      advance(IDLE_LIMIT * WELL_BEYOND),
    );
    await expect(stuck).rejects.toEqual(new ImportStuck(IDLE_LIMIT));
  });

  it('keeps the outcome that it sent before it was stuck', async () => {
    const stuck = run(
      `process.send({ outcome: { state: 'succeeded' }, progress: {}, memory: ${LARGE} }); send(1); for (;;);`,
      advance(SILENCE_LIMIT * WELL_BEYOND),
    );
    expect(await stuck).toMatchObject({ outcome: { state: 'succeeded' } });
  });
});

describe('A worker that is slow', () => {
  it('goes on as long as it makes progress', async () => {
    const messages = (IDLE_LIMIT / SILENCE_LIMIT) * 4;
    const slow = run(
      `for (let steps = 1; steps <= ${messages}; steps += 1) send(steps);
      process.send({ outcome: { state: 'succeeded' }, progress: {}, memory: ${LARGE} });`,
      advance(SILENCE_LIMIT / 2),
    );
    expect(await slow).toMatchObject({ outcome: { state: 'succeeded' } });
  });
});

describe('A worker that runs out of memory', () => {
  it.each([
    ['in its own code', 'const held = []; for (;;) held.push({ held });'],
    [
      'in a driver',
      `${OPEN}
      const held = [];
      for (;;) held.push(await db.read.selectNoFrom((eb) => eb.val('x'.repeat(100_000)).as('text')).execute());`,
    ],
  ])('%s ends alone', async (_where, body) => {
    await expect(run(body, () => undefined)).rejects.toMatchObject({ name: 'ImportOutOfMemory' });
  });
});
