import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  from: string;
  to: string[];
  /** Decoded headers and text. */
  content: string;
  /** The first link in the mail. */
  link: string;
}

/** A mail server that stores the mail it receives. */
export interface Mailbox {
  /** The value of `ASSAY_SMTP_URL`. */
  url: string;
  received: ReceivedMail[];
  /** Resolves with the next mail. */
  next(): Promise<ReceivedMail>;
  /** Recipients that are rejected, with an error that contains the address. */
  rejectedAddresses: Set<string>;
  close(): Promise<void>;
}

/**
 * Starts a real SMTP server on a free port.
 * @param beforeAccept awaited before a mail is accepted
 */
export async function startMailbox(
  beforeAccept: () => Promise<void> = async () => undefined,
): Promise<Mailbox> {
  const received: ReceivedMail[] = [];
  const waiting: ((mail: ReceivedMail) => void)[] = [];
  const rejectedAddresses = new Set<string>();
  let takenCount = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    onRcptTo({ address }, _session, done) {
      done(rejectedAddresses.has(address) ? new Error(`There is no mailbox ${address} here`) : undefined);
    },
    onData(stream, { envelope }, done) {
      let raw = '';
      stream.setEncoding('utf8').on('data', (chunk: string) => (raw += chunk));
      const store = async (): Promise<void> => {
        const content = raw
          .replace(/=\r\n/g, '')
          .replace(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
        const mail = {
          from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
          to: envelope.rcptTo.map(({ address }) => address),
          content,
          link: /https?:\S+/.exec(content)?.[0] ?? '',
        };
        await beforeAccept();
        received.push(mail);
        done();
        if (waiting.length > 0) takenCount += 1;
        waiting.shift()?.(mail);
      };
      stream.on('end', () => void store());
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    rejectedAddresses,
    next() {
      const mail = received[takenCount];
      if (mail === undefined) return new Promise((resolve) => waiting.push(resolve));
      takenCount += 1;
      return Promise.resolve(mail);
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
