import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { ReadConnection, Transaction } from '../../db/engine.ts';
import { tryAdvisoryLock } from '../../db/dialect-sql.ts';
import { prepareQuery, preparePipelined } from '../../db/prepared-queries.ts';

/** How long, in milliseconds, an answer is given again. */
export const RESPONSE_TTL = 24 * 3_600_000;
/** Bytes of a body above which it is compressed. */
const COMPRESS_ABOVE = 64 * 1024;

/** What a request that may come again is known by. */
export interface IdempotencyScope {
  userId: number;
  method: string;
  path: string;
  /** What the client calls it. */
  key: string;
}

/** What is answered again. */
export interface StoredResponse {
  /** SHA-256 of the request that it answered, base64url. */
  requestHash: string;
  status: number;
  /** Texts by name. */
  headers: Readonly<Record<string, string>>;
  /** Of the one thing that it tells of; `null` for several. */
  version: number | null;
  /** JSON. */
  body: string;
}

interface StoredRow {
  request_hash: string;
  status: number;
  headers: string;
  version: number | null;
  body: string;
  compressed: number;
}

const selectRow = prepareQuery<{ id: string; after: number }, StoredRow>((db, p) =>
  db
    .selectFrom('kept_answers')
    .select(['request_hash', 'status', 'headers', 'version', 'body', 'compressed'])
    .where('id', '=', p.id)
    .where('kept_at', '>', p.after),
);

/** One that is too old to be given again may still be there. */
const upsertRow = preparePipelined<StoredRow & { id: string; user: number; now: number }>((tx, p) =>
  tx
    .insertInto('kept_answers')
    .values({
      id: p.id,
      user_id: p.user,
      request_hash: p.request_hash,
      status: p.status,
      headers: p.headers,
      version: p.version,
      body: p.body,
      compressed: p.compressed,
      kept_at: p.now,
    })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => ({
        request_hash: eb.ref('excluded.request_hash'),
        status: eb.ref('excluded.status'),
        headers: eb.ref('excluded.headers'),
        version: eb.ref('excluded.version'),
        body: eb.ref('excluded.body'),
        compressed: eb.ref('excluded.compressed'),
        kept_at: eb.ref('excluded.kept_at'),
      })),
    ),
);

/** @returns what tells the request from others of the account, and of other accounts; nobody reads the key in it */
export function idempotencyId({ userId, method, path, key }: IdempotencyScope): string {
  return createHash('sha256')
    .update(JSON.stringify([userId, method, path, key]))
    .digest('base64url');
}

/**
 * Keeps other requests of the same id out until this unit of work ends, however it ends.
 * @param id of `repeatId`
 * @returns false when another unit of work has it
 */
export function lockIdempotencyKey(tx: Transaction, id: string): Promise<boolean> {
  return tryAdvisoryLock(tx, Buffer.from(id, 'base64url').readBigInt64BE(0));
}

/** @returns what was answered to the request of this id; not when that was too long ago */
export async function findStoredResponse(
  db: ReadConnection,
  id: string,
  now: number,
): Promise<StoredResponse | undefined> {
  const [row] = await selectRow(db, { id, after: now - RESPONSE_TTL });
  if (row === undefined) return undefined;
  const { request_hash: requestHash, status, headers, version, body, compressed } = row;
  return {
    requestHash,
    status,
    headers: JSON.parse(headers) as Record<string, string>,
    version,
    body: compressed === 1 ? await decompress(body) : body,
  };
}

/** Keeps an answer in the unit of work that it tells of: one is there with the other, or neither is. */
export async function storeResponse(
  tx: Transaction,
  userId: number,
  id: string,
  { requestHash, status, headers, version, body }: StoredResponse,
  now: number,
): Promise<void> {
  const isLarge = Buffer.byteLength(body) > COMPRESS_ABOVE;
  await upsertRow(tx, {
    id,
    user: userId,
    request_hash: requestHash,
    status,
    headers: JSON.stringify(headers),
    version,
    body: isLarge ? await compress(body) : body,
    compressed: isLarge ? 1 : 0,
    now,
  });
}

// Both work in threads of their own, so that the event loop goes on.
const gzipAsync = promisify<string, { level: number }, Buffer>(gzip);
const gunzipAsync = promisify<Buffer, Buffer>(gunzip);

async function compress(text: string): Promise<string> {
  return (await gzipAsync(text, { level: 1 })).toString('base64');
}

async function decompress(text: string): Promise<string> {
  return (await gunzipAsync(Buffer.from(text, 'base64'))).toString('utf8');
}
