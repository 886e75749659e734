import { sql, type SqlBool } from 'kysely';
import { inList } from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/engine.ts';
import { STATUS } from '../shared/statuses-and-severities.ts';
import { assessmentIsVisible, visibilityOf, visibilityParameters } from '../shared/visibility.ts';
import type { Detection } from './detection.ts';
import type { FindingsJob } from './import-types.ts';

/**
 * Accepted Risk, Not Valid and Out Of Scope. Duplicate refers to a finding of the same assessment and is never carried
 * over.
 */
const CARRIED_STATUSES = [STATUS.acceptedRisk, STATUS.notValid, STATUS.outOfScope];

/**
 * Finds the decisions on the same findings in other assessments that the importer can see.
 * @returns status ids by identity; the latest decision wins
 */
export async function findCarriedDecisions(
  tx: Transaction,
  { organizationId, assessment, caller }: FindingsJob,
  detections: readonly Detection[],
): Promise<Map<string, number>> {
  const identities = detections.map(({ identity }) => identity);
  const rows = await tx
    .selectFrom('scanner_findings as finding')
    .innerJoin('vulnerabilities', 'vulnerabilities.id', 'finding.vulnerability_id')
    .innerJoin('assessments', 'assessments.id', 'finding.assessment_id')
    .select(['finding.identity_hash as identity', 'vulnerabilities.status_id'])
    .where((eb) => inList(tx, eb.ref('finding.identity_hash'), identities))
    .where('finding.organization_id', '=', organizationId)
    .where('finding.assessment_id', '<>', assessment.id)
    .where('vulnerabilities.status_id', 'in', CARRIED_STATUSES)
    .where(sql<SqlBool>`${assessmentIsVisible(visibilityOf(caller), visibilityParameters(caller))}`)
    .orderBy('vulnerabilities.status_set_at')
    .orderBy('vulnerabilities.id')
    .execute();
  return new Map(rows.map(({ identity, status_id }) => [identity, status_id]));
}
