import type { Caller } from '../../auth/callers.ts';
import type { Severity } from '../shared/statuses-and-severities.ts';

/** The options of an import (operation 65) with their defaults applied. */
export interface ImportOptions {
  whenGone: 'keep' | 'fix';
  /** Scanned addresses, host names or URLs, for reports that do not say what they covered. */
  targets: readonly string[];
  /** Milliseconds since 1970; used if the report has no time of its own. */
  scannedAt: number | null;
  /** Findings below it are stored, but create no vulnerability. */
  minimumSeverity: Severity | null;
  tags: readonly string[];
  /** Whether to carry over decisions on the same finding from other assessments. */
  carry: boolean;
  /** Whether new findings begin as drafts. Imports from before it existed lack it. */
  draft?: boolean | undefined;
  /** Whether to put the assets of the report on the listing. Imports from before it existed lack it. */
  listAssets?: boolean | undefined;
  /** Whether dates such as `3/4/2024` begin with the day or the month. Imports from before it existed lack it. */
  dateOrder?: 'dmy' | 'mdy' | null | undefined;
  /** The report's column by our field, for CSV. */
  mapping?: Readonly<Record<string, string>> | undefined;
  dryRun: boolean;
}

export interface ImportJob {
  id: number;
  organizationId: number;
  /** `null` for a report of hosts only. */
  assessment: { id: number; uid: string } | null;
  /**
   * The importer. Has the rights from the upload that the account still had when the run began. Admins can change all
   * assets that their scopes cover; other users only those that the assessment lists, that its imports saw or that its
   * vulnerabilities have.
   */
  caller: Caller;
  /** Whether the credential has a scope that writes assets here. Without one, no asset is created or changed. */
  canWriteAssets: boolean;
  /** Whether the caller may report vulnerabilities. If not, the findings of the report are skipped. */
  canReport: boolean;
  options: ImportOptions;
  /** SHA-256 of the uploaded file, in hexadecimal. */
  sha256: string;
  /** Time of the upload, in milliseconds since 1970. */
  createdAt: number;
}

/** An import of findings: its assessment is known. */
export type FindingsJob = ImportJob & { assessment: { id: number; uid: string } };

export interface RunProgress {
  hosts: number;
  ports: number;
  /** Findings read so far. Repeated ones count once when the whole report has been read. */
  findings: number;
  skipped: number;
  /** Part of the findings that is applied, from 0 to 1. Findings are applied after the whole report is read. */
  applied: number;
}

export interface SkippedRecords {
  reason: string;
  count: number;
  /** Position of the first: a line from 1 or a byte from 0. */
  line?: number;
  offset?: number;
}

export interface ImportResult {
  assets_created: number;
  assets_updated: number;
  /** The assets of the report that the assessment does not list. */
  assets_outside_scope: number;
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
  assets_outside_scope: 0,
  ports_opened: 0,
  ports_closed: 0,
  findings_created: 0,
  findings_seen_again: 0,
  findings_reopened: 0,
  findings_gone: 0,
};

/** @returns the result with zero for every count of findings */
export function withoutFindingCounts(result: ImportResult): ImportResult {
  return { ...result, findings_created: 0, findings_seen_again: 0, findings_reopened: 0, findings_gone: 0 };
}

export interface PreviewedFinding {
  title: string;
  /** Location of its asset. */
  asset?: string;
}

export const PREVIEW_KINDS = ['new', 'again', 'reopened', 'gone'] as const;

/** The first findings of each kind. */
export type ImportPreview = Record<(typeof PREVIEW_KINDS)[number], PreviewedFinding[]>;

/** The most findings per kind. */
export const MAX_PREVIEWED = 20;

export interface ImportError {
  message: string;
  line?: number;
  offset?: number;
}

/** The result of a run. Applied changes remain in every state. */
export interface ImportOutcome {
  state: 'succeeded' | 'failed' | 'cancelled';
  result: ImportResult;
  skips: SkippedRecords[];
  /** Set for dry runs. */
  preview: ImportPreview | null;
  /** Set for failed runs. */
  error: ImportError | null;
  progress: RunProgress;
  /** The report's time, in milliseconds since 1970; `null` for dry runs. */
  reportAt: number | null;
}
