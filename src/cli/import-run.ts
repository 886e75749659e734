import type { Command } from 'commander';
import { setTimeout as delay } from 'node:timers/promises';
import { AssayError } from '#client';
import type { Columns } from './import-columns.ts';
import { type ReportFile, UnreadableFile, withFile } from './import-files.ts';
import {
  followImport,
  type ImportFields,
  type ImportJob,
  type Interruption,
  isAway,
  placeIn,
  startImport,
} from './import-job.ts';
import type { Outcome, OutcomeOutput } from './import-outcome.ts';
import { showImport } from './import-progress.ts';
import { io } from './io.ts';
import type { AnyClient } from './place.ts';
import { Refusal, refusalOf } from './refusal.ts';

/** What the reports of one command are imported with. */
export interface Importing {
  client: AnyClient;
  fields: ImportFields;
  columns: Columns;
  interruption: Pick<Interruption, 'cancel' | 'leave'>;
  output: OutcomeOutput;
  /** Whose options are named where they are at fault. */
  command: Command;
  /** How many reports there are; `undefined` where they come for as long as it runs. */
  count: number | undefined;
}

/** How long it waits where there is no room for another import, and in a watch for a server that is away, in milliseconds. */
const WAIT = 5_000;

/**
 * Imports reports one after the other, and tells of each as it ends. What is wrong with one is no reason to leave out the
 * others; what is wrong with the place or the options is.
 * @throws Refusal when one was not imported whole
 */
export async function importAll(
  importing: Importing,
  reports: Iterable<ReportFile> | AsyncIterable<ReportFile>,
): Promise<void> {
  const { count, interruption, output } = importing;
  const failures: string[] = [];
  for await (const report of reports) {
    const outcome = await importOne(importing, report);
    if (outcome === undefined) break;
    output.add(outcome);
    const failure = failureOf(outcome);
    if (failure !== undefined) {
      failures.push(failure);
      if (count !== 1) io().stderr.write(`assay: ${failure}\n`);
    }
    if (interruption.cancel.aborted) break;
  }
  if (failures.length === 0) return;
  throw new Refusal(
    count === 1
      ? (failures[0] ?? '')
      : `${failures.length} of ${count ?? 'the'} reports ${failures.length === 1 ? 'was' : 'were'} not imported whole.`,
  );
}

/** @returns how it ended; `undefined` when it was interrupted before it was an import */
async function importOne(importing: Importing, report: ReportFile): Promise<Outcome | undefined> {
  const { client, columns, count, interruption } = importing;
  const { path: named, shown, name } = report;
  const progress = showImport(io().stderr, shown);
  const { ask } = columns;
  const asking = ask && ((rows: Parameters<typeof ask>[0]) => (progress.stop(), ask(rows)));
  try {
    const started = await withFile(named, interruption.cancel, async (path) => {
      // Every format comes with it, which most commands do without.
      const { columnFields } = await import('./import-columns.ts');
      const told = await columnFields({ ...columns, ask: asking }, path);
      if ('refused' in told) return { file: shown, ...told };
      return send({ ...importing, fields: [...importing.fields, ...told] }, { path, shown, name });
    });
    if (!('id' in started)) return started;
    const job = await followImport(client, started.id, {
      interruption,
      show: (now) => progress.update(now),
      ...(count === undefined ? { patience: Infinity } : {}),
    });
    return { file: shown, job };
  } catch (error) {
    if (error instanceof UnreadableFile) return { file: shown, refused: error.message };
    if (!isInterrupted(error, interruption)) throw error;
    if (count === undefined) return undefined;
    throw notSent(shown);
  } finally {
    progress.stop();
  }
}

/** @returns the import, or why the report is refused */
async function send(
  { client, fields, interruption, command, count }: Importing,
  report: ReportFile,
): Promise<ImportJob | Outcome> {
  for (let isTold = false; ; isTold = true) {
    try {
      return await startImport(client, report, fields, interruption.cancel);
    } catch (error) {
      if (isAboutFile(error)) return { file: report.shown, refused: whyOf(error) };
      const isFull = error instanceof AssayError && error.status === 409;
      if (!isFull && !(count === undefined && isAway(error))) throw error;
      if (!isTold) io().stderr.write(`assay: ${report.shown} waits: ${refusalOf(error, command).message}\n`);
      await delay(WAIT, undefined, { signal: interruption.cancel });
    }
  }
}

/** Parts of the upload whose faults are those of one report; the others are the same for all. */
const OF_FILE = new Set(['file', 'format']);

function isAboutFile(error: unknown): error is AssayError {
  if (!(error instanceof AssayError)) return false;
  if (error.status === 413) return true;
  return (
    error.status === 422 &&
    error.faults.length > 0 &&
    error.faults.every(({ property }) => OF_FILE.has(property))
  );
}

/** @returns what is wrong with a file, whose name stands before it */
function whyOf({ faults, message }: AssayError): string {
  const [fault] = faults;
  return fault === undefined ? message : `it ${fault.message}.`.replace(/\.\.$/, '.');
}

/** @returns whether an error tells that somebody pressed Ctrl-C */
export function isInterrupted(error: unknown, { cancel }: Importing['interruption']): boolean {
  return cancel.aborted && error instanceof Error && error.name === 'AbortError';
}

/** What to tell of a report that was interrupted before it was an import. */
export const notSent = (shown: string): Refusal =>
  new Refusal(`${shown} was not sent whole, and nothing of it was imported.`);

/** @returns in a sentence why a report is not imported whole, and what there is of it; `undefined` when it is */
export function failureOf({ file, job, refused }: Outcome): string | undefined {
  if (job === undefined) return `${file}: ${refused ?? ''}`;
  if (job.state === 'succeeded') return undefined;
  const kept = isSomething(job)
    ? `What was imported until then stays; "assay import undo ${job.id}" takes it away.`
    : 'Nothing was imported.';
  if (job.state === 'cancelled') return `${file}: the import was cancelled. ${kept}`;
  const place = job.error === null ? '' : placeIn(job.error);
  const why = job.error?.message ?? 'The import failed';
  return `${file}: ${place === '' ? '' : `${place}: `}${why.replace(/\.?$/, '.')} ${kept}`;
}

function isSomething({ result }: ImportJob): boolean {
  if (result === null) return false;
  const { findings_gone: _gone, ...counts } = result;
  return Object.values(counts).some((count) => count > 0);
}
