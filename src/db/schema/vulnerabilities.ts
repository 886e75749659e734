import type { Generated } from 'kysely';

/** Vulnerabilities, their tags and attachments. */
export interface VulnerabilitiesTables {
  vulnerabilities: VulnerabilityTable;
  vulnerability_tags: VulnerabilityTagTable;
  vulnerability_taggings: { organization_id: number; vulnerability_id: number; tag_id: number };
  attachments: AttachmentTable;
}

interface VulnerabilityTable {
  id: Generated<number>;
  organization_id: number;
  assessment_id: number;
  title: string;
  description: string;
  severity: string;
  status_id: number;
  cvss_score: number | null;
  created_at: number;
  updated_at: number;
  version: Generated<number>;
}

interface VulnerabilityTagTable {
  id: Generated<number>;
  organization_id: number;
  name: string;
  name_key: string;
  editable: number;
  version: Generated<number>;
}

interface AttachmentTable {
  id: Generated<number>;
  vulnerability_id: number;
  filename: string;
  content_type: string;
  file_size: number;
  created_at: number;
}
