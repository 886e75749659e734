import { type SelectQueryBuilder, sql } from 'kysely';
import { administers, belongsTo, type Caller } from '../../auth/callers.ts';
import type { Reader } from '../../db/engine.ts';
import { isOneOf } from '../../db/dialect-sql.ts';
import type { Tables } from '../../db/schema.ts';
import { Failure, missing } from '../shared/errors.ts';
import { defineList } from '../lists/define-list.ts';
import { belongsToOrganization, reachOfAccount, reachParameters } from '../shared/visibility.ts';

/** An organization, as the API tells of it. */
export interface OrganizationProfile {
  id: number;
  version: number;
  uid: string;
  name: string;
  createdAt: number;
  requireSecondFactor: boolean;
  /** What it has, for who administers it. */
  counts: { users: number; assessments: number; assets: number } | null;
}

const profilesOf = (db: Reader) =>
  db
    .selectFrom('organizations')
    .select(['id', 'version', 'uid', 'name', 'created_at', 'require_second_factor'])
    .where('kind', '=', 'organization');

type ProfileRow = Awaited<ReturnType<ReturnType<typeof profilesOf>['executeTakeFirstOrThrow']>>;

/** The organizations that staff reach, and everyone else's own (operation 61). */
export const organizationList = defineList({
  name: 'organizations',
  rows: ({ db, caller }) =>
    profilesOf(db).where(({ ref }) =>
      belongsToOrganization(reachOfAccount(caller), ref('organizations.id'), reachParameters(caller)),
    ),
  id: 'organizations.id',
  organization: 'organizations.id',
  filters: {},
  orders: { name: { by: 'organizations.name', type: 'text' } },
  items: ({ db, caller }, rows) => completeProfiles(db, caller, rows),
});

/**
 * @returns an organization that the caller belongs to, or reaches as staff
 * @throws Failure `missing` for every other
 */
export async function organizationForCaller(
  db: Reader,
  caller: Caller,
  uid: string,
): Promise<OrganizationProfile> {
  const row = await profilesOf(db).where('uid', '=', uid).executeTakeFirst();
  if (row === undefined || !belongsTo(caller, row.id)) throw missing('organization');
  const [profile] = await completeProfiles(db, caller, [row]);
  if (profile === undefined) throw missing('organization');
  return profile;
}

/**
 * The same of one that the caller is to change.
 * @throws Failure `forbidden` for who does not administer it
 */
export async function organizationToChange(
  db: Reader,
  caller: Caller,
  uid: string,
): Promise<OrganizationProfile> {
  const profile = await organizationForCaller(db, caller, uid);
  if (!administers(caller, profile.id)) throw new Failure('forbidden', 'Only admins change an organization.');
  return profile;
}

async function completeProfiles(
  db: Reader,
  caller: Caller,
  rows: readonly ProfileRow[],
): Promise<OrganizationProfile[]> {
  const ids = rows.flatMap(({ id }) => (administers(caller, id) ? [id] : []));
  const [users, assessments, assets] = await Promise.all([
    countOf(db, ids, db.selectFrom('users').where('banned_at', 'is', null)),
    countOf(db, ids, db.selectFrom('assessments')),
    countOf(db, ids, db.selectFrom('assets')),
  ]);
  const told = new Set(ids);
  return rows.map((row) => ({
    id: row.id,
    version: row.version,
    uid: row.uid,
    name: row.name,
    createdAt: row.created_at,
    requireSecondFactor: row.require_second_factor === 1,
    counts: told.has(row.id)
      ? {
          users: users.get(row.id) ?? 0,
          assessments: assessments.get(row.id) ?? 0,
          assets: assets.get(row.id) ?? 0,
        }
      : null,
  }));
}

/** @returns by organization, how many rows there are of it */
async function countOf<T extends 'users' | 'assessments' | 'assets'>(
  db: Reader,
  organizationIds: readonly number[],
  query: SelectQueryBuilder<Tables, T, object>,
): Promise<ReadonlyMap<number, number>> {
  if (organizationIds.length === 0) return new Map();
  const organization = sql.ref<number>('organization_id');
  const rows = await query
    .select([sql<number>`${organization}`.as('id'), sql<number>`count(*)`.as('count')])
    .where(isOneOf(db, organization, organizationIds))
    .groupBy(organization)
    .execute();
  return new Map((rows as { id: number; count: number }[]).map(({ id, count }) => [id, count]));
}
