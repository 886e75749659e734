import { type SqlBool, sql } from 'kysely';
import type { Caller } from '../../auth/callers.ts';
import type { Permission } from '../../auth/roles.ts';
import type { ReadConnection } from '../../db/database.ts';
import { inList } from '../../db/dialect-sql.ts';
import { notFound } from '../shared/errors.ts';
import { type Filter, integerFilter, searchFilter, textFilter } from '../lists/filters.ts';
import { defineList } from '../lists/define-list.ts';
import { callerRoles, isPermitted, mayDismiss } from '../shared/permissions.ts';
import { assessmentIsVisible, visibilityOf, visibilityParameters } from '../shared/visibility.ts';
import { type AssessmentTagRef, loadAssessmentTags } from './tag-assessment.ts';
import { canEdit } from './assessment-permissions.ts';
import { ASSESSMENT_STATES, ASSESSMENT_UID, type DraftPolicy } from './assessments.ts';
import { groupBy } from '../shared/group-by.ts';
import { isClosed } from '../shared/statuses-and-severities.ts';
import { countVulnerabilities } from '../shared/vulnerability-counters.ts';

export interface AssessmentView {
  id: number;
  version: number;
  uid: string;
  name: string;
  description: string;
  type: string;
  state: string;
  drafts: DraftPolicy;
  groupId: number | null;
  organizationUid: string;
  tags: readonly AssessmentTagRef[];
  vulnerabilityCount: number;
  openVulnerabilityCount: number;
  assetCount: number;
  /** Days, as `2026-11-22`. */
  startsOn: string | null;
  endsOn: string | null;
  permissions: AssessmentPermissions;
  /** Milliseconds since 1970. */
  createdAt: number;
  updatedAt: number;
}

const selectAssessments = (db: ReadConnection, caller: Caller) =>
  db
    .selectFrom('assessments')
    .innerJoin('organizations', 'organizations.id', 'assessments.organization_id')
    .select([
      'assessments.id',
      'assessments.version',
      'assessments.uid',
      'assessments.name',
      'assessments.description',
      'assessments.type',
      'assessments.state',
      'assessments.drafts',
      'assessments.group_id',
      'organizations.uid as organization_uid',
      'organizations.dismissal_role',
      'assessments.starts_on',
      'assessments.ends_on',
      'assessments.created_at',
      'assessments.updated_at',
      'assessments.organization_id',
      'assessments.created_by',
    ])
    .select(callerRoles(visibilityOf(caller), visibilityParameters(caller), sql.ref('assessments.id')));

const visibleAssessments = (db: ReadConnection, caller: Caller) =>
  selectAssessments(db, caller).where(
    assessmentIsVisible(visibilityOf(caller, 'read'), visibilityParameters(caller)),
  );

type AssessmentRow = Awaited<ReturnType<ReturnType<typeof visibleAssessments>['executeTakeFirstOrThrow']>>;

/** The assessments that the caller can see (operation 36). */
export const assessmentList = defineList({
  name: 'assessments',
  rows: ({ db, caller }) => visibleAssessments(db, caller),
  id: 'assessments.id',
  organization: 'assessments.organization_id',
  filters: {
    groupId: integerFilter('assessments.group_id'),
    search: searchFilter('assessments.uid', 'assessments.search_name'),
    tagId: {
      kind: 'integers',
      where: ({ db }, ids) =>
        sql<SqlBool>`exists (select 1 from assessment_taggings as tagging
          where tagging.assessment_id = assessments.id and ${inList(db, sql.ref<number>('tagging.tag_id'), ids)})`,
    },
    state: textFilter('assessments.state', { oneOf: ASSESSMENT_STATES }),
    includePermissions: { kind: 'flag' } as Filter<'flag'>,
  },
  sorts: {
    createdAt: { column: 'assessments.created_at', type: 'integer' },
    uid: { column: 'assessments.uid', type: 'text' },
    name: { column: 'assessments.name', type: 'text' },
    state: { column: 'assessments.state', type: 'text' },
    startsOn: { column: 'assessments.starts_on', type: 'text', nullable: true },
    endsOn: { column: 'assessments.ends_on', type: 'text', nullable: true },
  },
  hydrate: async ({ db, caller }, rows, { includePermissions = false }) =>
    (await hydrateAssessments(db, caller, rows)).map((assessment) => ({ ...assessment, includePermissions })),
});

/**
 * @param key the id, or a uid in any format, valid or not
 * @throws DomainError `not-found`
 */
export async function readAssessment(
  db: ReadConnection,
  caller: Caller,
  key: { uid: string } | { id: number },
): Promise<AssessmentView> {
  const visible = visibleAssessments(db, caller);
  const query =
    'id' in key
      ? visible.where('assessments.id', '=', key.id)
      : visible.where('assessments.uid', '=', ASSESSMENT_UID.test(key.uid) ? key.uid : '');
  const row = await query.executeTakeFirst();
  const [assessment] = row === undefined ? [] : await hydrateAssessments(db, caller, [row]);
  if (assessment === undefined) throw notFound('assessment');
  return assessment;
}

/** Reads an assessment that the caller has just changed, even if the change ended their access. */
export async function readChangedAssessment(
  db: ReadConnection,
  caller: Caller,
  id: number,
): Promise<AssessmentView> {
  const row = await selectAssessments(db, caller).where('assessments.id', '=', id).executeTakeFirstOrThrow();
  const [assessment] = await hydrateAssessments(db, caller, [row]);
  return assessment as AssessmentView;
}

async function hydrateAssessments(
  db: ReadConnection,
  caller: Caller,
  rows: readonly AssessmentRow[],
): Promise<AssessmentView[]> {
  const ids = rows.map(({ id }) => id);
  const [tags, vulnerabilities, assets] = await Promise.all([
    loadAssessmentTags(db, ids),
    countByAssessment(db, caller, ids),
    countAssets(db, ids),
  ]);
  return rows.map((row) => ({
    ...countsOf(
      isPermitted(caller, row.organization_id, row, 'read_vulnerabilities')
        ? vulnerabilities.get(row.id)
        : undefined,
    ),
    permissions: permissionsOf(caller, row),
    id: row.id,
    version: row.version,
    uid: row.uid,
    name: row.name,
    description: row.description,
    type: row.type,
    state: row.state,
    drafts: row.drafts,
    groupId: row.group_id,
    organizationUid: row.organization_uid,
    tags: tags.get(row.id) ?? [],
    assetCount: assets.get(row.id) ?? 0,
    startsOn: row.starts_on,
    endsOn: row.ends_on,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }));
}

/** Asked by clients, to offer only what the caller may do. */
export interface AssessmentPermissions {
  readVulnerabilities: boolean;
  comment: boolean;
  report: boolean;
  triage: boolean;
  dismiss: boolean;
  writeAssets: boolean;
  edit: boolean;
}

function permissionsOf(caller: Caller, row: AssessmentRow): AssessmentPermissions {
  const permits = (permission: Permission) => isPermitted(caller, row.organization_id, row, permission);
  return {
    readVulnerabilities: permits('read_vulnerabilities'),
    comment: permits('comment'),
    report: permits('report'),
    triage: permits('triage'),
    dismiss: mayDismiss(caller, row.organization_id, row.dismissal_role, row),
    writeAssets: permits('write_assets'),
    edit: canEdit(caller, row),
  };
}

interface StatusCount {
  statusId: number;
  count: number;
}

async function countByAssessment(
  db: ReadConnection,
  { staff }: Caller,
  ids: readonly number[],
): Promise<ReadonlyMap<number, StatusCount[]>> {
  const selection = { kind: 'assessment', subjects: ids, isDraft: staff ? undefined : false } as const;
  const rows = await countVulnerabilities(db, selection, ['subject', 'statusId']);
  return groupBy(
    rows,
    ({ subject }) => subject,
    (row) => row,
  );
}

function countsOf(counts: readonly StatusCount[] = []) {
  let [vulnerabilityCount, openVulnerabilityCount] = [0, 0];
  for (const { statusId, count } of counts) {
    vulnerabilityCount += count;
    if (!isClosed(statusId)) openVulnerabilityCount += count;
  }
  return { vulnerabilityCount, openVulnerabilityCount };
}

async function countAssets(db: ReadConnection, ids: readonly number[]): Promise<ReadonlyMap<number, number>> {
  const rows = await db
    .selectFrom('listing_assets')
    .select((eb) => ['assessment_id', eb.fn.countAll<number>().as('assets')])
    .where(({ ref }) => inList(db, ref('assessment_id'), ids))
    .groupBy('assessment_id')
    .execute();
  return new Map(rows.map(({ assessment_id, assets }) => [assessment_id, assets]));
}
