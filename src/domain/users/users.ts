import { normalizeEmail, isEmail } from '../../auth/email-addresses.ts';
import { randomText } from '../../auth/secrets.ts';
import type { Attribution, Caller } from '../../auth/callers.ts';
import type { ReadConnection, Transaction } from '../../db/engine.ts';
import { recordEvent } from '../audit/record-event.ts';
import { DomainError, type FieldError, invalidInput, notFound } from '../shared/errors.ts';
import { bumpCredentialVersion } from '../tokens/credentials.ts';
import { normalizeName } from '../../db/dialect-sql.ts';
import { requireAssessments, replaceGrantedAssessments } from '../assessments/assessment-access.ts';
import {
  insertOrganization,
  type NewOrganization,
  type Organization,
  organizationByUid,
} from '../organizations/organizations.ts';
import { requireUserName, validateUserName } from './user-names.ts';

export interface NewUser {
  email: string;
  name?: string | undefined;
  /** The uid of the organization; absent for platform staff. */
  organization?: string | undefined;
  admin?: boolean | undefined;
  /** For staff: the organizations they are assigned to; none means all. */
  assignedTo?: readonly string[] | undefined;
  /** The uids of the assessments that they can access. */
  assessments?: readonly string[] | undefined;
  /** Argon2id, PHC format. A user without a password is invited. */
  passwordHash?: string | undefined;
}

export interface CreatedUser {
  id: number;
  uid: string;
  email: string;
}

/**
 * Creates a user of an organization or of the platform staff, and lifts a ban of the address in that organization.
 * @throws DomainError `invalid` for the address, the name, the organization or an assessment; `conflict` for an
 *   address that is taken
 */
export async function createUser(tx: Transaction, act: Attribution, input: NewUser): Promise<CreatedUser> {
  validateUserFields(input);
  const email = input.email.trim();
  const name = input.name === undefined ? null : requireUserName('name', input.name);
  const organizationId =
    input.organization === undefined
      ? null
      : await requireOrganization(tx, 'organization', input.organization);
  const staff = organizationId === null;
  if (!staff && input.assignedTo !== undefined)
    throw invalidInput({ property: 'assignedTo', code: 'staff-only' });
  const assessments = input.assessments ?? [];
  await requireAssessments(tx, organizationId, assessments);
  const uid = `u${randomText(15)}`;
  const row = await tx
    .insertInto('users')
    .values({
      uid,
      email,
      normalized_email: normalizeEmail(email),
      name,
      search_name: name === null ? null : normalizeName(name),
      organization_id: organizationId,
      admin: input.admin === true ? 1 : 0,
      staff: staff ? 1 : 0,
      password_hash: input.passwordHash ?? null,
      accepted_at: input.passwordHash === undefined ? null : act.now,
      created_at: act.now,
    })
    .onConflict((conflict) => conflict.column('normalized_email').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) {
    throw new DomainError('conflict', { code: 'email-taken', params: { email } }, [
      { property: 'email', code: 'taken', value: email },
    ]);
  }
  if (organizationId !== null) {
    await tx
      .deleteFrom('banned_addresses')
      .where('organization_id', '=', organizationId)
      .where('normalized_email', '=', normalizeEmail(email))
      .execute();
  }
  if (staff) await replaceAssignment(tx, row.id, input.assignedTo ?? []);
  await recordEvent(tx, act, {
    action: 'user.create',
    object: ['user', row.id],
    organizationId,
    before: null,
    after: {
      uid,
      email,
      name,
      admin: input.admin === true,
      staff,
      assigned_to: input.assignedTo ?? [],
      assessments: [...new Set(assessments)].sort(),
    },
  });
  await replaceGrantedAssessments(tx, act, { id: row.id, organizationId }, assessments);
  return { id: row.id, uid, email };
}

/**
 * Validates without database access.
 * @throws DomainError `invalid` for the address or the name
 */
export function validateUserFields({
  email,
  name,
}: {
  email?: string | undefined;
  name?: string | undefined;
}): void {
  const fieldErrors: FieldError[] = [];
  if (email !== undefined && !isEmail(email.trim()))
    fieldErrors.push({
      property: 'email',
      code: 'not-an-email',
      value: email,
    });
  const nameError = name === undefined ? undefined : validateUserName('name', name);
  if (nameError !== undefined) fieldErrors.push(nameError);
  if (fieldErrors.length > 0) throw invalidInput(fieldErrors);
}

/** @throws DomainError `invalid` for the name; `not-found` for the user */
export async function renameUser(
  tx: Transaction,
  act: Attribution,
  userId: number,
  name: string,
): Promise<void> {
  const clean = requireUserName('name', name);
  const user = await tx
    .selectFrom('users')
    .select(['name', 'organization_id'])
    .where('id', '=', userId)
    .executeTakeFirst();
  if (user === undefined) throw notFound('user');
  if (user.name === clean) return;
  await tx
    .updateTable('users')
    .set((eb) => ({ name: clean, search_name: normalizeName(clean), version: eb('version', '+', 1) }))
    .where('id', '=', userId)
    .execute();
  await recordEvent(tx, act, {
    action: 'user.rename',
    object: ['user', userId],
    organizationId: user.organization_id,
    before: { name: user.name },
    after: { name: clean },
  });
}

/**
 * Assigns a staff user to organizations. Assigned staff hold no global scopes and see only those organizations.
 * @param organizations uids; none means all
 * @throws DomainError `not-found` for the user; `invalid` for users who are no staff, and for an organization
 */
export async function assignStaff(
  tx: Transaction,
  act: Attribution,
  userId: number,
  organizations: readonly string[],
): Promise<void> {
  const user = await tx.selectFrom('users').select('staff').where('id', '=', userId).executeTakeFirst();
  if (user === undefined) throw notFound('user');
  if (user.staff !== 1) throw invalidInput({ property: 'user', code: 'not-staff' });
  const before = await findAssignedOrganizations(tx, userId);
  await replaceAssignment(tx, userId, organizations);
  await bumpCredentialVersion(tx);
  await recordEvent(tx, act, {
    action: 'user.assign',
    object: ['user', userId],
    organizationId: null,
    before: { assigned_to: before },
    after: { assigned_to: await findAssignedOrganizations(tx, userId) },
  });
}

async function replaceAssignment(
  tx: Transaction,
  userId: number,
  organizations: readonly string[],
): Promise<void> {
  const ids: number[] = [];
  for (const [index, uid] of organizations.entries())
    ids.push(await requireOrganization(tx, `assignedTo.${index}`, uid));
  await tx.deleteFrom('staff_organizations').where('user_id', '=', userId).execute();
  for (const id of new Set(ids))
    await tx.insertInto('staff_organizations').values({ user_id: userId, organization_id: id }).execute();
}

/**
 * Creates an organization. Assigned staff are assigned to it as well.
 * @throws DomainError `forbidden` unless the caller is staff, and as `insertOrganization` does
 */
export async function createOrganization(
  tx: Transaction,
  act: Attribution<Caller>,
  input: NewOrganization,
): Promise<Organization> {
  const { staff, assignedOrganizations, userId } = act.actor;
  if (!staff) throw new DomainError('forbidden', { code: 'organization-create-staff-only' });
  const organization = await insertOrganization(tx, act, input);
  if (assignedOrganizations !== null && userId !== null)
    await assignStaff(tx, act, userId, [...(await findAssignedOrganizations(tx, userId)), organization.uid]);
  return organization;
}

/** @returns the uids of the organizations that a staff user is assigned to */
export async function findAssignedOrganizations(db: ReadConnection, userId: number): Promise<string[]> {
  const rows = await db
    .selectFrom('staff_organizations')
    .innerJoin('organizations', 'organizations.id', 'staff_organizations.organization_id')
    .select('organizations.uid')
    .where('staff_organizations.user_id', '=', userId)
    .orderBy('organizations.uid')
    .execute();
  return rows.map(({ uid }) => uid);
}

async function requireOrganization(tx: Transaction, property: string, uid: string): Promise<number> {
  const organization = await organizationByUid(tx, uid);
  if (organization === undefined) throw invalidInput({ property, code: 'unknown-organization', value: uid });
  return organization.id;
}

/** A user as the command line shows them. */
export interface ListedUser extends CreatedUser {
  /** The uid of the organization; `null` for platform staff. */
  organization: string | null;
  admin: boolean;
  staff: boolean;
  banned: boolean;
  /** Whether they never signed in. */
  invited: boolean;
  /** Whether they have an authenticator app or a passkey. */
  second_factor: boolean;
}

/** @returns all users, oldest first */
export async function listUsers(db: ReadConnection): Promise<ListedUser[]> {
  return (await selectListedUsers(db).orderBy('users.id').execute()).map(toListedUser);
}

/** Ignores case. */
export async function userByEmail(db: ReadConnection, email: string): Promise<ListedUser | undefined> {
  const row = await selectListedUsers(db)
    .where('users.normalized_email', '=', normalizeEmail(email))
    .executeTakeFirst();
  return row && toListedUser(row);
}

export async function userByUid(db: ReadConnection, uid: string): Promise<ListedUser | undefined> {
  const row = await selectListedUsers(db).where('users.uid', '=', uid).executeTakeFirst();
  return row && toListedUser(row);
}

export async function userById(db: ReadConnection, id: number): Promise<ListedUser | undefined> {
  const row = await selectListedUsers(db).where('users.id', '=', id).executeTakeFirst();
  return row && toListedUser(row);
}

type UserRow = Awaited<ReturnType<ReturnType<typeof selectListedUsers>['executeTakeFirstOrThrow']>>;

function selectListedUsers(db: ReadConnection) {
  return db
    .selectFrom('users')
    .leftJoin('organizations', 'organizations.id', 'users.organization_id')
    .leftJoin('totp_secrets', 'totp_secrets.user_id', 'users.id')
    .select([
      'users.id',
      'users.uid',
      'users.email',
      'organizations.uid as organization',
      'users.admin',
      'users.staff',
      'users.banned_at',
      'users.accepted_at',
      'totp_secrets.user_id as totp',
    ])
    .select((eb) =>
      eb
        .exists(eb.selectFrom('passkeys').select('passkeys.id').whereRef('passkeys.user_id', '=', 'users.id'))
        .as('passkey'),
    );
}

function toListedUser({ banned_at, accepted_at, totp, passkey, ...user }: UserRow): ListedUser {
  return {
    ...user,
    admin: user.admin === 1,
    staff: user.staff === 1,
    banned: banned_at !== null,
    invited: accepted_at === null,
    second_factor: totp !== null || Boolean(passkey),
  };
}
