import { sql } from 'kysely';
import { type ChangeContext, isAdminOf, type Caller } from '../../auth/callers.ts';
import type { AccessRole, Role } from '../../auth/roles.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { forNoKeyUpdate, inList, inSelected } from '../../db/dialect-sql.ts';
import { applyGrants, type GrantChange, readGrants } from '../assessments/assessment-access.ts';
import { type VisibleAssessment, lockAssessment, requireAssessment } from '../assessments/find-assessment.ts';
import { DomainError, type FieldError, invalidInput } from '../shared/errors.ts';
import { lockRows } from '../shared/lock-rows.ts';
import { defineList } from '../lists/define-list.ts';
import { hydrateUsers, type User, selectUsers } from './user-list.ts';

export interface AssessmentUser extends User {
  /** The role by name, otherwise the one by group. */
  role: Role;
  /** What gives them access: `name`, or the id of a group. */
  via: ('name' | number)[];
}

/** Client users with a role in an assessment (operation 40). Admins are excluded, as they need none. */
export const assessmentUserList = defineList({
  name: 'assessment-users',
  rows: ({ db }) => selectUsers(db).where('users.admin', '=', 0),
  id: 'users.id',
  organization: 'users.organization_id',
  filters: {
    assessment: {
      kind: 'integers',
      where: ({ db }, ids) =>
        inSelected(
          db,
          sql.ref('users.id'),
          sql`select access.user_id from assessment_access as access
            where ${inList(db, sql.ref<number>('access.assessment_id'), ids)}
          union all select member.user_id from assessments
            join assessment_group_members as member on member.group_id = assessments.group_id
            where ${inList(db, sql.ref<number>('assessments.id'), ids)}`,
        ),
    },
  },
  sorts: { id: { column: 'users.id', type: 'integer' } },
  hydrate: ({ db }, rows, { assessment = [] }) => hydrateAssessmentUsers(db, rows, assessment),
});

/** Leaves out users whose access has ended since the rows were read. */
async function hydrateAssessmentUsers(
  db: ReadConnection,
  rows: Parameters<typeof hydrateUsers>[1],
  assessmentIds: readonly number[],
): Promise<AssessmentUser[]> {
  const userIds = rows.map(({ id }) => id);
  const [users, grants, memberships] = await Promise.all([
    hydrateUsers(db, rows),
    readGrants(db, { assessmentIds, userIds }),
    db
      .selectFrom('assessment_group_members as member')
      .innerJoin('assessments', 'assessments.group_id', 'member.group_id')
      .select(['member.user_id as userId', 'member.group_id as groupId', 'member.role'])
      .where(({ ref }) => inList(db, ref('assessments.id'), assessmentIds))
      .where(({ ref }) => inList(db, ref('member.user_id'), userIds))
      .execute(),
  ]);
  const byName = new Map(grants.map(({ userId, role }) => [userId, role]));
  const byGroup = new Map(memberships.map((membership) => [membership.userId, membership]));
  return users.flatMap((user) => {
    const [named, membership] = [byName.get(user.id), byGroup.get(user.id)];
    const role = named ?? membership?.role;
    if (role === undefined) return [];
    const via = [...(named ? ['name' as const] : []), ...(membership ? [membership.groupId] : [])];
    return [{ ...user, role, via }];
  });
}

/**
 * @returns an assessment whose users the caller may see
 * @throws DomainError `not-found` without access to it; `forbidden` unless the caller is an admin
 */
export async function requireAdministeredAssessment(
  db: ReadConnection,
  caller: Caller,
  uid: string,
): Promise<VisibleAssessment> {
  const assessment = await requireAssessment(db, caller, uid);
  if (!isAdminOf(caller, assessment.organizationId)) throw new DomainError('assessment-users-admins-only');
  return assessment;
}

/** The id of a user, or the role that they get. */
type AddedUser = number | { id: number; role?: AccessRole | undefined };

/**
 * Grants users access by name to an assessment, and revokes that of others. Without a role, users who have access by
 * name keep theirs. Ignores users in `remove` who have none.
 * @returns the id of the assessment
 * @throws DomainError `invalid` for a user in both lists, with two roles or outside the organization; `not-found`
 *   without access to the assessment; `forbidden` unless the caller is an admin
 */
export async function updateAssessmentUsers(
  tx: Transaction,
  by: ChangeContext<Caller>,
  uid: string,
  {
    add = [],
    remove = [],
  }: { add?: readonly AddedUser[] | undefined; remove?: readonly number[] | undefined },
): Promise<number> {
  const changes = changesOf(add, remove);
  const { organizationId } = await requireAdministeredAssessment(tx, by.actor, uid);
  await requireUsers(tx, organizationId, { add: add.map(idOf), remove });
  const isRevoked = (id: number) => changes.get(id) === 'revoke';
  // The audit log has what is granted before what is revoked.
  const userIds = [...changes.keys()].sort(
    (one, other) => Number(isRevoked(one)) - Number(isRevoked(other)) || one - other,
  );
  await lockRows(tx, 'users', userIds, forNoKeyUpdate);
  const assessment = await lockAssessment(tx, by.actor, uid);
  const grants = await readGrants(tx, { assessmentIds: [assessment.id], userIds });
  const current = new Map(grants.map((grant) => [grant.userId, grant]));
  await applyGrants(
    tx,
    by,
    'by_name',
    userIds.map((userId) => ({
      assessment,
      userId,
      current: current.get(userId),
      role: changes.get(userId) ?? null,
    })),
  );
  return assessment.id;
}

const idOf = (user: AddedUser) => (typeof user === 'number' ? user : user.id);

/**
 * @returns what happens to the access of each user
 * @throws DomainError `invalid` for a user in both lists or with two roles
 */
function changesOf(
  add: readonly AddedUser[],
  remove: readonly number[],
): ReadonlyMap<number, GrantChange['role']> {
  const changes = new Map<number, GrantChange['role']>(remove.map((id) => [id, 'revoke']));
  const errors = add.flatMap((user, index): FieldError[] => {
    const id = idOf(user);
    const role = (typeof user === 'number' ? undefined : user.role) ?? null;
    const before = changes.get(id) ?? null;
    const property = `add.${index}`;
    if (before === 'revoke') return [{ property, code: 'also-in', params: { other: 'remove' }, value: id }];
    if (before !== null && role !== null && before !== role)
      return [{ property, code: 'duplicate', value: id }];
    changes.set(id, role ?? before);
    return [];
  });
  if (errors.length > 0) throw invalidInput(errors);
  return changes;
}

async function requireUsers(
  db: ReadConnection,
  organizationId: number,
  lists: { add: readonly number[]; remove: readonly number[] },
): Promise<void> {
  const rows = await db
    .selectFrom('users')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where(({ ref }) => inList(db, ref('id'), [...lists.add, ...lists.remove]))
    .execute();
  const userIds = new Set(rows.map(({ id }) => id));
  const fieldErrors = Object.entries(lists).flatMap(([list, ids]) =>
    ids.flatMap((id, index): FieldError[] =>
      userIds.has(id)
        ? []
        : [
            {
              property: `${list}.${index}`,
              code: 'unknown-user',
              value: id,
            },
          ],
    ),
  );
  if (fieldErrors.length > 0) throw invalidInput(fieldErrors);
}
