import { createHash, type Hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../auth/callers.ts';
import type { Context } from '../context.ts';
import type { Database, Transaction } from '../db/database.ts';
import { DomainError, type DomainErrorKind, unwrapOutcome } from '../domain/shared/errors.ts';
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

/** Errors that reject a replay. Other errors can be an effect of the first request itself. */
const REPLAY_REJECTIONS: readonly DomainErrorKind[] = ['forbidden', 'not-found', 'invalid'];

const KEY_PATTERN = /^[!-~]{1,255}$/;

export interface IdempotencyOptions {
  /** Properties that are not stored with the response. Without `recreate`, a replay is a 409. */
  omitted?: readonly string[];
  /** @returns the omitted properties for a replay; `body` is the stored response */
  recreate?(body: Readonly<Record<string, unknown>>, caller: Caller): Promise<Record<string, unknown>>;
  /** The handler reads the body itself, and passes `writeOnce` a hash that it started with `startRequestHash`. */
  hashedByHandler?: true;
}

/**
 * `Database.write`, which also stores the response under the request's idempotency key, in the same transaction. A
 * replay of the request gets the stored response: it runs `transaction` to check the caller's rights, and rolls it
 * back. So `transaction` checks rights before conflicts. To commit and then respond with an error, it returns the
 * error.
 */
export type WriteOnce<Body> = (
  transaction: (tx: Transaction) => Promise<Body | OperationResult<Body> | DomainError>,
  options?: {
    /** The hash of the request, for an operation that hashes its body itself. */
    hash?: string;
    /**
     * Runs the change in a transaction shared with other requests. Used only without a key, because storing a response
     * needs a separate transaction.
     */
    batched?(): Promise<Body | OperationResult<Body>>;
    /** Changes thousands of rows. */
    large?: boolean;
  },
) => Promise<OperationResult<Body>>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the operation supports `Idempotency-Key`. */
    idempotent?: boolean;
  }
  interface FastifyRequest {
    /** The body as sent, to compare replays by. */
    rawBody: string;
    idempotentRequest: IdempotentRequest | undefined;
    write: Database['write'] | undefined;
    writeOnce: WriteOnce<unknown> | undefined;
  }
}

interface IdempotentRequest {
  id: string;
  userId: number;
  /** `undefined` if the handler computes it and passes it to `writeOnce`. */
  hash: string | undefined;
  /** The response of the first request. */
  stored?: StoredResponse | undefined;
}

export function needsRawBody({ headers, routeOptions }: FastifyRequest): boolean {
  return headers['idempotency-key'] !== undefined && routeOptions.config.idempotent === true;
}

/** Starts the hash of a request with its query and media type. The caller adds the body. */
export function startRequestHash({ headers, url }: Pick<FastifyRequest, 'headers' | 'url'>): Hash {
  const mark = url.indexOf('?');
  const query = mark < 0 ? '' : url.slice(mark + 1);
  const mediaType = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return createHash('sha256').update(JSON.stringify([query, mediaType]));
}

/** Rolls back the transaction in which a replay checked the caller's rights. */
class RolledBack extends Error {}

/**
 * Makes an operation idempotent: a replay gets the stored response, or the refusal that a first request would get now
 * (docs/decided.md, section 3). There is one instance per operation.
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
   * Sets `request.idempotentRequest`, with the stored response if there is one. Called once the credential is
   * authorized and the body is read.
   * @throws Problem for an invalid key, and for one that another request used
   */
  async findStored(request: FastifyRequest): Promise<void> {
    const key = request.headers['idempotency-key'];
    const userId = request.caller?.userId ?? null;
    // The operator has no account that a response could belong to.
    if (key === undefined || userId === null) return;
    if (typeof key !== 'string' || !KEY_PATTERN.test(key))
      throw new Problem(
        'invalid-request',
        `${IDEMPOTENCY_KEY_HEADER} must be 1 to 255 visible ASCII characters.`,
        { source: IDEMPOTENCY_KEY_HEADER },
      );
    const { method, url } = request;
    const [path = ''] = url.split('?', 1);
    const id = idempotencyId({ userId, method, path, key });
    if (this.#options.hashedByHandler === true) {
      request.idempotentRequest = { id, userId, hash: undefined };
      return;
    }
    const hash = startRequestHash(request).update(request.rawBody).digest('base64url');
    const stored = await findStoredResponse(this.#context.db.read, id, this.#context.clock());
    if (stored !== undefined) requireSameRequest(stored, hash);
    request.idempotentRequest = { id, userId, hash, stored };
  }

  /** @param headers headers of the response in addition to those of the result */
  writerFor(
    request: FastifyRequest,
    reply: FastifyReply,
    headers: Readonly<Record<string, string>>,
  ): WriteOnce<unknown> {
    const { db, clock } = this.#context;
    const { abortState: signal, idempotentRequest } = request;
    if (idempotentRequest === undefined)
      return async (transaction, { batched, large = false } = {}) => {
        const outcome = await (batched === undefined ? db.write(transaction, { large, signal }) : batched());
        return toOperationResult(unwrapOutcome(outcome));
      };
    const { id, userId } = idempotentRequest;
    return async (transaction, { hash = idempotentRequest.hash, large = false } = {}) => {
      if (hash === undefined) throw new Error('A handler that hashes its body itself must pass the hash.');
      if (idempotentRequest.stored === undefined) {
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
              const outcome = await transaction(tx);
              if (outcome instanceof DomainError) return outcome;
              const result = toOperationResult(outcome);
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
          if (done instanceof DomainError) throw done;
          if (done instanceof OperationResult) return done;
          requireSameRequest(done, hash);
          idempotentRequest.stored = done;
        } finally {
          this.#running.delete(id);
        }
      }
      const error = await db.write(
        async (tx) => {
          const outcome = await transaction(tx);
          if (outcome instanceof DomainError) return outcome;
          throw new RolledBack();
        },
        { large, signal },
      );
      idempotentRequest.stored = undefined;
      throw error;
    };
  }

  /**
   * @param error the error that the handler threw
   * @returns the stored response, if the request is a replay that the error does not reject
   * @throws the error otherwise
   */
  async replayAfter(
    error: unknown,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<OperationResult<undefined>> {
    const stored = request.idempotentRequest?.stored;
    const isAllowed =
      error instanceof RolledBack ||
      (error instanceof DomainError && !REPLAY_REJECTIONS.includes(error.kind));
    if (stored === undefined || !isAllowed) throw error;
    return this.#replay(stored, request, reply);
  }

  async #replay(
    { status, headers, version, body }: StoredResponse,
    { caller }: FastifyRequest,
    reply: FastifyReply,
  ): Promise<OperationResult<undefined>> {
    const { omitted = [], recreate } = this.#options;
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

/** @throws Problem if the key was used for another request */
function requireSameRequest({ requestHash }: StoredResponse, hash: string): void {
  if (requestHash === hash) return;
  throw new Problem(
    'validation-failed',
    `This ${IDEMPOTENCY_KEY_HEADER} was used for another request. Use a new key for each request, and the same key only to retry it.`,
    { source: IDEMPOTENCY_KEY_HEADER },
  );
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
      'A unique key for this request. Within 24 hours, a request with the same key changes nothing and gets the stored response, or the refusal that a first request would get now.',
    examples: ['8e03978e-40d5-43dd-bc93-6894a57f9324'],
  },
};

export const ReplayedHeader = {
  type: 'string',
  enum: ['true'],
  description: 'The response is the stored one of the first request with this key.',
};
