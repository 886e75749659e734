import { assessmentsTables } from './0001-initial/assessments.ts';
import { assetsTables } from './0001-initial/assets.ts';
import { bulkChangesTables } from './0001-initial/bulk-changes.ts';
import { auditTables } from './0001-initial/audit.ts';
import { evidenceTables } from './0001-initial/evidence.ts';
import { filesTables } from './0001-initial/files.ts';
import { importsTables } from './0001-initial/imports.ts';
import { jobsTables } from './0001-initial/jobs.ts';
import { idempotencyKeysTables } from './0001-initial/idempotency-keys.ts';
import { organizationsTables } from './0001-initial/organizations.ts';
import { usersTables } from './0001-initial/users.ts';
import { signInTables } from './0001-initial/sign-in.ts';
import { tokensTables } from './0001-initial/tokens.ts';
import { countersTables } from './0001-initial/counters.ts';
import { vulnerabilitiesTables, vulnerabilityAssetsTables } from './0001-initial/vulnerabilities.ts';
import { vulnerabilitySearch } from './0001-initial/vulnerability-search.ts';
import type { Migration } from './migration.ts';

/** All tables, each after those that it refers to. */
export const initial: Migration = {
  name: '0001-initial',
  statements: (dialect) => [
    ...organizationsTables(dialect),
    ...usersTables(dialect),
    ...tokensTables(dialect),
    ...assessmentsTables(dialect),
    ...filesTables(dialect),
    ...vulnerabilitiesTables(dialect),
    ...evidenceTables(dialect),
    ...assetsTables(dialect),
    ...vulnerabilityAssetsTables(dialect),
    ...importsTables(dialect),
    ...vulnerabilitySearch(dialect),
    ...countersTables(dialect),
    ...signInTables(dialect),
    ...auditTables(dialect),
    ...jobsTables(dialect),
    ...idempotencyKeysTables(dialect),
    ...bulkChangesTables(dialect),
  ],
};
