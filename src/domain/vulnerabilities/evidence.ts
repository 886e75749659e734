import type { Principal } from '../../auth/callers.ts';
import { DomainError } from '../shared/errors.ts';
import { belongsToStaff } from '../shared/permissions.ts';

/** The fields that only staff may change in what staff reported (docs/roles.md), named as in the audit log. */
const EVIDENCE_FIELDS = [
  'assessment',
  'title',
  'description',
  'severity',
  'cvss_score',
  'cvss_vector',
  'category',
  'impact',
  'recommended_fix',
  'cve_ids',
  'cwe_ids',
  'exploitable_locations',
  'validation_steps',
  'http_requests',
  'reference_urls',
  'asset_uids',
] as const;

/**
 * @param changed names of the fields that differ
 * @throws DomainError `forbidden` if the caller would change what staff reported
 */
export function requireEvidenceUnchanged(
  caller: Pick<Principal, 'staff'>,
  { reported_by_staff: mark }: { reported_by_staff: number },
  changed: readonly string[],
): void {
  const fields = EVIDENCE_FIELDS.filter((field) => changed.includes(field));
  if (belongsToStaff(caller, mark) && fields.length > 0)
    throw new DomainError('staff-evidence', {
      fields: fields.map((field) => (field === 'assessment' ? 'assessment_id' : field)),
    });
}
