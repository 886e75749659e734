import type { Generated } from 'kysely';

/** Organizations, and groups of them. */
export interface OrganizationsTables {
  organizations: OrganizationTable;
  organization_group_members: { group_id: number; organization_id: number };
}

/** An organization or an organization group: both own tags, and their uids have the same format. */
interface OrganizationTable {
  id: Generated<number>;
  uid: string;
  kind: 'organization' | 'group';
  name: string;
  created_at: number;
  /** Whether its users must have a second factor to sign in. */
  require_second_factor: Generated<number>;
  version: Generated<number>;
}
