import { createHash, type Hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../auth/callers.ts';
import type { Context } from '../runtime/context.ts';
import type { Transaction } from '../db/engine.ts';
import {
  findStoredResponse,
  storeResponse,
  type StoredResponse,
  lockIdempotencyKey,
  idempotencyId,
} from '../domain/shared/idempotency-keys.ts';
import { Problem } from './problems.ts';
import { OperationResult, serializeBody, toOperationResult } from './operation-result.ts';

export const IDEMPOTENCY_KEY_HEADER = 'Idempotency-Key';
export const IDEMPOTENCY_REPLAYED_HEADER = 'Idempotency-Replayed';

const KEY_PATTERN = /^[!-~]{1,255}$/;

/** What an operation says of its repeats, where there is something to say. */
export interface IdempotencyOptions {
  /** Members of the answer that are not kept. Without `remake`, a repeat is a 409. */
  omitted?: readonly string[];
  /** @returns those members, for a repeat; `body` is what was kept */
  recreate?(body: Readonly<Record<string, unknown>>, caller: Caller): Promise<Record<string, unknown>>;
  /** The handler reads the body itself, and gives `change` the digest of a `requestHash`. */
  hashedByHandler?: true;
}

/**
 * Changes something, in place of `db.write`: the result of the unit of work is the answer, which is kept with it for
 * repeats of the request. A repeat that finds one kept gets that, and its unit is not run.
 */
export type IdempotentWrite<Body> = (
  unit: (tx: Transaction) => Promise<Body | OperationResult<Body>>,
  options?: {
    /** Of an operation that hashes itself. */
    hash?: string;
    /** Does the same in a unit that other requests share: where no answer is kept, which wants one of its own. */
    together?(): Promise<Body | OperationResult<Body>>;
    /** It changes thousands of rows. */
    large?: boolean;
  },
) => Promise<OperationResult<Body>>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the operation looks at `Idempotency-Key`. */
    repeats?: boolean;
  }
  interface FastifyRequest {
    /** The body as it came, where a repeat is compared by it. */
    rawBody: string;
    idempotentRequest: IdempotentRequest | undefined;
    change: IdempotentWrite<unknown> | undefined;
  }
}

/** A request that may come again. */
interface IdempotentRequest {
  /** Of `repeatId`. */
  id: string;
  userId: number;
  /** Absent until the handler knows it. */
  hash: string | undefined;
}

/** Whether the parser keeps the text of a body. */
export function needsRawBody({ headers, routeOptions }: FastifyRequest): boolean {
  return headers['idempotency-key'] !== undefined && routeOptions.config.repeats === true;
}

/** @returns a hash of the request so far, its query and media type, that takes what its body has */
export function startRequestHash({ headers, url }: Pick<FastifyRequest, 'headers' | 'url'>): Hash {
  const mark = url.indexOf('?');
  const query = mark < 0 ? '' : url.slice(mark + 1);
  const mediaType = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return createHash('sha256').update(JSON.stringify([query, mediaType]));
}

/** Sees to it that a request that comes again does what it does once (docs/decided.md, section 3). One an operation. */
export class IdempotencyHandler {
  readonly #context: Context;
  readonly #rule: IdempotencyOptions;
  /** What runs in this process; an instance learns of others from the database. */
  readonly #running = new Set<string>();

  constructor(context: Context, rule: IdempotencyOptions) {
    this.#context = context;
    this.#rule = rule;
  }

  /**
   * Looks whether the request has been answered; to be called once it is let in and its body is read.
   * @returns what is answered again, whose status the reply then has
   * @throws Problem for a bad key, for one that another request had, and where a repeat cannot be answered
   */
  async findStored(
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<OperationResult<unknown> | undefined> {
    const key = request.headers['idempotency-key'];
    const userId = request.caller?.userId ?? null;
    // The command line has no account that an answer could belong to.
    if (key === undefined || userId === null) return undefined;
    if (typeof key !== 'string' || !KEY_PATTERN.test(key))
      throw new Problem(
        'invalid-request',
        `${IDEMPOTENCY_KEY_HEADER} must be 1 to 255 visible ASCII characters.`,
        {
          source: IDEMPOTENCY_KEY_HEADER,
        },
      );
    const { method, url } = request;
    const [path = ''] = url.split('?', 1);
    const id = idempotencyId({ userId, method, path, key });
    if (this.#rule.hashedByHandler === true) {
      request.idempotentRequest = { id, userId, hash: undefined };
      return undefined;
    }
    const hash = startRequestHash(request).update(request.rawBody).digest('base64url');
    request.idempotentRequest = { id, userId, hash };
    const kept = await findStoredResponse(this.#context.db.read, id, this.#context.clock());
    return kept && this.#answerAgain(kept, hash, request, reply);
  }

  /** @param headers that the answer has whatever the handler says */
  writerFor(
    request: FastifyRequest,
    reply: FastifyReply,
    headers: Readonly<Record<string, string>>,
  ): IdempotentWrite<unknown> {
    const { db, clock } = this.#context;
    const { idempotentRequest } = request;
    if (idempotentRequest === undefined)
      return async (unit, { together, large = false } = {}) =>
        toOperationResult(await (together === undefined ? db.write(unit, { large }) : together()));
    const { id, userId } = idempotentRequest;
    return async (unit, { hash = idempotentRequest.hash, large = false } = {}) => {
      if (hash === undefined)
        throw new Error('An operation that hashes its body itself has to say the hash.');
      if (this.#running.has(id)) throw stillRunning();
      this.#running.add(id);
      try {
        const now = clock();
        const done = await db.write(
          async (tx) => {
            const [isFree, kept] = await Promise.all([
              lockIdempotencyKey(tx, id),
              findStoredResponse(tx, id, now),
            ]);
            if (!isFree) throw stillRunning();
            if (kept !== undefined) return kept;
            const sent = toOperationResult(await unit(tx));
            const text = serializeBody(reply, sent.body);
            const answer = {
              requestHash: hash,
              status: reply.statusCode,
              headers: { ...headers, ...sent.headers },
              version: sent.version,
              body: this.#bodyKept(text),
            };
            await storeResponse(tx, userId, id, answer, now);
            return new OperationResult(sent.body, sent.version, sent.headers, { text });
          },
          { large },
        );
        return done instanceof OperationResult ? done : await this.#answerAgain(done, hash, request, reply);
      } finally {
        this.#running.delete(id);
      }
    };
  }

  async #answerAgain(
    { requestHash: answered, status, headers, version, body }: StoredResponse,
    hash: string,
    { caller }: FastifyRequest,
    reply: FastifyReply,
  ): Promise<OperationResult<undefined>> {
    const { omitted = [], recreate } = this.#rule;
    if (answered !== hash)
      throw new Problem(
        'validation-failed',
        `Another request had this ${IDEMPOTENCY_KEY_HEADER}: a key is for one request and its repeats.`,
        { source: IDEMPOTENCY_KEY_HEADER },
      );
    if (omitted.length > 0 && recreate === undefined)
      throw new Problem(
        'conflict',
        `This was done, and answered, before. The answer had ${omitted.join(', ')}, which is shown once.`,
        { source: IDEMPOTENCY_KEY_HEADER },
      );
    reply.code(status);
    let text = body;
    if (recreate !== undefined) {
      const kept = JSON.parse(body) as Record<string, unknown>;
      text = serializeBody(reply, { ...kept, ...(await recreate(kept, caller as Caller)) });
    }
    return new OperationResult(
      undefined,
      version,
      { ...headers, [IDEMPOTENCY_REPLAYED_HEADER]: 'true' },
      { text, isRepeat: true },
    );
  }

  #bodyKept(text: string): string {
    const { omitted } = this.#rule;
    if (omitted === undefined) return text;
    const body = JSON.parse(text) as Record<string, unknown>;
    for (const name of omitted) delete body[name];
    return JSON.stringify(body);
  }
}

/** The first is not done, or its answer would be there; whoever asks again soon finds that. */
function stillRunning(): Problem {
  return new Problem(
    'conflict',
    `The first request with this ${IDEMPOTENCY_KEY_HEADER} is still being answered.`,
    {
      source: IDEMPOTENCY_KEY_HEADER,
      headers: { 'retry-after': '1' },
    },
  );
}

/** The request header of an operation that may be repeated, as the description has it. */
export const IDEMPOTENCY_HEADERS = {
  [IDEMPOTENCY_KEY_HEADER]: {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    pattern: KEY_PATTERN.source,
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
