import { normalizeEmail, isEmail } from '../../auth/email-addresses.ts';
import { randomText } from '../../auth/secrets.ts';
import type { ChangeContext } from '../../auth/callers.ts';
import type { Transaction } from '../../db/database.ts';
import { recordEvent } from '../audit/record-event.ts';
import { DomainError, type FieldError, invalidInput, notFound } from '../shared/errors.ts';
import { requireAssessments, replaceGrantedAssessments } from '../assessments/assessment-access.ts';
import { replaceAssignment, requireOrganizationId } from './staff-organizations.ts';
import { requireUserName, validateUserName } from './user-names.ts';
import { foldName } from '../../lib/fold-case.ts';

export interface NewUser {
  email: string;
  name?: string | undefined;
  /** The uid of the organization; absent for platform staff. */
  organization?: string | undefined;
  admin?: boolean | undefined;
  /** The organizations that staff is assigned to; none means all. */
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
export async function createUser(tx: Transaction, by: ChangeContext, input: NewUser): Promise<CreatedUser> {
  requireValidUserFields(input);
  const email = input.email.trim();
  const name = input.name === undefined ? null : requireUserName('name', input.name);
  const organizationId =
    input.organization === undefined
      ? null
      : await requireOrganizationId(tx, 'organization', input.organization);
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
      search_name: name === null ? null : foldName(name),
      organization_id: organizationId,
      admin: input.admin === true ? 1 : 0,
      staff: staff ? 1 : 0,
      password_hash: input.passwordHash ?? null,
      accepted_at: input.passwordHash === undefined ? null : by.now,
      created_at: by.now,
    })
    .onConflict((conflict) => conflict.column('normalized_email').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) throw emailTakenError(email);
  if (organizationId !== null) {
    await tx
      .deleteFrom('banned_addresses')
      .where('organization_id', '=', organizationId)
      .where('normalized_email', '=', normalizeEmail(email))
      .execute();
  }
  if (staff) await replaceAssignment(tx, row.id, input.assignedTo ?? []);
  await recordEvent(tx, by, {
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
  await replaceGrantedAssessments(tx, by, { id: row.id, organizationId }, assessments);
  return { id: row.id, uid, email };
}

/** @returns the error for an address that is not available */
export function emailTakenError(email: string): DomainError {
  return new DomainError('email-taken', { email }, [{ property: 'email', code: 'taken', value: email }]);
}

interface UserForm {
  email?: string | undefined;
  name?: string | undefined;
}

/** @returns the errors of address and name that are found without the database */
export function validateUserFields({ email, name }: UserForm): FieldError[] {
  const errors: FieldError[] = [];
  if (email !== undefined && !isEmail(email.trim()))
    errors.push({ property: 'email', code: 'not-an-email', value: email });
  const nameError = name === undefined ? undefined : validateUserName('name', name);
  if (nameError !== undefined) errors.push(nameError);
  return errors;
}

/** @throws DomainError `invalid` for the errors of `validateUserFields` */
export function requireValidUserFields(input: UserForm): void {
  const errors = validateUserFields(input);
  if (errors.length > 0) throw invalidInput(errors);
}

/** @throws DomainError `invalid` for the name; `not-found` for the user */
export async function renameUser(
  tx: Transaction,
  by: ChangeContext,
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
    .set((eb) => ({ name: clean, search_name: foldName(clean), version: eb('version', '+', 1) }))
    .where('id', '=', userId)
    .execute();
  await recordEvent(tx, by, {
    action: 'user.rename',
    object: ['user', userId],
    organizationId: user.organization_id,
    before: { name: user.name },
    after: { name: clean },
  });
}
