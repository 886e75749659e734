import { randomUUID } from 'node:crypto';
import type { Context } from '../runtime/context.ts';
import {
  ensureRecurringJob,
  finishJob,
  type Job,
  extendLease,
  findDueKinds,
  rescheduleJob,
  takeJob,
  type TakeJob,
} from '../domain/shared/jobs.ts';

/** How long, in milliseconds, a job is an instance's own that does not keep it: so long it rests after a crash. */
const LEASE_DURATION = 60_000;
const LEASE_RENEWAL_INTERVAL = 20_000;
/** How often an instance looks for what others added, and for what is due again. */
const POLL_INTERVAL = 1_000;
const FIRST_RETRY_DELAY = 10_000;
const MAX_RETRY_DELAY = 600_000;

/** One try at a job. */
export interface JobRun {
  job: Job;
  /** Aborted when the process ends, the job was cancelled, or another instance has it: to stop soon, and throw. */
  signal: AbortSignal;
}

/** What is done for a kind of job. Whatever it does may be done twice: a crash may come just before the job is deleted. */
export interface JobHandler {
  kind: string;
  /** Milliseconds from the end of one run to the next, of the one job that always comes back; absent where jobs are added. */
  interval?: number;
  /** How often one is tried that fails. */
  maxAttempts: number;
  /** How many of the kind this process does at a time; one unless told. */
  concurrency?: number;
  /** Which one is next; absent, the one that has waited longest. */
  take?: TakeJob;
  /** @throws what made it fail, without secrets: it is logged */
  run(run: JobRun): Promise<void>;
}

/** Does the jobs of the database in this process, until it is closed. */
export class JobRunner {
  readonly #context: Context;
  readonly #kinds: ReadonlyMap<string, JobHandler>;
  readonly #holder = randomUUID();
  readonly #closing = new AbortController();
  readonly #working = new Map<JobHandler, Set<Promise<void>>>();
  #looking: Promise<void> | undefined;
  #lookAgain = false;
  #timer: NodeJS.Timeout | undefined;
  /** Whether the last look failed, so that a database that is away is told once. */
  #failing = false;
  /** How often somebody said that work was added. */
  #added = 0;
  readonly #look = (): void => this.#lookSoon();
  readonly #noteAdded = (): void => {
    this.#added += 1;
    this.#lookSoon();
  };

  constructor(context: Context, kinds: readonly JobHandler[]) {
    this.#context = context;
    this.#kinds = new Map(kinds.map((kind) => [kind.kind, kind]));
  }

  /** Begins to look for work. */
  start(): void {
    this.#timer = setInterval(this.#look, POLL_INTERVAL).unref();
    this.#context.jobs.on('added', this.#noteAdded);
    this.#lookSoon();
  }

  /** Takes nothing more, tells what runs to stop, and waits for it; what is not done is there for others at once. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#context.jobs.off('added', this.#noteAdded);
    this.#closing.abort(new Error('The server closes.'));
    await this.#looking;
    await Promise.all([...this.#working.values()].flatMap((works) => [...works]));
  }

  #lookSoon(): void {
    if (this.#closing.signal.aborted) return;
    // What was added since the look began may not have been seen.
    this.#lookAgain = this.#looking !== undefined;
    this.#looking ??= this.#lookForWork().finally(() => {
      this.#looking = undefined;
      if (this.#lookAgain) this.#lookSoon();
    });
  }

  async #lookForWork(): Promise<void> {
    const { db, clock, log } = this.#context;
    try {
      await this.#ensureRecurring();
      for (const name of await findDueKinds(db.read, clock())) {
        const kind = this.#kinds.get(name);
        if (kind !== undefined && this.#worksOn(kind).size < (kind.concurrency ?? 1)) this.#work(kind);
      }
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) log.error({ err: error }, 'jobs cannot be looked for');
      this.#failing = true;
    }
  }

  #ensured = false;
  async #ensureRecurring(): Promise<void> {
    if (this.#ensured) return;
    const recurring = [...this.#kinds.values()].filter(({ interval }) => interval !== undefined);
    await this.#context.db.write(async (tx) => {
      for (const { kind } of recurring) await ensureRecurringJob(tx, kind, this.#context.clock());
    });
    this.#ensured = true;
  }

  #worksOn(kind: JobHandler): Set<Promise<void>> {
    let works = this.#working.get(kind);
    if (works === undefined) this.#working.set(kind, (works = new Set()));
    return works;
  }

  #work(kind: JobHandler): void {
    const works = this.#worksOn(kind);
    const added = this.#added;
    const work = this.#doAll(kind).then(
      (count) => {
        works.delete(work);
        // What was added while the last one ended was not looked for. What is due and may not be taken now waits.
        if (count > 0 || added !== this.#added) this.#lookSoon();
      },
      (error: unknown) => {
        works.delete(work);
        this.#context.log.error({ err: error, kind: kind.kind }, 'jobs of a kind cannot be done');
      },
    );
    works.add(work);
  }

  /** @returns how many it has done */
  async #doAll(kind: JobHandler): Promise<number> {
    const { db, clock } = this.#context;
    for (let count = 0; ; count += 1) {
      if (this.#closing.signal.aborted) return count;
      const by = { holder: this.#holder, now: clock(), until: clock() + LEASE_DURATION };
      const job = await db.write((tx) =>
        kind.take === undefined ? takeJob(tx, kind.kind, by.holder, by.now, by.until) : kind.take(tx, by),
      );
      if (job === undefined) return count;
      // There may be another one that can be done meanwhile.
      if (kind.concurrency !== undefined) this.#lookSoon();
      await this.#do(kind, job);
    }
  }

  async #do(kind: JobHandler, job: Job): Promise<void> {
    const { db, clock, log } = this.#context;
    const lost = new AbortController();
    const signal = AbortSignal.any([this.#closing.signal, lost.signal]);
    const keeping = setInterval(() => void this.#keep(job, lost), LEASE_RENEWAL_INTERVAL).unref();
    const about = { job: job.id, kind: kind.kind, attempt: job.attempts };
    const postpone = (attempts: number, dueAt: number) =>
      db.write((tx) => rescheduleJob(tx, { id: job.id, attempts }, this.#holder, dueAt));
    const end = () =>
      kind.interval === undefined
        ? db.write((tx) => finishJob(tx, job, this.#holder))
        : postpone(0, clock() + kind.interval);
    try {
      await kind.run({ job, signal });
      await end();
    } catch (error) {
      if (lost.signal.aborted) {
        log.warn(about, 'a job was cancelled, or taken by another instance');
      } else if (this.#closing.signal.aborted) {
        // The try does not count, and whoever is there goes on at once.
        await postpone(job.attempts - 1, clock());
      } else if (job.attempts < kind.maxAttempts) {
        log.warn({ ...about, err: error }, 'a job failed, and is tried again');
        await postpone(
          job.attempts,
          clock() + Math.min(FIRST_RETRY_DELAY * 2 ** (job.attempts - 1), MAX_RETRY_DELAY),
        );
      } else {
        log.error({ ...about, err: error }, 'a job failed for good');
        await end();
      }
    } finally {
      clearInterval(keeping);
    }
  }

  async #keep(job: Job, lost: AbortController): Promise<void> {
    const { db, clock } = this.#context;
    // A database that is away takes the job from nobody: the lease runs, and is kept at the next turn.
    const kept = await db
      .write((tx) => extendLease(tx, job, this.#holder, clock() + LEASE_DURATION))
      .catch(() => true);
    if (!kept) lost.abort(new Error('The job was cancelled, or taken by another instance.'));
  }
}
