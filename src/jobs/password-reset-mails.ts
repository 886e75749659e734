import { networkPrefix } from '../auth/ip-addresses.ts';
import type { Actor } from '../auth/callers.ts';
import { passwordResetUrl } from '../auth/account-links.ts';
import type { Context } from '../context.ts';
import { markMailStarted } from '../domain/shared/jobs.ts';
import { recordAttempt } from '../domain/shared/attempt-limits.ts';
import { createPasswordReset, findResettableUser } from '../domain/sign-in/password-resets.ts';
import { RESET_MAIL, type PasswordResetRequest } from '../domain/sign-in/request-password-reset.ts';
import { MAIL_ATTEMPTS, type Mailer, sendMail } from './mailer.ts';
import type { JobHandler } from './runner.ts';

const HOUR = 3_600_000;
/** Limits of mails to an account and of requests from a network, per hour. */
const ACCOUNT_LIMIT = { max: 3, window: HOUR };
const NETWORK_LIMIT = { max: 20, window: HOUR };

/** Mails password reset links, one at a time. */
export const passwordResetMailJob = (context: Context, mailer: Mailer): JobHandler => ({
  kind: RESET_MAIL,
  maxAttempts: MAIL_ATTEMPTS,
  async run({ job }) {
    const { db, clock, addresses } = context;
    const { email, address, at, requestId } = JSON.parse(job.payload) as PasswordResetRequest;
    const userId = await findResettableUser(db.read, email);
    const link = await db.write(async (tx) => {
      if (job.attempts === 1) {
        const fromNetwork = { subject: 'reset-mail', address: networkPrefix(address) };
        if ((await recordAttempt(tx, fromNetwork, NETWORK_LIMIT, at)).outcome === 'locked') return undefined;
        const toAccount = { subject: `reset-mail:${userId}`, address: '' };
        if (
          userId !== undefined &&
          (await recordAttempt(tx, toAccount, ACCOUNT_LIMIT, at)).outcome === 'locked'
        )
          return undefined;
      }
      if (userId === undefined || !(await markMailStarted(tx, job, clock()))) return undefined;
      const actor: Actor = { kind: 'stranger', userId: null, credentialId: null, address, requestId };
      return createPasswordReset(tx, { actor, now: clock() }, userId, 'mail');
    });
    if (link === undefined) return;
    const url = passwordResetUrl(addresses.clientBaseUrl, link.secret);
    const mail = { to: link.recipient, subject: 'Reset your Assay password', text: mailText(url) };
    await sendMail(context, mailer, job, mail, requestId);
  },
});

function mailText(url: string): string {
  return [
    'You requested a password reset for your Assay account.',
    '',
    'Choose a new password within the next hour. The link works once:',
    '',
    url,
    '',
    'If you did not request this, ignore this mail. Your password stays the same.',
    '',
  ].join('\n');
}
