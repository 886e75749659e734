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
import { StorageError } from '../db/engine.ts';
import type { ByteStream, FileStore } from './file-store.ts';

/** How long, in ms, nothing may move. */
const TIMEOUT = 30_000;
/** How often, and how long in ms before the second time, a request is sent that the store could not answer. */
const MAX_ATTEMPTS = 3;
const RETRY_DELAY = 200;

/** Bytes that are read at once of those. */
const READ_CHUNK_SIZE = 64 * 1024;

/** The bytes of a request, in a file because their number and hash go before them. */
interface StagedFile {
  file: FileHandle;
  size: number;
  sha256: string;
}

/** Contents as objects of an S3-compatible store. */
export class S3Store implements FileStore {
  readonly #settings: S3Settings;

  constructor(settings: S3Settings) {
    this.#settings = settings;
  }

  async write(key: string, content: ByteStream): Promise<void> {
    const file = await open(stagedPath(key), 'wx+', 0o600);
    try {
      // Without a name nothing stays of it when the process dies; one that dies right here is cleared up by `remove`.
      rmSync(stagedPath(key));
      const hash = createHash('sha256');
      let size = 0;
      for await (const piece of content) {
        hash.update(piece);
        await file.appendFile(piece);
        size += piece.length;
      }
      const answer = await this.#send('PUT', key, {}, { file, size, sha256: hash.digest('hex') });
      await requireStatus(answer, [200], `PUT ${key}`);
    } finally {
      await file.close();
    }
  }

  async *read(key: string, start: number, end: number): ByteStream {
    const answer = await this.#send('GET', key, { range: `bytes=${start}-${end}` });
    if (answer.statusCode !== 206) await requireStatus(answer, [206], `GET ${key}`);
    yield* answer;
  }

  async remove(key: string): Promise<void> {
    await rm(stagedPath(key), { force: true });
    await requireStatus(await this.#send('DELETE', key), [200, 204, 404], `DELETE ${key}`);
  }

  /** @returns the first answer that is not the store's own failure */
  async #send(
    method: string,
    key: string,
    headers: Record<string, string> = {},
    staged?: StagedFile,
  ): Promise<IncomingMessage> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer = await this.#sendOnce(method, key, headers, staged);
        const { statusCode = 0 } = answer;
        if (statusCode < 500 && statusCode !== 429) return answer;
        answer.resume();
        throw new StorageError(`The store of attachments answers ${statusCode}.`);
      } catch (error) {
        if (attempt === MAX_ATTEMPTS)
          throw error instanceof StorageError
            ? error
            : new StorageError('The store of attachments does not answer.', { cause: error });
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
    // Loaded when it is used: a thread that keeps its files elsewhere would take a tenth of its start for it.
    const { request: send } =
      signed.url.protocol === 'https:' ? await import('node:https') : await import('node:http');
    return new Promise((resolve, reject) => {
      const request = send(signed.url, {
        method,
        timeout: TIMEOUT,
        headers: { ...Object.fromEntries(signed.headers), 'content-length': staged?.size ?? 0 },
      });
      request.on('response', resolve).on('error', reject);
      request.on('timeout', () => request.destroy(new Error('Nothing moves.')));
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

/** Leaves the file open, as it may be sent again. */
async function* bytesOf({ file, size }: StagedFile): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size;) {
    const { bytesRead, buffer } = await file.read(
      Buffer.allocUnsafe(READ_CHUNK_SIZE),
      0,
      READ_CHUNK_SIZE,
      at,
    );
    if (bytesRead === 0) throw new Error('The staged bytes end too soon.');
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

/** SHA-256 of nothing. */
const EMPTY_SHA256 = createHash('sha256').digest('hex');

/** Reads the answer to its end, so that its connection is free again. The store's words go to the log alone. */
async function requireStatus(
  answer: IncomingMessage,
  wanted: readonly number[],
  what: string,
): Promise<void> {
  const { statusCode = 0 } = answer;
  let words = '';
  for await (const piece of answer) if (words.length < 2_000) words += String(piece);
  if (!wanted.includes(statusCode))
    throw new Error(`The store of attachments answered ${what} with ${statusCode}: ${words}`);
}
