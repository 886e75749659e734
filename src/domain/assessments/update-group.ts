import { type ChangeContext, isAdminOf, type Caller } from '../../auth/callers.ts';
import type { Transaction } from '../../db/database.ts';
import { forNoKeyUpdate, forUpdate, type RowLock } from '../../db/dialect-sql.ts';
import { selectOrganization } from '../organizations/select-organization.ts';
import { recordEvent } from '../audit/record-event.ts';
import { DomainError } from '../shared/errors.ts';
import { requireName, requireNewName } from '../shared/names.ts';
import { type ExpectedVersion, requireVersion } from '../shared/versions.ts';
import { type AssessmentGroup, readGroup } from './group-list.ts';
import { foldCase } from '../../lib/fold-case.ts';
import { lockRows } from '../shared/lock-rows.ts';
import { preparePipelined } from '../../db/prepared-queries.ts';

/**
 * Creates an empty assessment group (operation 44).
 * @param input `organization` is a uid; required for staff
 * @throws DomainError `invalid`, `forbidden` unless the caller is an admin
 */
export async function createGroup(
  tx: Transaction,
  by: ChangeContext<Caller>,
  input: { name: string; description?: string | undefined; organization?: string | undefined },
): Promise<AssessmentGroup> {
  const { actor: caller } = by;
  const { description = '' } = input;
  const name = requireName('name', input.name);
  if (!caller.admin && !caller.staff) throw adminsOnlyError();
  const organization = await selectOrganization(tx, caller, { uid: input.organization });
  const { id } = await tx
    .insertInto('assessment_groups')
    .values({
      organization_id: organization.id,
      name,
      search_name: foldCase(name),
      description,
      created_at: by.now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await recordEvent(tx, by, {
    action: 'assessment-group.create',
    object: ['assessment-group', id],
    organizationId: organization.id,
    before: null,
    after: { name, description },
  });
  return readGroup(tx, caller, id);
}

/**
 * Updates an assessment group (operation 45).
 * @throws DomainError `invalid` for a bad name, `not-found`, `forbidden` unless the caller is an admin,
 *   `version-mismatch`
 */
export async function updateGroup(
  tx: Transaction,
  by: ChangeContext<Caller>,
  id: number,
  change: { name?: string | undefined; description?: string | undefined },
  expected?: ExpectedVersion,
): Promise<AssessmentGroup> {
  const group = await lockGroup(tx, by.actor, id, expected);
  const name = change.name === undefined ? group.name : requireNewName('name', change.name, group.name);
  const before = { name: group.name, description: group.description };
  const after = { name, description: change.description ?? group.description };
  const names = (['name', 'description'] as const).filter((field) => before[field] !== after[field]);
  if (names.length === 0) return group;
  await tx
    .updateTable('assessment_groups')
    .set((eb) => ({ ...after, search_name: foldCase(after.name), version: eb('version', '+', 1) }))
    .where('id', '=', id)
    .execute();
  const pickChanged = (values: typeof after) =>
    Object.fromEntries(names.map((field) => [field, values[field]]));
  await recordEvent(tx, by, {
    action: 'assessment-group.update',
    object: ['assessment-group', id],
    organizationId: group.organizationId,
    before: pickChanged(before),
    after: pickChanged(after),
  });
  return { ...group, ...after, version: group.version + 1 };
}

/**
 * Deletes an assessment group with its memberships (operation 46). Its assessments stay, without a group.
 * @throws DomainError `not-found`, `forbidden` unless the caller is an admin, `version-mismatch`
 */
export async function deleteGroup(
  tx: Transaction,
  by: ChangeContext<Caller>,
  id: number,
  expected?: ExpectedVersion,
): Promise<void> {
  const { name, description, organizationId, memberCount } = await lockGroup(
    tx,
    by.actor,
    id,
    expected,
    forUpdate,
  );
  await lockAssessmentsOfGroup(tx, { id });
  const ungrouped = await tx
    .updateTable('assessments')
    .set({ group_id: null })
    .where('group_id', '=', id)
    .returning('uid')
    .execute();
  await tx.deleteFrom('assessment_groups').where('id', '=', id).execute();
  await recordEvent(tx, by, {
    action: 'assessment-group.delete',
    object: ['assessment-group', id],
    organizationId,
    before: { name, description, members: memberCount, assessments: ungrouped.map(({ uid }) => uid).sort() },
    after: null,
  });
}

const lockAssessmentsOfGroup = preparePipelined<{ id: number }>((tx, p) =>
  tx
    .selectFrom('assessments')
    .select('id')
    .where('group_id', '=', p.id)
    .orderBy('id')
    .modifyEnd(forNoKeyUpdate(tx)),
);

async function lockGroup(
  tx: Transaction,
  caller: Caller,
  id: number,
  expected: ExpectedVersion | undefined,
  lock: RowLock = forNoKeyUpdate,
): Promise<AssessmentGroup> {
  const { organizationId } = await readGroup(tx, caller, id);
  if (!isAdminOf(caller, organizationId)) throw adminsOnlyError();
  await lockRows(tx, 'assessment_groups', [id], lock);
  const group = await readGroup(tx, caller, id);
  requireVersion(expected, group.version);
  return group;
}

function adminsOnlyError(): DomainError {
  return new DomainError('assessment-group-admins-only');
}
