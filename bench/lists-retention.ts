import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Engine } from '../src/db/database.ts';
import { ensureRecurringJob } from '../src/domain/shared/jobs.ts';
import { send } from './companions.ts';
import { idsOf, type ListsStore, openData, withServer } from './lists-store.ts';
import { type BenchmarkResult, progress } from './measure.ts';
import { type Others, runBesideOthers } from './others.ts';

const LIST = '/v1/vulnerabilities';
const DAY = 86_400_000;
const JOB = 'delete-expired';
/** One of so many events expires. */
const EXPIRED_SHARE = 10;
/** Milliseconds in which others warm up, and in which they are measured without the job before and after it. */
const WARM_UP = 10_000;
const QUIET = 20_000;
const TARGET = 1.5;

/** Deletes a tenth of the audit log by its retention period while others read and write. */
export async function measureRetention(engine: Engine, store: ListsStore): Promise<BenchmarkResult[]> {
  const db = await openData(store);
  try {
    const days = await retentionPeriod(db);
    // The job waits until others have been measured without it.
    await runJobAt(db, Date.now() + DAY);
    const env = { ASSAY_AUDIT_DAYS: String(days) };
    return await withServer(store, (server) => besideDeletion(engine, store, db, server.port, days), env);
  } finally {
    await db.close();
  }
}

async function besideDeletion(
  engine: Engine,
  store: ListsStore,
  db: Database,
  port: number,
  days: number,
): Promise<BenchmarkResult[]> {
  const others = await othersOf(store, port);
  await runBesideOthers(others, () => delay(WARM_UP));
  const before = (await runBesideOthers(others, () => delay(QUIET))).p99;
  const until = Date.now() - days * DAY;
  const expired = await countUntil(db, until);
  const startedAt = performance.now();
  const { p99 } = await runBesideOthers(others, async () => {
    await runJobAt(db, Date.now());
    while (await hasEventsUntil(db, until)) await delay(500);
  });
  const seconds = (performance.now() - startedAt) / 1_000;
  const after = (await runBesideOthers(others, () => delay(QUIET))).p99;
  progress(`  ${expired} events of more than ${days} days in ${seconds.toFixed(1)} s`);
  return (['reads', 'writes'] as const).map((kind) => {
    // Other work of the machine or of a new server only slows down one of them.
    const quiet = Math.min(before[kind], after[kind]);
    const ratio = p99[kind] / quiet;
    const times = [before, p99, after].map((one) => one[kind].toFixed(1)).join(', ');
    progress(`  others' ${kind}: p99 before, meanwhile and after: ${times} ms`);
    return {
      engine,
      workload: `lists-retention of ${expired} events: others' ${kind}`,
      p99: p99[kind],
      ratio,
      target: `p99 <= ${TARGET} x quiet`,
      holds: ratio <= TARGET,
    };
  });
}

/** @returns the requests of a user of the largest organization */
async function othersOf(store: ListsStore, port: number): Promise<Others> {
  const large = { token: store.tokens.large };
  const { vulnerabilities } = await idsOf(store, 'large');
  return {
    read: async () => (await send({ port }, large, `${LIST}?page[after]=&page[size]=50`)).milliseconds,
    async write(number) {
      const path = `${LIST}/${vulnerabilities[number % vulnerabilities.length]}`;
      const body = { status_id: 1 + (number % 9) };
      return (await send({ port }, large, path, { method: 'PATCH', body })).milliseconds;
    },
  };
}

/** @returns the days after which a tenth of the events expires */
async function retentionPeriod({ read }: Database): Promise<number> {
  const { count } = await read
    .selectFrom('audit_events')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const { at } = await read
    .selectFrom('audit_events')
    .select('at')
    .orderBy('at')
    .offset(Math.floor(count / EXPIRED_SHARE))
    .limit(1)
    .executeTakeFirstOrThrow();
  return Math.floor((Date.now() - at) / DAY);
}

/** Sets the time of the next run of the job, which the server notices within a second. */
function runJobAt(db: Database, time: number): Promise<void> {
  return db.write(async (tx) => {
    await ensureRecurringJob(tx, JOB, time);
    await tx.updateTable('jobs').set({ run_at: time }).where('kind', '=', JOB).execute();
  });
}

async function countUntil({ read }: Database, until: number): Promise<number> {
  const { count } = await read
    .selectFrom('audit_events')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('at', '<=', until)
    .executeTakeFirstOrThrow();
  return count;
}

async function hasEventsUntil({ read }: Database, until: number): Promise<boolean> {
  const event = await read
    .selectFrom('audit_events')
    .select('id')
    .where('at', '<=', until)
    .limit(1)
    .executeTakeFirst();
  return event !== undefined;
}
