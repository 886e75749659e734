import type { Logger } from 'pino';
import type { Problem } from './problems.ts';

const SECOND = 1_000;

/** What was not told yet of requests that all fail alike. */
interface Untold {
  count: number;
  last: object;
  message: string;
}

const waiting = new WeakMap<Logger, { untold: Untold | undefined }>();

/**
 * Tells the log of a failure that is the server's. While the database cannot answer, every request says the same: the
 * first is told at once, the others once a second, with how many they were.
 */
export function logFailure(log: Logger, requestId: string, problem: Problem): void {
  const { message } = problem;
  const about = { requestId, err: problem.cause ?? problem };
  if (problem.kind !== 'unavailable') {
    log.error(about, message);
    return;
  }
  const state = waiting.get(log);
  if (state !== undefined) {
    state.untold = { count: (state.untold?.count ?? 0) + 1, last: about, message };
    return;
  }
  log.error({ ...about, count: 1 }, message);
  waitASecond(log);
}

function waitASecond(log: Logger): void {
  const state: { untold: Untold | undefined } = { untold: undefined };
  waiting.set(log, state);
  setTimeout(() => {
    waiting.delete(log);
    if (state.untold === undefined) return;
    const { count, last, message } = state.untold;
    log.error({ ...last, count }, message);
    waitASecond(log);
  }, SECOND).unref();
}
