import type { Severity } from '../vulnerabilities/statuses-and-severities.ts';
import type { VulnerabilityFieldColumns } from '../vulnerabilities/vulnerability-fields.ts';

/** What a scanner says of a vulnerability, as the columns of its row have it. */
export type ScannerColumns = Omit<VulnerabilityFieldColumns, 'validation_steps'>;

/** The asset that a finding is of. */
export interface AssetLocation {
  type: 'host' | 'webapp';
  /** In the one form that it has. */
  location: string;
}

/** What is covered by a report and what a finding is covered by. */
export interface CoverageKey {
  /** `site:https://a.example/`, `host:192.0.2.1`, `artifact:app`. */
  key: string;
  /** The host of a site. */
  host: string | null;
  /**
   * Of a host, as `textOfPorts` has them: those that a finding is of, those that a report looked at. Empty for a finding of
   * the host itself, and for a report of all of it.
   */
  ports: string;
}

/** A finding that a report has, all of its instances in one. */
export interface Sighting {
  /** 22 characters, which tell it from others of the assessment. */
  identity: string;
  source: string;
  asset: AssetLocation | null;
  coverage: CoverageKey | null;
  /** Milliseconds since 1970: of its first instance and of its last. */
  firstSeenAt: number;
  seenAt: number;
  /** A digest of all that the scanner says but the evidence, which differs at every scan. */
  contentHash: string;
  severity: Severity;
  /** @returns what the scanner says, read anew each time: of a finding that is the same as before nobody asks */
  columns(): ScannerColumns;
}

/** A finding that the assessment has, as far as a sighting needs it. */
export interface KnownFinding {
  /** Of the vulnerability. */
  id: number;
  identity: string;
  content: string;
  first_seen_at: number;
  last_seen_at: number;
  last_import_id: number;
  gone_at: number | null;
  gone_import_id: number | null;
  /** Whether it is of an asset: 0 also where that was deleted. */
  is_linked: number;
  /** Which import made it. */
  import_id: number | null;
  status_id: number;
  closed_at: number | null;
}

/** A sighting of a finding that is known. */
export interface RepeatedSighting {
  sighting: Sighting;
  finding: KnownFinding;
}
