import type { AreaName } from '../config.ts';
import type { DeclareOperation } from '../http/operation.ts';
import { MEMBER_ADDITION_OPERATIONS } from './assessment/member-additions.ts';
import { MEMBER_OPERATIONS } from './assessment/members.ts';
import { ASSET_OPERATIONS } from './asset/assets.ts';
import { LISTING_OPERATIONS } from './asset/listings.ts';
import { PORT_OPERATIONS } from './streaming/ports.ts';
import { PORT_SUMMARY_OPERATIONS } from './streaming/port-summaries.ts';
import { ASSET_TAG_OPERATIONS } from './tagging/tags.ts';
import { EXISTING_ASSET_TAG_OPERATIONS } from './tagging/existing-tags.ts';
import { ASSESSMENT_GROUP_OPERATIONS } from './v1/assessment-groups.ts';
import { BULK_CHANGE_OPERATIONS } from './v1/bulk-changes.ts';
import { ASSESSMENT_TAG_OPERATIONS } from './v1/assessment-tags.ts';
import { ASSESSMENT_USER_OPERATIONS } from './v1/assessment-users.ts';
import { ASSESSMENT_OPERATIONS } from './v1/assessments.ts';
import { TOKEN_OPERATIONS } from './v1/tokens.ts';
import { TESTING_SESSION_OPERATIONS } from './v1/testing-sessions.ts';
import { TESTING_HOURS_OPERATIONS } from './v1/testing-hours.ts';
import { ATTACHMENT_OPERATIONS } from './v1/attachments.ts';
import { COMMENT_OPERATIONS } from './v1/comments.ts';
import { IMPORT_OPERATIONS } from './v1/imports.ts';
import { RETEST_OPERATIONS } from './v1/retests.ts';
import { TIMELINE_OPERATIONS } from './v1/timeline.ts';
import { AUDIT_EVENT_OPERATIONS } from './v1/audit-events.ts';
import { LISTED_VULNERABILITY_OPERATIONS } from './v1/listed-vulnerabilities.ts';
import { REPORTED_VULNERABILITY_OPERATIONS } from './v1/reported-vulnerabilities.ts';
import { ORGANIZATION_OPERATIONS } from './v1/organizations.ts';
import { USER_CHANGE_OPERATIONS } from './v1/user-changes.ts';
import { USER_OPERATIONS } from './v1/users.ts';
import { VULNERABILITY_TAG_OPERATIONS } from './v1/vulnerability-tags.ts';
import { VULNERABILITY_OPERATIONS } from './v1/vulnerabilities.ts';

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
