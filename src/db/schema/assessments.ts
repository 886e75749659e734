import type { Generated } from 'kysely';

/** Assessments, their groups, tags and testing hours. */
export interface AssessmentsTables {
  assessment_groups: { id: Generated<number>; organization_id: number; name: string; created_at: number };
  group_members: GroupMemberTable;
  group_member_counts: { group_id: number; role: string; members: number };
  assessments: AssessmentTable;
  assessment_access: { organization_id: number; assessment_id: number; user_id: number };
  assessment_tags: {
    id: Generated<number>;
    organization_id: number;
    name: string;
    name_key: string;
    version: Generated<number>;
  };
  assessment_taggings: { organization_id: number; assessment_id: number; tag_id: number };
  testing_sessions: TestingSessionTable;
}

interface GroupMemberTable {
  id: Generated<number>;
  organization_id: number;
  group_id: number;
  user_id: number;
  /** The user's own, by which a list can be sorted. */
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
  created_at: number;
}

interface TestingSessionTable {
  id: Generated<number>;
  assessment_id: number;
  tester_id: number;
  started_at: number;
  /** `null` while it runs. */
  ended_at: number | null;
  /** When it was entered. */
  created_at: number;
}
