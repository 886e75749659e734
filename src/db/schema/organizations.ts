import type { Generated } from 'kysely';

/** Organizations, and groups of them. */
export interface OrganizationsTables {
  organizations: OrganizationTable;
  organization_group_members: { group_id: number; organization_id: number };
}

/** An organization, or a group of them: both own tags under a uid of the same form. */
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
