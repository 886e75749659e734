import type { Generated, GeneratedAlways } from 'kysely';

/** Vulnerabilities, their tags and their timeline. */
export interface VulnerabilitiesTables {
  vulnerabilities: VulnerabilityTable;
  vulnerability_tags: VulnerabilityTagTable;
  vulnerability_taggings: { organization_id: number; vulnerability_id: number; tag_id: number };
  timeline_entries: TimelineEntryTable;
  vulnerability_assets: { organization_id: number; vulnerability_id: number; asset_id: number };
}

export interface VulnerabilityTable {
  id: Generated<number>;
  organization_id: number;
  assessment_id: number;
  severity: string;
  /** 4 for Critical to 0 for Informational. */
  severity_rank: GeneratedAlways<number>;
  status_id: number;
  /** When the status was set. */
  status_set_at: number;
  /** When the status became closed; `null` while it is not. */
  closed_at: number | null;
  cvss_score: number | null;
  cvss_vector: string | null;
  created_at: number;
  /** `created_at` in whole seconds since 1970. */
  reported_at: GeneratedAlways<number>;
  updated_at: number;
  version: Generated<number>;
  created_by: number | null;
  assignee_id: number | null;
  /** Date, as `2026-11-22`. */
  due_on: string | null;
  /** `manual`, or the name of the scanner. */
  source: Generated<string>;
  /** When it was first reported. Imports that see it again update `scanner_findings`. */
  first_seen_at: number;
  import_id: number | null;
  /** The status of the last retest; `null` if there was none. */
  retest_status: string | null;
  /** The vulnerability's status when the last retest was requested. */
  status_before_retest: number | null;
  /** How many locations were reported, stored or not. */
  location_count: Generated<number>;
  title: string;
  category_parent: Generated<string>;
  category_display: Generated<string>;
  /** JSON lists, as in the API. */
  cve_ids: Generated<string>;
  cwe_ids: Generated<string>;
  description: string;
  impact: Generated<string>;
  recommended_fix: Generated<string>;
  exploitable_locations: Generated<string>;
  validation_steps: Generated<string>;
  http_requests: Generated<string>;
  reference_urls: Generated<string>;
  /** Title and description, normalized for search. */
  search_title: Generated<string>;
  search_description: Generated<string>;
}

interface TimelineEntryTable {
  id: Generated<number>;
  organization_id: number;
  vulnerability_id: number;
  at: number;
  kind: string;
  /** `null` if no account acted, or the account was deleted. */
  user_id: number | null;
  /** JSON. */
  before: string | null;
  after: string | null;
  comment_id: number | null;
  /** The import that made the change. */
  import_id: number | null;
  /** 1 if only staff may see it. */
  internal: Generated<number>;
}

interface VulnerabilityTagTable {
  id: Generated<number>;
  organization_id: number;
  name: string;
  normalized_name: string;
  editable: number;
  version: Generated<number>;
}
