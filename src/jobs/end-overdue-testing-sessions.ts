import { randomUUID } from 'node:crypto';
import type { Actor } from '../auth/callers.ts';
import type { Context } from '../runtime/context.ts';
import { endOverdueSessions } from '../domain/assessments/testing-sessions.ts';
import type { JobKind } from './runner.ts';

const EVERY = 5 * 60_000;
/** Sessions ended in one unit of work, so that others need not wait long. */
const AT_ONCE = 500;

/** Ends testing sessions that nobody has stopped within 24 hours; readers know that they have ended before it does. */
export const sessionEnds = ({ db, clock }: Context): JobKind => ({
  kind: 'session-ends',
  every: EVERY,
  maxAttempts: 3,
  async run({ signal }) {
    const actor: Actor = {
      kind: 'system',
      userId: null,
      credentialId: null,
      address: null,
      requestId: randomUUID(),
    };
    for (let ended = AT_ONCE; ended === AT_ONCE;) {
      signal.throwIfAborted();
      ended = await db.write((tx) => endOverdueSessions(tx, { actor, now: clock() }, AT_ONCE));
    }
  },
});
