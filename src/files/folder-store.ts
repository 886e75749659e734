import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ByteStream, FileStore } from './file-store.ts';

const READ_BUFFER_SIZE = 64 * 1024;

/** Contents as files of a folder, which several instances may share. */
export class FolderStore implements FileStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async write(key: string, content: ByteStream): Promise<void> {
    const path = this.#pathOf(key);
    const made = await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const unfinished = partialPath(path);
    await withFile(unfinished, 'wx', async (file) => {
      for await (const piece of content) await writeFully(file, piece);
      await file.sync();
    });
    await rename(unfinished, path);
    // A name is durable once its folder is, and so is the folder's own.
    await syncFolder(dirname(path));
    if (made !== undefined) {
      await syncFolder(this.#folder);
      await syncFolder(dirname(this.#folder));
    }
  }

  read(key: string, start: number, end: number): ByteStream {
    return createReadStream(this.#pathOf(key), { start, end, highWaterMark: READ_BUFFER_SIZE });
  }

  async remove(key: string): Promise<void> {
    const path = this.#pathOf(key);
    await rm(partialPath(path), { force: true });
    await rm(path, { force: true });
  }

  /** Folders stay small: there are 256 of them. */
  #pathOf(key: string): string {
    return join(this.#folder, key.slice(0, 2), key);
  }
}

function partialPath(path: string): string {
  return `${path}.part`;
}

async function writeFully(file: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length;) at += (await file.write(piece, at)).bytesWritten;
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
