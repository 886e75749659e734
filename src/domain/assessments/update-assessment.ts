import { type Act, administers, type Caller } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { holdingRows } from '../../db/dialect-sql.ts';
import { prepareWrite } from '../../db/prepared-queries.ts';
import { recordChange } from '../audit/record-event.ts';
import { Failure, invalid, missing } from '../shared/errors.ts';
import { searchKey } from '../lists/filters.ts';
import { cleanName } from '../shared/names.ts';
import {
  listingWithin,
  perReach,
  reachOfAccount,
  type ReachParameters,
  reachParameters,
} from '../shared/visibility.ts';
import { type Expected, requireVersion } from '../shared/versions.ts';
import { refuseAssessmentForm } from './create-assessment.ts';
import { requireCreator, requireOperator } from './assessment-permissions.ts';
import { type AssessmentView, readAssessment } from './assessment-list.ts';
import { chooseTags, replaceTags, type TagChoice, tagsOfAssessments } from './tag-assessment.ts';
import { ASSESSMENT_UID, type AssessmentMembers, dayFaults } from './assessments.ts';
import { endSessionsOf } from './testing-sessions.ts';

/** What changes of an assessment; what is absent stays. */
export interface AssessmentChange extends AssessmentMembers, TagChoice {
  name?: string | undefined;
}

/** Finds an assessment, and keeps others from changing it until this unit of work ends. */
const holdAssessment = perReach((reach) =>
  prepareWrite<ReachParameters & { uid: string }, AssessmentRow>((tx, p) =>
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
        'group_id',
        'starts_on',
        'ends_on',
      ])
      .where('uid', '=', p.uid)
      .where(listingWithin(reach, p))
      .modifyEnd(holdingRows(tx)),
  ),
);

interface AssessmentRow {
  id: number;
  organization_id: number;
  version: number;
  name: string;
  description: string;
  type: string;
  state: string;
  group_id: number | null;
  starts_on: string | null;
  ends_on: string | null;
}

/**
 * Changes an assessment (operation 39); what does not differ is neither written nor recorded. Sessions that run end when
 * it is no longer active.
 * @throws Failure `missing` for who has no access, `forbidden` for who may not change it or put it into the group,
 *   `changed` for another version than is expected, `invalid` for what is wrong or unknown
 */
export async function changeAssessment(
  tx: Transaction,
  act: Act<Caller>,
  uid: string,
  change: AssessmentChange,
  expected?: Expected,
): Promise<AssessmentView> {
  const { actor: caller, now } = act;
  refuseAssessmentForm(change);
  const row = await hold(tx, caller, uid);
  const organizationId = row.organization_id;
  const isAdmin = administers(caller, organizationId);
  if (!isAdmin) await requireOperator(tx, caller, row.group_id);
  requireVersion(expected, row.version);
  const { startsOn = row.starts_on, endsOn = row.ends_on, groupId = row.group_id } = change;
  const faults = dayFaults({ startsOn, endsOn });
  if (faults.length > 0) throw invalid(change.endsOn === undefined ? faults.map(ofStart) : faults);
  if (groupId !== null && groupId !== row.group_id) await requireCreator(tx, caller, organizationId, groupId);
  const before = (await tagsOfAssessments(tx, [row.id])).get(row.id) ?? [];
  const after = (await chooseTags(tx, act, organizationId, change, isAdmin)) ?? before;

  const wanted = {
    name: change.name === undefined ? row.name : cleanName('name', change.name),
    description: change.description ?? row.description,
    type: change.type ?? row.type,
    state: change.state ?? row.state,
    group_id: groupId,
    starts_on: startsOn,
    ends_on: endsOn,
    tags: after.map(({ id }) => id),
  };
  const differing = differencesOf({ ...row, tags: before.map(({ id }) => id) }, wanted);
  if (differing === undefined) return readAssessment(tx, caller, { id: row.id });
  const { tags: _tags, ...values } = wanted;
  await tx
    .updateTable('assessments')
    .set((eb) => ({
      ...values,
      name_key: searchKey(wanted.name),
      updated_at: now,
      version: eb('version', '+', 1),
    }))
    .where('id', '=', row.id)
    .execute();
  await replaceTags(tx, { id: row.id, organizationId }, before, after);
  await recordChange(tx, act, {
    action: 'assessment.update',
    object: ['assessment', uid],
    organizationId,
    ...differing,
  });
  if (row.state === 'active' && wanted.state !== 'active') await endSessionsOf(tx, act, row);
  return readAssessment(tx, caller, { id: row.id });
}

const ofStart = () => ({ property: 'startsOn', message: 'must not be after endsOn', other: 'endsOn' });

async function hold(tx: Transaction, caller: Caller, uid: string): Promise<AssessmentRow> {
  const [row] = ASSESSMENT_UID.test(uid)
    ? await holdAssessment(reachOfAccount(caller))(tx, { ...reachParameters(caller), uid })
    : [];
  if (row === undefined) throw missing('assessment');
  return row;
}

type Members = Readonly<Record<string, string | number | readonly number[] | null>>;

/** @returns the members that differ, on both sides; `undefined` when none do */
function differencesOf<W extends Members>(
  row: { readonly [N in keyof W]: Members[string] },
  wanted: W,
): { before: object; after: object } | undefined {
  const names = Object.keys(wanted).filter(
    (name) => JSON.stringify(row[name]) !== JSON.stringify(wanted[name]),
  );
  if (names.length === 0) return undefined;
  const side = (of: Members) => Object.fromEntries(names.map((name) => [name, of[name]]));
  return { before: side(row), after: side(wanted) };
}

/**
 * Deletes an assessment in which nothing was found and no time was spent (operation 84).
 * @throws Failure `missing` for who has no access, `forbidden` for who is no admin, `changed` for another version than is
 *   expected, `conflict` while it has vulnerabilities, testing sessions or imports
 *   that are not undone
 */
export async function deleteAssessment(
  tx: Transaction,
  act: Act<Caller>,
  uid: string,
  expected?: Expected,
): Promise<void> {
  const { id, organization_id: organizationId, version, ...members } = await hold(tx, act.actor, uid);
  if (!administers(act.actor, organizationId))
    throw new Failure('forbidden', 'Only admins of the organization delete its assessments.');
  requireVersion(expected, version);
  for (const [table, things] of [
    ['vulnerabilities', 'vulnerabilities'],
    ['testing_sessions', 'testing sessions'],
  ] as const) {
    const found = await tx
      .selectFrom(table)
      .select('id')
      .where('assessment_id', '=', id)
      .limit(1)
      .executeTakeFirst();
    if (found !== undefined)
      throw new Failure('conflict', `The assessment has ${things}: delete those first.`);
  }
  const imported = await tx
    .selectFrom('imports')
    .select('id')
    .where('assessment_id', '=', id)
    .where('undone', 'is', null)
    .limit(1)
    .executeTakeFirst();
  if (imported !== undefined)
    throw new Failure('conflict', 'The assessment has imports that are not undone: undo those first.');
  const tags = (await tagsOfAssessments(tx, [id])).get(id) ?? [];
  await tx.deleteFrom('assessments').where('id', '=', id).execute();
  await recordChange(tx, act, {
    action: 'assessment.delete',
    object: ['assessment', uid],
    organizationId,
    before: { uid, ...members, tags: tags.map((tag) => tag.id) },
    after: null,
  });
}
