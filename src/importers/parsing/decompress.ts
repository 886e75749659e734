import { createGunzip, createInflateRaw, type Gunzip, type InflateRaw } from 'node:zlib';
import { ReportError, type ByteSource } from '../report.ts';

const MAX_RATIO = 200;
const MAX_UNPACKED = 16 * 1024 ** 3;
/** Bytes that may be decompressed before the ratio applies, if the file size is unknown. */
const RATIO_EXEMPT_SIZE = 64 * 1024 * 1024;
const CHUNK = 64 * 1024;
/** Entries of a zip file, including folders and skipped ones: each needs its own decompressor. */
const MAX_ENTRIES = 1_000;

const GZIP_MAGIC = [0x1f, 0x8b];
const ZIP_MAGIC = [0x50, 0x4b, 0x03, 0x04];
/** Fixed part of a local file header (APPNOTE 4.3.7). */
const HEADER_SIZE = 30;
/** The longest data descriptor (4.3.9) with the signature that follows it. */
const MAX_DESCRIPTOR = 28;

/**
 * Decompresses gzip (including several members) and zip files with a single file besides folders and the metadata of
 * macOS, recognised by their first bytes. Other files pass unchanged.
 * @param size bytes of the file, if known
 * @returns a source that throws ReportError if the file is damaged or truncated, contains several files or more than
 *   1,000 entries, or decompresses to more than 200 times its size or 16 GiB. Skipped entries count as well
 */
export function decompress(source: ByteSource, size?: number): ByteSource {
  return () => decompressed(new ByteReader(source()), size);
}

async function* decompressed(bytes: ByteReader, size: number | undefined): AsyncGenerator<Uint8Array, void> {
  try {
    const head = await bytes.peek(4);
    const count = sizeLimit(bytes, size);
    if (startsWith(head, GZIP_MAGIC)) yield* countBytes(inflated(bytes, gunzip()), count);
    else if (startsWith(head, ZIP_MAGIC)) yield* unzipped(bytes, count);
    else yield* bytes.readRest();
  } finally {
    await bytes.close();
  }
}

/** @returns a function that takes the bytes of each decompressed chunk, and throws ReportError if they are too many */
function sizeLimit({ bytesRead }: ByteReader, size: number | undefined): (length: number) => void {
  let total = 0;
  return (length) => {
    total += length;
    const limit =
      size === undefined ? Math.max(RATIO_EXEMPT_SIZE, bytesRead() * MAX_RATIO) : size * MAX_RATIO;
    if (total > limit)
      throw new ReportError(`The file decompresses to more than ${MAX_RATIO} times its size.`);
    if (total > MAX_UNPACKED) throw new ReportError('The file decompresses to more than 16 GiB.');
  };
}

async function* countBytes(
  chunks: AsyncIterable<Uint8Array>,
  count: (length: number) => void,
): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of chunks) {
    count(chunk.length);
    yield chunk;
  }
}

const gunzip = (): Gunzip => createGunzip({ chunkSize: CHUNK, readableHighWaterMark: 1 } as object);
const inflateRaw = (): InflateRaw =>
  createInflateRaw({ chunkSize: CHUNK, readableHighWaterMark: 1 } as object);

/**
 * Yields everything that could be decompressed before an error, because half a report is useful. Returns unused input
 * to `bytes`.
 */
async function* inflated(bytes: ByteReader, stream: Gunzip | InflateRaw): AsyncGenerator<Uint8Array, void> {
  const out: Uint8Array[] = [];
  let failure: Error | undefined;
  let hasEnded = false;
  let wake: () => void = () => undefined;
  stream.on('data', (chunk: Uint8Array) => {
    out.push(chunk);
    stream.pause();
    wake();
  });
  stream.on('error', (error) => {
    failure = error;
    wake();
  });
  stream.on('end', () => {
    hasEnded = true;
    wake();
  });
  let bytesIn = 0;
  /** Input that the stream may not have needed. */
  let recent: Uint8Array[] = [];
  let wantsInput = true;
  let isInputFinished = false;
  try {
    for (;;) {
      yield* out.splice(0);
      if (failure !== undefined) {
        const isTruncated = (failure as NodeJS.ErrnoException).code === 'Z_BUF_ERROR';
        throw new ReportError(
          isTruncated
            ? 'The compressed file is truncated.'
            : `The compressed file is damaged (${failure.message}).`,
        );
      }
      if (hasEnded) break;
      const woken = new Promise<void>((resolve) => (wake = resolve));
      if (wantsInput && !isInputFinished) {
        const chunk = await bytes.next();
        isInputFinished = chunk === undefined;
        if (chunk === undefined) stream.end();
        else {
          if (stream.bytesWritten >= bytesIn) recent = [];
          bytesIn += chunk.length;
          recent.push(chunk);
          wantsInput = false;
          stream.write(chunk, () => {
            wantsInput = true;
            wake();
          });
        }
      }
      stream.resume();
      await woken;
    }
    const unused = bytesIn - stream.bytesWritten;
    const recentInput = Buffer.concat(recent);
    if (unused > 0) bytes.unread(recentInput.subarray(recentInput.length - unused));
  } finally {
    stream.destroy();
  }
}

async function* unzipped(
  bytes: ByteReader,
  count: (length: number) => void,
): AsyncGenerator<Uint8Array, void> {
  let hasFile = false;
  for (let entries = 1; ; entries += 1) {
    const signature = await bytes.peek(4);
    if (!startsWith(signature, ZIP_MAGIC)) {
      if (!hasFile) throw new ReportError('The zip file contains no file.');
      return;
    }
    if (entries > MAX_ENTRIES)
      throw new ReportError(`The zip file contains more than ${MAX_ENTRIES} entries.`);
    const header = await bytes.take(HEADER_SIZE);
    const flags = header.readUInt16LE(6);
    const method = header.readUInt16LE(8);
    const compressedSize = header.readUInt32LE(18);
    const name = (await bytes.take(header.readUInt16LE(26))).toString();
    await bytes.take(header.readUInt16LE(28));
    const hasDescriptor = (flags & 8) !== 0;
    if ((flags & 1) !== 0) throw new ReportError('The zip file is encrypted. Import the report itself.');
    if (method !== 8 && (method !== 0 || hasDescriptor || compressedSize === 0xffffffff))
      throw new ReportError('The zip file uses an unsupported compression method.');
    // Folders, and the metadata that macOS adds.
    const isIgnored = name.endsWith('/') || name.startsWith('__MACOSX/');
    if (!isIgnored && hasFile)
      throw new ReportError('The zip file contains more than one file. Import each report on its own.');
    hasFile ||= !isIgnored;
    // A size in the header makes decompression unnecessary.
    const isSkipped = isIgnored && !hasDescriptor && compressedSize !== 0xffffffff;
    const contents =
      method === 8 && !isSkipped
        ? countBytes(inflated(bytes, inflateRaw()), count)
        : bytes.readExactly(compressedSize);
    for await (const chunk of contents) if (!isIgnored) yield chunk;
    if (hasDescriptor) await skipDescriptor(bytes);
  }
}

async function skipDescriptor(bytes: ByteReader): Promise<void> {
  const descriptor = Buffer.from(await bytes.peek(MAX_DESCRIPTOR));
  for (const length of [16, 12, 24, 20]) {
    const next = descriptor.subarray(length, length + 4);
    if (next[0] === 0x50 && next[1] === 0x4b) return void (await bytes.take(length));
  }
  throw new ReportError('The zip file is damaged or truncated.');
}

function startsWith(bytes: Uint8Array, signature: readonly number[]): boolean {
  return signature.every((byte, index) => bytes[index] === byte);
}

/** Reads a byte stream in pieces of any length. */
class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #ahead: Uint8Array[] = [];
  #bytesRead = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Excludes bytes that were returned with `unread`. */
  readonly bytesRead = (): number => this.#bytesRead;

  /** @returns the next chunk; `undefined` at the end */
  async next(): Promise<Uint8Array | undefined> {
    let chunk = this.#ahead.shift();
    while (chunk === undefined || chunk.length === 0) {
      const { done, value } = await this.#source.next();
      if (done === true) return undefined;
      chunk = value;
    }
    this.#bytesRead += chunk.length;
    return chunk;
  }

  unread(chunk: Uint8Array): void {
    this.#bytesRead -= chunk.length;
    this.#ahead.unshift(chunk);
  }

  /** @returns the next bytes without consuming them; fewer at the end */
  async peek(length: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    let size = 0;
    while (size < length) {
      const chunk = await this.next();
      if (chunk === undefined) break;
      parts.push(chunk.slice());
      size += chunk.length;
    }
    const bytes = Buffer.concat(parts);
    if (size > 0) this.unread(bytes);
    return bytes.subarray(0, length);
  }

  /** @throws ReportError at the end */
  async take(length: number): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    for await (const chunk of this.readExactly(length)) parts.push(chunk.slice());
    return Buffer.concat(parts);
  }

  async *readExactly(length: number): AsyncGenerator<Uint8Array, void> {
    for (let missing = length; missing > 0;) {
      const chunk = await this.next();
      if (chunk === undefined) throw new ReportError('The compressed file is truncated.');
      if (chunk.length > missing) this.unread(chunk.subarray(missing));
      yield chunk.subarray(0, missing);
      missing -= Math.min(missing, chunk.length);
    }
  }

  async *readRest(): AsyncGenerator<Uint8Array, void> {
    for (let chunk = await this.next(); chunk !== undefined; chunk = await this.next()) yield chunk;
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }
}
