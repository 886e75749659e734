import type { Generated } from 'kysely';

/** Imports, and the scanner data of the findings that they created. */
export interface ImportsTables {
  imports: ImportTable;
  scanner_findings: ScannerFindingTable;
  detections: DetectionTable;
  finding_contents: FindingContentTable;
  scan_scopes: ScanScopeTable;
  /** Findings that a report with a scan scope names without having tested them. */
  untested_findings: {
    organization_id: number;
    assessment_id: number;
    identity_hash: string;
    import_id: number;
  };
  /** Long port lists by their digest, which other tables refer to. */
  port_sets: { organization_id: number; name: string; ports: string };
  /** When an import or undo of an organization was last started. */
  last_import_starts: { organization_id: number; started_at: number };
  /** Ranges of imported vulnerabilities that are not in the search index yet. */
  search_index_queue: { first_id: number; last_id: number };
}

export type ImportState = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';

/** An import, as the API represents it. Outlives its job and its file. */
interface ImportTable {
  id: Generated<number>;
  organization_id: number;
  /** `null` for a report of hosts. */
  assessment_id: number | null;
  created_by: number | null;
  state: Generated<ImportState>;
  /** 1 if cancellation was requested; the running job polls it. */
  cancel_requested: Generated<number>;
  format: string;
  filename: string;
  /** Size in bytes, as uploaded. */
  size: number;
  sha256: string;
  /** Key of the uploaded file in the file store; `null` once it is deleted. */
  blob_key: string | null;
  /** JSON, as in the API. */
  options: string;
  progress: Generated<string>;
  skips: Generated<string>;
  result: string | null;
  preview: string | null;
  error: string | null;
  undone: string | null;
  /** What the caller who started it may do with assets: JSON. */
  started_by_caller: string;
  /** The time of the report; `null` until it has been read. */
  report_at: number | null;
  /** The given time, or that of the upload, for a report without a time of its own; else `null`. */
  fallback_report_at: Generated<number | null>;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
}

/** A finding of an assessment by its identity. Changes only when a report changes what it says about the finding. */
interface ScannerFindingTable {
  /** Reserved for its vulnerability, which exists once an import made it. */
  vulnerability_id: number;
  organization_id: number;
  assessment_id: number;
  /** Digest of 22 characters that identifies the finding; unique in an assessment. */
  identity_hash: string;
  source: string;
  /**
   * The target that a report must cover to mark the finding gone: `site:https://a.example/`, `host:192.0.2.1`,
   * `artifact:app`; `null` if none can.
   */
  cover_key: string | null;
  /** The host of `cover_key`: a scan of the host also covers its sites. */
  cover_host: string | null;
  /** The ports that such a scan must include: `tcp/443`, or a name of `port_sets`; empty for the host itself. */
  cover_ports: Generated<string>;
  /** Names of tags that the report gives it: JSON; `null` for none. */
  tags: string | null;
  /** Digest of all scanner fields, to skip findings that have not changed. */
  content_hash: string;
  /** The number of the latest content, which the vulnerability shows. */
  content: Generated<number>;
  /** The time and the import of the first report that covered the finding without containing it. */
  gone_at: number | null;
  gone_import_id: number | null;
}

/** That an import saw a finding. */
interface DetectionTable {
  vulnerability_id: number;
  /** Of the last and the first instance in the report, in milliseconds since 1970. */
  seen_at: number;
  import_id: number;
  first_seen_at: number;
  /** The number of its content. */
  content: number;
  /** 1 if it creates the vulnerability; 0 below the minimum severity. */
  is_made: number;
  /** 1 if `seen_at` is reliable. */
  is_timed: number;
  /** A decision that the import carries over from another assessment. */
  carried_status_id: number | null;
}

/** What a scanner said about a finding, unless it is the latest content of a vulnerability, which the row itself holds. */
interface FindingContentTable {
  vulnerability_id: number;
  number: number;
  content_hash: string;
  cover_key: string | null;
  cover_host: string | null;
  cover_ports: string;
  tags: string | null;
  /** The asset that it links; `null` for none, or if the importer could not link it. */
  asset_id: number | null;
  /** The scanner's columns: JSON. */
  columns: string;
}

/** What a complete report covered. */
interface ScanScopeTable {
  organization_id: number;
  assessment_id: number;
  source: string;
  cover_key: string;
  /** The scanned ports, in the format of `cover_ports`; empty for all. */
  ports: string;
  covered_at: number;
  import_id: number;
  /** 1 if the import sets what it covers and no longer contains to Fixed. */
  fixes: number;
}
