import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Caller } from '../../auth/callers.ts';
import type { ReadConnection } from '../../db/database.ts';
import { inList } from '../../db/dialect-sql.ts';
import { notFound } from '../shared/errors.ts';
import { searchFilter } from '../lists/filters.ts';
import { defineList } from '../lists/define-list.ts';
import { inAccessibleOrganization, visibilityOf, visibilityParameters } from '../shared/visibility.ts';

export interface AssessmentGroup {
  id: number;
  version: number;
  name: string;
  description: string;
  organizationId: number;
  organizationUid: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  memberCount: number;
  assessmentCount: number;
}

const visibleGroups = (db: ReadConnection, caller: Caller) =>
  db
    .selectFrom('assessment_groups')
    .innerJoin('organizations', 'organizations.id', 'assessment_groups.organization_id')
    .select([
      'assessment_groups.id',
      'assessment_groups.version',
      'assessment_groups.name',
      'assessment_groups.description',
      'assessment_groups.organization_id',
      'organizations.uid as organization_uid',
      'assessment_groups.created_at',
    ])
    .where(isGroupVisible(caller));

/** Admins and staff can see every group of their organizations, others the groups that they are members of. */
function isGroupVisible(caller: Caller): RawBuilder<SqlBool> {
  const organization = sql.ref('assessment_groups.organization_id');
  const inTenant = inAccessibleOrganization(visibilityOf(caller), organization, visibilityParameters(caller));
  return caller.admin || caller.staff
    ? inTenant
    : sql<SqlBool>`(${inTenant} and exists (select 1 from assessment_group_members as own
        where own.group_id = assessment_groups.id and own.user_id = ${caller.userId}))`;
}

type GroupRow = Awaited<ReturnType<ReturnType<typeof visibleGroups>['executeTakeFirstOrThrow']>>;

/** The groups that the caller can see (operation 42). */
export const groupList = defineList({
  name: 'assessment-groups',
  rows: ({ db, caller }) => visibleGroups(db, caller),
  id: 'assessment_groups.id',
  organization: 'assessment_groups.organization_id',
  filters: { search: searchFilter('assessment_groups.search_name') },
  sorts: { name: { column: 'assessment_groups.name', type: 'text' } },
  hydrate: ({ db }, rows) => hydrateGroups(db, rows),
});

/** @throws DomainError `not-found` */
export async function readGroup(db: ReadConnection, caller: Caller, id: number): Promise<AssessmentGroup> {
  const row = await visibleGroups(db, caller).where('assessment_groups.id', '=', id).executeTakeFirst();
  const [group] = row === undefined ? [] : await hydrateGroups(db, [row]);
  if (group === undefined) throw notFound('assessment group');
  return group;
}

async function hydrateGroups(db: ReadConnection, rows: readonly GroupRow[]): Promise<AssessmentGroup[]> {
  const ids = rows.map(({ id }) => id);
  const [members, assessments] = await Promise.all([countMembers(db, ids), countAssessments(db, ids)]);
  return rows.map((row) => ({
    id: row.id,
    version: row.version,
    name: row.name,
    description: row.description,
    organizationId: row.organization_id,
    organizationUid: row.organization_uid,
    createdAt: row.created_at,
    memberCount: members.get(row.id) ?? 0,
    assessmentCount: assessments.get(row.id) ?? 0,
  }));
}

async function countMembers(
  db: ReadConnection,
  ids: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await db
    .selectFrom('assessment_group_member_counts')
    .select(['group_id', sql<number>`cast(sum(members) as bigint)`.as('members')])
    .where(({ ref }) => inList(db, ref('group_id'), ids))
    .groupBy('group_id')
    .execute();
  return new Map(rows.map(({ group_id, members }) => [group_id, members]));
}

async function countAssessments(
  db: ReadConnection,
  ids: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await db
    .selectFrom('assessments')
    .select((eb) => ['group_id', eb.fn.countAll<number>().as('assessments')])
    .where(({ ref }) => inList(db, ref('group_id'), ids))
    .groupBy('group_id')
    .execute();
  return new Map(rows.map(({ group_id, assessments }) => [group_id ?? 0, assessments]));
}
