import { accessSync, constants, mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
/** A container gives 64 MiB of it unless told, which a few databases fill. */
const ENOUGH_BYTES = 2 * 1024 ** 3;

const base = hasMemoryRoom() ? MEMORY : tmpdir();

/**
 * Makes a folder for what a test writes and nobody needs after a power cut: in memory where the machine has room there,
 * as the disk of a test machine is slow to say that something is durable. What tests durability uses `os.tmpdir()`.
 * @param within another folder, which it goes with
 */
export function temporaryFolder(within: string = base): string {
  return mkdtempSync(join(within, 'assay-test-'));
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
