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
 * The tables, as both engines store them: times are integer milliseconds since 1970, truth is 0 or 1, JSON is text.
 * A `*_key` column is the normalised form that names are compared by (see `nameKey`); a `version` begins at 1 and grows
 * with each change of what the thing's own operations can set (ADR 35).
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
