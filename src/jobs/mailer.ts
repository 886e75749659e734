import type { Transporter } from 'nodemailer';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { memoizeAsync } from '../runtime/memoize-async.ts';

/** Milliseconds until a mail server that does not respond is abandoned. */
const TIMEOUT = 10_000;

/** With the job runner's delays of ten seconds, twenty, and so on: five minutes in all. */
export const MAIL_ATTEMPTS = 6;

export interface Mail {
  /** One e-mail address. */
  to: string;
  subject: string;
  /** Plain text. */
  text: string;
}

/** Sends mail through the configured server. */
export interface Mailer {
  /** Resolves once the server has accepted the mail. Rejects otherwise, with an error that may contain the address. */
  send(mail: Mail): Promise<void>;
  close(): void;
}

/** @returns `null` if no mail server is configured */
export function openMailer({ smtpUrl, mailFrom }: Pick<Config, 'smtpUrl' | 'mailFrom'>): Mailer | null {
  if (smtpUrl === undefined) return null;
  let opened: Transporter | undefined;
  const open = memoizeAsync(async (): Promise<Transporter> => {
    const { createTransport } = await import('nodemailer');
    opened = createTransport({
      url: smtpUrl,
      dnsTimeout: TIMEOUT,
      connectionTimeout: TIMEOUT,
      greetingTimeout: TIMEOUT,
      socketTimeout: TIMEOUT,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    return opened;
  });
  return {
    async send({ to, subject, text }) {
      const transport = await open();
      // An address object, as nodemailer would split a string at its commas.
      await transport.sendMail({ from: mailFrom, to: { name: '', address: to }, subject, text });
    },
    close: () => opened?.close(),
  };
}

/** The mail server did not accept a mail. Contains neither the address nor the link, which the server's response may repeat. */
class MailRejected extends Error {
  override name = 'MailRejected';
  readonly code: string | undefined;

  constructor(code: string | undefined) {
    super('The mail server did not accept the mail.');
    this.code = code;
  }
}

/**
 * Sends the mail of a job. Logs a permanent failure and resolves.
 * @param requestId of the request that asked for the mail, for the log
 * @throws MailRejected for a failure that is worth a retry
 */
export async function sendMail(mailer: Mailer, mail: Mail, log: Logger, requestId: string): Promise<void> {
  try {
    await mailer.send(mail);
  } catch (error) {
    const { code, responseCode } = error as { code?: string; responseCode?: number };
    // Codes from 500 on are permanent (RFC 5321, section 4.2.1).
    if (responseCode === undefined || responseCode < 500) throw new MailRejected(code);
    log.error({ requestId, code }, 'the mail server rejected a mail permanently');
  }
}
