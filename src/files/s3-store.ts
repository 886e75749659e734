import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pipeline } from 'node:stream/promises';
import { AwsV4Signer } from 'aws4fetch';
import type { S3Settings } from '../config/attachment-store.ts';
import { StorageError } from '../db/database.ts';
import type { ByteStream, FileStore } from './file-store.ts';

/** Milliseconds without traffic after which a request is aborted. */
const TIMEOUT = 30_000;
/** Attempts per request; retried when the store responds with 429 or 5xx, or not at all. */
const MAX_ATTEMPTS = 3;
/** Milliseconds before the second attempt. */
const RETRY_DELAY = 200;

const READ_CHUNK_SIZE = 64 * 1024;

/** The body of a request, spooled to a file because its length and hash are sent before it. */
interface StagedFile {
  file: FileHandle;
  size: number;
  sha256: string;
}

/** Stores files as objects of an S3-compatible store. */
export class S3Store implements FileStore {
  readonly #settings: S3Settings;

  constructor(settings: S3Settings) {
    this.#settings = settings;
  }

  async write(key: string, content: ByteStream): Promise<void> {
    const file = await open(stagedPath(key), 'wx+', 0o600);
    try {
      // Unlinked, so that the system frees it with the process. After a crash right here, `remove` deletes it.
      rmSync(stagedPath(key));
      const hash = createHash('sha256');
      let size = 0;
      for await (const chunk of content) {
        hash.update(chunk);
        await file.appendFile(chunk);
        size += chunk.length;
      }
      const response = await this.#send('PUT', key, {}, { file, size, sha256: hash.digest('hex') });
      await requireStatus(response, [200], `PUT ${key}`);
    } finally {
      await file.close();
    }
  }

  async *read(key: string, start: number, end: number): ByteStream {
    const response = await this.#send('GET', key, { range: `bytes=${start}-${end}` });
    if (response.statusCode !== 206) await requireStatus(response, [206], `GET ${key}`);
    yield* response;
  }

  async remove(key: string): Promise<void> {
    await rm(stagedPath(key), { force: true });
    await requireStatus(await this.#send('DELETE', key), [200, 204, 404], `DELETE ${key}`);
  }

  /** @returns the first response that is not a failure of the store */
  async #send(
    method: string,
    key: string,
    headers: Record<string, string> = {},
    staged?: StagedFile,
  ): Promise<IncomingMessage> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const response = await this.#sendOnce(method, key, headers, staged);
        const { statusCode = 0 } = response;
        if (statusCode < 500 && statusCode !== 429) return response;
        response.resume();
        throw new StorageError(
          'unavailable',
          `The attachment store responded with ${describeResponse(response)}.`,
        );
      } catch (error) {
        if (attempt === MAX_ATTEMPTS)
          throw error instanceof StorageError
            ? error
            : new StorageError('unavailable', 'The attachment store does not respond.', { cause: error });
        await delay(RETRY_DELAY * attempt);
      }
    }
  }

  async #sendOnce(
    method: string,
    key: string,
    headers: Record<string, string>,
    staged: StagedFile | undefined,
  ): Promise<IncomingMessage> {
    const { accessKeyId, secretAccessKey, sessionToken, region } = this.#settings;
    const signer = new AwsV4Signer({
      method,
      url: this.#urlOf(key),
      headers: { ...headers, 'x-amz-content-sha256': staged?.sha256 ?? EMPTY_SHA256 },
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === undefined ? {} : { sessionToken }),
      service: 's3',
      region,
    });
    const signed = await signer.sign();
    // Loaded on first use: it takes a tenth of a worker's start, and most deployments need neither.
    const { request: send } =
      signed.url.protocol === 'https:' ? await import('node:https') : await import('node:http');
    return new Promise((resolve, reject) => {
      const request = send(signed.url, {
        method,
        timeout: TIMEOUT,
        headers: { ...Object.fromEntries(signed.headers), 'content-length': staged?.size ?? 0 },
      });
      request.on('response', resolve).on('error', reject);
      request.on('timeout', () => request.destroy(new Error('The connection timed out.')));
      if (staged === undefined) request.end();
      else pipeline(bytesOf(staged), request).catch(reject);
    });
  }

  #urlOf(key: string): string {
    const { bucket, prefix, region, endpoint } = this.#settings;
    const base =
      endpoint === undefined ? `https://${bucket}.s3.${region}.amazonaws.com` : `${endpoint}/${bucket}`;
    const path = `${prefix}${key}`.split('/').map(encodeURIComponent).join('/');
    return `${base}/${path}`;
  }
}

function stagedPath(key: string): string {
  return join(tmpdir(), `assay-${key}`);
}

/** Leaves the file open for a retry. */
async function* bytesOf({ file, size }: StagedFile): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < size;) {
    const { bytesRead, buffer } = await file.read(
      Buffer.allocUnsafe(READ_CHUNK_SIZE),
      0,
      READ_CHUNK_SIZE,
      offset,
    );
    if (bytesRead === 0) throw new Error('The staged file is shorter than expected.');
    yield buffer.subarray(0, bytesRead);
    offset += bytesRead;
  }
}

const EMPTY_SHA256 = createHash('sha256').digest('hex');

/**
 * Reads the response to its end, to free the connection.
 * @throws Error with what `describeResponse` returns, if the status is another one
 */
async function requireStatus(
  response: IncomingMessage,
  expected: readonly number[],
  operation: string,
): Promise<void> {
  const { statusCode = 0 } = response;
  let body = '';
  for await (const chunk of response) if (body.length < 2_000) body += String(chunk);
  if (!expected.includes(statusCode))
    throw new Error(
      `The attachment store responded to ${operation} with ${describeResponse(response, body)}.`,
    );
}

/** @returns the status, error code and request id; the rest of a response may repeat the credentials */
function describeResponse({ statusCode = 0, headers }: IncomingMessage, body = ''): string {
  const code = /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(body)?.[1];
  const id = /^[A-Za-z0-9-]{1,64}$/.exec(String(headers['x-amz-request-id'] ?? ''))?.[0];
  return `${statusCode}${code === undefined ? '' : ` ${code}`}${id === undefined ? '' : ` (request ${id})`}`;
}
