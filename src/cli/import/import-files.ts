import type { Command } from 'commander';
import { setTimeout as delay } from 'node:timers/promises';
import { AssayError } from '#client';
import type { ColumnMappingOptions } from './column-mapping.ts';
import { type ReportFile, UnreadableFile, withReportFile } from './report-files.ts';
import {
  awaitImportEnd,
  type ImportFields,
  type ImportJob,
  type CtrlC,
  isServerAway,
  formatLocation,
  postImport,
} from './api.ts';
import type { FileResult, ImportResultWriter } from './results.ts';
import { createProgressDisplay } from './progress.ts';
import { streams } from '../streams.ts';
import type { AnyClient } from '../command-target.ts';
import { CliError, toCliError } from '../errors.ts';

/** What the reports of one command are imported with. */
export interface ImportRunOptions {
  client: AnyClient;
  fields: ImportFields;
  columns: ColumnMappingOptions;
  interruption: Pick<CtrlC, 'cancel' | 'stopWaiting'>;
  output: ImportResultWriter;
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
export async function importFiles(
  importing: ImportRunOptions,
  reports: Iterable<ReportFile> | AsyncIterable<ReportFile>,
): Promise<void> {
  const { count, interruption, output } = importing;
  const failures: string[] = [];
  for await (const report of reports) {
    const outcome = await importFile(importing, report);
    if (outcome === undefined) break;
    output.add(outcome);
    const failure = failureMessage(outcome);
    if (failure !== undefined) {
      failures.push(failure);
      if (count !== 1) streams().stderr.write(`assay: ${failure}\n`);
    }
    if (interruption.cancel.aborted) break;
  }
  if (failures.length === 0) return;
  throw new CliError(
    count === 1
      ? (failures[0] ?? '')
      : `${failures.length} of ${count ?? 'the'} reports ${failures.length === 1 ? 'was' : 'were'} not imported whole.`,
  );
}

/** @returns how it ended; `undefined` when it was interrupted before it was an import */
async function importFile(importing: ImportRunOptions, report: ReportFile): Promise<FileResult | undefined> {
  const { client, columns, count, interruption } = importing;
  const { path: named, label, name } = report;
  const progress = createProgressDisplay(streams().stderr, label);
  const { prompt } = columns;
  const asking = prompt && ((rows: Parameters<typeof prompt>[0]) => (progress.stop(), prompt(rows)));
  try {
    const started = await withReportFile(named, interruption.cancel, async (path) => {
      // Every format comes with it, which most commands do without.
      const { mappingFields } = await import('./column-mapping.ts');
      const told = await mappingFields({ ...columns, prompt: asking }, path);
      if ('refused' in told) return { file: label, ...told };
      return uploadFile({ ...importing, fields: [...importing.fields, ...told] }, { path, label, name });
    });
    if (!('id' in started)) return started;
    const job = await awaitImportEnd(client, started.id, {
      interruption,
      show: (now) => progress.update(now),
      ...(count === undefined ? { reconnectTimeout: Infinity } : {}),
    });
    return { file: label, job };
  } catch (error) {
    if (error instanceof UnreadableFile) return { file: label, error: error.message };
    if (!isInterrupted(error, interruption)) throw error;
    if (count === undefined) return undefined;
    throw notUploaded(label);
  } finally {
    progress.stop();
  }
}

/** @returns the import, or why the report is refused */
async function uploadFile(
  { client, fields, interruption, command, count }: ImportRunOptions,
  report: ReportFile,
): Promise<ImportJob | FileResult> {
  for (let isTold = false; ; isTold = true) {
    try {
      return await postImport(client, report, fields, interruption.cancel);
    } catch (error) {
      if (isFileError(error)) return { file: report.label, error: describeUploadError(error) };
      const isFull = error instanceof AssayError && error.status === 409;
      if (!isFull && !(count === undefined && isServerAway(error))) throw error;
      if (!isTold)
        streams().stderr.write(`assay: ${report.label} waits: ${toCliError(error, command).message}\n`);
      await delay(WAIT, undefined, { signal: interruption.cancel });
    }
  }
}

/** Parts of the upload whose faults are those of one report; the others are the same for all. */
const FILE_FIELDS = new Set(['file', 'format']);

function isFileError(error: unknown): error is AssayError {
  if (!(error instanceof AssayError)) return false;
  if (error.status === 413) return true;
  return (
    error.status === 422 &&
    error.fieldErrors.length > 0 &&
    error.fieldErrors.every(({ property }) => FILE_FIELDS.has(property))
  );
}

/** @returns what is wrong with a file, whose name stands before it */
function describeUploadError({ fieldErrors, message }: AssayError): string {
  const [fault] = fieldErrors;
  return fault === undefined ? message : `it ${fault.message}.`.replace(/\.\.$/, '.');
}

/** @returns whether an error tells that somebody pressed Ctrl-C */
export function isInterrupted(error: unknown, { cancel }: ImportRunOptions['interruption']): boolean {
  return cancel.aborted && error instanceof Error && error.name === 'AbortError';
}

/** What to tell of a report that was interrupted before it was an import. */
export const notUploaded = (shown: string): CliError =>
  new CliError(`${shown} was not sent whole, and nothing of it was imported.`);

/** @returns in a sentence why a report is not imported whole, and what there is of it; `undefined` when it is */
export function failureMessage({ file, job, error: refused }: FileResult): string | undefined {
  if (job === undefined) return `${file}: ${refused ?? ''}`;
  if (job.state === 'succeeded') return undefined;
  const kept = hasResults(job)
    ? `What was imported until then stays; "assay import undo ${job.id}" takes it away.`
    : 'Nothing was imported.';
  if (job.state === 'cancelled') return `${file}: the import was cancelled. ${kept}`;
  const place = job.error === null ? '' : formatLocation(job.error);
  const why = job.error?.message ?? 'The import failed';
  return `${file}: ${place === '' ? '' : `${place}: `}${why.replace(/\.?$/, '.')} ${kept}`;
}

function hasResults({ result }: ImportJob): boolean {
  if (result === null) return false;
  const { findings_gone: _gone, ...counts } = result;
  return Object.values(counts).some((count) => count > 0);
}
