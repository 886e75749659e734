import type { Generated } from 'kysely';

/** Accounts. */
export interface UsersTables {
  users: UserTable;
  /** Addresses of invited users that a ban deleted, so that an identity provider does not recreate them. */
  banned_addresses: { organization_id: number; normalized_email: string; banned_at: number };
  staff_organizations: { user_id: number; organization_id: number };
}

interface UserTable {
  id: Generated<number>;
  uid: string;
  email: string;
  normalized_email: string;
  name: string | null;
  /** The name, normalized for search. */
  search_name: string | null;
  /** `null` for platform staff. */
  organization_id: number | null;
  admin: number;
  staff: number;
  password_hash: string | null;
  /** When the invitation was accepted by the first sign-in; `null` until then. Using a token does not accept it. */
  accepted_at: number | null;
  banned_at: number | null;
  /** When the last ban ended. Older credentials issued by others are not accepted. */
  reactivated_at: number | null;
  created_at: number;
  /** When the open invitation was created; `null` means `created_at`. */
  invited_at: number | null;
  /** When the user last used a browser session; tokens have times of their own. */
  last_seen_at: number | null;
  version: Generated<number>;
}
