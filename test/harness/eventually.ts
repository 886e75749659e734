import { vi } from 'vitest';
import { WAIT_TIMEOUT } from './timeouts.ts';

/** Checks again and again until a check passes, and returns its result. `vi.waitFor` alone gives up after a second. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: WAIT_TIMEOUT, interval: 20 });
