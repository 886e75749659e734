import type { AreaName } from '../config/config.ts';
import type { DeclareOperation } from '../http/operation.ts';
import { MEMBER_ADDITION_OPERATIONS } from './assessments/add-group-members.ts';
import { MEMBER_OPERATIONS } from './assessments/group-members.ts';
import { ASSET_OPERATIONS } from './assets/assets.ts';
import { LISTING_OPERATIONS } from './assets/listing-assets.ts';
import { PORT_OPERATIONS } from './ports/ports.ts';
import { PORT_SUMMARY_OPERATIONS } from './ports/organization-ports.ts';
import { ASSET_TAG_OPERATIONS } from './asset-tags/tag-assets.ts';
import { EXISTING_ASSET_TAG_OPERATIONS } from './asset-tags/asset-tags.ts';
import { ASSESSMENT_GROUP_OPERATIONS } from './assessments/assessment-groups.ts';
import { BULK_CHANGE_OPERATIONS } from './vulnerabilities/bulk-update.ts';
import { ASSESSMENT_TAG_OPERATIONS } from './assessments/assessment-tags.ts';
import { ASSESSMENT_USER_OPERATIONS } from './assessments/assessment-users.ts';
import { ASSESSMENT_OPERATIONS } from './assessments/assessments.ts';
import { TOKEN_OPERATIONS } from './tokens/tokens.ts';
import { TESTING_SESSION_OPERATIONS } from './assessments/testing-sessions.ts';
import { TESTING_HOURS_OPERATIONS } from './assessments/testing-hours.ts';
import { ATTACHMENT_OPERATIONS } from './vulnerabilities/attachments.ts';
import { COMMENT_OPERATIONS } from './vulnerabilities/comments.ts';
import { IMPORT_OPERATIONS } from './imports/imports.ts';
import { RETEST_OPERATIONS } from './vulnerabilities/retests.ts';
import { TIMELINE_OPERATIONS } from './vulnerabilities/timeline.ts';
import { AUDIT_EVENT_OPERATIONS } from './audit/audit-events.ts';
import { LISTED_VULNERABILITY_OPERATIONS } from './vulnerabilities/list-vulnerabilities.ts';
import { REPORTED_VULNERABILITY_OPERATIONS } from './vulnerabilities/vulnerabilities.ts';
import { ORGANIZATION_OPERATIONS } from './organizations/organizations.ts';
import { USER_CHANGE_OPERATIONS } from './users/update-user.ts';
import { USER_OPERATIONS } from './users/users.ts';
import { VULNERABILITY_TAG_OPERATIONS } from './vulnerabilities/vulnerability-tags.ts';
import { VULNERABILITY_OPERATIONS } from './vulnerabilities/update-vulnerability.ts';

/** Every operation, by its area: what each file of an area has. */
export const OPERATIONS: Readonly<Record<AreaName, readonly DeclareOperation[]>> = {
  v1: [
    ...ASSESSMENT_TAG_OPERATIONS,
    ...ASSESSMENT_OPERATIONS,
    ...ASSESSMENT_USER_OPERATIONS,
    ...ASSESSMENT_GROUP_OPERATIONS,
    ...TESTING_HOURS_OPERATIONS,
    ...TESTING_SESSION_OPERATIONS,
    ...USER_OPERATIONS,
    ...USER_CHANGE_OPERATIONS,
    ...ORGANIZATION_OPERATIONS,
    ...AUDIT_EVENT_OPERATIONS,
    ...TOKEN_OPERATIONS,
    ...VULNERABILITY_TAG_OPERATIONS,
    ...VULNERABILITY_OPERATIONS,
    ...BULK_CHANGE_OPERATIONS,
    ...ATTACHMENT_OPERATIONS,
    ...COMMENT_OPERATIONS,
    ...RETEST_OPERATIONS,
    ...TIMELINE_OPERATIONS,
    ...REPORTED_VULNERABILITY_OPERATIONS,
    ...LISTED_VULNERABILITY_OPERATIONS,
    ...IMPORT_OPERATIONS,
  ],
  tagging: [...ASSET_TAG_OPERATIONS, ...EXISTING_ASSET_TAG_OPERATIONS],
  asset: [...ASSET_OPERATIONS, ...LISTING_OPERATIONS],
  assessment: [...MEMBER_OPERATIONS, ...MEMBER_ADDITION_OPERATIONS],
  streaming: [...PORT_OPERATIONS, ...PORT_SUMMARY_OPERATIONS],
};
