import type { AreaName } from '../config.ts';
import type { DeclareOperation } from '../http/operation.ts';
import { declareListGroupMembers, declareRemoveGroupMembers } from './assessment/members.ts';
import { declareUpdateAssetCriticality } from './asset/assets.ts';
import { declareChangeListingAssets } from './asset/listings.ts';
import { declareListPorts } from './streaming/ports.ts';
import { declareChangeAssetTaggings, declareCreateAssetTags } from './tagging/tags.ts';
import { declareCreateAssessmentTag, declareUpdateAssessmentTag } from './v1/assessment-tags.ts';
import { declareGetTestingHours } from './v1/assessments.ts';
import { declareBanUser } from './v1/users.ts';
import { declareUpdateVulnerability } from './v1/vulnerabilities.ts';
import { declareDeleteVulnerabilityTag, declareUpdateVulnerabilityTag } from './v1/vulnerability-tags.ts';

/** Every operation, by its area and in the order of its number. */
export const OPERATIONS: Readonly<Record<AreaName, readonly DeclareOperation[]>> = {
  v1: [
    declareDeleteVulnerabilityTag,
    declareUpdateVulnerabilityTag,
    declareCreateAssessmentTag,
    declareUpdateAssessmentTag,
    declareUpdateVulnerability,
    declareBanUser,
    declareGetTestingHours,
  ],
  tagging: [declareCreateAssetTags, declareChangeAssetTaggings],
  asset: [declareUpdateAssetCriticality, declareChangeListingAssets],
  assessment: [declareListGroupMembers, declareRemoveGroupMembers],
  streaming: [declareListPorts],
};
