import type { Generated } from 'kysely';

/** Assessments, their groups, tags and testing hours. */
export interface AssessmentsTables {
  assessment_groups: AssessmentGroupTable;
  assessment_group_members: AssessmentGroupMemberTable;
  assessment_group_member_counts: { group_id: number; role: string; members: number };
  assessments: AssessmentTable;
  assessment_access: { organization_id: number; assessment_id: number; user_id: number };
  assessment_tags: {
    id: Generated<number>;
    organization_id: number;
    name: string;
    normalized_name: string;
    version: Generated<number>;
  };
  assessment_taggings: { organization_id: number; assessment_id: number; tag_id: number };
  testing_sessions: TestingSessionTable;
}

interface AssessmentGroupTable {
  id: Generated<number>;
  organization_id: number;
  name: string;
  /** Normalized for search, like every `search_name`. */
  search_name: Generated<string>;
  description: Generated<string>;
  created_at: number;
  version: Generated<number>;
}

interface AssessmentGroupMemberTable {
  id: Generated<number>;
  organization_id: number;
  group_id: number;
  user_id: number;
  /** Copied from the user, so that a list can be sorted by it. */
  user_uid: string;
  role: string;
  created_at: number;
}

interface AssessmentTable {
  id: Generated<number>;
  uid: string;
  organization_id: number;
  group_id: number | null;
  name: string;
  search_name: Generated<string>;
  description: Generated<string>;
  type: Generated<string>;
  state: Generated<string>;
  /** Date, as `2026-11-22`. */
  starts_on: string | null;
  ends_on: string | null;
  created_at: number;
  updated_at: Generated<number>;
  version: Generated<number>;
}

interface TestingSessionTable {
  id: Generated<number>;
  organization_id: number;
  assessment_id: number;
  tester_id: number;
  started_at: number;
  /** `null` while it is running. */
  ended_at: number | null;
  /** When the session was recorded, which may be later than `started_at`. */
  created_at: number;
  note: Generated<string>;
  version: Generated<number>;
}
