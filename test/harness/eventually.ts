import { vi } from 'vitest';

/** Milliseconds. What a test waits for happens at last, also on a slow machine; a fast one does not wait. */
export const PATIENCE = 120_000;

/** Checks again and again until a check passes, and returns its result. `vi.waitFor` alone gives up after a second. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: PATIENCE, interval: 20 });
