import { type Account, type Attribution, isAdminOf } from '../../auth/callers.ts';
import { emailHost, normalizeEmail } from '../../auth/email-addresses.ts';
import type { Transaction } from '../../db/engine.ts';
import { requireAssessments } from '../assessments/assessment-access.ts';
import { recordEvent } from '../audit/record-event.ts';
import { findOrganization, type Organization } from '../organizations/organizations.ts';
import { type AttemptKey, type AttemptLimit, lockAttempts, recordAttempt } from '../shared/attempt-limits.ts';
import { DomainError, invalidInput } from '../shared/errors.ts';
import { createUser, type CreatedUser, emailTakenError, type NewUser, validateUserFields } from './users.ts';

const HOUR = 3_600_000;
/** How many taken addresses an account may meet, and an organization, until the next hour. */
export const MAX_TAKEN_BY_ACCOUNT = 20;
export const MAX_TAKEN_BY_ORGANIZATION = 100;

type Invited = Pick<NewUser, 'email' | 'name' | 'admin' | 'organization' | 'assessments'>;

/**
 * Invites a user: admins into their organization, staff into one that they can access. Taken addresses are counted,
 * since they tell which addresses have an account anywhere.
 * @param input `organization` is a uid, which staff have to give and admins may
 * @returns the user, or the `conflict` for a taken address, whose count the caller has to commit
 * @throws DomainError `forbidden` unless the caller is an admin or staff, `rate-limited` after too many taken
 *   addresses, and as `createUser` does
 */
export async function inviteUser(
  tx: Transaction,
  by: Attribution,
  account: Account,
  input: Invited,
): Promise<(CreatedUser & { invitedAt: number }) | DomainError> {
  const organization = await resolveInvitingOrganization(tx, account, input);
  await requireAssessments(tx, organization.id, input.assessments ?? []);
  const email = input.email.trim();
  // The user of the command line can read the database.
  if (by.actor.userId !== null && (await isTakenElsewhere(tx, by, by.actor.userId, organization, email)))
    return emailTakenError(email);
  const created = await createUser(tx, by, { ...input, organization: organization.uid });
  return { ...created, invitedAt: by.now };
}

/** @throws DomainError `forbidden`, `invalid` */
async function resolveInvitingOrganization(
  tx: Transaction,
  account: Account,
  input: Invited,
): Promise<Organization> {
  validateUserFields(input);
  if (!account.admin && !account.staff)
    throw new DomainError('forbidden', { code: 'user-invite-admins-only' });
  if (account.staff && input.organization === undefined)
    throw invalidInput({ property: 'organization', code: 'required' });
  const organization = account.staff
    ? await findOrganization(tx, { uid: input.organization ?? '' })
    : await findOrganization(tx, { id: account.organizationId ?? -1 });
  if (
    organization === undefined ||
    !isAdminOf(account, organization.id) ||
    (input.organization ?? organization.uid) !== organization.uid
  )
    throw invalidInput({
      property: 'organization',
      code: 'organization-not-managed',
      value: input.organization,
    });
  return organization;
}

/**
 * @returns whether the address belongs to others, which is counted and recorded
 * @throws DomainError `rate-limited`
 */
async function isTakenElsewhere(
  tx: Transaction,
  by: Attribution,
  userId: number,
  organization: Organization,
  email: string,
): Promise<boolean> {
  const limits: [AttemptKey, AttemptLimit][] = [
    [
      { subject: `invitation by ${userId}`, address: '' },
      { max: MAX_TAKEN_BY_ACCOUNT, window: HOUR },
    ],
    [
      { subject: `invitation into ${organization.id}`, address: '' },
      { max: MAX_TAKEN_BY_ORGANIZATION, window: HOUR },
    ],
  ];
  for (const [key, limit] of limits) {
    const retryAfter = await lockAttempts(tx, key, limit, by.now);
    if (retryAfter !== undefined)
      throw new DomainError('rate-limited', { code: 'too-many-taken-emails', params: { retryAfter } });
  }
  const owner = await findOwner(tx, email);
  // Whoever invites into an organization also lists its users.
  if (owner === undefined || owner === organization.id) return false;
  for (const [key, limit] of limits) await recordAttempt(tx, key, limit, by.now);
  await recordEvent(tx, by, {
    action: 'invitation.refuse',
    object: ['organization', organization.uid],
    organizationId: organization.id,
    before: null,
    after: { email },
  });
  return true;
}

/**
 * @returns the organization of the account with this address (`null` for staff), or the one whose users sign in through
 *   a provider with its domain; `undefined` for neither
 */
async function findOwner(tx: Transaction, email: string): Promise<number | null | undefined> {
  const [user, domain] = await Promise.all([
    tx
      .selectFrom('users')
      .select('organization_id')
      .where('normalized_email', '=', normalizeEmail(email))
      .executeTakeFirst(),
    tx
      .selectFrom('identity_provider_domains')
      .select('organization_id')
      .where('domain', '=', emailHost(email))
      .executeTakeFirst(),
  ]);
  return user === undefined ? domain?.organization_id : user.organization_id;
}
