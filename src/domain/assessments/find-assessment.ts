import type { Caller } from '../../auth/callers.ts';
import type { Reader, Transaction } from '../../db/engine.ts';
import { holdingRows } from '../../db/dialect-sql.ts';
import { missing } from '../shared/errors.ts';
import { listingWithin, reachOfAccount, reachParameters } from '../shared/visibility.ts';
import { ASSESSMENT_UID } from './assessments.ts';

/** An assessment that a caller has access to, as far as rules about what is in it need to know. */
export interface ReachedAssessment {
  id: number;
  uid: string;
  organizationId: number;
  state: string;
}

const reached = (db: Reader, caller: Caller, uid: string) =>
  db
    .selectFrom('assessments')
    .select(['id', 'uid', 'organization_id as organizationId', 'state'])
    .where('uid', '=', ASSESSMENT_UID.test(uid) ? uid : '')
    .where(listingWithin(reachOfAccount(caller), reachParameters(caller)));

/**
 * @param uid of any form
 * @throws Failure `missing` for an assessment that the caller has no access to
 */
export async function requireAssessment(db: Reader, caller: Caller, uid: string): Promise<ReachedAssessment> {
  const assessment = await reached(db, caller, uid).executeTakeFirst();
  if (assessment === undefined) throw missing('assessment');
  return assessment;
}

/** The same, and keeps others from changing it until this unit of work ends. */
export async function holdReachedAssessment(
  tx: Transaction,
  caller: Caller,
  uid: string,
): Promise<ReachedAssessment> {
  const assessment = await reached(tx, caller, uid).modifyEnd(holdingRows(tx)).executeTakeFirst();
  if (assessment === undefined) throw missing('assessment');
  return assessment;
}
