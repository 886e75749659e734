import type { Generated } from 'kysely';

/** What many vulnerabilities were before one change of all of them, for an hour. */
export interface BulkChangesTables {
  bulk_changes: {
    id: Generated<number>;
    request_id: string;
    /** `null` for the operator's command line. */
    user_id: number | null;
    changed_at: number;
    /** JSON, of `src/domain/vulnerabilities/bulk/undo.ts`. */
    replaced: string;
  };
}
