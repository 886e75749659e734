import { accessSync, constants, mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
/** In containers, /dev/shm has 64 MiB by default, too little for a few databases. */
const ENOUGH_BYTES = 2 * 1024 ** 3;

const base = hasMemoryRoom() ? MEMORY : tmpdir();

/**
 * Creates a temporary folder, in memory if there is enough: fsync is slow on disk. Tests of durability use
 * `os.tmpdir()`.
 * @param parent parent folder
 */
export function temporaryFolder(parent: string = base): string {
  return mkdtempSync(join(parent, 'assay-test-'));
}

function hasMemoryRoom(): boolean {
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ENOUGH_BYTES;
  } catch {
    return false;
  }
}
