import { type SqlBool, sql } from 'kysely';
import type { ChangeContext } from '../../auth/callers.ts';
import { type AccessRole, DEFAULT_ACCESS_ROLE, ROLES } from '../../auth/roles.ts';
import { prepareInsert } from '../../db/bulk-insert.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { forNoKeyUpdate, inList, itemInteger, jsonRowsTable } from '../../db/dialect-sql.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import { bumpUserVersions } from '../shared/account-rights.ts';
import { recordEvents } from '../audit/record-event.ts';
import { type FieldError, invalidInput, notFound } from '../shared/errors.ts';
import { lockRows } from '../shared/lock-rows.ts';
import { assessmentIdsWithRole } from '../shared/visibility.ts';

/** Who grants access by name: a person, or a group of the identity provider. Each revokes only its own grants. */
type GrantSource = 'by_name' | 'by_provider';

/**
 * Grants a client user access by name to an assessment of their organization, with the default role unless they have
 * one. Does nothing when the source has granted it already.
 * @throws DomainError `not-found` for either
 */
export async function grantAssessmentAccess(
  tx: Transaction,
  by: ChangeContext,
  assessmentUid: string,
  userId: number,
  source: GrantSource = 'by_name',
): Promise<void> {
  const assessment = await tx
    .selectFrom('assessments')
    .innerJoin('users', 'users.organization_id', 'assessments.organization_id')
    .select(['assessments.id', 'assessments.uid', 'assessments.organization_id as organizationId'])
    .where('assessments.uid', '=', assessmentUid)
    .where('users.id', '=', userId)
    .executeTakeFirst();
  if (assessment === undefined) throw notFound('assessment or the user');
  await lockRows(tx, 'users', [userId], forNoKeyUpdate);
  const grants = await readGrants(tx, { assessmentIds: [assessment.id], userIds: [userId] });
  await applyGrants(tx, by, source, [{ assessment, userId, current: grants[0], role: null }]);
}

/** Revokes the access that the source granted. Does nothing when it has granted none. */
export async function revokeAssessmentAccess(
  tx: Transaction,
  by: ChangeContext,
  assessment: AssessmentOfGrant,
  userId: number,
  source: GrantSource = 'by_name',
): Promise<void> {
  await lockRows(tx, 'users', [userId], forNoKeyUpdate);
  const grants = await readGrants(tx, { assessmentIds: [assessment.id], userIds: [userId] });
  await applyGrants(tx, by, source, [{ assessment, userId, current: grants[0], role: 'revoke' }]);
}

interface AssessmentOfGrant {
  id: number;
  uid: string;
  organizationId: number;
}

interface Grant {
  assessmentId: number;
  userId: number;
  role: AccessRole;
  by_name: number;
  by_provider: number;
}

/** A grant to make, or to revoke. */
export interface GrantChange {
  assessment: AssessmentOfGrant;
  userId: number;
  /** Absent if the user has no access by name. */
  current: Grant | undefined;
  /** `null` keeps the present role, or gives the default one. */
  role: AccessRole | 'revoke' | null;
}

/** @returns the access by name of these users to these assessments. Lock the users first. */
export async function readGrants(
  db: ReadConnection,
  { assessmentIds, userIds }: { assessmentIds?: readonly number[]; userIds: readonly number[] },
): Promise<Grant[]> {
  return db
    .selectFrom('assessment_access')
    .select(['assessment_id as assessmentId', 'user_id as userId', 'role', 'by_name', 'by_provider'])
    .where(({ ref }) => inList(db, ref('user_id'), userIds))
    .$if(assessmentIds !== undefined, (query) =>
      query.where(({ ref }) => inList(db, ref('assessment_id'), assessmentIds ?? [])),
    )
    .execute();
}

const upsertAccess = prepareInsert(
  'assessment_access',
  {
    organization_id: 'int',
    assessment_id: 'int',
    user_id: 'int',
    role: 'text',
    by_name: 'int',
    by_provider: 'int',
  },
  'on conflict (user_id, assessment_id) do update set role = excluded.role, by_name = excluded.by_name, by_provider = excluded.by_provider',
);

/** Writes and audits the changes that differ from the present grants. The users must be locked. */
export async function applyGrants(
  tx: Transaction,
  by: ChangeContext,
  source: GrantSource,
  changes: readonly GrantChange[],
): Promise<void> {
  const written = changes.flatMap((change) => {
    const after = grantAfter(change, source);
    const { current } = change;
    const differs = after?.role !== current?.role || after?.[source] !== current?.[source];
    return differs ? [{ ...change, after }] : [];
  });
  await upsertAccess(
    tx,
    written.flatMap(({ assessment, userId, after }) =>
      after === undefined
        ? []
        : [
            [
              assessment.organizationId,
              assessment.id,
              userId,
              after.role,
              after.by_name,
              after.by_provider,
            ] as const,
          ],
    ),
  );
  const ended = written.filter(({ after }) => after === undefined);
  if (ended.length > 0)
    await sql`delete from assessment_access where (user_id, assessment_id) in (
      select ${itemInteger(0)}, ${itemInteger(1)} from ${jsonRowsTable(
        tx,
        ended.map(({ userId, assessment }) => [userId, assessment.id]),
      )})`.execute(tx);
  // Users show the assessments that they have access to by name, but not their roles.
  const changed = written.filter(({ current, after }) => (current === undefined) !== (after === undefined));
  await bumpUserVersions(tx, [...new Set(changed.map(({ userId }) => userId))]);
  await recordEvents(
    tx,
    written.map(({ assessment, userId: user, current, after }) => ({
      by,
      change: {
        action: after?.[source] === 1 ? 'assessment.grant' : 'assessment.revoke',
        object: ['assessment', assessment.uid],
        organizationId: assessment.organizationId,
        before: current?.[source] === 1 ? { user, role: current.role } : null,
        after: after?.[source] === 1 ? { user, role: after.role } : null,
      },
    })),
  );
}

/** @returns the grant after the change; `undefined` if nothing is left */
function grantAfter(
  { current, role }: GrantChange,
  source: GrantSource,
): Pick<Grant, 'role' | GrantSource> | undefined {
  const {
    by_name,
    by_provider,
    role: present = DEFAULT_ACCESS_ROLE,
  } = current ?? { by_name: 0, by_provider: 0 };
  const sources = { by_name, by_provider, [source]: role === 'revoke' ? 0 : 1 };
  if (sources.by_name + sources.by_provider === 0) return undefined;
  if (role !== 'revoke') return { ...sources, role: role ?? present };
  // The role that a person set ends with their grant.
  return { ...sources, role: sources.by_name === 0 ? DEFAULT_ACCESS_ROLE : present };
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

const selectAccessible = prepareQuery<{ user: number }, { uid: string }>((db, p) =>
  db
    .selectFrom('assessments')
    .select('uid')
    .where(sql<SqlBool>`id in (${assessmentIdsWithRole(sql`${p.user}`, ROLES)})`)
    .orderBy('uid'),
);

/** @returns the uids of the assessments in which a user has a role, by name or by group, sorted */
export async function accessibleAssessments(db: ReadConnection, userId: number): Promise<string[]> {
  return (await selectAccessible(db, { user: userId })).map(({ uid }) => uid);
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
  await lockRows(tx, 'users', [userId], forNoKeyUpdate);
  const grants = new Map(
    (await readGrants(tx, { userIds: [userId] })).map((grant) => [grant.assessmentId, grant]),
  );
  const requestedIds = new Set(requested.map(({ id }) => id));
  const revoked = await tx
    .selectFrom('assessments')
    .select(['id', 'uid'])
    .where(({ ref }) =>
      inList(
        tx,
        ref('id'),
        [...grants.keys()].filter((id) => !requestedIds.has(id)),
      ),
    )
    .orderBy('uid')
    .execute();
  const changeOf = ({ id, uid }: { id: number; uid: string }, role: GrantChange['role']): GrantChange => ({
    assessment: { id, uid, organizationId },
    userId,
    current: grants.get(id),
    role,
  });
  await applyGrants(tx, by, 'by_name', [
    ...requested.map((assessment) => changeOf(assessment, null)),
    ...revoked.map((assessment) => changeOf(assessment, 'revoke')),
  ]);
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
