import { invitationUrl } from '../auth/account-links.ts';
import { replaceHiddenCharacters } from '../auth/visible-text.ts';
import type { Context } from '../context.ts';
import { markMailStarted } from '../domain/shared/jobs.ts';
import {
  INVITATION_MAIL,
  findInvitationRecipient,
  type InvitationMail,
} from '../domain/users/invitations.ts';
import { MAIL_ATTEMPTS, type Mailer, sendMail } from './mailer.ts';
import type { JobHandler } from './runner.ts';

/** Mails invitations, one at a time. Skips those that were accepted, renewed or withdrawn in the meantime. */
export const invitationMailJob = (context: Context, mailer: Mailer): JobHandler => ({
  kind: INVITATION_MAIL,
  maxAttempts: MAIL_ATTEMPTS,
  async run({ job }) {
    const { db, keys, clock, addresses } = context;
    const request = JSON.parse(job.payload) as InvitationMail;
    const invited = await db.write(async (tx) =>
      (await markMailStarted(tx, job, clock())) ? findInvitationRecipient(tx, request) : undefined,
    );
    if (invited === undefined) return;
    const url = invitationUrl(addresses.clientBaseUrl, keys.secret, invited);
    const text = mailText(url, invited.organization);
    const mail = { to: invited.email, subject: 'Your invitation to Assay', text };
    await sendMail(context, mailer, job, mail, request.requestId);
  },
});

/** Quotes a name on one line: names that are older than their rule may have line breaks. */
function quoteName(name: string): string {
  return `"${replaceHiddenCharacters(name).replaceAll('"', "'")}"`;
}

function mailText(url: string, organization: string | null): string {
  return [
    `You have been invited to Assay${organization === null ? '' : ` by ${quoteName(organization)}`}.`,
    '',
    'Accept the invitation by choosing a name and a password. The link works once:',
    '',
    url,
    '',
    'If you did not expect this invitation, ignore this mail.',
    '',
  ].join('\n');
}
