import type { ScannedHost } from '../domain/assets/scans/apply-scans.ts';
import type { PortRange } from '../domain/assets/scans/diff-ports.ts';
import type { Severity } from '../domain/vulnerabilities/statuses-and-severities.ts';

/** Bytes of a report from its start, unpacked; each call begins anew, so that a report can be read twice. */
export type ByteSource = () => AsyncIterable<Uint8Array>;

/** Where something stands in a report: a line from 1, or a byte from 0, whichever its format is told by. */
export interface SourceLocation {
  line?: number;
  offset?: number;
}

/** A report can be read no further; the message is a sentence for whoever sent it, and does not repeat the place. */
export class ReportError extends Error {
  override name = 'ReportError';
  readonly location: SourceLocation;

  constructor(message: string, place: SourceLocation = {}) {
    super(message);
    this.location = place;
  }
}

/** What a finding is about, and what a report covers. */
export type ScanTarget =
  | { url: string }
  /** An address or a host name. */
  | { host: string; port?: number | undefined; protocol?: 'tcp' | 'udp' | 'sctp' | undefined }
  /** A file, an image, a repository or a package list: no asset. */
  | { artifact: string; path?: string | undefined; package?: string | undefined };

/** As a vulnerability keeps it. */
export interface ReportedLocation {
  type: 'url' | 'ip' | 'file' | 'app-location' | 'other';
  value: string;
  address?: string;
  port?: number;
  protocol?: string;
}

/** One finding, or one instance of it: instances of one identity become one vulnerability with many locations. */
export interface ReportedFinding {
  /** What found it, within the tool: a template and its matcher, the id of a plug-in or a rule. */
  rule: string;
  /** The format's own mark of identity, which then stands for rule, asset and place. */
  fingerprint?: string | undefined;
  /** What tells it from others of the same rule and asset where the target does not. */
  locationKey?: string | undefined;
  /** The tool, where one format is written by many; else the format. */
  source?: string | undefined;
  title: string;
  severity: Severity;
  /** Markdown, as the other texts. */
  description?: string | undefined;
  impact?: string | undefined;
  recommendedFix?: string | undefined;
  category?: { parent: string; display: string } | undefined;
  /** As the report writes them: what is none is dropped. */
  cveIds?: readonly string[] | undefined;
  cweIds?: readonly string[] | undefined;
  /** From 0 to 10; of several the best known, 4.0 before 3.1 before 3.0 before 2.0. */
  cvssScore?: number | undefined;
  /** Of CVSS 3.0, 3.1 or 4.0. */
  cvssVector?: string | undefined;
  referenceUrls?: readonly string[] | undefined;
  /** Requests and answers as sent, what a scanner shows as evidence. */
  evidence?: readonly string[] | undefined;
  target?: ScanTarget | undefined;
  /** Of a host itself: what a scan has to look at to find it again, where that is less than all of the host. */
  ports?: readonly PortRange[] | undefined;
  /** Where it was seen; the target when absent. */
  locations?: readonly ReportedLocation[] | undefined;
  /** Milliseconds since 1970; the report's time when absent. */
  seenAt?: number | undefined;
}

/** What a parser tells, in the order of the report. */
export type ReportRecord =
  /** What the report says of itself; it may be told in parts, and the last word counts. Milliseconds since 1970. */
  | { kind: 'report'; scannedAt?: number | undefined }
  /** Ports that the scan of the hosts behind it covers. */
  | { kind: 'ports'; ranges: readonly PortRange[] }
  | { kind: 'host'; host: ScannedHost }
  | { kind: 'finding'; finding: ReportedFinding; at?: SourceLocation | undefined }
  /**
   * That the report covers this whole, so that what it does not tell of it is gone: of a host with a port that port alone,
   * and of one with ports those.
   */
  | {
      kind: 'covered';
      target: ScanTarget;
      ports?: readonly PortRange[] | undefined;
      source?: string | undefined;
    }
  /** What is not taken: a few words for whoever reads the counts (`passed`, `suppressed`, `no title`). */
  | { kind: 'skipped'; reason: string; at?: SourceLocation | undefined };

/** The first MiB of a report, and what can be told from it. */
export interface ReportSample {
  /** Decoded, without a byte order mark; what is no UTF-8 is U+FFFD. */
  text: string;
  /** The root element of XML: its name and attributes. */
  root?: { name: string; attributes: Readonly<Record<string, string>> };
  /** The first JSON value: all of it if it ends within the sample, else what stands in it so far. */
  json?: unknown;
  /** Whether more JSON values follow the first, a line each. */
  lines: boolean;
}

/** Of a CSV report: our member by their column. */
export type ColumnMapping = Readonly<Record<string, string>>;

/** One format of reports. It knows no database, and asks nothing outside of the bytes. */
export interface ReportFormat {
  /** As the API and the command line call it; the `source` of its findings unless they name one. */
  name: string;
  /** What it is, for a person: `Nmap XML`. */
  title: string;
  /** Whether it tells of findings, which need an assessment. */
  hasFindings: boolean;
  /** Whether a report without a byte is one without findings, as tools write that find nothing. */
  allowsEmpty?: boolean;
  detect(sample: ReportSample): boolean;
  /**
   * Reads a report; it holds a bounded part of it.
   * @throws ReportError where it can be read no further; what was yielded before stands
   */
  read(source: ByteSource, options: { mapping?: ColumnMapping | undefined }): AsyncIterable<ReportRecord>;
}
