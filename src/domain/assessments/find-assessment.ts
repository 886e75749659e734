import type { Caller } from '../../auth/callers.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { forNoKeyUpdate } from '../../db/dialect-sql.ts';
import { notFound } from '../shared/errors.ts';
import { assessmentIsVisible, visibilityOf, visibilityParameters } from '../shared/visibility.ts';
import { ASSESSMENT_UID } from './assessments.ts';

export interface VisibleAssessment {
  id: number;
  uid: string;
  organizationId: number;
  state: string;
}

const selectVisible = (db: ReadConnection, caller: Caller, uid: string) =>
  db
    .selectFrom('assessments')
    .select(['id', 'uid', 'organization_id as organizationId', 'state'])
    .where('uid', '=', ASSESSMENT_UID.test(uid) ? uid : '')
    .where(assessmentIsVisible(visibilityOf(caller), visibilityParameters(caller)));

/**
 * @param uid a uid in any format, valid or not
 * @throws DomainError `not-found`
 */
export async function requireAssessment(
  db: ReadConnection,
  caller: Caller,
  uid: string,
): Promise<VisibleAssessment> {
  const assessment = await selectVisible(db, caller, uid).executeTakeFirst();
  if (assessment === undefined) throw notFound('assessment');
  return assessment;
}

/** @throws DomainError `not-found` */
export async function lockAssessment(
  tx: Transaction,
  caller: Caller,
  uid: string,
): Promise<VisibleAssessment> {
  const assessment = await selectVisible(tx, caller, uid).modifyEnd(forNoKeyUpdate(tx)).executeTakeFirst();
  if (assessment === undefined) throw notFound('assessment');
  return assessment;
}
