import type { Generated } from 'kysely';

/** Reports that were imported, and what scanners said of the findings in them. */
export interface ImportsTables {
  imports: ImportTable;
  scanner_findings: ScannerFindingTable;
  import_status_changes: ImportStatusChangeTable;
  import_coverage: ImportCoverageTable;
  import_finding_snapshots: ImportFindingSnapshotTable;
  /** Long texts of ports, under the digests that stand for them in other tables. */
  port_sets: { organization_id: number; name: string; ports: string };
  /** Vulnerabilities from one id to another that an import made and no search finds yet. */
  search_index_queue: { first_id: number; last_id: number };
}

export type ImportState = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';

/** An import as the API tells it, which outlives its work and its file. */
interface ImportTable {
  id: Generated<number>;
  organization_id: number;
  /** `null` of a report of hosts alone. */
  assessment_id: number | null;
  created_by: number | null;
  state: Generated<ImportState>;
  /** Whether somebody asked for its end; the run looks at it. */
  cancel_requested: Generated<number>;
  format: string;
  filename: string;
  /** Bytes, as they were sent. */
  size: number;
  sha256: string;
  /** Where its file lies; `null` once it is gone. */
  blob_key: string | null;
  /** JSON, as the API tells them. */
  options: string;
  progress: Generated<string>;
  skips: Generated<string>;
  result: string | null;
  preview: string | null;
  error: string | null;
  undone: string | null;
  /** What its writer may do with assets: JSON. */
  started_by_caller: string;
  /** The time of the report, once it is known. */
  report_at: number | null;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
}

/** What a scanner said of a vulnerability: narrow, as seeing it again writes here alone. */
interface ScannerFindingTable {
  vulnerability_id: number;
  organization_id: number;
  assessment_id: number;
  /** What makes two findings the same, as 22 characters of a digest; unique in an assessment. */
  identity_hash: string;
  source: string;
  /** What a report has to cover for it to be gone: `site:https://a.example/`, `host:192.0.2.1`, `artifact:app`; `null` for nothing. */
  cover_key: string | null;
  /** The host of that, by which a target that is a host covers its sites. */
  cover_host: string | null;
  /** Which ports a scan of that has to have looked at: `tcp/443`, or a name of `port_sets`; empty for the host itself. */
  cover_ports: Generated<string>;
  /** A digest of all that the scanner says, so that nothing is compared where nothing changed. */
  content_hash: string;
  first_seen_at: number;
  last_seen_at: number;
  last_import_id: number;
  /** What the last two were before that import, so that it can be undone. */
  previous_seen_at: number | null;
  previous_import_id: number | null;
  /** The time of the report that no longer had it, and its import. */
  gone_at: number | null;
  gone_import_id: number | null;
}

/** A status that an import set, so that it can be set back. */
interface ImportStatusChangeTable {
  import_id: number;
  vulnerability_id: number;
  organization_id: number;
  before: number;
  after: number;
  /** Of the vulnerability before that. */
  status_set_at: number;
  closed_at: number | null;
  /** When the import set it. */
  set_at: number;
}

/** The newest whole report of something, so that an older one brings back nothing that this did not have. */
interface ImportCoverageTable {
  organization_id: number;
  assessment_id: number;
  source: string;
  cover_key: string;
  /** Those that it looked at, as `cover_ports` of a finding; empty for all. */
  ports: Generated<string>;
  covered_at: number;
  import_id: number;
  /** The newest before that, so that it can be undone. */
  previous_covered_at: Generated<number | null>;
  previous_import_id: Generated<number | null>;
}

/** What an import changed of a finding that stood: for a while, so that it can be undone. */
interface ImportFindingSnapshotTable {
  id: Generated<number>;
  import_id: number;
  vulnerability_id: number;
  organization_id: number;
  changed_at: number;
  /** What it was before: JSON. */
  before: string;
}
