import { sql } from 'kysely';
import { type ChangeContext, isAdminOf, type Caller } from '../../auth/callers.ts';
import { prepareInsert } from '../../db/bulk-insert.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { inList } from '../../db/dialect-sql.ts';
import { type VisibleAssessment, lockAssessment, requireAssessment } from '../assessments/find-assessment.ts';
import { bumpUserVersions } from '../shared/account-rights.ts';
import { type AttributedChange, recordEvents } from '../audit/record-event.ts';
import { DomainError, type FieldError, invalidInput } from '../shared/errors.ts';
import { defineList } from '../lists/define-list.ts';
import { hydrateUsers, type User, selectUsers } from './user-list.ts';

const insertAccess = prepareInsert('assessment_access', {
  organization_id: 'int',
  assessment_id: 'int',
  user_id: 'int',
});

/** Client users with explicit access to an assessment. Admins are excluded, as they can access it anyway. */
const usersWithAccess = (db: ReadConnection) =>
  selectUsers(db)
    .innerJoin('assessment_access', 'assessment_access.user_id', 'users.id')
    .where('users.admin', '=', 0);

/** Client users with explicit access to an assessment (operation 40). */
export const assessmentUserList = defineList({
  name: 'assessment-users',
  rows: ({ db }) => usersWithAccess(db),
  id: 'users.id',
  organization: 'users.organization_id',
  filters: {
    assessment: {
      kind: 'integers',
      where: ({ db }, ids) => inList(db, sql.ref<number>('assessment_access.assessment_id'), ids),
    },
  },
  sorts: { id: { column: 'users.id', type: 'integer' } },
  hydrate: ({ db }, rows) => hydrateUsers(db, rows),
});

/**
 * @returns the id of an assessment whose users the caller may see
 * @throws DomainError `not-found` without access to it; `forbidden` unless the caller is an admin
 */
export async function requireAdministeredAssessment(
  db: ReadConnection,
  caller: Caller,
  uid: string,
): Promise<number> {
  const assessment = await requireAssessment(db, caller, uid);
  requireAdmin(caller, assessment);
  return assessment.id;
}

function requireAdmin(caller: Caller, { organizationId }: VisibleAssessment): void {
  if (!isAdminOf(caller, organizationId)) throw new DomainError('assessment-users-admins-only');
}

/**
 * Grants users access to an assessment, and revokes the access of others. Ignores users in `add` who already have
 * access, and users in `remove` who have none.
 * @returns all client users with explicit access afterwards, by id
 * @throws DomainError `invalid` for a user in both lists or outside the organization; `not-found` without access to the
 *   assessment; `forbidden` unless the caller is an admin
 */
export async function updateAssessmentUsers(
  tx: Transaction,
  by: ChangeContext<Caller>,
  uid: string,
  { add = [], remove = [] }: { add?: readonly number[] | undefined; remove?: readonly number[] | undefined },
): Promise<User[]> {
  const removing = new Set(remove);
  const duplicates = add.flatMap((id, index): FieldError[] =>
    removing.has(id)
      ? [{ property: `add.${index}`, code: 'also-in', params: { other: 'remove' }, value: id }]
      : [],
  );
  if (duplicates.length > 0) throw invalidInput(duplicates);
  const assessment = await lockAssessment(tx, by.actor, uid);
  requireAdmin(by.actor, assessment);
  await requireUsers(tx, assessment.organizationId, { add, remove });
  const rows = await tx
    .selectFrom('assessment_access')
    .select('user_id')
    .where('assessment_id', '=', assessment.id)
    .where(({ ref }) => inList(tx, ref('user_id'), [...add, ...remove]))
    .execute();
  const usersWithGrant = new Set(rows.map(({ user_id }) => user_id));
  const added = [...new Set(add)].filter((id) => !usersWithGrant.has(id)).sort((one, other) => one - other);
  const removed = [...removing].filter((id) => usersWithGrant.has(id)).sort((one, other) => one - other);
  await bumpUserVersions(tx, [...added, ...removed]);
  await insertAccess(
    tx,
    added.map((id) => [assessment.organizationId, assessment.id, id]),
  );
  if (removed.length > 0)
    await tx
      .deleteFrom('assessment_access')
      .where('assessment_id', '=', assessment.id)
      .where(({ ref }) => inList(tx, ref('user_id'), removed))
      .execute();
  const eventBase = { object: ['assessment', uid], organizationId: assessment.organizationId } as const;
  await recordEvents(tx, [
    ...added.map((user): AttributedChange => ({
      by,
      change: { action: 'assessment.grant', ...eventBase, before: null, after: { user } },
    })),
    ...removed.map((user): AttributedChange => ({
      by,
      change: { action: 'assessment.revoke', ...eventBase, before: { user }, after: null },
    })),
  ]);
  return hydrateUsers(
    tx,
    await usersWithAccess(tx)
      .where('assessment_access.assessment_id', '=', assessment.id)
      .orderBy('users.id')
      .execute(),
  );
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
