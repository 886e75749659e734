import type { Logger } from 'pino';
import type { Problem } from './problems.ts';

const THROTTLE_MILLISECONDS = 1_000;

/** Errors of the same kind that were not logged yet. */
interface SuppressedErrors {
  count: number;
  last: object;
  message: string;
}

const throttledLogs = new WeakMap<Logger, { untold: SuppressedErrors | undefined }>();

/**
 * Logs a server error. While the database is unavailable all requests fail alike: logs the first at once, and then
 * one a second with their number.
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

/** Joins the messages of an error and its causes. The stack says nothing about an unavailable database. */
function formatCauses(error: unknown): string {
  const reasons: string[] = [];
  for (let at = error; at instanceof Error && reasons.length < 3; at = at.cause) reasons.push(at.message);
  return reasons.join(' ');
}
