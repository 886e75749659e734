import type { Severity } from '../shared/statuses-and-severities.ts';
import type { VulnerabilityFieldColumns } from '../vulnerabilities/vulnerability-fields.ts';

/** A scanner's report on a vulnerability, as columns of its row. */
export type ScannerColumns = Omit<VulnerabilityFieldColumns, 'validation_steps'>;

/** The type and location that identify an asset within its organization. */
export interface AssetLocation {
  type: 'host' | 'webapp';
  /** In canonical form. */
  location: string;
}

/** A key of what a report covers, which a missing finding needs to be gone. */
export interface ScanScopeKey {
  /**
   * `site:https://a.example/`, `host:192.0.2.1`, `artifact:app`. A finding of a group of checks has the group and a
   * bar in front: `secret|artifact:app`.
   */
  key: string;
  /** Host of a site. */
  host: string | null;
  /**
   * Ports on a host, as `formatPorts` writes them: those of the finding, or those that the report scanned. Empty for a
   * finding of the host itself, and for a scan of the whole host.
   */
  ports: string;
}

/** A finding in a report, merged from all its instances. */
export interface Detection {
  /** 22 characters, unique within the assessment. */
  identity: string;
  source: string;
  asset: AssetLocation | null;
  coverage: ScanScopeKey | null;
  /** The times of the first and the last instance, in milliseconds since 1970. */
  firstSeenAt: number;
  seenAt: number;
  /** Hash of everything that the scanner reports, except for evidence, which differs in every scan. */
  contentHash: string;
  severity: Severity;
  /** Whether `seenAt` is reliable. If not, the detection does not change findings that already exist. */
  isTimeKnown: boolean;
  /** Names of the tags that it gets when it is created. */
  tags: readonly string[];
  /** Decodes the scanner's columns. Not called for a finding whose hash has not changed. */
  columns(): ScannerColumns;
}
