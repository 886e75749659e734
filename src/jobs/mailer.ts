import type { Transporter } from 'nodemailer';
import type { Config } from '../config/config.ts';

/** Milliseconds until a mail server that does not answer is given up. */
const TIMEOUT = 10_000;

export interface Mail {
  /** One e-mail address. */
  to: string;
  subject: string;
  /** Plain text. */
  text: string;
}

/** Hands mail to the server of the configuration. */
export interface Mailer {
  /** Resolves once the server has taken it; rejects when it does not, with an error that may name the address. */
  send(mail: Mail): Promise<void>;
  close(): void;
}

/** @returns what sends mail; `null` where no server is configured */
export function openMailer({ smtpUrl, mailFrom }: Pick<Config, 'smtpUrl' | 'mailFrom'>): Mailer | null {
  if (smtpUrl === undefined) return null;
  let opened: Promise<Transporter> | undefined;
  const open = async (): Promise<Transporter> => {
    const { createTransport } = await import('nodemailer');
    return createTransport({
      url: smtpUrl,
      dnsTimeout: TIMEOUT,
      connectionTimeout: TIMEOUT,
      greetingTimeout: TIMEOUT,
      socketTimeout: TIMEOUT,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  };
  return {
    async send({ to, subject, text }) {
      // As an object, an address with a comma in it is one address still.
      opened ??= open();
      const transport = await opened;
      await transport.sendMail({ from: mailFrom, to: { name: '', address: to }, subject, text });
    },
    close: () => void opened?.then((transport) => transport.close()),
  };
}
