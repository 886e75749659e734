import type { Generated } from 'kysely';

/** The audit log, and what is read from it in order. */
export interface AuditTables {
  audit_events: AuditEventTable;
  /** How many rows the refusals of a minute since 1970 have. */
  denied_attempt_minutes: { minute: number; events: number };
}

/** What was changed or refused. Of refusals that share a row, what differs is `null`. */
interface AuditEventTable {
  id: Generated<number>;
  at: number;
  action: string;
  object_type: string;
  object_id: string | null;
  organization_id: number | null;
  actor_kind: string;
  /** Whose account it was; `null` where no account did it. */
  user_id: number | null;
  /** The session, the token, or the application that spoke for the user. */
  credential_id: string | null;
  /** Of refusals, the network. */
  address: string | null;
  request_id: string | null;
  /** JSON. */
  before: string | null;
  after: string | null;
  /** How many refusals it stands for. */
  count: Generated<number>;
  /** The minute, the action and the network that refusals share a row by; `null` for a change. */
  denied_key: string | null;
}
