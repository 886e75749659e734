import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';

const NICENESS = 10;

/**
 * Lowers the priority of the calling thread, and of threads that it starts, below the threads that serve requests. Does
 * nothing except on Linux, the only system where a thread has a priority of its own.
 */
export function lowerThreadPriority(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), NICENESS);
  } catch {
    // Without /proc, the thread keeps the priority of its process.
  }
}
