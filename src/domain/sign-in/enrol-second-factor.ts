import type { ChangeContext } from '../../auth/callers.ts';
import type { Transaction } from '../../db/database.ts';
import { DomainError } from '../shared/errors.ts';
import { replaceRecoveryCodes } from './recovery-codes.ts';
import { lockFactors, type FactorOwner, hasSecondFactor, secondFactorsOf } from './second-factors.ts';
import { endSessions } from './end-sessions.ts';
import { requireSession } from './sessions.ts';

/**
 * Enrols the first second factor, with recovery codes, for a user who has only proved their password. Their other
 * sessions end.
 * @param session the current session
 * @param storeFactor stores the factor in the same transaction
 * @throws DomainError `conflict` if the account already has a second factor, which the user then has to confirm first;
 *   SessionEnded if the session ended in the meantime
 */
export async function enrolSecondFactor(
  tx: Transaction,
  by: ChangeContext,
  session: FactorOwner & { id: string },
  codes: readonly string[],
  storeFactor: () => Promise<void>,
): Promise<void> {
  await lockFactors(tx, session);
  if (hasSecondFactor(await secondFactorsOf(tx, session.userId)))
    throw new DomainError('second-factor-exists');
  await requireSession(tx, session.id);
  await storeFactor();
  await replaceRecoveryCodes(tx, by, session, codes);
  await endSessions(tx, by, session, session.id);
}
