import type { ChangeContext } from '../../auth/callers.ts';
import type { Transaction } from '../../db/database.ts';
import { grantAssessmentAccess, revokeAssessmentAccess } from '../assessments/assessment-access.ts';
import { recordEvent } from '../audit/record-event.ts';
import { lockAndCheckLastAdmin } from '../users/last-admin.ts';
import { setAdmin } from '../users/update-user.ts';
import type { IdentityProvider } from './identity-providers.ts';

/**
 * Syncs the admin role and the access to mapped assessments with the user's groups at the provider. The last admin
 * keeps the role. Assessments without a mapped group are not touched.
 */
export async function syncProviderGroups(
  tx: Transaction,
  by: ChangeContext,
  provider: IdentityProvider,
  user: { id: number; admin: boolean },
  groups: readonly string[],
): Promise<void> {
  const granted = new Set(groups);
  if (provider.adminGroup !== null)
    await syncAdminRole(tx, by, provider, user, granted.has(provider.adminGroup));
  await syncAccess(tx, by, provider, user.id, granted);
}

async function syncAdminRole(
  tx: Transaction,
  by: ChangeContext,
  { organizationId, adminGroup }: IdentityProvider,
  user: { id: number; admin: boolean },
  admin: boolean,
): Promise<void> {
  if (user.admin === admin) return;
  const retainsAdmin = !admin && (await lockAndCheckLastAdmin(tx, organizationId, user.id));
  if (!retainsAdmin) await setAdmin(tx, user.id, admin);
  await recordEvent(tx, by, {
    action: retainsAdmin ? 'user.keep-admin' : 'user.set-role',
    object: ['user', user.id],
    organizationId,
    before: { admin: user.admin },
    after: {
      admin: retainsAdmin || admin,
      ...(retainsAdmin ? { reason: 'last admin' } : {}),
      group: adminGroup,
    },
  });
}

async function syncAccess(
  tx: Transaction,
  by: ChangeContext,
  { organizationId }: IdentityProvider,
  userId: number,
  granted: ReadonlySet<string>,
): Promise<void> {
  const mapped = await tx
    .selectFrom('identity_provider_groups as mapping')
    .innerJoin('assessments', 'assessments.id', 'mapping.assessment_id')
    .select(['mapping.group_name as group', 'assessments.id', 'assessments.uid'])
    .where('mapping.organization_id', '=', organizationId)
    .orderBy('assessments.uid')
    .execute();
  const opened = new Set(mapped.filter(({ group }) => granted.has(group)).map(({ id }) => id));
  for (const { id, uid } of new Map(mapped.map((row) => [row.id, row])).values()) {
    if (opened.has(id)) await grantAssessmentAccess(tx, by, uid, userId, 'by_provider');
    else await revokeAssessmentAccess(tx, by, { id, uid, organizationId }, userId, 'by_provider');
  }
}
