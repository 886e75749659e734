import type { AreaName } from '../config/config.ts';
import type { OperationFactory } from '../http/operation.ts';
import { ADD_GROUP_MEMBERS_OPERATIONS } from './assessments/add-group-members.ts';
import { GROUP_MEMBER_OPERATIONS } from './assessments/group-members.ts';
import { ASSET_OPERATIONS } from './assets/assets.ts';
import { LISTING_ASSET_OPERATIONS } from './assets/listing-assets.ts';
import { PORT_OPERATIONS } from './ports/ports.ts';
import { ORGANIZATION_PORT_OPERATIONS } from './ports/organization-ports.ts';
import { TAG_ASSETS_OPERATIONS } from './asset-tags/tag-assets.ts';
import { ASSET_TAG_OPERATIONS } from './asset-tags/asset-tags.ts';
import { ASSESSMENT_GROUP_OPERATIONS } from './assessments/assessment-groups.ts';
import { BULK_UPDATE_OPERATIONS } from './vulnerabilities/bulk-update.ts';
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
import { LIST_VULNERABILITIES_OPERATIONS } from './vulnerabilities/list-vulnerabilities.ts';
import { VULNERABILITY_OPERATIONS } from './vulnerabilities/vulnerabilities.ts';
import { ORGANIZATION_OPERATIONS } from './organizations/organizations.ts';
import { UPDATE_USER_OPERATIONS } from './users/update-user.ts';
import { USER_OPERATIONS } from './users/users.ts';
import { VULNERABILITY_TAG_OPERATIONS } from './vulnerabilities/vulnerability-tags.ts';
import { UPDATE_VULNERABILITY_OPERATIONS } from './vulnerabilities/update-vulnerability.ts';

/** Every operation, by area. */
export const OPERATIONS: Readonly<Record<AreaName, readonly OperationFactory[]>> = {
  v1: [
    ...ASSESSMENT_TAG_OPERATIONS,
    ...ASSESSMENT_OPERATIONS,
    ...ASSESSMENT_USER_OPERATIONS,
    ...ASSESSMENT_GROUP_OPERATIONS,
    ...TESTING_HOURS_OPERATIONS,
    ...TESTING_SESSION_OPERATIONS,
    ...USER_OPERATIONS,
    ...UPDATE_USER_OPERATIONS,
    ...ORGANIZATION_OPERATIONS,
    ...AUDIT_EVENT_OPERATIONS,
    ...TOKEN_OPERATIONS,
    ...VULNERABILITY_TAG_OPERATIONS,
    ...UPDATE_VULNERABILITY_OPERATIONS,
    ...BULK_UPDATE_OPERATIONS,
    ...ATTACHMENT_OPERATIONS,
    ...COMMENT_OPERATIONS,
    ...RETEST_OPERATIONS,
    ...TIMELINE_OPERATIONS,
    ...VULNERABILITY_OPERATIONS,
    ...LIST_VULNERABILITIES_OPERATIONS,
    ...IMPORT_OPERATIONS,
  ],
  tagging: [...TAG_ASSETS_OPERATIONS, ...ASSET_TAG_OPERATIONS],
  asset: [...ASSET_OPERATIONS, ...LISTING_ASSET_OPERATIONS],
  assessment: [...GROUP_MEMBER_OPERATIONS, ...ADD_GROUP_MEMBERS_OPERATIONS],
  streaming: [...PORT_OPERATIONS, ...ORGANIZATION_PORT_OPERATIONS],
};
