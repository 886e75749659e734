import type { Logger } from 'pino';
import type { Mail, Mailer } from './mailer.ts';

/** Ten seconds, twenty, and so on: five minutes in all. */
export const MAIL_ATTEMPTS = 6;

/** A mail server did not take a mail. Neither the address nor the link is in it, which the server's words may repeat. */
class MailRejected extends Error {
  override name = 'MailRefused';
  readonly code: string | undefined;

  constructor(code: string | undefined) {
    super('The mail server did not take the mail.');
    this.code = code;
  }
}

/**
 * Sends a mail of a job.
 * @param requestId of the request that asked for it, for the log
 * @throws MailRefused when it is worth another try; what the server refuses for good is logged
 */
export async function sendMail(mailer: Mailer, mail: Mail, log: Logger, requestId: string): Promise<void> {
  try {
    await mailer.send(mail);
  } catch (error) {
    const { code, responseCode } = error as { code?: string; responseCode?: number };
    if (responseCode === undefined || responseCode < 500) throw new MailRejected(code);
    // RFC 5321, section 4.2.1: to try again would not help.
    log.error({ requestId, code }, 'a mail could not be sent');
  }
}
