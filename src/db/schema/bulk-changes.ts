import type { Generated } from 'kysely';

/** The values that a bulk change replaced, retained for an hour so that it can be undone. */
export interface BulkChangesTables {
  bulk_changes: {
    id: Generated<number>;
    request_id: string;
    /** `null` for the command line. */
    user_id: number | null;
    changed_at: number;
    /** JSON in the format of `src/domain/vulnerabilities/bulk/undo.ts`. */
    replaced: string;
  };
}
