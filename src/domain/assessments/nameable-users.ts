import { type SqlBool, sql } from 'kysely';
import type { Principal } from '../../auth/callers.ts';
import { type Role, rolesWith } from '../../auth/roles.ts';
import type { ReadConnection } from '../../db/database.ts';
import { pairsTable, withoutIndex } from '../../db/dialect-sql.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import { hasRole } from '../shared/visibility.ts';

/** Users with one of the roles, admins of the organization, and staff who can see it, unless they are banned. */
const isAllowed = (roles: readonly Role[]) =>
  sql<SqlBool>`(users.banned_at is null and case when users.staff = 1 then
    not exists (select 1 from staff_organizations where staff_organizations.user_id = users.id)
    or exists (select 1 from staff_organizations where staff_organizations.user_id = users.id
      and staff_organizations.organization_id = assessments.organization_id)
  else users.organization_id = assessments.organization_id
    and (users.admin = 1 or ${hasRole(sql`users.id`, roles)}) end)`;

/** What a user must be permitted to do to be named: in an assignee `assign`, in a tester `report`. */
export type NamedPermission = 'assign' | 'report';

const pairsWithAccess = (db: ReadConnection, pairs: string, permission: NamedPermission) =>
  db
    .selectFrom(pairsTable(db, pairs).as('pair'))
    .innerJoin('assessments', 'assessments.id', 'pair.one')
    .innerJoin('users', 'users.id', 'pair.other')
    .select(['assessments.id as assessment', 'users.id as user'])
    .where(isAllowed(rolesWith(permission)));

type Pair = { assessment: number; user: number };

const forEachPermission = <T>(build: (permission: NamedPermission) => T) => ({
  assign: build('assign'),
  report: build('report'),
});

const selectPairsWithAccess = forEachPermission((permission) =>
  prepareQuery<{ pairs: string }, Pair>((db, p) => pairsWithAccess(db, p.pairs, permission)),
);

/** Only the latest vulnerabilities of a reporter are read, as staff can have reported any number by imports. */
const LATEST_REPORTED = 1_000;

const hasReported = (organization: number) =>
  sql`(select 1 from (select organization_id from vulnerabilities as reported
    where reported.created_by = known.id and reported.draft = 0 order by reported.id desc limit ${sql.lit(LATEST_REPORTED)}) as latest
    where latest.organization_id = ${organization} limit 1) is not null`;

/**
 * Excludes staff whom the organization does not know. It knows those who are assigned to it by name, and those whom its
 * testing sessions, imports, vulnerabilities (as assignee, or as reporter of one of the latest that they reported) or
 * comments name (except internal comments, which its users cannot see).
 */
const selectNameablePairs = forEachPermission((permission) =>
  prepareQuery<{ pairs: string; organization: number }, Pair>((db, p) => {
    // Uses the index on the user, who has fewer rows than the organization. For `exists`, PostgreSQL may read the table.
    const isNamed = (table: string, column: string, rest = sql`1 = 1`) =>
      sql`(select 1 from ${sql.table(table)} as named where ${sql.ref(`named.${column}`)} = known.id
        and ${withoutIndex(sql.ref<number>('named.organization_id'))} = ${p.organization} and ${rest}
        limit 1) is not null`;
    // Does not depend on the assessment, so that each user is looked up once.
    return pairsWithAccess(db, p.pairs, permission).where(
      sql<SqlBool>`users.id in (select known.id from users as known
        where known.id in (select named.other from ${pairsTable(db, p.pairs)} as named) and (known.staff = 0
          or ${isNamed('staff_organizations', 'user_id')}
          or ${isNamed('testing_sessions', 'tester_id')}
          or ${isNamed('vulnerabilities', 'assignee_id', sql`named.draft = 0`)}
          or ${isNamed('comments', 'user_id', sql`named.internal = 0`)}
          or ${isNamed('imports', 'created_by')}
          or ${hasReported(p.organization)}))`,
    );
  }),
);

/**
 * @param pairs pairs of ids, possibly with repetitions
 * @returns whether a user has the permission in an assessment, for these pairs
 */
export async function permissionByPair(
  db: ReadConnection,
  permission: NamedPermission,
  pairs: readonly AssessmentAndUser[],
): Promise<PairCheck> {
  return checkPairs(pairs, (unique) => selectPairsWithAccess[permission](db, { pairs: unique }));
}

/**
 * Checks whom a caller can name as assignee or tester. Client users can name staff only if their organization knows
 * them, so that ids do not reveal who else is staff.
 * @param pairs pairs of ids, possibly with repetitions
 * @returns whether the caller can name a user for an assessment, for these pairs
 */
export async function loadNameableCheck(
  db: ReadConnection,
  { organizationId: organization, staff }: Principal,
  permission: NamedPermission,
  pairs: readonly AssessmentAndUser[],
): Promise<PairCheck> {
  if (staff || organization === null) return permissionByPair(db, permission, pairs);
  return checkPairs(pairs, (unique) => selectNameablePairs[permission](db, { pairs: unique, organization }));
}

type AssessmentAndUser = readonly [assessment: number, user: number];
type PairCheck = (assessment: number, user: number) => boolean;

async function checkPairs(
  pairs: readonly AssessmentAndUser[],
  select: (pairs: string) => Promise<Pair[]>,
): Promise<PairCheck> {
  const unique = new Map(pairs.map((pair) => [String(pair), pair]));
  const matches = unique.size === 0 ? [] : await select(JSON.stringify([...unique.values()]));
  const matchKeys = new Set(matches.map(({ assessment, user }) => `${assessment},${user}`));
  return (assessment, user) => matchKeys.has(`${assessment},${user}`);
}
