import type {
  Asset,
  GroupMember,
  ImportJob,
  NewAssessment,
  Vulnerability,
} from '../../../client/src/openapi-types.ts';

export {
  assetAssetTypeValues as ASSET_TYPES,
  assetCriticalityValues as CRITICALITIES,
  auditEventActionValues as AUDIT_ACTIONS,
  groupMemberRoleValues as GROUP_ROLES,
  reportImportFormatValues as IMPORT_FORMATS,
  importJobStateValues as IMPORT_STATES,
  newAssessmentStateValues as ASSESSMENT_STATES,
  retestStatusValues as RETEST_STATUSES,
  vulnerabilityFilterPhaseValues as PHASES,
  vulnerabilitySeverityValues as SEVERITIES,
} from '../../../client/src/openapi-types.ts';

export type AssessmentState = NonNullable<NewAssessment['state']>;
export type AssessmentType = NonNullable<NewAssessment['type']>;
export type AssetType = Asset['assetType'];
export type Criticality = Asset['criticality'];
export type GroupRole = GroupMember['role'];
export type ImportState = ImportJob['state'];
export type Severity = Vulnerability['severity'];
