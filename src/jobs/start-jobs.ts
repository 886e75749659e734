import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Actor } from '../auth/callers.ts';
import type { Context } from '../context.ts';
import { endOverdueTestingSessions } from '../domain/assessments/testing-sessions.ts';
import { compactCounters } from '../domain/shared/counters.ts';
import { deleteUnused } from '../files/file-storage.ts';
import { openMailer } from './mailer.ts';
import { deleteExpiredJob } from './delete-expired.ts';
import { importsJob } from './run-imports.ts';
import { invitationMailJob } from './invitation-mails.ts';
import { passwordResetMailJob } from './password-reset-mails.ts';
import { type JobHandler, JobRunner } from './runner.ts';
import { indexEndedImportsJob, indexSearchJob } from './index-search.ts';

/** Runs jobs from when the server listens until it closes. */
export function registerJobs(app: FastifyInstance, context: Context): void {
  const mailer = openMailer(context.config);
  const runner = new JobRunner(context, [
    deleteExpiredJob(context),
    endOverdueTestingSessionsJob(context),
    deleteUnusedFilesJob(context),
    compactCountersJob(context),
    importsJob(context),
    indexSearchJob(context),
    indexEndedImportsJob(context),
    ...(mailer === null ? [] : [passwordResetMailJob(context, mailer), invitationMailJob(context, mailer)]),
  ]);
  app.addHook('onListen', (done) => {
    runner.start();
    done();
  });
  app.addHook('onClose', async () => {
    await runner.close();
    mailer?.close();
  });
}

/** Runs imports in a command, which may have no server beside it, until the caller closes the result. */
export function startImports(context: Context): Pick<JobRunner, 'close'> {
  const runner = new JobRunner(context, [importsJob(context)]);
  runner.start();
  return runner;
}

const MINUTE = 60_000;

/** Sessions per transaction, so that other writers do not wait long. */
const SESSION_BATCH = 500;

/** Ends testing sessions that have been running for 24 hours. Until this job runs, readers treat them as ended. */
export const endOverdueTestingSessionsJob = ({ db, clock }: Context): JobHandler => ({
  kind: 'end-testing-sessions',
  interval: 5 * MINUTE,
  maxAttempts: 3,
  async run({ signal }) {
    const actor: Actor = {
      kind: 'system',
      userId: null,
      credentialId: null,
      address: null,
      requestId: randomUUID(),
    };
    for (let ended = SESSION_BATCH; ended === SESSION_BATCH;) {
      signal.throwIfAborted();
      ended = await db.write((tx) => endOverdueTestingSessions(tx, { actor, now: clock() }, SESSION_BATCH));
    }
  },
});

/** Deletes file contents that no row refers to, once an hour. */
export const deleteUnusedFilesJob = (context: Context): JobHandler => ({
  kind: 'delete-unused-files',
  interval: 60 * MINUTE,
  maxAttempts: 3,
  async run({ signal }) {
    const deleted = await deleteUnused(context, () => signal.aborted);
    if (deleted > 0) context.log.info({ removed: deleted }, 'deleted unused files');
    signal.throwIfAborted();
  },
});

/** Deltas per transaction, so that other writers do not wait long. */
const DELTA_BATCH = 1_000;

/** Adds counter deltas to their counters, so that reading a counter sums few rows. */
const compactCountersJob = ({ db, clock }: Context): JobHandler => ({
  kind: 'compact-counters',
  interval: 20_000,
  maxAttempts: 3,
  async run({ signal }) {
    for (let compacted = DELTA_BATCH; compacted === DELTA_BATCH;) {
      signal.throwIfAborted();
      // A read is cheaper than a transaction, and there is rarely anything to do.
      const [delta] = await db.read.selectFrom('counter_deltas').select('id').limit(1).execute();
      compacted = delta === undefined ? 0 : await db.write((tx) => compactCounters(tx, DELTA_BATCH, clock()));
    }
  },
});
