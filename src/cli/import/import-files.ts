import type { Command } from 'commander';
import { setTimeout as delay } from 'node:timers/promises';
import { AssayError } from '#client';
import type { ColumnMappingOptions } from './column-mapping.ts';
import { type ReportFile, UnreadableFile, withReportFile } from './report-files.ts';
import {
  awaitImportEnd,
  type ImportFields,
  type RemoteImport,
  type InterruptSignal,
  isUnreachable,
  formatLocation,
  postImport,
} from './api.ts';
import type { FileResult, ImportResultWriter } from './results.ts';
import { createProgressDisplay } from './progress.ts';
import { programName, streams } from '../streams.ts';
import type { AnyClient } from '../command-target.ts';
import { CliError, toCliError } from '../errors.ts';

/** Options that apply to all reports of one command. */
export interface ImportRunOptions {
  client: AnyClient;
  fields: ImportFields;
  columns: ColumnMappingOptions;
  interruption: Pick<InterruptSignal, 'cancel' | 'stopWaiting'>;
  output: ImportResultWriter;
  /** Error messages name the options of this command. */
  command: Command;
  /** Number of reports; `undefined` for `--watch`. */
  count: number | undefined;
}

/** How long to wait before retrying an upload, in milliseconds. */
const RETRY_INTERVAL = 5_000;

/**
 * Imports reports one after the other and prints each result. Continues after an invalid report, but not after an error
 * of the server or the options.
 * @throws CliError if a report was not imported completely
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
      : `${failures.length} of ${count ?? 'the'} reports ${failures.length === 1 ? 'was' : 'were'} not imported completely.`,
  );
}

/** Returns the result; `undefined` if interrupted before the upload completed. */
async function importFile(importing: ImportRunOptions, report: ReportFile): Promise<FileResult | undefined> {
  const { client, columns, count, interruption } = importing;
  const { path: source, label, name } = report;
  const progress = createProgressDisplay(streams().stderr, label);
  const { prompt } = columns;
  const promptWithoutProgress =
    prompt && ((rows: Parameters<typeof prompt>[0]) => (progress.stop(), prompt(rows)));
  try {
    const started = await withReportFile(source, interruption.cancel, async (path) => {
      // Loaded on demand, since it loads all formats.
      const { mappingFields } = await import('./column-mapping.ts');
      const fields = await mappingFields({ ...columns, prompt: promptWithoutProgress }, path);
      if ('error' in fields) return { file: label, ...fields };
      return uploadFile({ ...importing, fields: [...importing.fields, ...fields] }, { path, label, name });
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
    throw uploadCancelled(label);
  } finally {
    progress.stop();
  }
}

/** Returns the import, or the error of this report. Retries while the import queue is full. */
async function uploadFile(
  { client, fields, interruption, command, count }: ImportRunOptions,
  report: ReportFile,
): Promise<RemoteImport | FileResult> {
  for (let isNotified = false; ; isNotified = true) {
    try {
      return await postImport(client, report, fields, interruption.cancel);
    } catch (error) {
      if (isFileError(error)) return { file: report.label, error: describeUploadError(error) };
      const isFull = error instanceof AssayError && error.status === 409;
      if (!isFull && !(count === undefined && isUnreachable(error))) throw error;
      if (!isNotified)
        streams().stderr.write(
          `assay: Waiting to upload ${report.label}: ${toCliError(error, command).message}\n`,
        );
      await delay(RETRY_INTERVAL, undefined, { signal: interruption.cancel });
    }
  }
}

/** An error of these fields concerns one report; an error of another field would recur with every report. */
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

/** Describes an error in a clause that follows the name of the file. */
function describeUploadError({ fieldErrors, message }: AssayError): string {
  const [first] = fieldErrors;
  return first === undefined ? message : `it ${first.message}.`.replace(/\.\.$/, '.');
}

/** Returns whether an error was caused by Ctrl-C. */
export function isInterrupted(error: unknown, { cancel }: ImportRunOptions['interruption']): boolean {
  return cancel.aborted && error instanceof Error && error.name === 'AbortError';
}

export const uploadCancelled = (label: string): CliError =>
  new CliError(`The upload of ${label} was cancelled. Nothing was imported.`);

/** Describes why a report was not imported completely; `undefined` if it was. */
export function failureMessage({ file, job, error }: FileResult): string | undefined {
  if (job === undefined) return `${file}: ${error ?? ''}`;
  if (job.state === 'succeeded') return undefined;
  const effect = hasResults(job)
    ? `Part of the report was imported. To undo it, run "${programName()} import undo ${job.id}".`
    : 'Nothing was imported.';
  if (job.state === 'cancelled') return `${file}: the import was cancelled. ${effect}`;
  const location = job.error === null ? '' : formatLocation(job.error);
  const why = job.error?.message ?? 'The import failed';
  return `${file}: ${location === '' ? '' : `${location}: `}${why.replace(/\.?$/, '.')} ${effect}`;
}

function hasResults({ result }: RemoteImport): boolean {
  if (result === null) return false;
  const { findings_gone: _gone, ...counts } = result;
  return Object.values(counts).some((count) => count > 0);
}
