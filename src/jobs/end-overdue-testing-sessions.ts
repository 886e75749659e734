import { randomUUID } from 'node:crypto';
import type { Actor } from '../auth/callers.ts';
import type { Context } from '../runtime/context.ts';
import { endOverdueTestingSessions } from '../domain/assessments/testing-sessions.ts';
import type { JobHandler } from './runner.ts';

const INTERVAL = 5 * 60_000;
/** Sessions ended in one unit of work, so that others need not wait long. */
const BATCH_SIZE = 500;

/** Ends testing sessions that nobody has stopped within 24 hours; readers know that they have ended before it does. */
export const endOverdueTestingSessionsJob = ({ db, clock }: Context): JobHandler => ({
  kind: 'session-ends',
  interval: INTERVAL,
  maxAttempts: 3,
  async run({ signal }) {
    const actor: Actor = {
      kind: 'system',
      userId: null,
      credentialId: null,
      address: null,
      requestId: randomUUID(),
    };
    for (let ended = BATCH_SIZE; ended === BATCH_SIZE;) {
      signal.throwIfAborted();
      ended = await db.write((tx) => endOverdueTestingSessions(tx, { actor, now: clock() }, BATCH_SIZE));
    }
  },
});
