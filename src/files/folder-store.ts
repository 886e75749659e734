import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ByteStream, FileStore } from './file-store.ts';

const READ_BUFFER_SIZE = 64 * 1024;

/** Stores files in a folder, which several instances may share. */
export class FolderStore implements FileStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async write(key: string, content: ByteStream): Promise<void> {
    const path = this.#pathOf(key);
    const created = await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const partial = partialPath(path);
    await withFile(partial, 'wx', async (file) => {
      for await (const chunk of content) await writeFully(file, chunk);
      await file.sync();
    });
    await rename(partial, path);
    // A new entry is durable once its folder is synced; so is a new folder in its parent.
    await syncFolder(dirname(path));
    if (created !== undefined) {
      await syncFolder(this.#folder);
      await syncFolder(dirname(this.#folder));
    }
  }

  /** Opens the file when it is first read. */
  async *read(key: string, start: number, end: number): ByteStream {
    yield* createReadStream(this.#pathOf(key), { start, end, highWaterMark: READ_BUFFER_SIZE });
  }

  async remove(key: string): Promise<void> {
    const path = this.#pathOf(key);
    await rm(partialPath(path), { force: true });
    await rm(path, { force: true });
  }

  /** Spreads files over 256 subfolders, so that each stays small. */
  #pathOf(key: string): string {
    return join(this.#folder, key.slice(0, 2), key);
  }
}

function partialPath(path: string): string {
  return `${path}.part`;
}

async function writeFully(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length;) written += (await file.write(chunk, written)).bytesWritten;
}

async function syncFolder(path: string): Promise<void> {
  await withFile(path, 'r', (folder) => folder.sync());
}

async function withFile(
  path: string,
  flags: string,
  use: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const file = await open(path, flags, 0o600);
  try {
    await use(file);
  } finally {
    await file.close();
  }
}
