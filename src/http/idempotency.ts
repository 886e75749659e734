import { createHash, type Hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../auth/callers.ts';
import type { Context } from '../runtime/context.ts';
import type { Transaction } from '../db/engine.ts';
import {
  findKeptAnswer,
  keepAnswer,
  type KeptAnswer,
  lockRepeat,
  repeatId,
} from '../domain/shared/idempotency-keys.ts';
import { Problem } from './problems.ts';
import { SentAnswer, serializeBody, toSentAnswer } from './operation-result.ts';

export const KEY_HEADER = 'Idempotency-Key';
export const REPLAYED_HEADER = 'Idempotency-Replayed';

const VISIBLE = /^[!-~]{1,255}$/;

/** What an operation says of its repeats, where there is something to say. */
export interface RepeatRule {
  /** Members of the answer that are not kept. Without `remake`, a repeat is a 409. */
  withheld?: readonly string[];
  /** @returns those members, for a repeat; `body` is what was kept */
  remake?(body: Readonly<Record<string, unknown>>, caller: Caller): Promise<Record<string, unknown>>;
  /** The handler reads the body itself, and gives `change` the digest of a `requestHash`. */
  hashesItself?: true;
}

/**
 * Changes something, in place of `db.write`: the result of the unit of work is the answer, which is kept with it for
 * repeats of the request. A repeat that finds one kept gets that, and its unit is not run.
 */
export type Change<Body> = (
  unit: (tx: Transaction) => Promise<Body | SentAnswer<Body>>,
  options?: {
    /** Of an operation that hashes itself. */
    hash?: string;
    /** Does the same in a unit that other requests share: where no answer is kept, which wants one of its own. */
    together?(): Promise<Body | SentAnswer<Body>>;
    /** It changes thousands of rows. */
    large?: boolean;
  },
) => Promise<SentAnswer<Body>>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the operation looks at `Idempotency-Key`. */
    repeats?: boolean;
  }
  interface FastifyRequest {
    /** The body as it came, where a repeat is compared by it. */
    bodyText: string;
    repeat: Repeat | undefined;
    change: Change<unknown> | undefined;
  }
}

/** A request that may come again. */
interface Repeat {
  /** Of `repeatId`. */
  id: string;
  userId: number;
  /** Absent until the handler knows it. */
  hash: string | undefined;
}

/** Whether the parser keeps the text of a body. */
export function wantsBodyText({ headers, routeOptions }: FastifyRequest): boolean {
  return headers['idempotency-key'] !== undefined && routeOptions.config.repeats === true;
}

/** @returns a hash of the request so far, its query and media type, that takes what its body has */
export function requestHash({ headers, url }: Pick<FastifyRequest, 'headers' | 'url'>): Hash {
  const mark = url.indexOf('?');
  const query = mark < 0 ? '' : url.slice(mark + 1);
  const mediaType = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return createHash('sha256').update(JSON.stringify([query, mediaType]));
}

/** Sees to it that a request that comes again does what it does once (docs/decided.md, section 3). One an operation. */
export class Repeats {
  readonly #context: Context;
  readonly #rule: RepeatRule;
  /** What runs in this process; an instance learns of others from the database. */
  readonly #running = new Set<string>();

  constructor(context: Context, rule: RepeatRule) {
    this.#context = context;
    this.#rule = rule;
  }

  /**
   * Looks whether the request has been answered; to be called once it is let in and its body is read.
   * @returns what is answered again, whose status the reply then has
   * @throws Problem for a bad key, for one that another request had, and where a repeat cannot be answered
   */
  async find(request: FastifyRequest, reply: FastifyReply): Promise<SentAnswer<unknown> | undefined> {
    const key = request.headers['idempotency-key'];
    const userId = request.caller?.userId ?? null;
    // The command line has no account that an answer could belong to.
    if (key === undefined || userId === null) return undefined;
    if (typeof key !== 'string' || !VISIBLE.test(key))
      throw new Problem('invalid-request', `${KEY_HEADER} must be 1 to 255 visible ASCII characters.`, {
        source: KEY_HEADER,
      });
    const { method, url } = request;
    const [path = ''] = url.split('?', 1);
    const id = repeatId({ userId, method, path, key });
    if (this.#rule.hashesItself === true) {
      request.repeat = { id, userId, hash: undefined };
      return undefined;
    }
    const hash = requestHash(request).update(request.bodyText).digest('base64url');
    request.repeat = { id, userId, hash };
    const kept = await findKeptAnswer(this.#context.db.read, id, this.#context.clock());
    return kept && this.#answerAgain(kept, hash, request, reply);
  }

  /** @param headers that the answer has whatever the handler says */
  changeOf(
    request: FastifyRequest,
    reply: FastifyReply,
    headers: Readonly<Record<string, string>>,
  ): Change<unknown> {
    const { db, clock } = this.#context;
    const { repeat } = request;
    if (repeat === undefined)
      return async (unit, { together, large = false } = {}) =>
        toSentAnswer(await (together === undefined ? db.write(unit, { large }) : together()));
    const { id, userId } = repeat;
    return async (unit, { hash = repeat.hash, large = false } = {}) => {
      if (hash === undefined)
        throw new Error('An operation that hashes its body itself has to say the hash.');
      if (this.#running.has(id)) throw stillRuns();
      this.#running.add(id);
      try {
        const now = clock();
        const done = await db.write(
          async (tx) => {
            const [isFree, kept] = await Promise.all([lockRepeat(tx, id), findKeptAnswer(tx, id, now)]);
            if (!isFree) throw stillRuns();
            if (kept !== undefined) return kept;
            const sent = toSentAnswer(await unit(tx));
            const text = serializeBody(reply, sent.body);
            const answer = {
              requestHash: hash,
              status: reply.statusCode,
              headers: { ...headers, ...sent.headers },
              version: sent.version,
              body: this.#bodyKept(text),
            };
            await keepAnswer(tx, userId, id, answer, now);
            return new SentAnswer(sent.body, sent.version, sent.headers, { text });
          },
          { large },
        );
        return done instanceof SentAnswer ? done : await this.#answerAgain(done, hash, request, reply);
      } finally {
        this.#running.delete(id);
      }
    };
  }

  async #answerAgain(
    { requestHash: answered, status, headers, version, body }: KeptAnswer,
    hash: string,
    { caller }: FastifyRequest,
    reply: FastifyReply,
  ): Promise<SentAnswer<undefined>> {
    const { withheld = [], remake } = this.#rule;
    if (answered !== hash)
      throw new Problem(
        'validation-failed',
        `Another request had this ${KEY_HEADER}: a key is for one request and its repeats.`,
        { source: KEY_HEADER },
      );
    if (withheld.length > 0 && remake === undefined)
      throw new Problem(
        'conflict',
        `This was done, and answered, before. The answer had ${withheld.join(', ')}, which is shown once.`,
        { source: KEY_HEADER },
      );
    reply.code(status);
    let text = body;
    if (remake !== undefined) {
      const kept = JSON.parse(body) as Record<string, unknown>;
      text = serializeBody(reply, { ...kept, ...(await remake(kept, caller as Caller)) });
    }
    return new SentAnswer(
      undefined,
      version,
      { ...headers, [REPLAYED_HEADER]: 'true' },
      { text, isRepeat: true },
    );
  }

  #bodyKept(text: string): string {
    const { withheld } = this.#rule;
    if (withheld === undefined) return text;
    const body = JSON.parse(text) as Record<string, unknown>;
    for (const name of withheld) delete body[name];
    return JSON.stringify(body);
  }
}

/** The first is not done, or its answer would be there; whoever asks again soon finds that. */
function stillRuns(): Problem {
  return new Problem('conflict', `The first request with this ${KEY_HEADER} is still being answered.`, {
    source: KEY_HEADER,
    headers: { 'retry-after': '1' },
  });
}

/** The request header of an operation that may be repeated, as the description has it. */
export const REPEAT_HEADERS = {
  [KEY_HEADER]: {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    pattern: VISIBLE.source,
    description:
      'What the client calls this request: sent again with the same key within 24 hours, it is answered as before and changes nothing.',
    examples: ['8e03978e-40d5-43dd-bc93-6894a57f9324'],
  },
};

export const ReplayedHeader = {
  type: 'string',
  enum: ['true'],
  description: 'The request was answered before; this is the same answer.',
};
