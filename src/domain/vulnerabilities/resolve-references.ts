import { type SqlBool, sql } from 'kysely';
import type { Caller } from '../../auth/callers.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { inList, withoutIndex } from '../../db/dialect-sql.ts';
import { prepareQuery, prepareWrite } from '../../db/prepared-queries.ts';
import type { DraftPolicy } from '../assessments/assessments.ts';
import { loadNameableCheck } from '../assessments/nameable-users.ts';
import { type FieldError, invalidInput } from '../shared/errors.ts';
import { type CallerRoles, callerRoles } from '../shared/permissions.ts';
import { assetIsVisible } from '../shared/asset-visibility.ts';
import {
  assessmentIsVisible,
  type Visibility,
  memoizeByVisibility,
  visibilityOf,
  type VisibilityParameters,
  visibilityParameters,
} from '../shared/visibility.ts';
import { isCalendarDate } from '../shared/time.ts';

export interface AssessmentRef extends CallerRoles {
  id: number;
  uid: string;
  organization_id: number;
  drafts: DraftPolicy;
}

/** Selects a visible assessment by uid. */
export const selectAssessmentRef = memoizeByVisibility((visibility) =>
  prepareWrite<VisibilityParameters & { uid: string }, AssessmentRef>((tx, p) =>
    tx
      .selectFrom('assessments')
      .select(['id', 'uid', 'organization_id', 'drafts'])
      .select(callerRoles(visibility, p, sql.ref('assessments.id')))
      .where('uid', '=', p.uid)
      .where(assessmentIsVisible(visibility, p)),
  ),
);

export interface AssetRef {
  id: number;
  uid: string;
}

const selectAssetsByUids = memoizeByVisibility((visibility: Visibility) =>
  prepareQuery<VisibilityParameters & { organization: number; uids: readonly string[] }, AssetRef>((db, p) =>
    db
      .selectFrom('assets')
      .select(['id', 'uid'])
      .where((eb) => inList(db, eb.ref('uid'), p.uids))
      .where(sql<SqlBool>`${withoutIndex(sql.ref('assets.organization_id'))} = ${p.organization}`)
      .where(assetIsVisible(visibility, p))
      .orderBy('id'),
  ),
);

/**
 * @param current the current assets, which may stay even if the caller cannot see them
 * @returns the assets of the organization with these uids that the caller can see, each once
 * @throws DomainError `invalid` for any other uid
 */
export async function resolveAssets(
  tx: Transaction,
  caller: Caller,
  organizationId: number,
  uids: readonly string[],
  current: readonly AssetRef[] = [],
): Promise<AssetRef[]> {
  if (uids.length === 0) return [];
  const assets = new Map(current.map((asset) => [asset.uid, asset]));
  const addedUids = [...new Set(uids)].filter((uid) => !assets.has(uid));
  const added =
    addedUids.length === 0
      ? []
      : await selectAssetsByUids(visibilityOf(caller, 'read'))(tx, {
          ...visibilityParameters(caller),
          organization: organizationId,
          uids: addedUids,
        });
  for (const asset of added) assets.set(asset.uid, asset);
  const errors = uids.flatMap((uid, index): FieldError[] =>
    assets.has(uid)
      ? []
      : [
          {
            property: `assetUids.${index}`,
            code: 'inaccessible-asset',
            value: uid,
          },
        ],
  );
  if (errors.length > 0) throw invalidInput(errors);
  return [...new Set(uids)].map((uid) => assets.get(uid) as AssetRef).sort((one, other) => one.id - other.id);
}

/** @throws DomainError `invalid` unless the user has access to the assessment and the caller can name them */
export async function requireAssignee(
  db: ReadConnection,
  caller: Caller,
  assessment: { id: number },
  userId: number | null | undefined,
): Promise<void> {
  if (userId == null) return;
  const isNameable = await loadNameableCheck(db, caller, 'assign', [[assessment.id, userId]]);
  if (isNameable(assessment.id, userId)) return;
  throw invalidInput({ property: 'assigneeId', code: 'user-without-access', value: userId });
}

export function validateDueDate(day: string | null): FieldError[] {
  return day === null || isCalendarDate(day) ? [] : [{ property: 'dueOn', code: 'not-a-date', value: day }];
}
