import { type SqlBool, sql } from 'kysely';
import type { Transaction } from '../../db/engine.ts';
import { inList } from '../../db/dialect-sql.ts';
import { assessmentIsVisible, visibilityOf, visibilityParameters } from '../shared/visibility.ts';
import type { FindingsJob } from './import-types.ts';
import type { Sighting } from './sighting.ts';

/**
 * Accepted Risk, Not Valid and Out Of Scope. Duplicate refers to a finding of the same assessment and is never carried
 * over.
 */
const CARRIED_STATUSES = [6, 7, 9];

/**
 * Finds the decisions on the same findings in other assessments that the importer can see.
 * @returns status ids by identity; the latest decision wins
 */
export async function findCarriedDecisions(
  tx: Transaction,
  { organizationId, assessment, caller }: FindingsJob,
  sightings: readonly Sighting[],
): Promise<Map<string, number>> {
  const identities = sightings.map(({ identity }) => identity);
  const rows = await tx
    .selectFrom('scanner_findings as finding')
    .innerJoin('vulnerabilities', 'vulnerabilities.id', 'finding.vulnerability_id')
    .innerJoin('assessments', 'assessments.id', 'finding.assessment_id')
    .select(['finding.identity', 'vulnerabilities.status_id'])
    .where((eb) => inList(tx, eb.ref('finding.identity'), identities))
    .where('finding.organization_id', '=', organizationId)
    .where('finding.assessment_id', '<>', assessment.id)
    .where('vulnerabilities.status_id', 'in', CARRIED_STATUSES)
    .where(sql<SqlBool>`${assessmentIsVisible(visibilityOf(caller), visibilityParameters(caller))}`)
    .orderBy('vulnerabilities.status_set_at')
    .orderBy('vulnerabilities.id')
    .execute();
  return new Map(rows.map(({ identity, status_id }) => [identity, status_id]));
}
