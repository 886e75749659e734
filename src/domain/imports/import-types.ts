import type { Caller } from '../../auth/callers.ts';
import type { Severity } from '../vulnerabilities/statuses-and-severities.ts';

/** What whoever starts an import may choose (operation 65); what is absent there has its default here. */
export interface ImportOptions {
  whenGone: 'keep' | 'fix';
  /** Addresses, host names or URLs that were scanned, where the report does not say. */
  targets: readonly string[];
  /** Milliseconds since 1970; the time of a report that tells none. */
  scannedAt: number | null;
  /** What is below is not made. */
  minimumSeverity: Severity | null;
  /** Names, put on what is made. */
  tags: readonly string[];
  /** Whether decisions on the same finding of other assessments are taken over. */
  carry: boolean;
  /** Of CSV: our member by their column. */
  mapping?: Readonly<Record<string, string>> | undefined;
  dryRun: boolean;
}

/** An import as the one who runs it needs it. */
export interface ImportJob {
  id: number;
  organizationId: number;
  /** `null` of a report of hosts alone. */
  assessment: { id: number; uid: string } | null;
  /** Who started it, with what they reach: an admin of the organization may change every asset, others those of the assessment. */
  caller: Caller;
  /** Whether the credential had a scope that writes assets: without one nothing is made or written of them. */
  canWriteAssets: boolean;
  options: ImportOptions;
  /** SHA-256 of the file as it was sent, in hexadecimal. */
  sha256: string;
  /** When it was uploaded, in milliseconds since 1970. */
  createdAt: number;
}

/** An import of a report of findings, whose assessment is known. */
export type FindingsJob = ImportJob & { assessment: { id: number; uid: string } };

/** How far a run is. */
export interface RunProgress {
  hosts: number;
  ports: number;
  /** Each once, as far as the report was read. */
  findings: number;
  /** Records that were not taken. */
  skipped: number;
  /** Of what was read, the part that is applied, from 0 to 1: findings come after all that was read. */
  applied: number;
}

export interface SkippedRecords {
  reason: string;
  count: number;
  /** Where the first stands: a line from 1 or a byte from 0. */
  line?: number;
  offset?: number;
}

/** Counts of findings, assets and ports. */
export interface ImportResult {
  assets_created: number;
  assets_updated: number;
  ports_opened: number;
  ports_closed: number;
  findings_created: number;
  findings_seen_again: number;
  findings_reopened: number;
  findings_gone: number;
}

export const EMPTY_RESULT: Readonly<ImportResult> = {
  assets_created: 0,
  assets_updated: 0,
  ports_opened: 0,
  ports_closed: 0,
  findings_created: 0,
  findings_seen_again: 0,
  findings_reopened: 0,
  findings_gone: 0,
};

/** What a dry run shows of a finding. */
export interface PreviewedFinding {
  title: string;
  /** The location of its asset. */
  asset?: string;
}

export const PREVIEW_KINDS = ['new', 'again', 'reopened', 'gone'] as const;

/** The first of each kind. */
export type ImportPreview = Record<(typeof PREVIEW_KINDS)[number], PreviewedFinding[]>;

/** The most that a preview has of a kind. */
export const MAX_PREVIEWED = 20;

export interface ImportError {
  message: string;
  line?: number;
  offset?: number;
}

/** How a run ended. What was applied stays, whatever the state. */
export interface ImportOutcome {
  state: 'succeeded' | 'failed' | 'cancelled';
  result: ImportResult;
  skips: SkippedRecords[];
  /** Of a dry run. */
  preview: ImportPreview | null;
  /** Of a run that failed. */
  error: ImportError | null;
  progress: RunProgress;
  /** The time of the report, in milliseconds since 1970; `null` of a dry run, which has seen nothing. */
  reportAt: number | null;
}
