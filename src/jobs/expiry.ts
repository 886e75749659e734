import type { Context } from '../runtime/context.ts';
import { removeExpired } from './delete-expired.ts';
import type { JobKind } from './runner.ts';

const HOUR = 3_600_000;

/** Deletes what has ended, once an hour. */
export const expiry = ({ db, config, clock, log }: Context): JobKind => ({
  kind: 'expiry',
  every: HOUR,
  maxAttempts: 3,
  async run({ signal }) {
    const lifetimes = { idle: config.sessionIdle, auditDays: config.auditDays };
    const removed = await removeExpired(db, lifetimes, clock(), () => signal.aborted);
    if (Object.keys(removed).length > 0) log.info({ removed }, 'removed what has expired');
    signal.throwIfAborted();
  },
});
