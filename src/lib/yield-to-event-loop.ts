import { setImmediate as nextTurn } from 'node:timers/promises';

/** Resolves in the next turn of the event loop, after pending I/O callbacks. */
export const yieldToEventLoop = (): Promise<void> => nextTurn();

const waiting: (() => void)[] = [];

/**
 * Resolves in a later turn of the event loop, for work of some milliseconds. One caller continues per turn: if all did,
 * the turn would be long, and the process accepts only one connection per turn.
 */
export function takeTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(resumeNext);
  });
}

function resumeNext(): void {
  const resume = waiting.shift();
  if (waiting.length > 0) setImmediate(resumeNext);
  resume?.();
}
