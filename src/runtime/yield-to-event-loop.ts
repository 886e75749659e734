import { setImmediate } from 'node:timers/promises';

/** Resolves in the next turn of the event loop, after pending I/O callbacks. */
export const yieldToEventLoop = (): Promise<void> => setImmediate();
