import type { ChangeContext, Caller } from '../../auth/callers.ts';
import { DEFAULT_DISMISSAL_ROLE, type DismissalRole } from '../../auth/roles.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { forNoKeyUpdate } from '../../db/dialect-sql.ts';
import type { Row } from '../../db/schema.ts';
import { recordEvent } from '../audit/record-event.ts';
import { DomainError, invalidInput, notFound } from '../shared/errors.ts';
import { requireName } from '../shared/names.ts';
import { insertWithUniqueUid } from './unique-uids.ts';

const UID = /^[0-9a-z]{1,50}$/;

export interface NewOrganization {
  /** Only the prefix of the uid for callers who do not see every organization: random characters are appended. */
  uid: string;
  name: string;
}

/** An organization or a group of organizations. */
export interface Organization {
  id: number;
  uid: string;
  name: string;
}

/**
 * Inserts an organization for `createOrganization`, which checks the caller's rights.
 * @throws DomainError `invalid` for the uid or the name; `conflict` when an organization or a group has the uid and
 *   the caller sees every organization
 */
export function insertOrganization(
  tx: Transaction,
  by: ChangeContext<Caller>,
  input: NewOrganization,
): Promise<Organization> {
  return insertKind(tx, by, 'organization', input);
}

export async function lockOrganization(tx: Transaction, uid: string): Promise<void> {
  await tx
    .selectFrom('organizations')
    .select('id')
    .where('uid', '=', uid)
    .modifyEnd(forNoKeyUpdate(tx))
    .execute();
}

/** @throws DomainError `not-found` for the organization; `invalid` for the name */
export async function renameOrganization(
  tx: Transaction,
  by: ChangeContext,
  uid: string,
  name: string,
): Promise<void> {
  const clean = requireName('name', name);
  const organization = await findOrganization(tx, { uid });
  if (organization === undefined) throw notFound(`organization ${uid}`);
  if (organization.name === clean) return;
  await writeSettings(tx, by, organization, { name: organization.name }, { name: clean });
}

/**
 * Sets who may dismiss vulnerabilities. What is dismissed already stays.
 * @throws DomainError `not-found` for the organization
 */
export async function setDismissalRole(
  tx: Transaction,
  by: ChangeContext,
  uid: string,
  role: DismissalRole,
): Promise<void> {
  await lockOrganization(tx, uid);
  const organization = await tx
    .selectFrom('organizations')
    .select(['id', 'dismissal_role'])
    .where('uid', '=', uid)
    .where('kind', '=', 'organization')
    .executeTakeFirst();
  if (organization === undefined) throw notFound(`organization ${uid}`);
  if (organization.dismissal_role === role) return;
  const { dismissal_role } = organization;
  await writeSettings(tx, by, { id: organization.id, uid }, { dismissal_role }, { dismissal_role: role });
}

type Settings = Partial<Pick<Row<'organizations'>, 'name' | 'dismissal_role'>>;

/** Writes and audits a change of an organization. */
async function writeSettings(
  tx: Transaction,
  by: ChangeContext,
  { id, uid }: Pick<Organization, 'id' | 'uid'>,
  before: Settings,
  after: Settings,
): Promise<void> {
  await tx
    .updateTable('organizations')
    .set((eb) => ({ ...after, version: eb('version', '+', 1) }))
    .where('id', '=', id)
    .execute();
  await recordEvent(tx, by, {
    action: 'organization.update',
    object: ['organization', uid],
    organizationId: id,
    before,
    after,
  });
}

/** Creates an empty group of organizations. Its uid shares the format and the namespace of organizations. */
export function createOrganizationGroup(
  tx: Transaction,
  by: ChangeContext<Caller>,
  input: NewOrganization,
): Promise<Organization> {
  return insertKind(tx, by, 'group', input);
}

async function insertKind(
  tx: Transaction,
  by: ChangeContext<Caller>,
  kind: 'organization' | 'group',
  { uid: requestedUid, name }: NewOrganization,
): Promise<Organization> {
  if (!UID.test(requestedUid)) {
    throw invalidInput({ property: 'uid', code: 'bad-organization-uid', value: requestedUid });
  }
  const clean = requireName('name', name);
  // A uid of an organization has no hyphens.
  const row = await insertWithUniqueUid(by.actor, requestedUid, '', (uid) =>
    tx
      .insertInto('organizations')
      .values({ uid, kind, name: clean, created_at: by.now })
      .onConflict((conflict) => conflict.column('uid').doNothing())
      .returning(['id', 'uid'])
      .executeTakeFirst(),
  );
  if (row === undefined) {
    throw new DomainError('organization-uid-taken', { uid: requestedUid }, [
      { property: 'uid', code: 'taken', value: requestedUid },
    ]);
  }
  const { id, uid } = row;
  await recordEvent(tx, by, {
    ...(kind === 'organization'
      ? { action: 'organization.create', object: ['organization', uid] }
      : { action: 'organization-group.create', object: ['organization-group', uid] }),
    organizationId: id,
    before: null,
    after: {
      uid,
      name: clean,
      ...(kind === 'organization'
        ? { require_second_factor: false, dismissal_role: DEFAULT_DISMISSAL_ROLE }
        : {}),
    },
  });
  return { id, uid, name: clean };
}

/**
 * Adds an organization to a group; does nothing if it is a member.
 * @throws DomainError `not-found` for either
 */
export async function addOrganizationToGroup(
  tx: Transaction,
  by: ChangeContext,
  groupUid: string,
  organizationUid: string,
): Promise<void> {
  const group = await tx
    .selectFrom('organizations')
    .select('id')
    .where('uid', '=', groupUid)
    .where('kind', '=', 'group')
    .executeTakeFirst();
  if (group === undefined) throw notFound(`organization group ${groupUid}`);
  const organization = await findOrganization(tx, { uid: organizationUid });
  if (organization === undefined) throw notFound(`organization ${organizationUid}`);
  const added = await tx
    .insertInto('organization_group_members')
    .values({ group_id: group.id, organization_id: organization.id })
    .onConflict((conflict) => conflict.doNothing())
    .returning('group_id')
    .executeTakeFirst();
  if (added === undefined) return;
  await recordEvent(tx, by, {
    action: 'organization-group.add-organization',
    object: ['organization-group', groupUid],
    organizationId: organization.id,
    before: null,
    after: { organization: organizationUid },
  });
}

/** @returns the organization, but no group */
export function findOrganization(
  db: ReadConnection,
  key: { id: number } | { uid: string },
): Promise<Organization | undefined> {
  const query = db
    .selectFrom('organizations')
    .select(['id', 'uid', 'name'])
    .where('kind', '=', 'organization');
  return ('id' in key ? query.where('id', '=', key.id) : query.where('uid', '=', key.uid)).executeTakeFirst();
}

export async function hasOrganizations(db: ReadConnection): Promise<boolean> {
  const query = db.selectFrom('organizations').select('id').where('kind', '=', 'organization').limit(1);
  return (await query.execute()).length > 0;
}

export interface OrganizationWithSettings extends Organization {
  requireSecondFactor: boolean;
  dismissalRole: DismissalRole;
}

/** @returns all organizations, oldest first */
export async function listOrganizations(db: ReadConnection): Promise<OrganizationWithSettings[]> {
  const rows = await db
    .selectFrom('organizations')
    .select(['id', 'uid', 'name', 'require_second_factor', 'dismissal_role as dismissalRole'])
    .where('kind', '=', 'organization')
    .orderBy('id')
    .execute();
  return rows.map(({ require_second_factor, ...organization }) => ({
    ...organization,
    requireSecondFactor: require_second_factor === 1,
  }));
}

/** @returns all groups with the uids of their organizations */
export async function listOrganizationGroups(
  db: ReadConnection,
): Promise<(Organization & { organizations: string[] })[]> {
  const groups = await db
    .selectFrom('organizations')
    .select(['id', 'uid', 'name'])
    .where('kind', '=', 'group')
    .orderBy('id')
    .execute();
  const members = await db
    .selectFrom('organization_group_members as member')
    .innerJoin('organizations', 'organizations.id', 'member.organization_id')
    .select(['member.group_id', 'organizations.uid'])
    .orderBy('organizations.uid')
    .execute();
  return groups.map((group) => ({
    ...group,
    organizations: members.filter((member) => member.group_id === group.id).map((member) => member.uid),
  }));
}
