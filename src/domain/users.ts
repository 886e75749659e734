import { randomText } from '../auth/secrets.ts';
import type { Actor } from '../auth/callers.ts';
import type { Reader, Transaction } from '../db/engine.ts';
import { nameKey } from '../db/portable.ts';
import { recordChange } from './audit.ts';
import { Failure, invalid } from './failure.ts';
import { cleanName } from './names.ts';
import { organizationByUid } from './organizations.ts';

const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,189}$/;

export interface NewUser {
  email: string;
  name?: string | undefined;
  /** The uid of their organization; absent for platform staff. */
  organization?: string | undefined;
  admin?: boolean | undefined;
  /** For staff: the organizations they are assigned to; none named means all. */
  assignedTo?: readonly string[] | undefined;
  /** Argon2id, PHC format. Who has one counts as signed in; without one the user is invited. */
  passwordHash?: string | undefined;
}

export interface CreatedUser {
  id: number;
  uid: string;
  email: string;
}

/**
 * Creates a user of an organization, or of the platform's staff.
 * @throws Failure `invalid` for a bad address or an unknown organization, `conflict` for an address that is taken
 */
export async function createUser(
  tx: Transaction,
  actor: Actor,
  input: NewUser,
  now: number,
): Promise<CreatedUser> {
  const email = input.email.trim();
  if (!EMAIL.test(email))
    throw invalid({ property: 'email', message: 'must be an e-mail address', value: input.email });
  const name = input.name === undefined ? null : cleanName('name', input.name);
  const organizationId =
    input.organization === undefined
      ? null
      : await requireOrganization(tx, 'organization', input.organization);
  const staff = organizationId === null;
  const uid = `u${randomText(15)}`;
  const row = await tx
    .insertInto('users')
    .values({
      uid,
      email,
      email_key: nameKey(email),
      name,
      organization_id: organizationId,
      admin: input.admin === true ? 1 : 0,
      staff: staff ? 1 : 0,
      password_hash: input.passwordHash ?? null,
      accepted_at: input.passwordHash === undefined ? null : now,
      created_at: now,
    })
    .onConflict((conflict) => conflict.column('email_key').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) throw new Failure('conflict', `There is a user with the address ${email} already.`);
  for (const [index, organization] of (input.assignedTo ?? []).entries()) {
    const assigned = await requireOrganization(tx, `assignedTo.${index}`, organization);
    await tx
      .insertInto('staff_organizations')
      .values({ user_id: row.id, organization_id: assigned })
      .execute();
  }
  await recordChange(tx, actor, {
    at: now,
    action: 'user.create',
    object: ['user', row.id],
    organizationId,
    before: null,
    after: { uid, email, admin: input.admin === true, staff, assigned_to: input.assignedTo ?? [] },
  });
  return { id: row.id, uid, email };
}

async function requireOrganization(tx: Transaction, property: string, uid: string): Promise<number> {
  const organization = await organizationByUid(tx, uid);
  if (organization === undefined)
    throw invalid({ property, message: 'is not the uid of an organization', value: uid });
  return organization.id;
}

/** @returns the user with this address, in whatever case it is written */
export function userByEmail(db: Reader, email: string): Promise<CreatedUser | undefined> {
  return db
    .selectFrom('users')
    .select(['id', 'uid', 'email'])
    .where('email_key', '=', nameKey(email))
    .executeTakeFirst();
}

/** @returns every user, oldest first, as the command line shows them */
export async function listUsers(db: Reader) {
  const rows = await db
    .selectFrom('users')
    .leftJoin('organizations', 'organizations.id', 'users.organization_id')
    .select([
      'users.id',
      'users.uid',
      'users.email',
      'organizations.uid as organization',
      'users.admin',
      'users.staff',
      'users.banned_at',
      'users.accepted_at',
    ])
    .orderBy('users.id')
    .execute();
  return rows.map(({ banned_at, accepted_at, ...user }) => ({
    ...user,
    admin: user.admin === 1,
    staff: user.staff === 1,
    banned: banned_at !== null,
    invited: accepted_at === null,
  }));
}
