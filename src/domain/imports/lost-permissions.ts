import { isAdminOf } from '../../auth/callers.ts';
import type { ReadConnection } from '../../db/engine.ts';
import { requireAssessment } from '../assessments/find-assessment.ts';
import { DomainError } from '../shared/errors.ts';
import { findAccountRights } from '../tokens/active-tokens.ts';
import type { ImportJob } from './import-types.ts';

/**
 * Checks whether an import may go on. It keeps the permissions that its credential had at the start, even after that
 * expires, but ends when the account is banned or loses access to the assessment or organization.
 * @returns the reason as a sentence; `undefined` if it may go on
 */
export async function findLostPermission(
  db: ReadConnection,
  { caller, organizationId, assessment }: Pick<ImportJob, 'caller' | 'organizationId' | 'assessment'>,
): Promise<string | undefined> {
  if (caller.userId === null) return undefined;
  const account = await findAccountRights(db, caller.userId);
  if (account === undefined) return 'The account that started the import was banned.';
  if (assessment === null)
    return isAdminOf(account, organizationId)
      ? undefined
      : 'The account that started the import is no longer an admin of the organization.';
  try {
    await requireAssessment(db, { ...caller, ...account }, assessment.uid);
    return undefined;
  } catch (error) {
    if (!(error instanceof DomainError && error.kind === 'not-found')) throw error;
    return 'The account that started the import no longer has access to the assessment.';
  }
}
