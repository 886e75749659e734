import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { tryAdvisoryLock } from '../../db/dialect-sql.ts';
import { prepareQuery, preparePipelined } from '../../db/prepared-queries.ts';
import type { Row } from '../../db/schema.ts';

/** Milliseconds. */
export const RESPONSE_TTL = 24 * 3_600_000;
/** Bytes. */
const COMPRESS_ABOVE = 64 * 1024;

/** Identifies a request that a client may repeat. */
export interface RequestIdentity {
  userId: number;
  method: string;
  path: string;
  /** The `Idempotency-Key` that the client sent. */
  key: string;
}

export interface StoredResponse {
  /** SHA-256 of the request, base64url. */
  requestHash: string;
  status: number;
  headers: Readonly<Record<string, string>>;
  /** The version of the one object in the body; `null` otherwise. */
  version: number | null;
  /** JSON. */
  body: string;
}

type StoredRow = Omit<Row<'idempotency_keys'>, 'id' | 'user_id' | 'created_at'>;

const selectRow = prepareQuery<{ id: string; after: number }, StoredRow>((db, p) =>
  db
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'status', 'headers', 'version', 'body', 'body_is_gzip'])
    .where('id', '=', p.id)
    .where('created_at', '>', p.after),
);

/** An expired row may still exist. */
const upsertRow = preparePipelined<StoredRow & { id: string; user: number; now: number }>((tx, p) =>
  tx
    .insertInto('idempotency_keys')
    .values({
      id: p.id,
      user_id: p.user,
      request_hash: p.request_hash,
      status: p.status,
      headers: p.headers,
      version: p.version,
      body: p.body,
      body_is_gzip: p.body_is_gzip,
      created_at: p.now,
    })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => ({
        request_hash: eb.ref('excluded.request_hash'),
        status: eb.ref('excluded.status'),
        headers: eb.ref('excluded.headers'),
        version: eb.ref('excluded.version'),
        body: eb.ref('excluded.body'),
        body_is_gzip: eb.ref('excluded.body_is_gzip'),
        created_at: eb.ref('excluded.created_at'),
      })),
    ),
);

/** @returns a hash that identifies the request of the account, without revealing the key */
export function idempotencyId({ userId, method, path, key }: RequestIdentity): string {
  return createHash('sha256')
    .update(JSON.stringify([userId, method, path, key]))
    .digest('base64url');
}

/**
 * Locks the id until the transaction ends.
 * @param id the result of `idempotencyId`
 * @returns false if another transaction has the lock
 */
export function lockIdempotencyKey(tx: Transaction, id: string): Promise<boolean> {
  return tryAdvisoryLock(tx, Buffer.from(id, 'base64url').readBigInt64BE(0));
}

/** @returns the response to the request of this id, unless it has expired */
export async function findStoredResponse(
  db: ReadConnection,
  id: string,
  now: number,
): Promise<StoredResponse | undefined> {
  const [row] = await selectRow(db, { id, after: now - RESPONSE_TTL });
  if (row === undefined) return undefined;
  const { request_hash: requestHash, status, headers, version, body, body_is_gzip: bodyIsGzip } = row;
  return {
    requestHash,
    status,
    headers: JSON.parse(headers) as Record<string, string>,
    version,
    body: bodyIsGzip === 1 ? decompress(body) : body,
  };
}

/** Stores the response in the transaction of the change: both are committed, or neither. */
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
    body: isLarge ? compress(body) : body,
    body_is_gzip: isLarge ? 1 : 0,
    now,
  });
}

// Synchronous, as a transaction waits for nothing but its database. The largest responses take a few milliseconds.
function compress(text: string): string {
  return gzipSync(text, { level: 1 }).toString('base64');
}

function decompress(text: string): string {
  return gunzipSync(Buffer.from(text, 'base64')).toString('utf8');
}
