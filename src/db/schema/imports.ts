import type { Generated } from 'kysely';

/** Imports, and the scanner data of the findings that they created. */
export interface ImportsTables {
  imports: ImportTable;
  scanner_findings: ScannerFindingTable;
  import_status_changes: ImportStatusChangeTable;
  import_coverage: ImportCoverageTable;
  import_finding_snapshots: ImportFindingSnapshotTable;
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
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
}

/** The scanner data of a vulnerability. Narrow, because seeing a finding again updates only this row. */
interface ScannerFindingTable {
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
  /** Digest of all scanner fields, to skip findings that have not changed. */
  content_hash: string;
  first_seen_at: number;
  last_seen_at: number;
  last_import_id: number;
  /** The values of both columns before the last import, to undo it. */
  previous_seen_at: number | null;
  previous_import_id: number | null;
  /** The time and the import of the report that no longer contained the finding. */
  gone_at: number | null;
  gone_import_id: number | null;
}

/** A status that an import set, to undo it. */
interface ImportStatusChangeTable {
  import_id: number;
  vulnerability_id: number;
  organization_id: number;
  before: number;
  after: number;
  /** The vulnerability's `status_set_at` and `closed_at` before the import. */
  status_set_at: number;
  closed_at: number | null;
  /** When the import set the status. */
  set_at: number;
}

/** The newest complete report of a target, so that importing an older one does not bring findings back. */
interface ImportCoverageTable {
  organization_id: number;
  assessment_id: number;
  source: string;
  cover_key: string;
  /** The scanned ports, in the format of `cover_ports`; empty for all. */
  ports: Generated<string>;
  covered_at: number;
  import_id: number;
  /** The report that was the newest before, to undo the import. */
  previous_covered_at: Generated<number | null>;
  previous_import_id: Generated<number | null>;
}

/** The values of a finding before an import updated it, retained for a while to undo the import. */
interface ImportFindingSnapshotTable {
  id: Generated<number>;
  import_id: number;
  vulnerability_id: number;
  organization_id: number;
  changed_at: number;
  /** JSON. */
  before: string;
}
