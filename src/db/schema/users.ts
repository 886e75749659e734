import type { Generated } from 'kysely';

/** Accounts. */
export interface UsersTables {
  users: UserTable;
  /** Addresses whose invited users were deleted by a ban, so that no provider brings them back. */
  banned_addresses: { organization_id: number; normalized_email: string; banned_at: number };
  staff_organizations: { user_id: number; organization_id: number };
}

interface UserTable {
  id: Generated<number>;
  uid: string;
  email: string;
  normalized_email: string;
  name: string | null;
  /** What the name is searched by. */
  search_name: string | null;
  /** `null` for platform staff. */
  organization_id: number | null;
  admin: number;
  staff: number;
  password_hash: string | null;
  /** `null` until the invitation is accepted, which is the first sign-in. A token changes nothing of that. */
  accepted_at: number | null;
  banned_at: number | null;
  /** When the last ban ended: credentials of others that are older are good for nothing. */
  reactivated_at: number | null;
  created_at: number;
  /** When the invitation that is open was made; `null` is `created_at`. */
  invited_at: number | null;
  /** When a browser in which they signed in was used; tokens have times of their own. */
  last_seen_at: number | null;
  version: Generated<number>;
}
