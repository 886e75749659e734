import type { AssessmentsTables } from './schema/assessments.ts';
import type { AssetsTables } from './schema/assets.ts';
import type { BulkChangesTables } from './schema/bulk-changes.ts';
import type { AuditTables } from './schema/audit.ts';
import type { EvidenceTables } from './schema/evidence.ts';
import type { FilesTables } from './schema/files.ts';
import type { ImportsTables } from './schema/imports.ts';
import type { JobsTables } from './schema/jobs.ts';
import type { IdempotencyKeysTables } from './schema/idempotency-keys.ts';
import type { OrganizationsTables } from './schema/organizations.ts';
import type { UsersTables } from './schema/users.ts';
import type { SignInTables } from './schema/sign-in.ts';
import type { CountersTables } from './schema/counters.ts';
import type { TokensTables } from './schema/tokens.ts';
import type { VulnerabilitiesTables } from './schema/vulnerabilities.ts';

/**
 * The tables as both engines store them: times are integer milliseconds since 1970, booleans are 0 or 1, JSON is text.
 * A `normalized_*` column is the form in which names are compared. A `version` starts at 1 and is incremented by each
 * change that the operations of the object itself can make (ADR 35).
 */
export interface Tables
  extends
    OrganizationsTables,
    UsersTables,
    TokensTables,
    AssessmentsTables,
    FilesTables,
    VulnerabilitiesTables,
    EvidenceTables,
    AssetsTables,
    ImportsTables,
    SignInTables,
    AuditTables,
    JobsTables,
    IdempotencyKeysTables,
    BulkChangesTables,
    CountersTables {}
