import { PREVIEW_KINDS, type PreviewedFinding } from '../../domain/imports/import-types.ts';
import { type RemoteImport, formatLocation } from './api.ts';
import { printJson, printLines, table } from '../print.ts';

/** Result of a report: an import, or an error before it was created. */
export interface FileResult {
  file: string;
  job?: RemoteImport;
  error?: string;
}

export interface ImportResultWriter {
  add(result: FileResult): void;
}

/** Prints each import on a line of JSON, in the form that the API returns. */
export class JsonResultWriter implements ImportResultWriter {
  add({ file, job, error }: FileResult): void {
    printJson(job ?? { file: { filename: file }, state: 'refused', error: { message: error } });
  }
}

/** The table fits into 80 columns unless file names are long. */
const COLUMNS: Readonly<Record<string, (result: FileResult) => string | number | undefined>> = {
  IMPORT: ({ job }) => job?.id,
  FORMAT: ({ job }) => job?.format,
  STATE: ({ job }) => job?.state ?? 'refused',
  NEW: ({ job }) => job?.result?.findings_created,
  AGAIN: ({ job }) => job?.result?.findings_seen_again,
  REOPENED: ({ job }) => job?.result?.findings_reopened,
  GONE: ({ job }) => job?.result?.findings_gone,
  SKIPPED: ({ job }) => job?.progress.skipped,
  FILE: ({ file }) => file,
};
/** Formats and states have up to nine characters. */
const WIDTHS = Object.keys(COLUMNS).map((name) => (name === 'FORMAT' || name === 'STATE' ? 9 : name.length));

/**
 * Prints a table with a row per report, followed by its changes to hosts, its records that were skipped, cut or
 * have an unclear time, and the preview of a dry run.
 */
export class ResultTable implements ImportResultWriter {
  #hasHeading = false;

  add(result: FileResult): void {
    const lines = table([result], COLUMNS, '', WIDTHS);
    printLines(
      ...(this.#hasHeading ? lines.slice(1) : lines),
      ...hostLines(result),
      ...skipLines(result),
      ...previewLines(result),
    );
    this.#hasHeading = true;
  }
}

function hostLines({ job }: FileResult): string[] {
  if (job === undefined || job.result === null) return [];
  const { assets_created, assets_updated, assets_outside_scope, ports_opened, ports_closed } = job.result;
  const all = {
    'assets new': assets_created,
    'assets changed': assets_updated,
    'assets outside the scope': assets_outside_scope,
    'ports opened': ports_opened,
    'ports closed': ports_closed,
  };
  const nonZero = Object.entries(all).filter(([, count]) => count > 0);
  return nonZero.length === 0
    ? []
    : [`  ${nonZero.map(([label, count]) => `${label}: ${count}`).join(', ')}`];
}

function skipLines({ job }: FileResult): string[] {
  const lines = (job?.skips ?? []).map((skip) => {
    const first = formatLocation(skip);
    const location = first === '' ? '' : skip.count === 1 ? ` (${first})` : ` (first at ${first})`;
    return oneLine(`    ${skip.count}: ${skip.reason}${location}`);
  });
  return lines.length === 0 ? [] : ['  skipped or incomplete:', ...lines];
}

const PREVIEW_COUNTS = {
  new: 'findings_created',
  again: 'findings_seen_again',
  reopened: 'findings_reopened',
  gone: 'findings_gone',
} as const;

function previewLines({ job }: FileResult): string[] {
  const { preview, result } = job ?? {};
  if (preview === null || preview === undefined) return [];
  return [
    'Dry run: nothing was changed. Preview:',
    ...PREVIEW_KINDS.flatMap((kind) => {
      const findings = preview[kind];
      const all = Math.max(findings.length, result?.[PREVIEW_COUNTS[kind]] ?? 0);
      return [`${kind}: ${all}`, ...firstLines(findings, all)];
    }),
  ];
}

function firstLines(findings: readonly PreviewedFinding[], all: number): string[] {
  const hiddenCount = all - findings.length;
  return [
    ...findings.map(({ title, asset }) => oneLine(`  ${title}${asset === undefined ? '' : `  ${asset}`}`)),
    ...(hiddenCount > 0 ? [`  and ${hiddenCount} more`] : []),
  ];
}

/** Removes control characters, which could move the cursor. */
const oneLine = (text: string) => text.replace(/\p{Cc}+/gu, ' ').trimEnd();
