import { type SqlBool, sql } from 'kysely';
import type { Principal, ChangeContext } from '../../auth/callers.ts';
import { prepareInsert } from '../../db/bulk-insert.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { inList, pairsTable, withoutIndex, forNoKeyUpdate } from '../../db/dialect-sql.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import { bumpUserVersion } from '../shared/account-rights.ts';
import { type AuditedChange, recordEvent, recordEvents } from '../audit/record-event.ts';
import { type FieldError, invalidInput, notFound } from '../shared/errors.ts';
import { lockRows } from '../shared/lock-rows.ts';

const insertAccess = prepareInsert(
  'assessment_access',
  { organization_id: 'int', assessment_id: 'int', user_id: 'int' },
  'on conflict do nothing',
);

/**
 * Grants a client user access to an assessment of their organization. Does nothing when they have it.
 * @throws DomainError `not-found` for either
 */
export async function grantAssessmentAccess(
  tx: Transaction,
  by: ChangeContext,
  assessmentUid: string,
  userId: number,
): Promise<void> {
  const assessment = await tx
    .selectFrom('assessments')
    .innerJoin('users', 'users.organization_id', 'assessments.organization_id')
    .select(['assessments.id', 'assessments.organization_id'])
    .where('assessments.uid', '=', assessmentUid)
    .where('users.id', '=', userId)
    .executeTakeFirst();
  if (assessment === undefined) throw notFound('assessment or the user');
  await lockRows(tx, 'users', [userId], forNoKeyUpdate);
  const granted = await tx
    .insertInto('assessment_access')
    .values({ organization_id: assessment.organization_id, assessment_id: assessment.id, user_id: userId })
    .onConflict((conflict) => conflict.doNothing())
    .returning('user_id')
    .executeTakeFirst();
  if (granted === undefined) return;
  await bumpUserVersion(tx, userId);
  await recordEvent(tx, by, {
    action: 'assessment.grant',
    object: ['assessment', assessmentUid],
    organizationId: assessment.organization_id,
    before: null,
    after: { user: userId },
  });
}

/** Revokes access to an assessment. Does nothing when the user has none. */
export async function revokeAssessmentAccess(
  tx: Transaction,
  by: ChangeContext,
  assessment: { id: number; uid: string; organizationId: number },
  userId: number,
): Promise<void> {
  await lockRows(tx, 'users', [userId], forNoKeyUpdate);
  const revoked = await tx
    .deleteFrom('assessment_access')
    .where('assessment_id', '=', assessment.id)
    .where('user_id', '=', userId)
    .returning('user_id')
    .executeTakeFirst();
  if (revoked === undefined) return;
  await bumpUserVersion(tx, userId);
  await recordEvent(tx, by, {
    action: 'assessment.revoke',
    object: ['assessment', assessment.uid],
    organizationId: assessment.organizationId,
    before: { user: userId },
    after: null,
  });
}

/** @returns by user, the uids of the assessments that they were granted, sorted; admins can see others too */
export async function grantedAssessments(
  db: ReadConnection,
  userIds: readonly number[],
): Promise<ReadonlyMap<number, string[]>> {
  const rows = await db
    .selectFrom('assessment_access')
    .innerJoin('assessments', 'assessments.id', 'assessment_access.assessment_id')
    .select(['assessment_access.user_id', 'assessments.uid'])
    .where(({ ref }) => inList(db, ref('assessment_access.user_id'), userIds))
    .orderBy('assessments.uid')
    .execute();
  const uidsByUser = new Map<number, string[]>();
  for (const { user_id, uid } of rows) {
    const uids = uidsByUser.get(user_id);
    if (uids === undefined) uidsByUser.set(user_id, [uid]);
    else uids.push(uid);
  }
  return uidsByUser;
}

/**
 * Replaces the assessments that a user was granted.
 * @param user staff (`organizationId` `null`) are granted none
 * @throws DomainError `invalid` for uids of other organizations, as `assessments.0` and so on
 */
export async function replaceGrantedAssessments(
  tx: Transaction,
  by: ChangeContext,
  user: { id: number; organizationId: number | null },
  uids: readonly string[],
): Promise<void> {
  const { id: userId, organizationId } = user;
  const requested = await requireAssessments(tx, organizationId, uids);
  if (organizationId === null) return;
  const current = await tx
    .selectFrom('assessment_access')
    .innerJoin('assessments', 'assessments.id', 'assessment_access.assessment_id')
    .select(['assessments.id', 'assessments.uid'])
    .where('assessment_access.user_id', '=', userId)
    .execute();
  const requestedIds = new Set(requested.map(({ id }) => id));
  const currentIds = new Set(current.map(({ id }) => id));
  const added = requested.filter(({ id }) => !currentIds.has(id));
  const removed = current.filter(({ id }) => !requestedIds.has(id));
  if (added.length + removed.length === 0) return;
  await bumpUserVersion(tx, userId);
  await insertAccess(
    tx,
    added.map(({ id }) => [organizationId, id, userId]),
  );
  if (removed.length > 0) {
    const ids = removed.map(({ id }) => id);
    await tx
      .deleteFrom('assessment_access')
      .where('user_id', '=', userId)
      .where(({ ref }) => inList(tx, ref('assessment_id'), ids))
      .execute();
  }
  const changes: AuditedChange[] = [
    ...added.map(({ uid }): AuditedChange => ({
      action: 'assessment.grant',
      object: ['assessment', uid],
      organizationId,
      before: null,
      after: { user: userId },
    })),
    ...removed.map(({ uid }): AuditedChange => ({
      action: 'assessment.revoke',
      object: ['assessment', uid],
      organizationId,
      before: { user: userId },
      after: null,
    })),
  ];
  await recordEvents(
    tx,
    changes.map((change) => ({ by, change })),
  );
}

/** @throws DomainError `invalid` for uids that no assessment of the organization has */
export async function requireAssessments(
  db: ReadConnection,
  organizationId: number | null,
  uids: readonly string[],
): Promise<{ id: number; uid: string }[]> {
  if (uids.length === 0) return [];
  const rows = await db
    .selectFrom('assessments')
    .select(['id', 'uid'])
    .where('organization_id', '=', organizationId)
    .where(({ ref }) => inList(db, ref('uid'), uids))
    .orderBy('uid')
    .execute();
  const knownUids = new Set(rows.map(({ uid }) => uid));
  const errors = uids.flatMap((uid, index): FieldError[] =>
    knownUids.has(uid)
      ? []
      : [
          {
            property: `assessments.${index}`,
            code: 'unknown-assessment',
            value: uid,
          },
        ],
  );
  if (errors.length > 0) throw invalidInput(errors);
  return rows;
}

/** Users with a grant, admins of the organization, and staff who can see it have access, unless they are banned. */
const HAS_ACCESS = sql<SqlBool>`(users.banned_at is null and case when users.staff = 1 then
    not exists (select 1 from staff_organizations where staff_organizations.user_id = users.id)
    or exists (select 1 from staff_organizations where staff_organizations.user_id = users.id
      and staff_organizations.organization_id = assessments.organization_id)
  else users.organization_id = assessments.organization_id and (users.admin = 1 or exists (
    select 1 from assessment_access where assessment_access.user_id = users.id
      and assessment_access.assessment_id = assessments.id)) end)`;

const pairsWithAccess = (db: ReadConnection, pairs: string) =>
  db
    .selectFrom(pairsTable(db, pairs).as('pair'))
    .innerJoin('assessments', 'assessments.id', 'pair.one')
    .innerJoin('users', 'users.id', 'pair.other')
    .select(['assessments.id as assessment', 'users.id as user'])
    .where(HAS_ACCESS);

type Pair = { assessment: number; user: number };

const selectPairsWithAccess = prepareQuery<{ pairs: string }, Pair>((db, p) => pairsWithAccess(db, p.pairs));

/** Only the latest vulnerabilities of a reporter are read, as staff can have reported any number by imports. */
const LATEST_REPORTED = 1_000;

const hasReported = (organization: number) =>
  sql`(select 1 from (select organization_id from vulnerabilities as reported
    where reported.created_by = known.id order by reported.id desc limit ${sql.lit(LATEST_REPORTED)}) as latest
    where latest.organization_id = ${organization} limit 1) is not null`;

/**
 * Excludes staff whom the organization does not know. It knows those who are assigned to it by name, and those whom its
 * testing sessions, imports, vulnerabilities (as assignee, or as reporter of one of the latest that they reported) or
 * comments name (except internal comments, which its users cannot see).
 */
const selectNameablePairs = prepareQuery<{ pairs: string; organization: number }, Pair>((db, p) => {
  // Uses the index on the user, who has fewer rows than the organization. For `exists`, PostgreSQL may read the table.
  const isNamed = (table: string, column: string, rest = sql`1 = 1`) =>
    sql`(select 1 from ${sql.table(table)} as named where ${sql.ref(`named.${column}`)} = known.id
      and ${withoutIndex(sql.ref<number>('named.organization_id'))} = ${p.organization} and ${rest}
      limit 1) is not null`;
  // Does not depend on the assessment, so that each user is looked up once.
  return pairsWithAccess(db, p.pairs).where(
    sql<SqlBool>`users.id in (select known.id from users as known
      where known.id in (select named.other from ${pairsTable(db, p.pairs)} as named) and (known.staff = 0
        or ${isNamed('staff_organizations', 'user_id')}
        or ${isNamed('testing_sessions', 'tester_id')}
        or ${isNamed('vulnerabilities', 'assignee_id')}
        or ${isNamed('comments', 'user_id', sql`named.internal = 0`)}
        or ${isNamed('imports', 'created_by')}
        or ${hasReported(p.organization)}))`,
  );
});

/**
 * @param pairs pairs of ids, possibly with repetitions
 * @returns whether a user has access to an assessment, for these pairs
 */
export async function accessByPair(
  db: ReadConnection,
  pairs: readonly AssessmentAndUser[],
): Promise<PairCheck> {
  return checkPairs(pairs, (unique) => selectPairsWithAccess(db, { pairs: unique }));
}

/**
 * Checks whom a caller can name as assignee or tester. Client users can name staff only if their organization knows
 * them, so that ids do not reveal who else is staff.
 * @param pairs pairs of ids, possibly with repetitions
 * @returns whether the caller can name a user for an assessment, for these pairs
 */
export async function loadNameableCheck(
  db: ReadConnection,
  { organizationId: organization, staff }: Principal,
  pairs: readonly AssessmentAndUser[],
): Promise<PairCheck> {
  if (staff || organization === null) return accessByPair(db, pairs);
  return checkPairs(pairs, (unique) => selectNameablePairs(db, { pairs: unique, organization }));
}

type AssessmentAndUser = readonly [assessment: number, user: number];
type PairCheck = (assessment: number, user: number) => boolean;

async function checkPairs(
  pairs: readonly AssessmentAndUser[],
  select: (pairs: string) => Promise<Pair[]>,
): Promise<PairCheck> {
  const unique = new Map(pairs.map((pair) => [String(pair), pair]));
  const matches = unique.size === 0 ? [] : await select(JSON.stringify([...unique.values()]));
  const matchKeys = new Set(matches.map(({ assessment, user }) => `${assessment},${user}`));
  return (assessment, user) => matchKeys.has(`${assessment},${user}`);
}
