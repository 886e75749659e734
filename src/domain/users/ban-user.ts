import { type SqlBool, sql } from 'kysely';
import { type Principal, type ChangeContext, type Actor, isMemberOf } from '../../auth/callers.ts';
import { normalizeEmail } from '../../auth/email-addresses.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { anyOf, forNoKeyUpdate, forUpdate } from '../../db/dialect-sql.ts';
import { prepareQuery, prepareWrite } from '../../db/prepared-queries.ts';
import { recordEvent } from '../audit/record-event.ts';
import { DomainError, notFound } from '../shared/errors.ts';
import { type ExpectedVersion, requireVersion } from '../shared/versions.ts';
import { accessibleAssessments, grantedAssessments } from '../assessments/assessment-access.ts';
import { removeFromAllGroups } from '../assessments/groups.ts';
import { bumpCredentialVersion } from '../tokens/credentials.ts';
import { lockAndCheckLastAdmin } from './last-admin.ts';
import { findAssignedOrganizations } from './staff-organizations.ts';
import { memoizeByLock } from '../shared/lock-rows.ts';

export interface BannedUser {
  id: number;
  version: number;
  uid: string;
  email: string;
  admin: boolean;
  accepted: boolean;
  /**
   * Whether they were deleted instead, because they had never signed in and no action names them
   * (`REFERENCES_BY_ACTIONS`).
   */
  deleted: boolean;
  /** When they were last invited, in milliseconds since 1970. */
  invitedAt: number;
  /** The uids of the assessments that they can access, sorted; for an admin, all of the organization. */
  assessmentIds: string[];
}

const userById = prepareQuery((db, p: { id: number }) =>
  db
    .selectFrom('users')
    .select([
      'id',
      'version',
      'uid',
      'email',
      'name',
      'organization_id',
      'admin',
      'staff',
      'accepted_at',
      'banned_at',
      'created_at',
      'invited_at',
    ])
    .where('id', '=', p.id),
);

type UserRow = Awaited<ReturnType<typeof userById>>[number];

const assessmentsOfOrganization = prepareQuery<{ organization: number }, { uid: string }>((db, p) =>
  db.selectFrom('assessments').select('uid').where('organization_id', '=', p.organization).orderBy('uid'),
);

/** Locks the user, so that the expected version is the one that is banned, and nothing new refers to a deleted user. */
const lockUser = memoizeByLock((lock) =>
  prepareWrite<{ id: number }, { version: number }>((tx, p) =>
    tx.selectFrom('users').select('version').where('id', '=', p.id).modifyEnd(lock(tx)),
  ),
);

const setBanned = prepareWrite<{ id: number; now: number }, { accepted_at: number | null; version: number }>(
  (tx, p) =>
    tx
      .updateTable('users')
      .set((eb) => ({ banned_at: p.now, version: eb('version', '+', eb.lit(1)) }))
      .where('id', '=', p.id)
      .where('banned_at', 'is', null)
      .returning(['accepted_at', 'version']),
);

/** The columns that name who did something, or whose task it is. An account that one of them names is never deleted. */
export const REFERENCES_BY_ACTIONS = [
  ['tokens', 'user_id'],
  ['testing_sessions', 'tester_id'],
  ['testing_sessions', 'entered_by'],
  ['testing_session_edits', 'user_id'],
  ['assessments', 'created_by'],
  ['audit_events', 'user_id'],
  ['vulnerabilities', 'created_by'],
  ['vulnerabilities', 'assignee_id'],
  ['vulnerabilities', 'published_by'],
  ['timeline_entries', 'user_id'],
  ['attachments', 'user_id'],
  ['comments', 'user_id'],
  ['retests', 'user_id'],
  ['retests', 'decided_by'],
  ['imports', 'created_by'],
  ['bulk_changes', 'user_id'],
] as const;

const selectAnyAction = prepareQuery<{ user: number }, { id: number }>((db, p) =>
  db
    .selectFrom('users')
    .select('id')
    .where('id', '=', p.user)
    .where(
      anyOf(
        REFERENCES_BY_ACTIONS.map(
          ([table, column]) =>
            sql<SqlBool>`exists (select 1 from ${sql.table(table)} where ${sql.ref(column)} = ${p.user})`,
        ),
      ),
    ),
);

/**
 * Bans a user, which ends their sessions, tokens and API keys: admins can ban other users of their organization, staff
 * any client user, the command line any user. A user who never signed in is deleted instead, and the address is
 * banned, unless something that was done names the account (`REFERENCES_BY_ACTIONS`). Does nothing if they are banned.
 * @throws DomainError `not-found` for users that the caller cannot access; `forbidden` for callers who are not
 *   admins, for themselves, for staff and for the last admin (`lockAndCheckLastAdmin`); `version-mismatch`
 */
export async function banUser(
  tx: Transaction,
  by: ChangeContext<Actor & Principal>,
  id: number,
  expected?: ExpectedVersion,
): Promise<BannedUser> {
  const { actor: caller } = by;
  const [user] = await userById(tx, { id });
  if (user === undefined || (user.id !== caller.userId && !isMemberOf(caller, user.organization_id))) {
    throw notFound('user');
  }
  if (!caller.admin && !caller.staff) throw new DomainError('user-ban-admins-only');
  if (user.id === caller.userId) throw new DomainError('ban-self');
  if (user.staff === 1 && caller.kind !== 'command_line') throw new DomainError('ban-staff');
  const banned = await loadBannedUser(tx, user);
  const lock = user.accepted_at === null ? forUpdate : forNoKeyUpdate;
  if (user.banned_at !== null) {
    requireVersion(expected, user.version);
    return banned;
  }
  if (user.organization_id !== null && (await lockAndCheckLastAdmin(tx, user.organization_id, id, lock)))
    throw new DomainError('ban-last-admin');
  if (expected !== undefined || lock === forUpdate) {
    const [locked] = await lockUser(lock)(tx, { id });
    if (locked === undefined) throw notFound('user');
    requireVersion(expected, locked.version);
  }
  const [set] = await setBanned(tx, { id, now: by.now });
  if (set === undefined) {
    // A concurrent transaction banned or deleted the user.
    const [now] = await userById(tx, { id });
    if (now === undefined) throw notFound('user');
    return { ...banned, version: now.version };
  }
  const { version } = set;
  await bumpCredentialVersion(tx);
  const event = { object: ['user', id] as const, organizationId: user.organization_id };
  if (set.accepted_at !== null || (await selectAnyAction(tx, { user: id })).length > 0) {
    await recordEvent(tx, by, {
      ...event,
      action: 'user.ban',
      before: { banned: false },
      after: { banned: true },
    });
    return { ...banned, version };
  }
  const granted = await grantedAssessments(tx, [user.id]);
  const assignedTo = await findAssignedOrganizations(tx, user.id);
  const groups = await removeFromAllGroups(tx, user.id);
  await tx.deleteFrom('users').where('id', '=', id).execute();
  const { uid, email, name } = user;
  if (user.organization_id !== null) await banAddress(tx, by, user.organization_id, email);
  await recordEvent(tx, by, {
    ...event,
    action: 'user.delete',
    before: {
      uid,
      email,
      name,
      admin: banned.admin,
      staff: user.staff === 1,
      assigned_to: assignedTo,
      assessments: granted.get(user.id) ?? [],
      groups,
    },
    after: null,
  });
  return { ...banned, version, accepted: false, deleted: true };
}

/** Bans an address from an organization until someone invites it again. */
async function banAddress(
  tx: Transaction,
  by: ChangeContext,
  organizationId: number,
  email: string,
): Promise<void> {
  await tx
    .insertInto('banned_addresses')
    .values({ organization_id: organizationId, normalized_email: normalizeEmail(email), banned_at: by.now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** @returns whether users with this address must not join the organization by themselves */
export async function isBannedAddress(
  db: ReadConnection,
  organizationId: number,
  email: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('banned_addresses')
    .select('banned_at')
    .where('organization_id', '=', organizationId)
    .where('normalized_email', '=', normalizeEmail(email))
    .executeTakeFirst();
  return row !== undefined;
}

async function loadBannedUser(db: ReadConnection, user: UserRow): Promise<BannedUser> {
  const assessmentIds =
    user.admin === 1 && user.organization_id !== null
      ? (await assessmentsOfOrganization(db, { organization: user.organization_id })).map(({ uid }) => uid)
      : await accessibleAssessments(db, user.id);
  return {
    id: user.id,
    version: user.version,
    uid: user.uid,
    email: user.email,
    admin: user.admin === 1,
    accepted: user.accepted_at !== null,
    deleted: false,
    invitedAt: user.invited_at ?? user.created_at,
    assessmentIds,
  };
}
