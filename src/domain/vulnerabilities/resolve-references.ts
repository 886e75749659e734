import { type SqlBool, sql } from 'kysely';
import type { Caller } from '../../auth/callers.ts';
import type { ReadConnection, Transaction } from '../../db/engine.ts';
import { pairsTable, inList, withoutIndex } from '../../db/dialect-sql.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import { type FieldError, invalidInput } from '../shared/errors.ts';
import {
  assetIsVisible,
  type Visibility,
  memoizeByVisibility,
  visibilityOf,
  type VisibilityParameters,
  visibilityParameters,
} from '../shared/visibility.ts';
import { isCalendarDate } from '../shared/time.ts';

/** An asset, as a vulnerability refers to it. */
export interface AssetRef {
  id: number;
  uid: string;
}

const selectAssetsByUids = memoizeByVisibility((reach: Visibility) =>
  prepareQuery<VisibilityParameters & { organization: number; uids: readonly string[] }, AssetRef>((db, p) =>
    db
      .selectFrom('assets')
      .select(['id', 'uid'])
      .where((eb) => inList(db, eb.ref('uid'), p.uids))
      .where(sql<SqlBool>`${withoutIndex(sql.ref('assets.organization_id'))} = ${p.organization}`)
      .where(assetIsVisible(reach, p))
      .orderBy('id'),
  ),
);

/**
 * @param standing assets that may stay, whoever reaches them
 * @returns the assets of an organization that these uids name and the caller reaches, each once
 * @throws Failure `invalid` for any other
 */
export async function resolveAssets(
  tx: Transaction,
  caller: Caller,
  organizationId: number,
  uids: readonly string[],
  standing: readonly AssetRef[] = [],
): Promise<AssetRef[]> {
  if (uids.length === 0) return [];
  const known = new Map(standing.map((asset) => [asset.uid, asset]));
  const others = [...new Set(uids)].filter((uid) => !known.has(uid));
  const found =
    others.length === 0
      ? []
      : await selectAssetsByUids(visibilityOf(caller))(tx, {
          ...visibilityParameters(caller),
          organization: organizationId,
          uids: others,
        });
  for (const asset of found) known.set(asset.uid, asset);
  const faults = uids.flatMap((uid, index): FieldError[] =>
    known.has(uid)
      ? []
      : [
          {
            property: `assetUids.${index}`,
            message: 'is not the uid of an asset that you reach',
            value: uid,
          },
        ],
  );
  if (faults.length > 0) throw invalidInput(faults);
  return [...new Set(uids)].map((uid) => known.get(uid) as AssetRef).sort((one, other) => one.id - other.id);
}

/** Accounts that have access to an assessment: those who were given it, admins of its organization, and staff who reach it. */
const selectUsersWithAccess = prepareQuery<
  { users: readonly number[]; assessment: number; organization: number },
  { id: number }
>((db, p) =>
  db
    .selectFrom('users')
    .select('users.id')
    .where((eb) => inList(db, eb.ref('users.id'), p.users))
    .where('users.banned_at', 'is', null)
    .where(
      sql<SqlBool>`case when users.staff = 1 then
          not exists (select 1 from staff_organizations where staff_organizations.user_id = users.id)
          or exists (select 1 from staff_organizations where staff_organizations.user_id = users.id
            and staff_organizations.organization_id = ${p.organization})
        else users.organization_id = ${p.organization} and (users.admin = 1 or exists (
          select 1 from assessment_access where assessment_access.user_id = users.id
            and assessment_access.assessment_id = ${p.assessment})) end`,
    ),
);

/** @returns which of these users have access to an assessment */
export async function usersWithAccess(
  db: ReadConnection,
  assessment: { id: number; organization_id: number },
  users: readonly number[],
): Promise<ReadonlySet<number>> {
  const found = await selectUsersWithAccess(db, {
    users,
    assessment: assessment.id,
    organization: assessment.organization_id,
  });
  return new Set(found.map(({ id }) => id));
}

/** The same of many users and as many assessments. */
const selectPairsWithAccess = prepareQuery<{ pairs: string }, { assessment: number; user: number }>((db, p) =>
  db
    .selectFrom(pairsTable(db, p.pairs).as('pair'))
    .innerJoin('assessments', 'assessments.id', 'pair.one')
    .innerJoin('users', 'users.id', 'pair.other')
    .select(['assessments.id as assessment', 'users.id as user'])
    .where('users.banned_at', 'is', null)
    .where(
      sql<SqlBool>`case when users.staff = 1 then
          not exists (select 1 from staff_organizations where staff_organizations.user_id = users.id)
          or exists (select 1 from staff_organizations where staff_organizations.user_id = users.id
            and staff_organizations.organization_id = assessments.organization_id)
        else users.organization_id = assessments.organization_id and (users.admin = 1 or exists (
          select 1 from assessment_access where assessment_access.user_id = users.id
            and assessment_access.assessment_id = assessments.id)) end`,
    ),
);

/**
 * @param pairs ids of an assessment and of a user; may have doubles
 * @returns whether the user has access to the assessment, for each of them
 */
export async function accessByPair(
  db: ReadConnection,
  pairs: readonly (readonly [assessment: number, user: number])[],
): Promise<(assessment: number, user: number) => boolean> {
  const unique = new Map(pairs.map((pair) => [String(pair), pair]));
  const found =
    unique.size === 0 ? [] : await selectPairsWithAccess(db, { pairs: JSON.stringify([...unique.values()]) });
  const known = new Set(found.map(({ assessment, user }) => `${assessment},${user}`));
  return (assessment, user) => known.has(`${assessment},${user}`);
}

/** @throws Failure `invalid` for a user without access to the assessment */
export async function requireAssignee(
  db: ReadConnection,
  assessment: { id: number; organization_id: number },
  userId: number | null | undefined,
): Promise<void> {
  if (userId == null) return;
  if ((await usersWithAccess(db, assessment, [userId])).has(userId)) return;
  throw invalidInput({
    property: 'assigneeId',
    message: 'is not the id of a user with access to the assessment',
    value: userId,
  });
}

/** @returns what is wrong with the day until which it is to be fixed */
export function validateDueDate(day: string | null): FieldError[] {
  return day === null || isCalendarDate(day)
    ? []
    : [{ property: 'dueOn', message: 'must be a day such as 2026-11-22', value: day }];
}
