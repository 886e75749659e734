import { randomUUID } from 'node:crypto';
import {
  ensureRecurringJob,
  extendLease,
  findDueKinds,
  finishJob,
  type Job,
  rescheduleJob,
  takeJob,
  type TakeJob,
} from '../domain/shared/jobs.ts';
import type { Context } from '../context.ts';

/** Milliseconds for which an instance owns a job without renewal, and the delay of the job after a crash. */
const LEASE_DURATION = 60_000;
const LEASE_RENEWAL_INTERVAL = 20_000;
/** Milliseconds between polls for jobs that are due, and that other instances have added. */
const POLL_INTERVAL = 1_000;
const FIRST_RETRY_DELAY = 10_000;
const MAX_RETRY_DELAY = 600_000;

export interface JobRun {
  job: Job;
  /**
   * Aborted when the process shuts down, the job was cancelled, or another instance has taken it: the handler must then
   * stop soon, and throw.
   */
  signal: AbortSignal;
}

/** Handles a kind of job. Must be idempotent: a crash before the job is deleted runs it again. */
export interface JobHandler {
  kind: string;
  /** Milliseconds from the end of one run to the next of a recurring job. Absent for jobs that are added. */
  interval?: number;
  maxAttempts: number;
  /** How many jobs of the kind this process runs at a time. The default is 1. */
  concurrency?: number;
  /** Chooses the next job. By default, the one that has waited longest. */
  take?: TakeJob;
  /** @throws the reason of a failure, without secrets: it is logged */
  run(run: JobRun): Promise<void>;
}

/** Runs the jobs of the database in this process, until it is closed. */
export class JobRunner {
  readonly #context: Context;
  readonly #handlers: ReadonlyMap<string, JobHandler>;
  /** Identifies this instance in the leases of jobs. */
  readonly #instance = randomUUID();
  readonly #closing = new AbortController();
  readonly #running = new Map<JobHandler, Set<Promise<void>>>();
  #polling: Promise<void> | undefined;
  #pollAgain = false;
  #timer: NodeJS.Timeout | undefined;
  /** Whether the last poll failed, so that an outage of the database is logged once. */
  #failing = false;
  /** Counts the notifications of added jobs. */
  #added = 0;
  #ensuredRecurring = false;
  readonly #poll = (): void => this.#pollSoon();
  readonly #onAdded = (): void => {
    this.#added += 1;
    this.#pollSoon();
  };

  constructor(context: Context, handlers: readonly JobHandler[]) {
    this.#context = context;
    this.#handlers = new Map(handlers.map((handler) => [handler.kind, handler]));
  }

  start(): void {
    this.#timer = setInterval(this.#poll, POLL_INTERVAL).unref();
    this.#context.jobs.on('added', this.#onAdded);
    this.#pollSoon();
  }

  /** Stops polling, aborts running jobs and waits for them. Other instances can take unfinished jobs at once. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#context.jobs.off('added', this.#onAdded);
    this.#closing.abort(new Error('The server is shutting down.'));
    await this.#polling;
    await Promise.all([...this.#running.values()].flatMap((runs) => [...runs]));
  }

  #pollSoon(): void {
    if (this.#closing.signal.aborted) return;
    // The poll in progress may have missed jobs that were added since it started.
    this.#pollAgain = this.#polling !== undefined;
    this.#polling ??= this.#startDueJobs().finally(() => {
      this.#polling = undefined;
      if (this.#pollAgain) this.#pollSoon();
    });
  }

  async #startDueJobs(): Promise<void> {
    const { db, clock, log } = this.#context;
    try {
      await this.#ensureRecurring();
      for (const kind of await findDueKinds(db.read, clock())) {
        const handler = this.#handlers.get(kind);
        if (handler !== undefined && this.#runsOf(handler).size < (handler.concurrency ?? 1))
          this.#startWorker(handler);
      }
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) log.error({ err: error }, 'polling for jobs failed');
      this.#failing = true;
    }
  }

  async #ensureRecurring(): Promise<void> {
    if (this.#ensuredRecurring) return;
    const recurring = [...this.#handlers.values()].filter(({ interval }) => interval !== undefined);
    await this.#context.db.write(async (tx) => {
      for (const { kind } of recurring) await ensureRecurringJob(tx, kind, this.#context.clock());
    });
    this.#ensuredRecurring = true;
  }

  #runsOf(handler: JobHandler): Set<Promise<void>> {
    let runs = this.#running.get(handler);
    if (runs === undefined) this.#running.set(handler, (runs = new Set()));
    return runs;
  }

  #startWorker(handler: JobHandler): void {
    const runs = this.#runsOf(handler);
    const added = this.#added;
    const run = this.#runDueJobs(handler).then(
      (count) => {
        runs.delete(run);
        // Polls for jobs that were added while the last one ended. Jobs that are due but may not be taken yet wait.
        if (count > 0 || added !== this.#added) this.#pollSoon();
      },
      (error: unknown) => {
        runs.delete(run);
        this.#context.log.error({ err: error, kind: handler.kind }, 'jobs of a kind could not be run');
      },
    );
    runs.add(run);
  }

  /** @returns how many jobs it has run */
  async #runDueJobs(handler: JobHandler): Promise<number> {
    const { db, clock } = this.#context;
    for (let count = 0; ; count += 1) {
      if (this.#closing.signal.aborted) return count;
      const by = { holder: this.#instance, now: clock(), until: clock() + LEASE_DURATION };
      const job = await db.write((tx) =>
        handler.take === undefined
          ? takeJob(tx, handler.kind, by.holder, by.now, by.until)
          : handler.take(tx, by),
      );
      if (job === undefined) return count;
      // Another job of the kind may be able to run at the same time.
      if (handler.concurrency !== undefined) this.#pollSoon();
      await this.#runJob(handler, job);
    }
  }

  async #runJob(handler: JobHandler, job: Job): Promise<void> {
    const { db, clock, log } = this.#context;
    const lost = new AbortController();
    const signal = AbortSignal.any([this.#closing.signal, lost.signal]);
    const renewal = setInterval(() => void this.#renewLease(job, lost), LEASE_RENEWAL_INTERVAL).unref();
    const details = { job: job.id, kind: handler.kind, attempt: job.attempts };
    const reschedule = (attempts: number, runAt: number) =>
      db.write((tx) => rescheduleJob(tx, { id: job.id, attempts }, this.#instance, runAt));
    const end = () =>
      handler.interval === undefined
        ? db.write((tx) => finishJob(tx, job, this.#instance))
        : reschedule(0, clock() + handler.interval);
    try {
      await handler.run({ job, signal });
      await end();
    } catch (error) {
      if (lost.signal.aborted) {
        log.warn(details, 'the job was cancelled or taken by another instance');
      } else if (this.#closing.signal.aborted) {
        // The attempt does not count, and another instance may continue at once.
        await reschedule(job.attempts - 1, clock());
      } else if (job.attempts < handler.maxAttempts) {
        log.warn({ ...details, err: error }, 'the job failed and will be retried');
        const delay = Math.min(FIRST_RETRY_DELAY * 2 ** (job.attempts - 1), MAX_RETRY_DELAY);
        await reschedule(job.attempts, clock() + delay);
      } else {
        log.error({ ...details, err: error }, 'the job failed after its last attempt');
        await end();
      }
    } finally {
      clearInterval(renewal);
    }
  }

  async #renewLease(job: Job, lost: AbortController): Promise<void> {
    const { db, clock } = this.#context;
    // While the database is unavailable, no instance can take the job: keep the lease, and renew it next time.
    const renewed = await db
      .write((tx) => extendLease(tx, job, this.#instance, clock() + LEASE_DURATION))
      .catch(() => true);
    if (!renewed) lost.abort(new Error('The job was cancelled or taken by another instance.'));
  }
}
