import { type Caller, isAdminOf } from '../../auth/callers.ts';
import {
  ASSET_DELETE_SCOPES,
  ASSET_WRITE_SCOPES,
  grantableScopes,
  type Scope,
  type ScopeRule,
} from '../../auth/scopes.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { inList } from '../../db/dialect-sql.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import type { Row } from '../../db/schema.ts';
import { requireAssessment } from '../assessments/find-assessment.ts';
import { canWriteListing } from '../assessments/update-listing.ts';
import { canWrite } from '../assets/create-assets.ts';
import { DomainError } from '../shared/errors.ts';
import { isPermitted } from '../shared/permissions.ts';
import { isAssetOfAssessment } from '../shared/asset-visibility.ts';
import { visibilityByScopes } from '../shared/visibility.ts';
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
 * Checks whether an import may go on. It ends when the account is banned, or loses its access to the assessment or
 * organization, the role to import there, or the right to change the listing that the import adds to.
 * @param current the rights that are left, of `currentRights`
 * @returns the reason as a sentence; `undefined` if it may go on
 */
export async function findLostPermission(
  db: ReadConnection,
  current: Caller | undefined,
  {
    organizationId,
    assessment,
    canReport,
    options,
  }: Pick<ImportJob, 'organizationId' | 'assessment' | 'canReport' | 'options'>,
): Promise<string | undefined> {
  if (current === undefined) return 'The account that started the import was banned.';
  if (assessment === null)
    return isAdminOf(current, organizationId)
      ? undefined
      : 'The account that started the import is no longer an admin of the organization.';
  try {
    const roles = await requireAssessment(db, current, assessment.uid);
    if (!isPermitted(current, organizationId, roles, canReport ? 'report' : 'import_hosts'))
      return 'The role of the account that started the import no longer permits it.';
    return options.listAssets !== true || (await canWriteListing(db, current, assessment.id))
      ? undefined
      : 'The account that started the import may no longer add assets to the listing.';
  } catch (error) {
    if (!(error instanceof DomainError && error.kind === 'not-found')) throw error;
    return 'The account that started the import no longer has access to the assessment.';
  }
}

export type FoundAsset = Pick<Row<'assets'>, 'id' | 'writable_by' | 'import_id'>;

/**
 * @param hasAssessment whether the import has an assessment: without one, listing scopes apply to nothing
 * @returns the scopes that let an import create or change assets; one of them is enough
 */
export function importAssetScopes(hasAssessment: boolean): readonly Scope[] {
  return hasAssessment ? ASSET_WRITE_SCOPES : ASSET_DELETE_SCOPES;
}

const selectAssetsOfAssessment = (withFindings: boolean) =>
  prepareQuery<{ assessment: number; ids: readonly number[] }, { id: number }>((db, p) =>
    db
      .selectFrom('assets')
      .select('assets.id')
      .where((eb) => inList(db, eb.ref('assets.id'), p.ids))
      .where(isAssetOfAssessment(p.assessment, { withFindings })),
  );
const [selectWithFindings, selectWithoutFindings] = [true, false].map(selectAssetsOfAssessment) as [
  ReturnType<typeof selectAssetsOfAssessment>,
  ReturnType<typeof selectAssetsOfAssessment>,
];

/** @returns the ids of the assets that the import may link findings to, and of those whose ports it may write */
export async function findPermittedAssets(
  tx: Transaction,
  { id: importId, caller, organizationId, assessment, canReport }: ImportJob,
  assets: readonly FoundAsset[],
): Promise<{ linkable: ReadonlySet<number>; writable: ReadonlySet<number> }> {
  const { rules } = visibilityByScopes(caller, ASSET_WRITE_SCOPES, 'write_assets');
  const organizationRules = rules.filter(({ level }) => level !== 'listing');
  // Other users reach only the assets of the assessment.
  const reachesAll = assessment === null || isAdminOf(caller, organizationId);
  const inAssessment = new Set(assets.flatMap(({ id, import_id }) => (import_id === importId ? [id] : [])));
  if (assessment !== null && !(reachesAll && organizationRules.length === rules.length)) {
    const ids = assets.flatMap(({ id }) => (inAssessment.has(id) ? [] : [id]));
    // Who may not report may not see the assets of findings either.
    const select = canReport ? selectWithFindings : selectWithoutFindings;
    for (const { id } of await select(tx, { assessment: assessment.id, ids })) inAssessment.add(id);
  }
  const linkable = assets.filter(({ id }) => reachesAll || inAssessment.has(id));
  const writable = linkable.filter(({ id, writable_by }) =>
    coversAsset(inAssessment.has(id) ? rules : organizationRules, writable_by),
  );
  return { linkable: new Set(linkable.map(({ id }) => id)), writable: new Set(writable.map(({ id }) => id)) };
}

/** @returns whether the caller of an undo may delete an asset that the import created, as in operation 78 */
export function canDeleteCreatedAsset(caller: Caller, writableBy: FoundAsset['writable_by']): boolean {
  return coversAsset(visibilityByScopes(caller, ASSET_DELETE_SCOPES, 'write_assets').rules, writableBy);
}

function coversAsset(rules: readonly ScopeRule[], writableBy: FoundAsset['writable_by']): boolean {
  return rules.some((rule) => canWrite(rule, writableBy));
}
