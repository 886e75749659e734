import { PREVIEW_KINDS, type PreviewedFinding } from '../../domain/imports/import-types.ts';
import { type ImportJob, formatLocation } from './api.ts';
import { printJson, printLines, table } from '../print.ts';

/** How one report ended: an import, or what was refused before it became one. */
export interface FileResult {
  /** As people know the file. */
  file: string;
  job?: ImportJob;
  error?: string;
}

/** Where what became of reports is told, one after the other as each ends. */
export interface ImportResultWriter {
  add(outcome: FileResult): void;
}

/** As JSON, a line a report: the import as the API tells it. */
export class JsonResultWriter implements ImportResultWriter {
  add({ file, job, error: refused }: FileResult): void {
    printJson(job ?? { file: { filename: file }, state: 'refused', error: { message: refused } });
  }
}

/** On a terminal of 80 columns: only a name may reach over its end. */
const COLUMNS: Readonly<Record<string, (outcome: FileResult) => string | number | undefined>> = {
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
/** The longest format and state. */
const WIDTHS = Object.keys(COLUMNS).map((name) => (name === 'FORMAT' || name === 'STATE' ? 9 : name.length));

/**
 * For people: a table with a row a report, and below a row what became of its hosts, what it left out or, of a dry run, would
 * change.
 */
export class ResultTable implements ImportResultWriter {
  #begun = false;

  add(outcome: FileResult): void {
    const lines = table([outcome], COLUMNS, '', WIDTHS);
    printLines(
      ...(this.#begun ? lines.slice(1) : lines),
      ...hostLines(outcome),
      ...skipLines(outcome),
      ...previewLines(outcome),
    );
    this.#begun = true;
  }
}

function hostLines({ job }: FileResult): string[] {
  if (job === undefined || job.result === null) return [];
  const { assets_created, assets_updated, ports_opened, ports_closed } = job.result;
  const all = {
    'assets new': assets_created,
    'assets changed': assets_updated,
    'ports opened': ports_opened,
    'ports closed': ports_closed,
  };
  const some = Object.entries(all).filter(([, count]) => count > 0);
  return some.length === 0 ? [] : [`  ${some.map(([what, count]) => `${what}: ${count}`).join(', ')}`];
}

function skipLines({ job }: FileResult): string[] {
  return (job?.skips ?? []).map((skip) => {
    const first = formatLocation(skip);
    const where = first === '' ? '' : skip.count === 1 ? ` (${first})` : ` (the first at ${first})`;
    return oneLine(`  skipped ${skip.count}: ${skip.reason}${where}`);
  });
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
    'Nothing was changed, as this was a dry run. It would be:',
    ...PREVIEW_KINDS.flatMap((kind) => {
      const shown = preview[kind];
      const all = Math.max(shown.length, result?.[PREVIEW_COUNTS[kind]] ?? 0);
      return [`${kind}: ${all}`, ...firstLines(shown, all)];
    }),
  ];
}

function firstLines(shown: readonly PreviewedFinding[], all: number): string[] {
  const more = all - shown.length;
  return [
    ...shown.map(({ title, asset }) => oneLine(`  ${title}${asset === undefined ? '' : `  ${asset}`}`)),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

/** Nothing that a report says may move the cursor. */
const oneLine = (text: string) => text.replace(/\p{Cc}+/gu, ' ').trimEnd();
