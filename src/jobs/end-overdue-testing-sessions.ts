import { randomUUID } from 'node:crypto';
import type { Actor } from '../auth/callers.ts';
import { endOverdueTestingSessions } from '../domain/assessments/testing-sessions.ts';
import type { Context } from '../context.ts';
import type { JobHandler } from './runner.ts';

const INTERVAL = 5 * 60_000;
/** Sessions per transaction, so that other writers do not wait long. */
const BATCH_SIZE = 500;

/** Ends testing sessions that have been running for 24 hours. Until then, readers treat them as ended. */
export const endOverdueTestingSessionsJob = ({ db, clock }: Context): JobHandler => ({
  kind: 'end-testing-sessions',
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
