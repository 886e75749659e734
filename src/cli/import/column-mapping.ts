import { createReadStream } from 'node:fs';
import { defaultMapping } from '../../importers/formats/csv/columns.ts';
import { streamCsvRows } from '../../importers/parsing/csv-stream.ts';
import { matchingFormats, readSample } from '../../importers/detect-format.ts';
import { decompress } from '../../importers/parsing/decompress.ts';
import { ReportError } from '../../importers/report.ts';
import type { ImportFields } from './api.ts';
import type { Mapping } from './mapping-options.ts';
import { printableArgument } from '../print.ts';

/** How many rows are looked at, the header too. */
const SAMPLE_ROWS = 4;
/** How many of its columns an error names. */
const MAX_LISTED_COLUMNS = 12;

/** Which column of a CSV report is which, where nobody said so and their names do not tell. */
export interface ColumnMappingOptions {
  /** As the command line calls it, if it names one. */
  format: string | undefined;
  /** What the command line says. */
  mapping: Mapping | undefined;
  /** Asks a person; absent where there is none. */
  prompt?: ((rows: readonly (readonly string[])[]) => Promise<Mapping>) | undefined;
}

/**
 * @param path of a report
 * @returns what an import of it is told beside what the command line says; where nobody can be asked, why it is refused
 */
export async function mappingFields(
  { format, mapping, prompt }: ColumnMappingOptions,
  path: string,
): Promise<ImportFields | { refused: string }> {
  const rows = (format ?? 'csv') === 'csv' ? await readUnmappedSample(path, format === 'csv') : undefined;
  if (rows === undefined) return [];
  const named: ImportFields = format === 'csv' ? [] : [['format', 'csv']];
  if (mapping !== undefined) return named;
  if (prompt === undefined) {
    const [header = []] = rows;
    const more = header.length > MAX_LISTED_COLUMNS ? `, and ${header.length - MAX_LISTED_COLUMNS} more` : '';
    const names =
      header
        .slice(0, MAX_LISTED_COLUMNS)
        .map(printableArgument)
        .join(', ')
        .replace(/\p{Cc}+/gu, ' ') + more;
    const whose = format === 'csv' ? 'its' : 'it is no report that is known here. If it is CSV, its';
    return {
      refused: `${whose} columns (${names}) have no names that are known: say which is which with --map title=COLUMN --map severity=COLUMN, or with --mapping FILE.`,
    };
  }
  return [...named, ['mapping', JSON.stringify(await prompt(rows))]];
}

/**
 * @param isCsv whether it is known to be CSV; otherwise it may be, where no format takes it for its own
 * @returns the first rows of a CSV report whose columns have not the usual names; `undefined` for any other
 */
async function readUnmappedSample(path: string, isCsv: boolean): Promise<string[][] | undefined> {
  const sample = await readSample(decompress(() => createReadStream(path))).catch(() => undefined);
  if (sample === undefined || sample.text.trim() === '' || /[\0\ufffd]/.test(sample.text)) return undefined;
  if (!isCsv && matchingFormats(sample).length > 0) return undefined;
  const rows = await readSampleRows(sample.text);
  const [header = [], ...others] = rows;
  if (isCsv) return others.length === 0 || isCompleteMapping(defaultMapping(header)) ? undefined : rows;
  const looksLikeCsv =
    header.length > 1 &&
    others.length > 0 &&
    header.every((name) => name !== '') &&
    !/^\s*[<[{]/.test(sample.text);
  return looksLikeCsv ? rows : undefined;
}

/** @returns whether a finding can be made of it */
const isCompleteMapping = ({ title, severity, cvss_score: score, cvss_vector: vector }: Mapping): boolean =>
  title !== undefined && (severity ?? score ?? vector) !== undefined;

/** @returns the first rows, as far as they can be read */
async function readSampleRows(text: string): Promise<string[][]> {
  const rows: string[][] = [];
  try {
    const source = async function* () {
      yield Buffer.from(text);
    };
    for await (const found of streamCsvRows(source())) {
      if (!('row' in found)) continue;
      if (rows.length === 0) rows.push(Object.keys(found.row));
      rows.push(Object.values(found.row));
      if (rows.length >= SAMPLE_ROWS) break;
    }
  } catch (error) {
    if (!(error instanceof ReportError)) throw error;
  }
  return rows;
}
