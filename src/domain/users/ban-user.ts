import { sql } from 'kysely';
import { type Account, type Act, type Actor, belongsTo } from '../../auth/callers.ts';
import { emailKey } from '../../auth/email-addresses.ts';
import type { Reader, Transaction } from '../../db/engine.ts';
import { holdingRows } from '../../db/dialect-sql.ts';
import { prepare, prepareUnread, prepareWrite } from '../../db/prepared-queries.ts';
import { recordChange } from '../audit/record-event.ts';
import { Failure, missing } from '../shared/errors.ts';
import { type Expected, requireVersion } from '../shared/versions.ts';
import { leaveAllGroups } from '../assessments/groups.ts';
import { credentialsChanged } from '../tokens/credentials.ts';
import { assignmentOf } from './users.ts';

/** A user whom nobody can sign in as any more. */
export interface BannedUser {
  id: number;
  version: number;
  uid: string;
  email: string;
  admin: boolean;
  /** Whether they have accepted their invitation. */
  accepted: boolean;
  /** Whether they are deleted instead of banned, as there was nothing that they could have done. */
  deleted: boolean;
  /** When they were invited last, in milliseconds since 1970. */
  invitedAt: number;
  /** The uids of the assessments that they can access, sorted; for an admin, all of the organization. */
  assessmentIds: string[];
}

interface UserRow {
  id: number;
  version: number;
  uid: string;
  email: string;
  name: string | null;
  organization_id: number | null;
  admin: number;
  staff: number;
  accepted_at: number | null;
  banned_at: number | null;
  created_at: number;
  invited_at: number | null;
}

const userById = prepare<{ id: number }, UserRow>((db, p) =>
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

const assessmentsOfOrganization = prepare<{ organization: number }, { uid: string }>((db, p) =>
  db.selectFrom('assessments').select('uid').where('organization_id', '=', p.organization).orderBy('uid'),
);

const assessmentsWithAccess = prepare<{ user: number }, { uid: string }>((db, p) =>
  db
    .selectFrom('assessment_access')
    .innerJoin('assessments', 'assessments.id', 'assessment_access.assessment_id')
    .select('assessments.uid')
    .where('assessment_access.user_id', '=', p.user)
    .orderBy('assessments.uid'),
);

/**
 * Keeps others who take admins of the organization away out until this is done. Without it, two admins who ban each other at once would both find the other one left.
 */
const holdOrganization = prepareUnread<{ id: number }>((tx, p) =>
  tx.selectFrom('organizations').select('id').where('id', '=', p.id).modifyEnd(holdingRows(tx)),
);

const otherAdmin = prepare<{ organization: number; user: number }, { id: number }>((db, p) =>
  db
    .selectFrom('users')
    .select('id')
    .where('organization_id', '=', p.organization)
    // A literal, as the index of admins covers no other value.
    .where('admin', '=', sql.lit(1))
    .where('banned_at', 'is', null)
    .where('id', '<>', p.user)
    .limit(1),
);

const otherAcceptedAdmin = prepare<{ organization: number; user: number }, { id: number }>((db, p) =>
  db
    .selectFrom('users')
    .select('id')
    .where('organization_id', '=', p.organization)
    .where('admin', '=', sql.lit(1))
    .where('banned_at', 'is', null)
    .where('accepted_at', 'is not', null)
    .where('id', '<>', p.user)
    .limit(1),
);

/** Keeps others from changing a user until this is done, so that the version that was expected is the one that is banned. */
const holdUser = prepareWrite<{ id: number }, { version: number }>((tx, p) =>
  tx.selectFrom('users').select('version').where('id', '=', p.id).modifyEnd(holdingRows(tx)),
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

const anyToken = prepare<{ user: number }, { id: string }>((db, p) =>
  db.selectFrom('tokens').select('id').where('user_id', '=', p.user).limit(1),
);

/**
 * Bans a user for a caller: an admin any user of their organization but themselves, staff any client user.
 * @throws Failure `missing` for a user of another organization and, for client users, of the staff; `forbidden` for a
 *   caller who is no admin, for the caller themselves, for staff, and for the last admin; `changed` for another version
 *   than is expected
 */
export async function banUserAs(
  tx: Transaction,
  act: Act<Actor & Account>,
  id: number,
  expected?: Expected,
): Promise<BannedUser> {
  const { actor: caller } = act;
  const [user] = await userById(tx, { id });
  if (user === undefined || (user.id !== caller.userId && !belongsTo(caller, user.organization_id))) {
    throw missing('user');
  }
  if (!caller.admin && !caller.staff) throw new Failure('forbidden', 'Only admins ban users.');
  if (user.id === caller.userId) throw new Failure('forbidden', 'You cannot ban yourself.');
  if (user.staff === 1) throw new Failure('forbidden', 'Platform staff cannot be banned here.');
  return banUser(tx, act, id, expected);
}

/**
 * Bans a user, which ends their sessions, tokens and API keys at once; one who never signed in and has no
 * token is deleted instead, with everything that hangs on them; the address stays banned there. Banning a banned user changes nothing.
 * @throws Failure `missing` for an unknown user, `forbidden` for the last admin of an organization, `changed` for another
 *   version than is expected
 */
export async function banUser(
  tx: Transaction,
  act: Act,
  id: number,
  expected?: Expected,
): Promise<BannedUser> {
  const [user] = await userById(tx, { id });
  if (user === undefined) throw missing('user');
  const banned = await describe(tx, user);
  if (user.banned_at !== null) {
    requireVersion(expected, user.version);
    return banned;
  }
  if (user.admin === 1 && user.organization_id !== null) {
    if (await isLastAdmin(tx, user.organization_id, id)) {
      throw new Failure('forbidden', 'This is the last admin of the organization, who cannot be banned.');
    }
  }
  if (expected !== undefined) {
    const [held] = await holdUser(tx, { id });
    if (held === undefined) throw missing('user');
    requireVersion(expected, held.version);
  }
  const [set] = await setBanned(tx, { id, now: act.now });
  if (set === undefined) {
    // Someone else was faster, and has banned or deleted them.
    const [now] = await userById(tx, { id });
    if (now === undefined) throw missing('user');
    return { ...banned, version: now.version };
  }
  const { version } = set;
  await credentialsChanged(tx);
  const event = { object: ['user', id] as const, organizationId: user.organization_id };
  if (set.accepted_at !== null || (await anyToken(tx, { user: id })).length > 0) {
    await recordChange(tx, act, {
      ...event,
      action: 'user.ban',
      before: { banned: false },
      after: { banned: true },
    });
    return { ...banned, version };
  }
  const given = await assessmentsWithAccess(tx, { user: user.id });
  const assignedTo = await assignmentOf(tx, user.id);
  const groups = await leaveAllGroups(tx, user.id);
  await tx.deleteFrom('users').where('id', '=', id).execute();
  const { uid, email, name } = user;
  if (user.organization_id !== null) await banAddress(tx, act, user.organization_id, email);
  await recordChange(tx, act, {
    ...event,
    action: 'user.delete',
    before: {
      uid,
      email,
      name,
      admin: banned.admin,
      staff: user.staff === 1,
      assigned_to: assignedTo,
      assessments: given.map((assessment) => assessment.uid),
      groups,
    },
    after: null,
  });
  return { ...banned, version, accepted: false, deleted: true };
}

/** Keeps an address out of an organization until someone invites it there anew. */
async function banAddress(tx: Transaction, act: Act, organizationId: number, email: string): Promise<void> {
  await tx
    .insertInto('banned_addresses')
    .values({ organization_id: organizationId, email_key: emailKey(email), banned_at: act.now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** @returns whether nobody with this address may come to the organization by themselves */
export async function isBannedAddress(db: Reader, organizationId: number, email: string): Promise<boolean> {
  const found = await db
    .selectFrom('banned_addresses')
    .select('banned_at')
    .where('organization_id', '=', organizationId)
    .where('email_key', '=', emailKey(email))
    .executeTakeFirst();
  return found !== undefined;
}

/**
 * @param options `accepted`: others count only once they have signed in
 * @returns whether the organization would have no admin without this one. Whoever takes an admin away asks this in the
 *   same unit of work: others who ask it of the same organization wait until that is done.
 */
export async function isLastAdmin(
  tx: Transaction,
  organizationId: number,
  userId: number,
  { accepted = false }: { accepted?: boolean } = {},
): Promise<boolean> {
  await holdOrganization(tx, { id: organizationId });
  const others = accepted ? otherAcceptedAdmin : otherAdmin;
  return (await others(tx, { organization: organizationId, user: userId })).length === 0;
}

async function describe(db: Reader, user: UserRow): Promise<BannedUser> {
  const assessments =
    user.admin === 1 && user.organization_id !== null
      ? await assessmentsOfOrganization(db, { organization: user.organization_id })
      : await assessmentsWithAccess(db, { user: user.id });
  return {
    id: user.id,
    version: user.version,
    uid: user.uid,
    email: user.email,
    admin: user.admin === 1,
    accepted: user.accepted_at !== null,
    deleted: false,
    invitedAt: user.invited_at ?? user.created_at,
    assessmentIds: assessments.map(({ uid }) => uid),
  };
}
