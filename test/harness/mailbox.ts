import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  from: string;
  to: string[];
  /** The headers and the text, decoded. */
  content: string;
  /** The first link in it. */
  link: string;
}

/** A mail server that keeps what it gets. */
export interface Mailbox {
  /** For `ASSAY_SMTP_URL`. */
  url: string;
  received: ReceivedMail[];
  /** Resolves with the next mail that was not asked for yet. */
  next(): Promise<ReceivedMail>;
  /** Recipients that are refused, with words that repeat the address. */
  refused: Set<string>;
  close(): Promise<void>;
}

/**
 * Starts a real SMTP server on a free port.
 * @param accept waited for before a mail is taken
 */
export async function startMailbox(accept: () => Promise<void> = async () => undefined): Promise<Mailbox> {
  const received: ReceivedMail[] = [];
  const waiting: ((mail: ReceivedMail) => void)[] = [];
  const refused = new Set<string>();
  let told = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    onRcptTo({ address }, _session, done) {
      done(refused.has(address) ? new Error(`There is no mailbox ${address} here`) : undefined);
    },
    onData(stream, { envelope }, done) {
      let raw = '';
      stream.setEncoding('utf8').on('data', (chunk: string) => (raw += chunk));
      const keep = async (): Promise<void> => {
        const content = raw
          .replace(/=\r\n/g, '')
          .replace(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
        const mail = {
          from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
          to: envelope.rcptTo.map(({ address }) => address),
          content,
          link: /https?:\S+/.exec(content)?.[0] ?? '',
        };
        await accept();
        received.push(mail);
        done();
        if (waiting.length > 0) told += 1;
        waiting.shift()?.(mail);
      };
      stream.on('end', () => void keep());
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    refused,
    next() {
      const mail = received[told];
      if (mail === undefined) return new Promise((resolve) => waiting.push(resolve));
      told += 1;
      return Promise.resolve(mail);
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
