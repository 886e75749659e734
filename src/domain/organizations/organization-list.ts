import { type SelectQueryBuilder, sql } from 'kysely';
import { isAdminOf, isMemberOf, type Caller } from '../../auth/callers.ts';
import type { DismissalRole } from '../../auth/roles.ts';
import type { ReadConnection } from '../../db/database.ts';
import { inList } from '../../db/dialect-sql.ts';
import type { Tables } from '../../db/schema.ts';
import { DomainError, notFound } from '../shared/errors.ts';
import { defineList } from '../lists/define-list.ts';
import { inAccessibleOrganization, visibilityOf, visibilityParameters } from '../shared/visibility.ts';

export interface OrganizationProfile {
  id: number;
  version: number;
  uid: string;
  name: string;
  createdAt: number;
  requireSecondFactor: boolean;
  dismissalRole: DismissalRole;
  /** `null` unless the caller administers it. */
  counts: { users: number; assessments: number; assets: number } | null;
}

const selectProfiles = (db: ReadConnection) =>
  db
    .selectFrom('organizations')
    .select(['id', 'version', 'uid', 'name', 'created_at', 'require_second_factor', 'dismissal_role'])
    .where('kind', '=', 'organization');

type ProfileRow = Awaited<ReturnType<ReturnType<typeof selectProfiles>['executeTakeFirstOrThrow']>>;

/** The organizations that the caller can access: staff see those they manage, other users their own (operation 61). */
export const organizationList = defineList({
  name: 'organizations',
  rows: ({ db, caller }) =>
    selectProfiles(db).where(({ ref }) =>
      inAccessibleOrganization(visibilityOf(caller), ref('organizations.id'), visibilityParameters(caller)),
    ),
  id: 'organizations.id',
  organization: 'organizations.id',
  filters: {},
  sorts: { name: { column: 'organizations.name', type: 'text' } },
  hydrate: ({ db, caller }, rows) => hydrateProfiles(db, caller, rows),
});

/** @throws DomainError `not-found` unless the caller can access it */
export async function requireVisibleOrganization(
  db: ReadConnection,
  caller: Caller,
  uid: string,
): Promise<OrganizationProfile> {
  const row = await selectProfiles(db).where('uid', '=', uid).executeTakeFirst();
  if (row === undefined || !isMemberOf(caller, row.id)) throw notFound('organization');
  const [profile] = await hydrateProfiles(db, caller, [row]);
  if (profile === undefined) throw notFound('organization');
  return profile;
}

/** @throws DomainError `not-found` unless the caller can access it; `forbidden` unless they administer it */
export async function requireAdministeredOrganization(
  db: ReadConnection,
  caller: Caller,
  uid: string,
): Promise<OrganizationProfile> {
  const profile = await requireVisibleOrganization(db, caller, uid);
  if (!isAdminOf(caller, profile.id)) throw new DomainError('organization-update-admins-only');
  return profile;
}

async function hydrateProfiles(
  db: ReadConnection,
  caller: Caller,
  rows: readonly ProfileRow[],
): Promise<OrganizationProfile[]> {
  const ids = rows.flatMap(({ id }) => (isAdminOf(caller, id) ? [id] : []));
  const [users, assessments, assets] = await Promise.all([
    countByOrganization(db, ids, db.selectFrom('users').where('banned_at', 'is', null)),
    countByOrganization(db, ids, db.selectFrom('assessments')),
    countByOrganization(db, ids, db.selectFrom('assets')),
  ]);
  const administered = new Set(ids);
  return rows.map((row) => ({
    id: row.id,
    version: row.version,
    uid: row.uid,
    name: row.name,
    createdAt: row.created_at,
    requireSecondFactor: row.require_second_factor === 1,
    dismissalRole: row.dismissal_role,
    counts: administered.has(row.id)
      ? {
          users: users.get(row.id) ?? 0,
          assessments: assessments.get(row.id) ?? 0,
          assets: assets.get(row.id) ?? 0,
        }
      : null,
  }));
}

/** @returns the number of rows by organization */
async function countByOrganization<T extends 'users' | 'assessments' | 'assets'>(
  db: ReadConnection,
  organizationIds: readonly number[],
  query: SelectQueryBuilder<Tables, T, object>,
): Promise<ReadonlyMap<number, number>> {
  if (organizationIds.length === 0) return new Map();
  const organization = sql.ref<number>('organization_id');
  const rows = await query
    .select([sql<number>`${organization}`.as('id'), sql<number>`count(*)`.as('count')])
    .where(inList(db, organization, organizationIds))
    .groupBy(organization)
    .execute();
  return new Map((rows as { id: number; count: number }[]).map(({ id, count }) => [id, count]));
}
