import { type ChangeContext, isAdminOf, type Caller } from '../../auth/callers.ts';
import type { Transaction } from '../../db/database.ts';
import { type SqlBool, sql } from 'kysely';
import { prepareWrite } from '../../db/prepared-queries.ts';
import { recordEvent } from '../audit/record-event.ts';
import { DomainError, invalidInput, notFound, type FieldError } from '../shared/errors.ts';
import { requireNewName } from '../shared/names.ts';
import { type CallerRoles, callerRoles, permissionError } from '../shared/permissions.ts';
import {
  assessmentIsVisible,
  isDraftVisible,
  memoizeByVisibility,
  visibilityOf,
  type VisibilityParameters,
  visibilityParameters,
} from '../shared/visibility.ts';
import { type ExpectedVersion, requireVersion } from '../shared/versions.ts';
import { requireValidAssessment } from './create-assessment.ts';
import { canEdit, requireCanMove, requireDraftPolicyRight } from './assessment-permissions.ts';
import { type AssessmentView, readChangedAssessment } from './assessment-list.ts';
import {
  resolveAssessmentTags,
  replaceAssessmentTags,
  type TagSelection,
  loadAssessmentTags,
} from './tag-assessment.ts';
import { ASSESSMENT_UID, type AssessmentFields, validateDates } from './assessments.ts';
import { endTestingSessions } from './testing-sessions.ts';
import type { Row } from '../../db/schema.ts';
import { foldCase } from '../../lib/fold-case.ts';
import { memoizeByLock } from '../shared/lock-rows.ts';
import { lockReferencedGroup } from './groups.ts';
import { forNoKeyUpdate, forUpdate, type RowLock } from '../../db/dialect-sql.ts';

/** Absent fields stay. */
export interface AssessmentUpdate extends AssessmentFields, TagSelection {
  name?: string | undefined;
}

const selectLocked = memoizeByLock((lock) =>
  memoizeByVisibility((visibility) =>
    prepareWrite<VisibilityParameters & { uid: string }, AssessmentRow>((tx, p) =>
      tx
        .selectFrom('assessments')
        .select([
          'id',
          'organization_id',
          'version',
          'name',
          'description',
          'type',
          'state',
          'drafts',
          'group_id',
          'starts_on',
          'ends_on',
          'created_by',
        ])
        .select(callerRoles(visibility, p, sql.ref('assessments.id')))
        .where('uid', '=', p.uid)
        .where(assessmentIsVisible(visibility, p))
        .modifyEnd(lock(tx)),
    ),
  ),
);

type AssessmentRow = Omit<Row<'assessments'>, 'uid' | 'search_name' | 'created_at' | 'updated_at'> &
  CallerRoles;

/**
 * Updates an assessment (operation 39). Writes nothing if no field differs, and records only the fields that differ.
 * Ends running sessions when it is no longer active.
 * @throws DomainError `not-found`, `forbidden`, `version-mismatch`, `invalid`
 */
export async function updateAssessment(
  tx: Transaction,
  by: ChangeContext<Caller>,
  uid: string,
  change: AssessmentUpdate,
  expected?: ExpectedVersion,
): Promise<AssessmentView> {
  const { actor: caller, now } = by;
  // The rule for the name depends on the stored one.
  requireValidAssessment({ ...change, name: undefined });
  if (change.groupId != null) await lockReferencedGroup(tx, caller, change.groupId);
  const row = await lockVisibleRow(tx, caller, uid);
  const organizationId = row.organization_id;
  const isAdmin = isAdminOf(caller, organizationId);
  if (!canEdit(caller, row)) throw permissionError('edit_assessments');
  requireVersion(expected, row.version);
  const { startsOn = row.starts_on, endsOn = row.ends_on, groupId = row.group_id } = change;
  const errors = validateDates({ startsOn, endsOn });
  if (errors.length > 0)
    throw invalidInput(change.endsOn === undefined ? errors.map(asStartsOnError) : errors);
  requireDraftPolicyRight(caller, row.drafts, change.drafts);
  if (groupId !== row.group_id) await requireCanMove(tx, caller, row, groupId);
  const tagsBefore = (await loadAssessmentTags(tx, [row.id])).get(row.id) ?? [];
  const tagsAfter = (await resolveAssessmentTags(tx, by, organizationId, change, isAdmin)) ?? tagsBefore;

  const after = {
    name: change.name === undefined ? row.name : requireNewName('name', change.name, row.name),
    description: change.description ?? row.description,
    type: change.type ?? row.type,
    state: change.state ?? row.state,
    drafts: change.drafts ?? row.drafts,
    group_id: groupId,
    starts_on: startsOn,
    ends_on: endsOn,
    tags: tagsAfter.map(({ id }) => id),
  };
  const changes = diffFields({ ...row, tags: tagsBefore.map(({ id }) => id) }, after);
  if (changes === undefined) return readChangedAssessment(tx, caller, row.id);
  const { tags: _tags, ...values } = after;
  await tx
    .updateTable('assessments')
    .set((eb) => ({
      ...values,
      search_name: foldCase(after.name),
      updated_at: now,
      version: eb('version', '+', 1),
    }))
    .where('id', '=', row.id)
    .execute();
  await replaceAssessmentTags(tx, { id: row.id, organizationId }, tagsBefore, tagsAfter);
  await recordEvent(tx, by, {
    action: 'assessment.update',
    object: ['assessment', uid],
    organizationId,
    ...changes,
  });
  if (row.state === 'active' && after.state !== 'active') await endTestingSessions(tx, by, row);
  return readChangedAssessment(tx, caller, row.id);
}

const asStartsOnError = (): FieldError => ({
  property: 'startsOn',
  code: 'after',
  params: { other: 'endsOn' },
});

async function lockVisibleRow(
  tx: Transaction,
  caller: Caller,
  uid: string,
  lock: RowLock = forNoKeyUpdate,
): Promise<AssessmentRow> {
  const [row] = ASSESSMENT_UID.test(uid)
    ? await selectLocked(lock)(visibilityOf(caller, 'read'))(tx, { ...visibilityParameters(caller), uid })
    : [];
  if (row === undefined) throw notFound('assessment');
  return row;
}

type Fields = Readonly<Record<string, string | number | readonly number[] | null>>;

/** @returns the fields that differ, before and after; `undefined` when none does */
function diffFields<W extends Fields>(
  row: { readonly [N in keyof W]: Fields[string] },
  after: W,
): { before: object; after: object } | undefined {
  const names = Object.keys(after).filter(
    (name) => JSON.stringify(row[name]) !== JSON.stringify(after[name]),
  );
  if (names.length === 0) return undefined;
  const pickChanged = (values: Fields) => Object.fromEntries(names.map((name) => [name, values[name]]));
  return { before: pickChanged(row), after: pickChanged(after) };
}

/**
 * Deletes an assessment that has no vulnerabilities, no testing sessions, and only undone imports (operation 84).
 * @throws DomainError `not-found`, `forbidden` unless the caller is an admin, `version-mismatch`, `conflict` while it
 *   has a vulnerability, a testing session or an import that is not undone; also `forbidden` for client users while
 *   it has drafts
 */
export async function deleteAssessment(
  tx: Transaction,
  by: ChangeContext<Caller>,
  uid: string,
  expected?: ExpectedVersion,
): Promise<void> {
  const {
    id,
    organization_id: organizationId,
    version,
    roleByName: _roleByName,
    roleByGroup: _roleByGroup,
    created_by: _createdBy,
    ...fields
  } = await lockVisibleRow(tx, by.actor, uid, forUpdate);
  if (!isAdminOf(by.actor, organizationId)) throw new DomainError('assessment-delete-admins-only');
  requireVersion(expected, version);
  const hasRow = async (table: 'vulnerabilities' | 'testing_sessions', condition = sql<SqlBool>`1 = 1`) =>
    (await tx
      .selectFrom(table)
      .select('id')
      .where('assessment_id', '=', id)
      .where(condition)
      .limit(1)
      .executeTakeFirst()) !== undefined;
  if (await hasRow('vulnerabilities', isDraftVisible(visibilityOf(by.actor))))
    throw new DomainError('assessment-not-empty', { things: 'vulnerabilities' });
  if (await hasRow('testing_sessions'))
    throw new DomainError('assessment-not-empty', { things: 'testing sessions' });
  if (await hasRow('vulnerabilities')) throw new DomainError('assessment-drafts-staff-only');
  const imported = await tx
    .selectFrom('imports')
    .select('id')
    .where('assessment_id', '=', id)
    .where('undone', 'is', null)
    .limit(1)
    .executeTakeFirst();
  if (imported !== undefined) throw new DomainError('assessment-has-imports');
  const tags = (await loadAssessmentTags(tx, [id])).get(id) ?? [];
  // The findings that are left have no vulnerability. They are deleted with the assessment; these rows have no foreign
  // key.
  for (const table of ['detections', 'finding_contents'] as const)
    await tx
      .deleteFrom(table)
      .where('vulnerability_id', 'in', (eb) =>
        eb.selectFrom('scanner_findings').select('vulnerability_id').where('assessment_id', '=', id),
      )
      .execute();
  await tx.deleteFrom('assessments').where('id', '=', id).execute();
  await recordEvent(tx, by, {
    action: 'assessment.delete',
    object: ['assessment', uid],
    organizationId,
    before: { uid, ...fields, tags: tags.map((tag) => tag.id) },
    after: null,
  });
}
