import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openContext } from '../../src/context.ts';
import { addJob, cancelJob, type JobLimit, takeJob } from '../../src/domain/shared/jobs.ts';
import { type JobHandler, JobRunner, type JobRun } from '../../src/jobs/runner.ts';
import { gate } from '../harness/gate.ts';
import { useOwnServer } from '../harness/server.ts';
import { eventually } from '../harness/eventually.ts';

const MINUTE = 60_000;

let now: number;
let runners: JobRunner[];
let linesBefore: number;
const server = await useOwnServer({}, () => now);
beforeEach(() => {
  now = Date.UTC(2026, 5, 1);
  runners = [];
  linesBefore = server.logs().length;
});
afterEach(async () => {
  vi.useRealTimers();
  for (const runner of runners) await runner.close();
  await server.context.db.write((tx) => tx.deleteFrom('jobs').where('kind', '=', 'test').execute());
});

const add = (payload: unknown, limit?: JobLimit) =>
  server.context.db.write((tx) => addJob(tx, 'test', payload, now, limit));
const waiting = () =>
  server.context.db.read
    .selectFrom('jobs')
    .select(['id', 'attempts', 'run_at', 'locked_by'])
    .where('kind', '=', 'test')
    .execute();
const logs = () => server.logs().slice(linesBefore);
const wake = () => server.context.jobs.notify();

function start(run: (run: JobRun) => Promise<void>, options: Partial<JobHandler> = {}): JobRunner {
  const runner = new JobRunner(server.context, [{ kind: 'test', maxAttempts: 3, ...options, run }]);
  runners.push(runner);
  runner.start();
  return runner;
}

describe('A job', () => {
  it('runs once, in the order of creation, and is then deleted', async () => {
    const done: string[] = [];
    for (const name of ['one', 'two', 'three']) await add(name);
    start(async ({ job }) => void done.push(job.payload));
    await eventually(async () => expect(await waiting()).toEqual([]));
    expect(done).toEqual(['"one"', '"two"', '"three"']);
    await add('four');
    wake();
    await eventually(() => expect(done).toContain('"four"'));
  });

  it('runs on one of several instances', async () => {
    const otherContext = await openContext(server.context.config);
    otherContext.clock = () => now;
    try {
      const done: string[] = [];
      const kind: JobHandler = {
        kind: 'test',
        maxAttempts: 1,
        run: async ({ job }) => void done.push(job.payload),
      };
      const names = Array.from({ length: 40 }, (_, index) => index);
      for (const name of names) await add(name);
      const pair = [server.context, otherContext].map((context) => new JobRunner(context, [kind]));
      runners.push(...pair);
      for (const runner of pair) runner.start();
      await eventually(async () => expect(await waiting()).toEqual([]));
      expect(done.map(Number).sort((a, b) => a - b)).toEqual(names);
      for (const runner of pair) await runner.close();
    } finally {
      await otherContext.db.close();
    }
  });

  it('does not run if the transaction that adds it rolls back', async () => {
    const requested = server.context.db.write(async (tx) => {
      await addJob(tx, 'test', null, now);
      throw new Error('It was not to be.');
    });
    await expect(requested).rejects.toThrow('It was not to be.');
    expect(await waiting()).toEqual([]);
  });

  it('of a crashed instance is taken over when its lease expires', async () => {
    await add('left behind');
    await server.context.db.write((tx) => takeJob(tx, 'test', 'dead', now, now + MINUTE));
    const done: number[] = [];
    start(async ({ job }) => void done.push(job.attempts));
    now += MINUTE - 1;
    wake();
    expect(await waiting()).toMatchObject([{ locked_by: 'dead' }]);
    now += 1;
    wake();
    await eventually(async () => expect(await waiting()).toEqual([]));
    expect(done).toEqual([2]);
  });

  it('that fails is retried with increasing delays, and finally abandoned', async () => {
    await add('hopeless');
    let tries = 0;
    start(async () => {
      tries += 1;
      throw new Error('Not today.');
    });
    for (const [attempt, wait] of [
      [1, 10_000],
      [2, 20_000],
    ] as const) {
      await eventually(async () =>
        expect(await waiting()).toMatchObject([{ attempts: attempt, run_at: now + wait, locked_by: null }]),
      );
      now += wait;
      wake();
    }
    await eventually(async () => expect(await waiting()).toEqual([]));
    expect(tries).toBe(3);
    const logged = logs().filter(({ kind }) => kind === 'test');
    expect(logged.map(({ msg }) => msg)).toEqual([
      'the job failed and will be retried',
      'the job failed and will be retried',
      'the job failed after its last attempt',
    ]);
  });

  it('that runs when the server closes is released at once, and the attempt does not count', async () => {
    await add('long');
    const started = gate();
    const runner = start(async ({ signal }) => {
      started.open();
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    await started.opened;
    await runner.close();
    expect(await waiting()).toMatchObject([{ attempts: 0, run_at: now, locked_by: null }]);
    const done: number[] = [];
    start(async ({ job }) => void done.push(job.attempts));
    await eventually(async () => expect(await waiting()).toEqual([]));
    expect(done).toEqual([1]);
  });

  it('that takes long renews its lease, and is stopped when cancelled', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    await add('long');
    const started = gate();
    const ended = gate();
    start(async ({ signal }) => {
      started.open();
      signal.addEventListener('abort', ended.open);
      await ended.opened;
      throw signal.reason;
    });
    await started.opened;
    now += MINUTE / 2;
    vi.advanceTimersByTime(20_000);
    await eventually(async () => expect(await waiting()).toMatchObject([{ run_at: now + MINUTE }]));
    const [job] = await waiting();
    expect(await server.context.db.write((tx) => cancelJob(tx, { id: job?.id ?? 0 }))).toBe(true);
    vi.advanceTimersByTime(20_000);
    await ended.opened;
    await eventually(() =>
      expect(logs()).toContainEqual(
        expect.objectContaining({ msg: 'the job was cancelled or taken by another instance' }),
      ),
    );
    expect(await waiting()).toEqual([]);
  });

  it('that recurs exists once and runs again when due', async () => {
    const times: number[] = [];
    const run = async () => void times.push(now);
    start(run, { interval: 60 * MINUTE });
    await eventually(async () => expect(await waiting()).toMatchObject([{ run_at: now + 60 * MINUTE }]));
    start(run, { interval: 60 * MINUTE });
    now += 60 * MINUTE;
    wake();
    await eventually(async () => expect(await waiting()).toMatchObject([{ run_at: now + 60 * MINUTE }]));
    expect(times).toEqual([now - 60 * MINUTE, now]);
  });
});

describe('Jobs of anonymous requests', () => {
  const limit = (quotaKey: string): JobLimit => ({ quotaKey, perQuotaKey: 3, total: 5 });

  it('are limited per origin and in total, also if requested concurrently', async () => {
    const added = await Promise.all(Array.from({ length: 12 }, () => add('mail', limit('here'))));
    expect(added.filter(Boolean)).toHaveLength(3);
    const otherJobs = await Promise.all(
      Array.from({ length: 12 }, (_, index) => add('mail', limit(`there${index}`))),
    );
    expect(otherJobs.filter(Boolean)).toHaveLength(2);
    expect(await waiting()).toHaveLength(5);
  });
});
