import type { Logger } from 'pino';
import type { Problem } from './problems.ts';

const THROTTLE_MILLISECONDS = 1_000;

/** What was not told yet of requests that all fail alike. */
interface SuppressedErrors {
  count: number;
  last: object;
  message: string;
}

const throttledLogs = new WeakMap<Logger, { untold: SuppressedErrors | undefined }>();

/**
 * Tells the log of a failure that is the server's. While the database cannot answer, every request says the same: the
 * first is told at once, the others once a second, with how many they were.
 */
export function logServerError(log: Logger, requestId: string, problem: Problem): void {
  const { message } = problem;
  const err = problem.cause ?? problem;
  if (problem.type !== 'unavailable') {
    log.error({ requestId, err }, message);
    return;
  }
  const about = { requestId, reason: formatCauses(err) };
  const state = throttledLogs.get(log);
  if (state !== undefined) {
    state.untold = { count: (state.untold?.count ?? 0) + 1, last: about, message };
    return;
  }
  log.error({ ...about, count: 1 }, message);
  throttle(log);
}

function throttle(log: Logger): void {
  const state: { untold: SuppressedErrors | undefined } = { untold: undefined };
  throttledLogs.set(log, state);
  setTimeout(() => {
    throttledLogs.delete(log);
    if (state.untold === undefined) return;
    const { count, last, message } = state.untold;
    log.error({ ...last, count }, message);
    throttle(log);
  }, THROTTLE_MILLISECONDS).unref();
}

/** What went wrong, and what that came of. Where in the code it did says nothing of a database that cannot answer. */
function formatCauses(error: unknown): string {
  const reasons: string[] = [];
  for (let at = error; at instanceof Error && reasons.length < 3; at = at.cause) reasons.push(at.message);
  return reasons.join(' ');
}
