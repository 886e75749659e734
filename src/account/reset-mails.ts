import type { Actor } from '../auth/callers.ts';
import { networkOf } from '../auth/addresses.ts';
import { resetUrl } from '../auth/reset-links.ts';
import type { Context } from '../context.ts';
import { countAttempt } from '../domain/sign-in/attempts.ts';
import { createPasswordReset, resettableUser } from '../domain/sign-in/password-resets.ts';
import type { Mailer } from '../mail.ts';

/** Requests that wait; one more is dropped. */
const MAX_WAITING = 100;
const HOUR = 3_600_000;
/** Mails to an account, and requests from an address, in an hour. */
const ACCOUNT_LIMIT = { max: 3, window: HOUR };
const ADDRESS_LIMIT = { max: 20, window: HOUR };

/** Someone asks for a link to an account, which there may be. */
export interface ResetRequest {
  email: string;
  /** Where the request came from, and when. */
  address: string;
  at: number;
  requestId: string;
}

/**
 * Mails links for a new password, one after the other and in the background: whoever asks is answered before anybody looks
 * whether there is such an account.
 */
export class ResetMails {
  readonly #context: Context;
  readonly #mailer: Mailer;
  readonly #waiting: ResetRequest[] = [];
  #running: Promise<void> | undefined;

  constructor(context: Context, mailer: Mailer) {
    this.#context = context;
    this.#mailer = mailer;
  }

  /** Takes a request, and returns at once. */
  ask(request: ResetRequest): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#context.log.warn({ requestId: request.requestId }, 'too many mails wait: one is dropped');
      return;
    }
    this.#waiting.push(request);
    this.#running ??= this.#work();
  }

  /** Finishes the mail that is being sent; those that wait are dropped. */
  async close(): Promise<void> {
    this.#waiting.length = 0;
    await this.#running;
    this.#mailer.close();
  }

  async #work(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      try {
        await this.#answer(next);
      } catch (error) {
        // Neither the address nor the link, which a mail server's words may repeat.
        const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
        this.#context.log.error({ requestId: next.requestId, code }, 'a mail could not be sent');
      }
    }
    this.#running = undefined;
  }

  async #answer({ email, address, at, requestId }: ResetRequest): Promise<void> {
    const { db, clock, addresses } = this.#context;
    const fromHere = { subject: 'reset-mail', address: networkOf(address) };
    if ((await db.write((tx) => countAttempt(tx, fromHere, ADDRESS_LIMIT, at))).outcome === 'locked') return;
    const userId = await resettableUser(db.read, email);
    if (userId === undefined) return;
    const toAccount = { subject: `reset-mail:${userId}`, address: '' };
    if ((await db.write((tx) => countAttempt(tx, toAccount, ACCOUNT_LIMIT, at))).outcome === 'locked') return;
    const actor: Actor = { userId: null, credentialId: null, address, requestId };
    const { secret, to } = await db.write((tx) => createPasswordReset(tx, actor, userId, clock()));
    const url = resetUrl(addresses.clientBaseUrl, secret);
    await this.#mailer.send({ to, subject: 'A new password for Assay', text: mailText(url) });
  }
}

function mailText(url: string): string {
  return [
    'Somebody, probably you, asked for a new password for your account at Assay.',
    '',
    'Choose it here within the next hour. The link works once:',
    '',
    url,
    '',
    'If it was not you, ignore this mail: your password stays as it is.',
    '',
  ].join('\n');
}
