import type { FastifyInstance } from 'fastify';
import type { Context } from '../runtime/context.ts';
import { openMailer } from './mailer.ts';
import { expiry } from './expiry.ts';
import { imports } from './run-imports.ts';
import { invitationMails } from './invitation-mails.ts';
import { resetMails } from './password-reset-mails.ts';
import { JobRunner } from './runner.ts';
import { search } from './index-search.ts';
import { sessionEnds } from './end-overdue-testing-sessions.ts';
import { unusedContents } from './delete-unused-files.ts';
import { tallies } from './compact-counters.ts';

/** Has a server do its share of the jobs, from when it listens until it closes. */
export function runJobs(app: FastifyInstance, context: Context): void {
  const mailer = openMailer(context.config);
  const runner = new JobRunner(context, [
    expiry(context),
    sessionEnds(context),
    unusedContents(context),
    tallies(context),
    imports(context),
    search(context),
    ...(mailer === null ? [] : [resetMails(context, mailer), invitationMails(context, mailer)]),
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

/** Has another process do imports alone, until it closes what it gets: a command, where no server may be there. */
export function runImports(context: Context): Pick<JobRunner, 'close'> {
  const runner = new JobRunner(context, [imports(context)]);
  runner.start();
  return runner;
}
