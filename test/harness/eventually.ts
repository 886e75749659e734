import { vi } from 'vitest';
import { WAIT_TIMEOUT } from './timeouts.ts';

/** Repeats a check until it passes, and returns its result. `vi.waitFor` stops after a second by default. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: WAIT_TIMEOUT, interval: 20 });
