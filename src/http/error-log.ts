import type { Logger } from 'pino';
import { LogThrottle } from './log-throttle.ts';
import type { Problem } from './problems.ts';

const THROTTLE_MILLISECONDS = 1_000;

const throttles = new WeakMap<Logger, LogThrottle>();

/**
 * Logs a server error. When the service is unavailable, many requests fail with the same error: logs the first one
 * immediately, and then one line per second with their number.
 */
export function logServerError(log: Logger, requestId: string, problem: Problem): void {
  const { message } = problem;
  const err = problem.cause ?? problem;
  if (problem.type !== 'unavailable') {
    log.error({ requestId, err }, message);
    return;
  }
  let throttle = throttles.get(log);
  if (throttle === undefined) {
    throttle = new LogThrottle(THROTTLE_MILLISECONDS, (last, count) => log.error({ ...last, count }));
    throttles.set(log, throttle);
  }
  const fields = { requestId, reason: formatCauses(err), msg: message };
  if (throttle.isFirst(message, fields)) log.error({ ...fields, count: 1 });
}

/** Joins the messages of an error and its causes. The stack says nothing about an unavailable database. */
function formatCauses(error: unknown): string {
  const reasons: string[] = [];
  for (let cause = error; cause instanceof Error && reasons.length < 3; cause = cause.cause)
    reasons.push(cause.message);
  return reasons.join(' ');
}
