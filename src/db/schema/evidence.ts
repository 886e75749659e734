import type { Generated } from 'kysely';

/** Attachments, comments and retests of vulnerabilities. */
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
  /** `null` if no account created it, or the account was deleted. The same in the other tables. */
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
  /** 1 if only staff may see it. */
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
