import { type Caller, isAdminOf } from '../../auth/callers.ts';
import { grantableScopes } from '../../auth/scopes.ts';
import type { ReadConnection } from '../../db/engine.ts';
import { requireAssessment } from '../assessments/find-assessment.ts';
import { DomainError } from '../shared/errors.ts';
import { findAccountRights } from '../tokens/active-tokens.ts';
import type { ImportJob } from './import-types.ts';

/**
 * Narrows a caller that was stored with a job to the rights that the account still has. The credential may have ended.
 * @returns `undefined` for an account that is banned or deleted; the caller of a command unchanged
 */
export async function currentRights(db: ReadConnection, caller: Caller): Promise<Caller | undefined> {
  if (caller.userId === null) return caller;
  const account = await findAccountRights(db, caller.userId);
  if (account === undefined) return undefined;
  const scopes = grantableScopes(account).filter((scope) => caller.scopes.has(scope));
  return { ...caller, ...account, scopes: new Set(scopes) };
}

/**
 * Checks whether an import may go on. It ends when the account is banned or loses access to the assessment or
 * organization.
 * @param current the rights that are left, of `currentRights`
 * @returns the reason as a sentence; `undefined` if it may go on
 */
export async function findLostPermission(
  db: ReadConnection,
  current: Caller | undefined,
  { organizationId, assessment }: Pick<ImportJob, 'organizationId' | 'assessment'>,
): Promise<string | undefined> {
  if (current === undefined) return 'The account that started the import was banned.';
  if (assessment === null)
    return isAdminOf(current, organizationId)
      ? undefined
      : 'The account that started the import is no longer an admin of the organization.';
  try {
    await requireAssessment(db, current, assessment.uid);
    return undefined;
  } catch (error) {
    if (!(error instanceof DomainError && error.kind === 'not-found')) throw error;
    return 'The account that started the import no longer has access to the assessment.';
  }
}
