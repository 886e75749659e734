import { sql, type SqlBool } from 'kysely';
import { type Principal, type Caller, isAdminOf } from '../../auth/callers.ts';
import { normalizeEmail } from '../../auth/email-addresses.ts';
import type { ReadConnection } from '../../db/database.ts';
import { inList } from '../../db/dialect-sql.ts';
import { accessibleAssessments, grantedAssessments } from '../assessments/assessment-access.ts';
import { DomainError, notFound } from '../shared/errors.ts';
import { type ListContext, searchFilter } from '../lists/filters.ts';
import { defineList } from '../lists/define-list.ts';
import { inAccessibleOrganization, visibilityOf, visibilityParameters } from '../shared/visibility.ts';

export interface User {
  id: number;
  version: number;
  uid: string;
  email: string;
  name: string | null;
  /** `null` for platform staff. */
  organizationId: number | null;
  organizationUid: string | null;
  admin: boolean;
  staff: boolean;
  banned: boolean;
  accepted: boolean;
  /** Milliseconds since 1970. */
  invitedAt: number;
  /** The last use of a session or token; `null` for never. */
  lastSeenAt: number | null;
  secondFactor: boolean;
  /** The uids of the assessments that they were given access to, sorted. */
  assessmentIds: readonly string[];
}

/** Selects accounts with the columns of `User`. */
export const selectUsers = (db: ReadConnection) =>
  db
    .selectFrom('users')
    .leftJoin('organizations', 'organizations.id', 'users.organization_id')
    .select([
      'users.id',
      'users.version',
      'users.uid',
      'users.email',
      'users.name',
      'users.organization_id',
      'organizations.uid as organization_uid',
      'users.admin',
      'users.staff',
      'users.banned_at',
      'users.accepted_at',
      'users.created_at',
      'users.invited_at',
      'users.last_seen_at',
    ]);

type UserRow = Awaited<ReturnType<ReturnType<typeof selectUsers>['executeTakeFirstOrThrow']>>;

/** The client users of the organizations that the caller manages (operation 53). */
export const userList = defineList({
  name: 'users',
  rows: ({ db, caller }) =>
    selectUsers(db)
      .where('users.organization_id', 'is not', null)
      .where(({ ref }) =>
        inAccessibleOrganization(
          visibilityOf(caller),
          ref('users.organization_id'),
          visibilityParameters(caller),
        ),
      ),
  id: 'users.id',
  organization: 'users.organization_id',
  filters: {
    search: searchFilter('users.normalized_email', 'users.search_name'),
    banned: {
      kind: 'flag',
      default: false,
      where: (_listContext, banned) => isSet('users.banned_at', banned),
    },
    invited: { kind: 'flag', where: (_listContext, invited) => isSet('users.accepted_at', !invited) },
  },
  sorts: { email: { column: 'users.normalized_email', type: 'text' } },
  hydrate: ({ db }, rows) => hydrateUsers(db, rows),
});

function isSet(column: string, isPresent: boolean) {
  return isPresent ? sql<SqlBool>`${sql.ref(column)} is not null` : sql<SqlBool>`${sql.ref(column)} is null`;
}

/** @returns all users of all organizations and the platform staff, oldest first */
export async function listUsers(db: ReadConnection): Promise<User[]> {
  return hydrateUsers(db, await selectUsers(db).orderBy('users.id').execute());
}

/** @param key the case of an email address does not matter */
export async function findUser(
  db: ReadConnection,
  key: { id: number } | { uid: string } | { email: string },
): Promise<User | undefined> {
  const query =
    'id' in key
      ? selectUsers(db).where('users.id', '=', key.id)
      : 'uid' in key
        ? selectUsers(db).where('users.uid', '=', key.uid)
        : selectUsers(db).where('users.normalized_email', '=', normalizeEmail(key.email));
  const [user] = await hydrateUsers(db, await query.execute());
  return user;
}

/** @returns the users that exist */
export async function usersById(db: ReadConnection, ids: readonly number[]): Promise<User[]> {
  const rows = await selectUsers(db)
    .where(({ ref }) => inList(db, ref('users.id'), ids))
    .orderBy('users.id')
    .execute();
  return hydrateUsers(db, rows);
}

/**
 * @returns a user whom the caller manages, or the caller
 * @throws DomainError `not-found` for other users
 */
export async function requireManagedUser(db: ReadConnection, caller: Caller, id: number): Promise<User> {
  const [user] = await usersById(db, [id]);
  const isOwn = user?.id === caller.userId;
  // Staff manage the users of organizations, not each other.
  if (user === undefined || !(isOwn || (!user.staff && isAdminOf(caller, user.organizationId))))
    throw notFound('user');
  return user;
}

/** @returns the uids of the assessments that a user can access, sorted; `undefined` for admins and staff */
export async function accessibleAssessmentsOf(
  db: ReadConnection,
  { id, admin, staff }: User,
): Promise<string[] | undefined> {
  return admin || staff ? undefined : accessibleAssessments(db, id);
}

/** A user as the page for a password reset link shows them. */
export type ManagedUser = Pick<User, 'id' | 'uid' | 'email'>;

/**
 * @returns a client user whom an admin or staff manage
 * @throws DomainError `not-found` for other users
 */
export async function managedUserByUid(
  db: ReadConnection,
  account: Principal,
  uid: string,
): Promise<ManagedUser> {
  const user = await db
    .selectFrom('users')
    .select(['id', 'email', 'organization_id'])
    .where('uid', '=', uid)
    .where('organization_id', 'is not', null)
    .executeTakeFirst();
  if (user === undefined || !isAdminOf(account, user.organization_id)) throw notFound('user');
  return { id: user.id, uid, email: user.email };
}

/**
 * @returns the caller's own account
 * @throws DomainError `forbidden` for the command line, which has none
 */
export async function requireOwnUser(db: ReadConnection, caller: Caller): Promise<User> {
  if (caller.userId === null) throw new DomainError('no-account');
  const [user] = await usersById(db, [caller.userId]);
  if (user === undefined) throw notFound('user');
  return user;
}

/**
 * Admins can list users, and so can members with `rbac_group_admin` in a group, to find whom to add.
 * @throws DomainError `forbidden` for others
 */
export async function requireUserListAccess({ db, caller }: ListContext): Promise<void> {
  if (caller.admin) return;
  const role = await db
    .selectFrom('assessment_group_members')
    .select('id')
    .where('user_id', '=', caller.userId)
    .where('role', '=', 'rbac_group_admin')
    .limit(1)
    .executeTakeFirst();
  if (role === undefined) throw new DomainError('user-list-admins-only');
}

/** Turns rows of `selectUsers` into users. */
export async function hydrateUsers(db: ReadConnection, rows: readonly UserRow[]): Promise<User[]> {
  const ids = rows.map(({ id }) => id);
  const [assessmentsOf, lastUses, withSecondFactor] = await Promise.all([
    grantedAssessments(db, ids),
    lastTokenUses(db, ids),
    usersWithSecondFactor(db, ids),
  ]);
  return rows.map((row) => {
    const { id, version, uid, email, name } = row;
    const useTimes = [row.last_seen_at, lastUses.get(id) ?? null].filter((time) => time !== null);
    return {
      id,
      version,
      uid,
      email,
      name,
      organizationId: row.organization_id,
      organizationUid: row.organization_uid,
      admin: row.admin === 1,
      staff: row.staff === 1,
      banned: row.banned_at !== null,
      accepted: row.accepted_at !== null,
      invitedAt: row.invited_at ?? row.created_at,
      lastSeenAt: useTimes.length === 0 ? null : Math.max(...useTimes),
      secondFactor: withSecondFactor.has(id),
      assessmentIds: assessmentsOf.get(id) ?? [],
    };
  });
}

/** @returns the time of the last use of a token, by user */
async function lastTokenUses(
  db: ReadConnection,
  ids: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await db
    .selectFrom('tokens')
    .select(['user_id', sql<number>`max(last_used_at)`.as('at')])
    .where(({ ref }) => inList(db, ref('user_id'), ids))
    .where('last_used_at', 'is not', null)
    .groupBy('user_id')
    .execute();
  return new Map(rows.map(({ user_id, at }) => [user_id, at]));
}

/** @returns the users who have an authenticator app or a passkey */
async function usersWithSecondFactor(
  db: ReadConnection,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await db
    .selectFrom('totp_secrets')
    .select('user_id')
    .where(({ ref }) => inList(db, ref('user_id'), ids))
    .union(
      db
        .selectFrom('passkeys')
        .select('user_id')
        .where(({ ref }) => inList(db, ref('user_id'), ids)),
    )
    .execute();
  return new Set(rows.map(({ user_id }) => user_id));
}
