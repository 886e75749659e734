import { invitationUrl } from '../auth/account-links.ts';
import type { Context } from '../runtime/context.ts';
import {
  INVITATION_MAIL,
  findInvitationRecipient,
  type InvitationMail,
} from '../domain/users/invitations.ts';
import { MAIL_ATTEMPTS, type Mailer, sendMail } from './mailer.ts';
import type { JobHandler } from './runner.ts';

/** Mails invitations, one at a time. Skips those that were accepted, renewed or withdrawn in the meantime. */
export const invitationMailJob = ({ db, keys, log, addresses }: Context, mailer: Mailer): JobHandler => ({
  kind: INVITATION_MAIL,
  maxAttempts: MAIL_ATTEMPTS,
  async run({ job }) {
    const request = JSON.parse(job.payload) as InvitationMail;
    const invited = await findInvitationRecipient(db.read, request);
    if (invited === undefined) return;
    const url = invitationUrl(addresses.clientBaseUrl, keys.secret, invited);
    const text = mailText(url, invited.organization);
    const mail = { to: invited.email, subject: 'Your invitation to Assay', text };
    await sendMail(mailer, mail, log, request.requestId);
  },
});

function mailText(url: string, organization: string | null): string {
  return [
    `You have been invited to Assay${organization === null ? '' : ` by ${organization}`}.`,
    '',
    'Accept the invitation by choosing a name and a password. The link works once:',
    '',
    url,
    '',
    'If you did not expect this invitation, ignore this mail.',
    '',
  ].join('\n');
}
