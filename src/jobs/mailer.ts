import { hash } from 'node:crypto';
import type { Transporter } from 'nodemailer';
import type { Config } from '../config/config.ts';
import { type Job, clearMailStarted } from '../domain/shared/jobs.ts';
import type { Context } from '../context.ts';
import { memoizeAsync } from '../lib/memoize-async.ts';

/** Milliseconds until a mail server that does not respond is abandoned. */
const TIMEOUT = 10_000;

/** Attempts. The job runner waits ten seconds, twenty, and so on between them: five minutes in all. */
export const MAIL_ATTEMPTS = 6;

export interface Mail {
  /** One email address. */
  to: string;
  subject: string;
  /** Plain text. */
  text: string;
}

/** Identifies a mail across attempts, without revealing its input. */
function messageId(job: Job, { to }: Mail, mailFrom: string): string {
  const digest = hash('sha256', JSON.stringify([job.kind, job.id, job.payload, to]), 'base64url');
  const domain = /@([\w.-]{1,253})>?\s*$/.exec(mailFrom)?.[1] ?? 'localhost';
  return `<${digest.slice(0, 32)}@${domain}>`;
}

/** Sends mail through the configured server. */
export interface Mailer {
  /**
   * Resolves once the server has accepted the mail. Rejects otherwise, with an error that may contain the address.
   * @param job the job that sends the mail
   */
  send(mail: Mail, job: Job): Promise<void>;
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
    async send(mail, job) {
      const transport = await open();
      const { to, subject, text } = mail;
      await transport.sendMail({
        from: mailFrom,
        // An address object, as nodemailer would split a string at its commas.
        to: { name: '', address: to },
        subject,
        text,
        messageId: messageId(job, mail, mailFrom),
        // RFC 3834, section 5: no vacation notice answers it.
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
    },
    close: () => opened?.close(),
  };
}

/**
 * The mail server did not accept a mail. Contains neither the address nor the link, which the server's response may
 * repeat.
 */
class MailNotAccepted extends Error {
  override name = 'MailNotAccepted';
  readonly code: string | undefined;

  constructor(code: string | undefined) {
    super('The mail server did not accept the mail.');
    this.code = code;
  }
}

/** Codes of errors that end a session before the mail is sent. */
const SESSION_ERRORS = new Set(['EAUTH', 'EDNS', 'EENVELOPE', 'ENOAUTH', 'EOAUTH2', 'ETLS']);

/** The properties of nodemailer's errors that show how far the delivery got. */
interface MailError {
  code?: string;
  /** The status code of the server's response, if any. */
  responseCode?: number;
  /** The error code of a failed system call. */
  syscall?: string;
  timeoutType?: string;
}

/** @returns whether the server cannot have accepted the mail; after a lost connection it may have */
const isUnsent = ({ code = '', responseCode, syscall, timeoutType }: MailError): boolean =>
  responseCode !== undefined ||
  SESSION_ERRORS.has(code) ||
  syscall === 'connect' ||
  timeoutType === 'CONNECT_TIMEOUT' ||
  timeoutType === 'GREETING_TIMEOUT';

/**
 * Sends the mail of a job that `markMailStarted` has marked, at most once. Logs a permanent failure, and one after
 * which the server may have accepted the mail, and resolves.
 * @param requestId the request that queued the mail, for the log
 * @throws MailNotAccepted for a failure that is worth a retry; the job's mark is removed then
 */
export async function sendMail(
  { db, log }: Pick<Context, 'db' | 'log'>,
  mailer: Mailer,
  job: Job,
  mail: Mail,
  requestId: string,
): Promise<void> {
  try {
    await mailer.send(mail, job);
  } catch (error) {
    const failure = error as MailError;
    const { code, responseCode = 0 } = failure;
    // Codes from 500 on are permanent (RFC 5321, section 4.2.1).
    if (responseCode >= 500) log.error({ requestId, code }, 'the mail server rejected a mail permanently');
    else if (!isUnsent(failure))
      log.error(
        { requestId, code },
        'the connection was lost while sending a mail; not retried, because the server may have accepted it',
      );
    else {
      await db.write((tx) => clearMailStarted(tx, job));
      throw new MailNotAccepted(code);
    }
  }
}
