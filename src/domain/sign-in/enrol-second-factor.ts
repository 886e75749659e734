import type { Attribution } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { DomainError } from '../shared/errors.ts';
import { replaceRecoveryCodes } from './recovery-codes.ts';
import { lockFactors, type FactorOwner, hasSecondFactor, secondFactorsOf } from './second-factors.ts';
import { endSessions } from './end-sessions.ts';
import { requireSession } from './sessions.ts';

/**
 * Gives a first factor, with recovery codes, to someone who has proved nothing but their password; their other sessions
 * end.
 * @param session in which they do it, with its owner
 * @param add stores the factor, in the same unit of work
 * @throws Failure `conflict` when the account has a factor, which they are then to prove instead; SessionEnded when the
 *   session ended in the meantime
 */
export async function enrolFirstSecondFactor(
  tx: Transaction,
  act: Attribution,
  session: FactorOwner & { id: string },
  codes: readonly string[],
  add: () => Promise<void>,
): Promise<void> {
  await lockFactors(tx, session.userId);
  if (hasSecondFactor(await secondFactorsOf(tx, session.userId)))
    throw new DomainError('conflict', { code: 'second-factor-exists' });
  await requireSession(tx, session.id);
  await add();
  await replaceRecoveryCodes(tx, act, session, codes);
  await endSessions(tx, act, session, session.id);
}
