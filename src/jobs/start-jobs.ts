import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { openMailer } from './mailer.ts';
import { deleteExpiredJob } from './delete-expired.ts';
import { importsJob } from './run-imports.ts';
import { invitationMailJob } from './invitation-mails.ts';
import { passwordResetMailJob } from './password-reset-mails.ts';
import { JobRunner } from './runner.ts';
import { indexEndedImportsJob, indexSearchJob } from './index-search.ts';
import { endOverdueTestingSessionsJob } from './end-overdue-testing-sessions.ts';
import { deleteUnusedFilesJob } from './delete-unused-files.ts';
import { compactCountersJob } from './compact-counters.ts';

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
