import { createReadStream } from 'node:fs';
import { defaultMapping } from '../../importers/formats/csv/columns.ts';
import { streamCsvRows } from '../../importers/parsing/csv-stream.ts';
import { matchingFormats, readSample } from '../../importers/formats/index.ts';
import { decompress } from '../../importers/parsing/decompress.ts';
import { ReportError } from '../../importers/report.ts';
import type { ImportFields } from './api.ts';
import type { Mapping } from './mapping-options.ts';
import { printableArgument } from '../print.ts';

/** Including the header. */
const SAMPLE_ROWS = 4;
const MAX_LISTED_COLUMNS = 12;

/** Sources of the column mapping for a CSV report whose column names are not recognised. */
export interface ColumnMappingOptions {
  format: string | undefined;
  mapping: Mapping | undefined;
  /** Asks the user for the mapping; absent without a terminal. */
  prompt?: ((rows: readonly (readonly string[])[]) => Promise<Mapping>) | undefined;
}

/**
 * Returns additional form fields for the import of a report, or an error if its columns are not recognised and there is
 * no terminal to prompt on.
 */
export async function mappingFields(
  { format, mapping, prompt }: ColumnMappingOptions,
  path: string,
): Promise<ImportFields | { error: string }> {
  const rows = (format ?? 'csv') === 'csv' ? await readUnmappedSample(path, format === 'csv') : undefined;
  if (rows === undefined) return [];
  const formatField: ImportFields = format === 'csv' ? [] : [['format', 'csv']];
  if (mapping !== undefined) return formatField;
  if (prompt === undefined) {
    const [header = []] = rows;
    const rest = header.length > MAX_LISTED_COLUMNS ? `, and ${header.length - MAX_LISTED_COLUMNS} more` : '';
    const names =
      header
        .slice(0, MAX_LISTED_COLUMNS)
        .map(printableArgument)
        .join(', ')
        .replace(/\p{Cc}+/gu, ' ') + rest;
    const problem = format === 'csv' ? 'the' : 'format not recognised. If this is a CSV file, its';
    return {
      error: `${problem} columns (${names}) are not recognised. Map them with --map title=COLUMN --map severity=COLUMN, or with --mapping FILE.`,
    };
  }
  return [...formatField, ['mapping', JSON.stringify(await prompt(rows))]];
}

/**
 * Returns the first rows of a CSV report whose columns are not recognised; `undefined` for any other report.
 * @param isCsv whether the format is known to be CSV; otherwise it is guessed if no other format matches
 */
async function readUnmappedSample(path: string, isCsv: boolean): Promise<string[][] | undefined> {
  const sample = await readSample(decompress(() => createReadStream(path))).catch(() => undefined);
  if (sample === undefined || sample.text.trim() === '' || /[\0\ufffd]/.test(sample.text)) return undefined;
  if (!isCsv && matchingFormats(sample).length > 0) return undefined;
  const rows = await readSampleRows(sample.text);
  const [header = [], ...examples] = rows;
  if (isCsv) return examples.length === 0 || isCompleteMapping(defaultMapping(header)) ? undefined : rows;
  const looksLikeCsv =
    header.length > 1 &&
    examples.length > 0 &&
    header.every((name) => name !== '') &&
    !/^\s*[<[{]/.test(sample.text);
  return looksLikeCsv ? rows : undefined;
}

const isCompleteMapping = ({ title, severity, cvss_score: score, cvss_vector: vector }: Mapping): boolean =>
  title !== undefined && (severity ?? score ?? vector) !== undefined;

/** Returns the header and the first rows, up to the first error. */
async function readSampleRows(text: string): Promise<string[][]> {
  const rows: string[][] = [];
  try {
    const source = async function* () {
      yield Buffer.from(text);
    };
    for await (const record of streamCsvRows(source())) {
      if (!('row' in record)) continue;
      const { row, columns } = record;
      if (rows.length === 0) rows.push([...columns]);
      rows.push(columns.map((column) => row[column] ?? ''));
      if (rows.length >= SAMPLE_ROWS) break;
    }
  } catch (error) {
    if (!(error instanceof ReportError)) throw error;
  }
  return rows;
}
