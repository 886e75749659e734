import { PREVIEW_KINDS, type PreviewedFinding } from '../domain/imports/import-job.ts';
import { type ImportJob, placeIn } from './import-job.ts';
import { printJson, printLines, table } from './output.ts';

/** How one report ended: an import, or what was refused before it became one. */
export interface Outcome {
  /** As people know the file. */
  file: string;
  job?: ImportJob;
  refused?: string;
}

/** Where what became of reports is told, one after the other as each ends. */
export interface OutcomeOutput {
  add(outcome: Outcome): void;
}

/** As JSON, a line a report: the import as the API tells it. */
export class OutcomesAsJson implements OutcomeOutput {
  add({ file, job, refused }: Outcome): void {
    printJson(job ?? { file: { filename: file }, state: 'refused', error: { message: refused } });
  }
}

const COLUMNS: Readonly<Record<string, (outcome: Outcome) => string | number | undefined>> = {
  FILE: ({ file }) => file,
  IMPORT: ({ job }) => job?.id,
  FORMAT: ({ job }) => job?.format,
  STATE: ({ job }) => job?.state ?? 'refused',
  NEW: ({ job }) => job?.result?.findings_created,
  AGAIN: ({ job }) => job?.result?.findings_seen_again,
  REOPENED: ({ job }) => job?.result?.findings_reopened,
  GONE: ({ job }) => job?.result?.findings_gone,
  ASSETS: ({ job }) => job?.result?.assets_created,
  OPENED: ({ job }) => job?.result?.ports_opened,
  CLOSED: ({ job }) => job?.result?.ports_closed,
  SKIPPED: ({ job }) => job?.progress.skipped,
};
/** The longest format and state. */
const FORMAT_WIDTH = 9;
const STATE_WIDTH = 9;

/** For people: a table with a row a report, and below a row what it left out or, of a dry run, would change. */
export class OutcomeTable implements OutcomeOutput {
  readonly #widths: number[];
  #begun = false;

  /** @param files the names that are known to come, so that the columns stand below each other */
  constructor(files: readonly string[]) {
    this.#widths = Object.keys(COLUMNS).map((name) => name.length);
    this.#widths[0] = Math.max(4, ...files.map((file) => [...file].length));
    this.#widths[2] = FORMAT_WIDTH;
    this.#widths[3] = STATE_WIDTH;
  }

  add(outcome: Outcome): void {
    const lines = table([outcome], COLUMNS, '', this.#widths);
    printLines(...(this.#begun ? lines.slice(1) : lines), ...skipLines(outcome), ...previewLines(outcome));
    this.#begun = true;
  }
}

function skipLines({ job }: Outcome): string[] {
  return (job?.skips ?? []).map((skip) => {
    const first = placeIn(skip);
    const where = first === '' ? '' : skip.count === 1 ? ` (${first})` : ` (the first at ${first})`;
    return oneLine(`  skipped ${skip.count}: ${skip.reason}${where}`);
  });
}

const COUNTS = {
  new: 'findings_created',
  again: 'findings_seen_again',
  reopened: 'findings_reopened',
  gone: 'findings_gone',
} as const;

function previewLines({ job }: Outcome): string[] {
  const { preview, result } = job ?? {};
  if (preview === null || preview === undefined) return [];
  return [
    'Nothing was changed, as this was a dry run. It would be:',
    ...PREVIEW_KINDS.flatMap((kind) => {
      const shown = preview[kind];
      const all = Math.max(shown.length, result?.[COUNTS[kind]] ?? 0);
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
