import type { ScannedHost } from '../domain/assets/scans/apply-scans.ts';
import type { PortRange } from '../domain/assets/scans/diff-ports.ts';
import type { DateOrder } from './parsing/parse-time.ts';
import type { Severity } from '../domain/shared/statuses-and-severities.ts';

/** The bytes of a report. Each call starts from the beginning, so that a report can be read twice. */
export type ByteSource = () => AsyncIterable<Uint8Array>;

/** A position in a report: a line from 1 or a byte from 0, depending on the format. */
export interface SourceLocation {
  line?: number;
  offset?: number;
}

/**
 * The report cannot be read any further. The message is a sentence for the importer and does not repeat the location.
 */
export class ReportError extends Error {
  override name = 'ReportError';
  readonly location: SourceLocation;

  constructor(message: string, location: SourceLocation = {}) {
    super(message);
    this.location = location;
  }
}

export type ScanTarget =
  | { url: string }
  /** Address or host name. */
  | { host: string; port?: number | undefined; protocol?: 'tcp' | 'udp' | 'sctp' | undefined }
  /** A file, image, repository or package list: not an asset. */
  | { artifact: string; path?: string | undefined; package?: string | undefined };

export interface ReportedLocation {
  type: 'url' | 'ip' | 'file' | 'app-location' | 'other';
  value: string;
  address?: string;
  port?: number;
  protocol?: string;
}

/** One instance of a finding. Instances with the same identity become one vulnerability with several locations. */
export interface ReportedFinding {
  /** The check that found it: a template with its matcher, the id of a plug-in or rule. */
  rule: string;
  /** The tool's own fingerprint; replaces rule, asset and location key. */
  fingerprint?: string | undefined;
  /** Distinguishes findings of the same rule and asset; by default the port, or the path and package. */
  locationKey?: string | undefined;
  /** The tool, if several write this format; defaults to the format. */
  source?: string | undefined;
  title: string;
  severity: Severity;
  /** Markdown, like the other texts. */
  description?: string | undefined;
  impact?: string | undefined;
  recommendedFix?: string | undefined;
  category?: { parent: string; display: string } | undefined;
  /** As the report writes them; invalid ids are dropped. */
  cveIds?: readonly string[] | undefined;
  cweIds?: readonly string[] | undefined;
  /** 0 to 10. Ignored if `cvssVector` is valid. */
  cvssScore?: number | undefined;
  /** CVSS 3.0, 3.1 or 4.0. */
  cvssVector?: string | undefined;
  referenceUrls?: readonly string[] | undefined;
  /** Requests and responses as sent, and other evidence of the scanner. */
  evidence?: readonly string[] | undefined;
  target?: ScanTarget | undefined;
  /** For a finding of the host itself: the ports that a scan must cover to find it again, if not all. */
  ports?: readonly PortRange[] | undefined;
  /** The group of checks that found it, if a report may cover some groups only: `secrets`. */
  checks?: string | undefined;
  /** Defaults to the target. */
  locations?: readonly ReportedLocation[] | undefined;
  /** Milliseconds since 1970; defaults to the report's time. NaN if the finding has a time that is not understood. */
  seenAt?: number | undefined;
  /** Why its time is not understood; absent if its form is the reason. */
  unclearTime?: string | undefined;
  /** Names of tags that it gets when it is created. */
  tags?: readonly string[] | undefined;
}

/** A record of a parser, in the order of the report. */
export type ReportRecord =
  /** A fact about the report; may be repeated, the last one wins. Milliseconds since 1970; NaN if not understood. */
  | { kind: 'report'; scannedAt?: number | undefined }
  /** The ports that the scan covered, for the hosts that follow. */
  | { kind: 'ports'; ranges: readonly PortRange[] }
  | { kind: 'host'; host: ScannedHost }
  | { kind: 'finding'; finding: ReportedFinding; location?: SourceLocation | undefined }
  /**
   * The report covers this target completely, so findings that it lacks are gone. `port` and `ports` limit the coverage
   * of a host to these, and `checks` limits it to these groups of checks.
   */
  | {
      kind: 'covered';
      target: ScanTarget;
      ports?: readonly PortRange[] | undefined;
      source?: string | undefined;
      checks?: readonly string[] | 'all' | undefined;
    }
  /** A check that ran without a result, so that the state of its finding is unknown. */
  | {
      kind: 'untested';
      finding: Pick<ReportedFinding, 'rule' | 'target' | 'locationKey' | 'source'>;
      reason: string;
      location?: SourceLocation | undefined;
    }
  /** A record that the report itself calls no finding, with its reason in a few words (`passed`, `suppressed`). */
  | { kind: 'skipped'; reason: string; location?: SourceLocation | undefined }
  /** A part of a record that is not imported, although the record itself is. */
  | { kind: 'partial'; reason: string; location?: SourceLocation | undefined }
  /** A record that cannot be read or lacks what a finding needs (`invalid JSON`, `no title`). */
  | { kind: 'unreadable'; reason: string; location?: SourceLocation | undefined };

/** The beginning of a report, parsed as far as possible. */
export interface ReportSample {
  /** Decoded, without byte order mark; invalid UTF-8 is U+FFFD. */
  text: string;
  root?: { name: string; attributes: Readonly<Record<string, string>> };
  /** The first JSON array or object. If it is truncated or invalid, its members before that. */
  json?: unknown;
  /** The first JSON values: the elements of an array, or one per line. */
  records: readonly unknown[];
}

/** The CSV column of each field of a finding. */
export type ColumnMapping = Readonly<Record<string, string>>;

export interface ReadOptions {
  mapping?: ColumnMapping | undefined;
  /** The order of day and month in ambiguous dates: `3/4/2024`. */
  dateOrder?: DateOrder | null | undefined;
}

/** A report format. Parsers are pure: they read bytes and nothing else. */
export interface ReportFormat {
  /** The name in the API and the command line; the `source` of findings that name none. */
  name: string;
  /** The displayed name: `Nmap XML`. */
  title: string;
  /** Whether it contains findings, which need an assessment. */
  hasFindings: boolean;
  /** Whether an empty file is a valid report without findings. */
  allowsEmpty?: boolean;
  detect(sample: ReportSample): boolean;
  /**
   * Parses a report in bounded memory.
   * @throws ReportError where it cannot be read any further; earlier records remain valid
   */
  read(source: ByteSource, options: ReadOptions): AsyncIterable<ReportRecord>;
}
