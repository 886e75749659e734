import type { Generated } from 'kysely';

/** The audit log. */
export interface AuditTables {
  audit_events: AuditEventTable;
  /** The number of rows for denied attempts in a minute. `minute` counts minutes since 1970. */
  denied_attempt_minutes: { minute: number; events: number };
}

/** A change or a denied attempt. Denied attempts that share a row have `null` in the columns where they differ. */
interface AuditEventTable {
  id: Generated<number>;
  at: number;
  action: string;
  object_type: string;
  object_id: string | null;
  organization_id: number | null;
  actor_kind: string;
  /** The acting user; `null` if no account acted. */
  user_id: number | null;
  /** The session, the token, or the application that acted for the user. */
  credential_id: string | null;
  /** The network of a denied attempt. */
  address: string | null;
  request_id: string | null;
  /** JSON. */
  before: string | null;
  after: string | null;
  /** The number of denied attempts that the row stands for. */
  count: Generated<number>;
  /** The minute, action and network shared by the denied attempts of the row; `null` for a change. */
  denied_key: string | null;
}
