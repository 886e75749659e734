import { sql } from 'kysely';
import type { Caller } from '../../auth/callers.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { forNoKeyUpdate } from '../../db/dialect-sql.ts';
import { notFound } from '../shared/errors.ts';
import { type CallerRoles, callerRoles } from '../shared/permissions.ts';
import { assessmentIsVisible, visibilityOf, visibilityParameters } from '../shared/visibility.ts';
import { ASSESSMENT_UID, type DraftPolicy } from './assessments.ts';

export interface VisibleAssessment extends CallerRoles {
  id: number;
  uid: string;
  organizationId: number;
  state: string;
  drafts: DraftPolicy;
}

const selectVisible = (
  db: ReadConnection,
  caller: Caller,
  uid: string,
  permission: 'read' | 'read_vulnerabilities' = 'read',
) => {
  const [visibility, p] = [visibilityOf(caller, permission), visibilityParameters(caller)];
  return db
    .selectFrom('assessments')
    .select(['id', 'uid', 'organization_id as organizationId', 'state', 'drafts'])
    .select(callerRoles(visibility, p, sql.ref('assessments.id')))
    .where('uid', '=', ASSESSMENT_UID.test(uid) ? uid : '')
    .where(assessmentIsVisible(visibility, p));
};

/**
 * Finds an assessment that the caller can see, if only its assets. Check what else they may do (`requirePermission`).
 * @param uid a uid in any format, valid or not
 * @throws DomainError `not-found`
 */
export async function requireAssessment(
  db: ReadConnection,
  caller: Caller,
  uid: string,
  permission: 'read' | 'read_vulnerabilities' = 'read',
): Promise<VisibleAssessment> {
  const assessment = await selectVisible(db, caller, uid, permission).executeTakeFirst();
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
