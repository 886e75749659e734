import { type Caller, isAdminOf } from '../../auth/callers.ts';
import { ASSET_DELETE_SCOPES, ASSET_WRITE_SCOPES, type Scope, type ScopeAccess } from '../../auth/scopes.ts';
import type { Transaction } from '../../db/engine.ts';
import { canWrite } from '../assets/create-assets.ts';
import type { AssetValues } from '../assets/insert-assets.ts';
import { selectListedAssets } from '../assets/scans/queries.ts';
import { visibilityByScopes } from '../shared/visibility.ts';
import type { ImportJob } from './import-types.ts';

/** An asset that an import found. */
export interface FoundAsset {
  id: number;
  writable_by: string;
  /** The import that created it. */
  import_id: number | null;
}

/**
 * @param hasAssessment whether the import has an assessment: without one, listing scopes apply to nothing
 * @returns the scopes that let an import create or change assets; one of them is enough
 */
export function importAssetScopes(hasAssessment: boolean): readonly Scope[] {
  return hasAssessment ? ASSET_WRITE_SCOPES : ASSET_DELETE_SCOPES;
}

/** @returns the ids of the assets that the import may link findings to, and of those whose ports it may write */
export async function permittedAssets(
  tx: Transaction,
  { id: importId, caller, organizationId, assessment }: ImportJob,
  assets: readonly FoundAsset[],
): Promise<{ linkable: ReadonlySet<number>; writable: ReadonlySet<number> }> {
  const { rules } = visibilityByScopes(caller, ASSET_WRITE_SCOPES);
  const wide = rules.filter(({ level }) => level !== 'listing');
  // Other users reach only the assets of the assessment.
  const reachesAll = assessment === null || isAdminOf(caller, organizationId);
  const inAssessment = new Set(assets.flatMap(({ id, import_id }) => (import_id === importId ? [id] : [])));
  if (assessment !== null && !(reachesAll && wide.length === rules.length)) {
    const ids = assets.flatMap(({ id }) => (inAssessment.has(id) ? [] : [id]));
    for (const { asset_id } of await selectListedAssets(tx, { assessment: assessment.id, ids }))
      inAssessment.add(asset_id);
  }
  const linkable = assets.filter(({ id }) => reachesAll || inAssessment.has(id));
  const writable = linkable.filter(({ id, writable_by }) =>
    coversAsset(inAssessment.has(id) ? rules : wide, writable_by),
  );
  return { linkable: new Set(linkable.map(({ id }) => id)), writable: new Set(writable.map(({ id }) => id)) };
}

/** @returns whether the caller of an undo may delete an asset that the import created, as in operation 78 */
export function canDeleteCreatedAsset(caller: Caller, writableBy: string): boolean {
  return coversAsset(visibilityByScopes(caller, ASSET_DELETE_SCOPES).rules, writableBy);
}

function coversAsset(rules: readonly ScopeAccess[], writableBy: string): boolean {
  // A check constraint of the table.
  return rules.some((rule) => canWrite(rule, writableBy as AssetValues['writable_by']));
}
