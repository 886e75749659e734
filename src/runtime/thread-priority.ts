import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';

/** By how much long work stands back where processors are few, as `nice` has it. */
const NICENESS = 10;

/**
 * Lets the threads in which somebody waits for an answer go before this one. On Linux a thread has a priority of its own,
 * which the threads that it starts inherit; elsewhere nothing happens, as it cannot be told from its process.
 */
export function lowerThreadPriority(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), NICENESS);
  } catch {
    // Without /proc it has the priority of its process.
  }
}
