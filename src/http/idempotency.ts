import { createHash, type Hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../auth/callers.ts';
import type { Context } from '../runtime/context.ts';
import type { Database, Transaction } from '../db/engine.ts';
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

export interface IdempotencyOptions {
  /** Properties that are not stored with the response. Without `recreate`, a replay is a 409. */
  omitted?: readonly string[];
  /** @returns the omitted properties for a replay; `body` is the stored response */
  recreate?(body: Readonly<Record<string, unknown>>, caller: Caller): Promise<Record<string, unknown>>;
  /** The handler reads the body itself, and passes `write` a hash begun by `startRequestHash`. */
  hashedByHandler?: true;
}

export type IdempotentWrite<Body> = (
  unit: (tx: Transaction) => Promise<Body | OperationResult<Body>>,
  options?: {
    /** For an operation that hashes its body itself. */
    hash?: string;
    /**
     * Does the same in a transaction shared with other requests. Used without a key, as storing a response needs a
     * transaction of its own.
     */
    batched?(): Promise<Body | OperationResult<Body>>;
    /** Changes thousands of rows. */
    large?: boolean;
  },
) => Promise<OperationResult<Body>>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the operation supports `Idempotency-Key`. */
    repeats?: boolean;
  }
  interface FastifyRequest {
    /** The body as sent, to compare replays by. */
    rawBody: string;
    idempotentRequest: IdempotentRequest | undefined;
    write: IdempotentWrite<unknown> | Database['write'] | undefined;
  }
}

/** A request with an idempotency key. */
interface IdempotentRequest {
  id: string;
  userId: number;
  /** Absent until the handler has computed it. */
  hash: string | undefined;
}

export function needsRawBody({ headers, routeOptions }: FastifyRequest): boolean {
  return headers['idempotency-key'] !== undefined && routeOptions.config.repeats === true;
}

/** Starts the hash of a request with its query and media type. The caller adds the body. */
export function startRequestHash({ headers, url }: Pick<FastifyRequest, 'headers' | 'url'>): Hash {
  const mark = url.indexOf('?');
  const query = mark < 0 ? '' : url.slice(mark + 1);
  const mediaType = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return createHash('sha256').update(JSON.stringify([query, mediaType]));
}

/**
 * Makes an operation idempotent: a replay gets the stored response (docs/decided.md, section 3). One instance an
 * operation.
 */
export class IdempotencyHandler {
  readonly #context: Context;
  readonly #options: IdempotencyOptions;
  /** Running requests of this process. The database has those of other instances. */
  readonly #running = new Set<string>();

  constructor(context: Context, options: IdempotencyOptions) {
    this.#context = context;
    this.#options = options;
  }

  /**
   * Looks for the stored response of a request, once it is authorized and its body is read. Sets the status of the
   * reply.
   * @throws Problem for an invalid key, for one that another request used, and if the response cannot be replayed
   */
  async findStored(
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<OperationResult<unknown> | undefined> {
    const key = request.headers['idempotency-key'];
    const userId = request.caller?.userId ?? null;
    // The operator has no account that a response could belong to.
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
    if (this.#options.hashedByHandler === true) {
      request.idempotentRequest = { id, userId, hash: undefined };
      return undefined;
    }
    const hash = startRequestHash(request).update(request.rawBody).digest('base64url');
    request.idempotentRequest = { id, userId, hash };
    const stored = await findStoredResponse(this.#context.db.read, id, this.#context.clock());
    return stored && this.#replay(stored, hash, request, reply);
  }

  /** @param headers headers of the response in addition to those of the result */
  writerFor(
    request: FastifyRequest,
    reply: FastifyReply,
    headers: Readonly<Record<string, string>>,
  ): IdempotentWrite<unknown> {
    const { db, clock } = this.#context;
    const { abortState: signal, idempotentRequest } = request;
    if (idempotentRequest === undefined)
      return async (unit, { batched, large = false } = {}) =>
        toOperationResult(await (batched === undefined ? db.write(unit, { large, signal }) : batched()));
    const { id, userId } = idempotentRequest;
    return async (unit, { hash = idempotentRequest.hash, large = false } = {}) => {
      if (hash === undefined) throw new Error('A handler that hashes its body itself must pass the hash.');
      if (this.#running.has(id)) throw stillRunning();
      this.#running.add(id);
      try {
        const now = clock();
        const done = await db.write(
          async (tx) => {
            const [isFree, stored] = await Promise.all([
              lockIdempotencyKey(tx, id),
              findStoredResponse(tx, id, now),
            ]);
            if (!isFree) throw stillRunning();
            if (stored !== undefined) return stored;
            const result = toOperationResult(await unit(tx));
            const text = serializeBody(reply, result.body);
            const response = {
              requestHash: hash,
              status: reply.statusCode,
              headers: { ...headers, ...result.headers },
              version: result.version,
              body: this.#storedBody(text),
            };
            await storeResponse(tx, userId, id, response, now);
            return new OperationResult(result.body, result.version, result.headers, { text });
          },
          { large, signal },
        );
        return done instanceof OperationResult ? done : await this.#replay(done, hash, request, reply);
      } finally {
        this.#running.delete(id);
      }
    };
  }

  async #replay(
    { requestHash: storedHash, status, headers, version, body }: StoredResponse,
    hash: string,
    { caller }: FastifyRequest,
    reply: FastifyReply,
  ): Promise<OperationResult<undefined>> {
    const { omitted = [], recreate } = this.#options;
    if (storedHash !== hash)
      throw new Problem(
        'validation-failed',
        `This ${IDEMPOTENCY_KEY_HEADER} was used for another request. Use a new key for each request, and the same key only to retry it.`,
        { source: IDEMPOTENCY_KEY_HEADER },
      );
    if (omitted.length > 0 && recreate === undefined)
      throw new Problem(
        'conflict',
        `The first request with this key succeeded. Its response contained ${omitted.join(', ')}, which is shown only once.`,
        { source: IDEMPOTENCY_KEY_HEADER },
      );
    reply.code(status);
    let text = body;
    if (recreate !== undefined) {
      const stored = JSON.parse(body) as Record<string, unknown>;
      text = serializeBody(reply, { ...stored, ...(await recreate(stored, caller as Caller)) });
    }
    return new OperationResult(
      undefined,
      version,
      { ...headers, [IDEMPOTENCY_REPLAYED_HEADER]: 'true' },
      { text, isReplay: true },
    );
  }

  #storedBody(text: string): string {
    const { omitted } = this.#options;
    if (omitted === undefined) return text;
    const body = JSON.parse(text) as Record<string, unknown>;
    for (const name of omitted) delete body[name];
    return JSON.stringify(body);
  }
}

/** Without a stored response, the first request is still running; a retry soon finds it. */
function stillRunning(): Problem {
  return new Problem('conflict', `The first request with this ${IDEMPOTENCY_KEY_HEADER} is still running.`, {
    source: IDEMPOTENCY_KEY_HEADER,
    headers: { 'retry-after': '1' },
  });
}

/** Request header of an idempotent operation, for the API description. */
export const IDEMPOTENCY_HEADERS = {
  [IDEMPOTENCY_KEY_HEADER]: {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    pattern: KEY_PATTERN.source,
    description:
      'A unique key for this request. A request with the same key within 24 hours gets the stored response and changes nothing.',
    examples: ['8e03978e-40d5-43dd-bc93-6894a57f9324'],
  },
};

export const ReplayedHeader = {
  type: 'string',
  enum: ['true'],
  description: 'The response is the stored one of the first request with this key.',
};
