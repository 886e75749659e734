import type { ChangeContext } from '../../auth/callers.ts';
import { chunked } from '../../db/chunks.ts';
import { forNoKeyUpdate } from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/database.ts';
import { recordEvent } from '../audit/record-event.ts';
import { notFound } from '../shared/errors.ts';
import { revokeGrantsOfUsers } from '../tokens/grants.ts';
import { endNonSsoSessionsOfUsers } from './end-sessions.ts';

/** Users whose access ends in one statement, so that the server does other work in between. */
const BATCH_SIZE = 500;

/**
 * Sets whether users of an organization must have a second factor. Sessions of users without one, and the access of
 * their applications, end, so that they set one up at their next sign-in.
 * @throws DomainError `not-found` for the organization
 */
export async function setSecondFactorRequirement(
  tx: Transaction,
  by: ChangeContext,
  organizationUid: string,
  required: boolean,
): Promise<void> {
  const organization = await tx
    .selectFrom('organizations')
    .select('id')
    .where('uid', '=', organizationUid)
    .where('kind', '=', 'organization')
    .executeTakeFirst();
  if (organization === undefined) throw notFound(`organization ${organizationUid}`);
  const changed = await tx
    .updateTable('organizations')
    .set((eb) => ({ require_second_factor: required ? 1 : 0, version: eb('version', '+', 1) }))
    .where('id', '=', organization.id)
    .where('require_second_factor', '=', required ? 0 : 1)
    .returning('id')
    .executeTakeFirst();
  if (changed === undefined) return;
  await recordEvent(tx, by, {
    action: 'organization.update',
    object: ['organization', organizationUid],
    organizationId: organization.id,
    before: { require_second_factor: !required },
    after: { require_second_factor: required },
  });
  if (required) await endAccessWithoutFactor(tx, by, organization.id);
}

/**
 * Ends the sessions of users who have no second factor, and the access of applications that they approved. Sessions of
 * single sign-on and personal access tokens stay. Organizations that sign in only through a provider are not affected.
 * @param organizationId the organization of the users; `null` for platform staff
 */
export async function endAccessWithoutFactor(
  tx: Transaction,
  by: ChangeContext,
  organizationId: number | null,
): Promise<void> {
  const users = await lockUsersWithoutFactor(tx, organizationId);
  for (const batch of chunked(users, BATCH_SIZE)) {
    // Sessions end first, which waits for approvals in progress, so that their grants are found.
    await endNonSsoSessionsOfUsers(tx, by, organizationId, batch);
    await revokeGrantsOfUsers(tx, by, batch, 'second-factor-required');
  }
}

/** Waits for sign-ins in progress, so that their sessions are found. @returns the ids of the users */
async function lockUsersWithoutFactor(tx: Transaction, organizationId: number | null): Promise<number[]> {
  const users = await tx
    .selectFrom('users')
    .select('users.id')
    .where('users.organization_id', organizationId === null ? 'is' : '=', organizationId)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('identity_providers')
            .select('sso_only')
            .whereRef('identity_providers.organization_id', '=', 'users.organization_id')
            .where('sso_only', '=', 1),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('totp_secrets').select('user_id').whereRef('user_id', '=', 'users.id'))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('passkeys').select('id').whereRef('user_id', '=', 'users.id'))),
    )
    // In a fixed order, so that concurrent transactions do not deadlock.
    .orderBy('users.id')
    .modifyEnd(forNoKeyUpdate(tx, 'users'))
    .execute();
  return users.map(({ id }) => id);
}
