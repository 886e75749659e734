import type { Context } from '../runtime/context.ts';
import { deleteExpired } from './delete-expired.ts';
import type { JobHandler } from './runner.ts';

const HOUR = 3_600_000;

/** Deletes what has ended, once an hour. */
export const deleteExpiredJob = ({ db, config, clock, log }: Context): JobHandler => ({
  kind: 'expiry',
  interval: HOUR,
  maxAttempts: 3,
  async run({ signal }) {
    const lifetimes = { sessionIdle: config.sessionIdle, auditDays: config.auditDays };
    const removed = await deleteExpired(db, lifetimes, clock(), () => signal.aborted);
    if (Object.keys(removed).length > 0) log.info({ removed }, 'removed what has expired');
    signal.throwIfAborted();
  },
});
