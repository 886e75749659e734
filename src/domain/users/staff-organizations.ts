import type { ChangeContext, Caller } from '../../auth/callers.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { recordEvent } from '../audit/record-event.ts';
import {
  insertOrganization,
  type NewOrganization,
  type Organization,
  findOrganization,
} from '../organizations/organizations.ts';
import { DomainError, invalidInput, notFound } from '../shared/errors.ts';
import { bumpCredentialVersion } from '../tokens/credentials.ts';

/**
 * Assigns a staff user to organizations. Assigned staff hold no global scopes and see only those organizations.
 * @param organizations uids; none means all
 * @throws DomainError `not-found` for the user; `invalid` for users who are not staff, and for an organization
 */
export async function assignStaff(
  tx: Transaction,
  by: ChangeContext,
  userId: number,
  organizations: readonly string[],
): Promise<void> {
  const user = await tx.selectFrom('users').select('staff').where('id', '=', userId).executeTakeFirst();
  if (user === undefined) throw notFound('user');
  if (user.staff !== 1) throw invalidInput({ property: 'user', code: 'not-staff' });
  const before = await findAssignedOrganizations(tx, userId);
  await replaceAssignment(tx, userId, organizations);
  await bumpCredentialVersion(tx);
  await recordEvent(tx, by, {
    action: 'user.assign',
    object: ['user', userId],
    organizationId: null,
    before: { assigned_to: before },
    after: { assigned_to: await findAssignedOrganizations(tx, userId) },
  });
}

/** @throws DomainError `invalid` for an organization */
export async function replaceAssignment(
  tx: Transaction,
  userId: number,
  organizations: readonly string[],
): Promise<void> {
  const ids: number[] = [];
  for (const [index, uid] of organizations.entries())
    ids.push(await requireOrganizationId(tx, `assignedTo.${index}`, uid));
  await tx.deleteFrom('staff_organizations').where('user_id', '=', userId).execute();
  for (const id of new Set(ids))
    await tx.insertInto('staff_organizations').values({ user_id: userId, organization_id: id }).execute();
}

/**
 * Creates an organization. If the caller is assigned to organizations, assigns them to this one as well.
 * @throws DomainError `forbidden` unless the caller is staff, and as `insertOrganization` does
 */
export async function createOrganization(
  tx: Transaction,
  by: ChangeContext<Caller>,
  input: NewOrganization,
): Promise<Organization> {
  const { staff, assignedOrganizations, userId } = by.actor;
  if (!staff) throw new DomainError('organization-create-staff-only');
  const organization = await insertOrganization(tx, by, input);
  if (assignedOrganizations !== null && userId !== null)
    await assignStaff(tx, by, userId, [...(await findAssignedOrganizations(tx, userId)), organization.uid]);
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

/** @throws DomainError `invalid` if it does not exist */
export async function requireOrganizationId(tx: Transaction, property: string, uid: string): Promise<number> {
  const organization = await findOrganization(tx, { uid });
  if (organization === undefined) throw invalidInput({ property, code: 'unknown-organization', value: uid });
  return organization.id;
}
