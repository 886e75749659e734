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
  const err = problem.cause ?? problem;
  if (problem.kind !== 'unavailable') {
    log.error({ requestId, err }, message);
    return;
  }
  const about = { requestId, reason: reasonsOf(err) };
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

/** What went wrong, and what that came of. Where in the code it did says nothing of a database that cannot answer. */
function reasonsOf(error: unknown): string {
  const reasons: string[] = [];
  for (let at = error; at instanceof Error && reasons.length < 3; at = at.cause) reasons.push(at.message);
  return reasons.join(' ');
}
