import type { Generated } from 'kysely';

/** What people add to vulnerabilities: attachments, comments and retests. */
export interface EvidenceTables {
  attachments: AttachmentTable;
  comments: CommentTable;
  retests: RetestTable;
}

interface AttachmentTable {
  id: Generated<number>;
  organization_id: number;
  vulnerability_id: number;
  file_id: number;
  /** `null` where no account did it, and once it is deleted; so in the others. */
  user_id: number | null;
  filename: string;
  content_type: string;
  file_size: number;
  created_at: number;
}

interface CommentTable {
  id: Generated<number>;
  organization_id: number;
  vulnerability_id: number;
  user_id: number | null;
  text: string;
  /** Whether it is told to staff alone. */
  internal: number;
  created_at: number;
  updated_at: number;
  version: Generated<number>;
}

interface RetestTable {
  id: Generated<number>;
  organization_id: number;
  vulnerability_id: number;
  user_id: number | null;
  message: string;
  status: string;
  created_at: number;
  decided_at: number | null;
  decided_by: number | null;
  decision_message: string | null;
  version: Generated<number>;
}
