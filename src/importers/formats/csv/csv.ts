import { detectLayout, MAX_COLUMNS, streamCsvRows } from '../../parsing/csv-stream.ts';
import { bestCvss, parseSeverity, severityOfScore } from '../../parsing/severity-and-cvss.ts';
import { extractCveIds, extractCweIds } from '../../parsing/vulnerability-ids.ts';
import { textToMarkdown } from '../../parsing/text-to-markdown.ts';
import { type DateOrder, dateOrderOf, parseTime } from '../../parsing/parse-time.ts';
import {
  type ColumnMapping,
  type ReportFormat,
  ReportError,
  type ReportedFinding,
  type ReportRecord,
  type ByteSource,
  type SourceLocation,
} from '../../report.ts';
import { ruleOfTitle } from '../generic/generic.ts';
import {
  CSV_FIELDS,
  type CsvField,
  defaultMapping,
  isCsvField,
  type OtherColumns,
  findOtherColumns,
  reasonClosed,
} from './columns.ts';
import { targetsOfRow } from './row-targets.ts';

/** CSV of findings. The mapping, or else common names, says which column is which. */
export const csv: ReportFormat = {
  name: 'csv',
  title: 'CSV with a column per field',
  hasFindings: true,
  detect({ text }) {
    if (/^\s*[<[{]/.test(text)) return false;
    const { header } = detectLayout(text, isHeader);
    return header.length <= MAX_COLUMNS && isHeader(header);
  },
  async *read(source, { mapping, dateOrder }) {
    const isMapped = (fields: readonly string[]): boolean => {
      const names = fields.map((field) => field.trim());
      return mapping === undefined
        ? defaultMapping(names).title !== undefined
        : Object.values(mapping).every((column) => names.includes(column));
    };
    let columns: RowColumns | undefined;
    let columnOrder: DateOrder | 'open' | undefined;
    for await (const csvRow of streamCsvRows(source(), isMapped)) {
      const location = { line: csvRow.line };
      if ('error' in csvRow) {
        yield { kind: 'unreadable', reason: csvRow.error, location };
        continue;
      }
      columns ??= columnsOf(csvRow.columns, mapping);
      const date = csvRow.row[columns.mapping.seen_at ?? ''] ?? '';
      const isOrderOpen = dateOrderOf(date) === 'open';
      if (isOrderOpen)
        columnOrder ??= await orderOfColumn(source, isMapped, columns.mapping.seen_at as string);
      const order = columnOrder === 'open' ? (dateOrder ?? undefined) : columnOrder;
      const time = { seenAt: parseTime(date, order), ...(isOrderOpen ? { unclearTime: OPEN_ORDER } : {}) };
      yield* recordsOf(csvRow.row, columns, time, location);
    }
  },
};

function isHeader(fields: readonly string[]): boolean {
  const { title, severity } = defaultMapping(fields.map((field) => field.trim()));
  return title !== undefined && severity !== undefined;
}

const OPEN_ORDER = 'day or month first: set date_order';

/** @returns the order of day and month that the dates of a column show, if they agree */
async function orderOfColumn(
  source: ByteSource,
  isHeaderRow: (fields: readonly string[]) => boolean,
  column: string,
): Promise<DateOrder | 'open'> {
  let order: DateOrder | undefined;
  try {
    for await (const csvRow of streamCsvRows(source(), isHeaderRow)) {
      const dateOrder = 'row' in csvRow ? dateOrderOf(csvRow.row[column] ?? '') : undefined;
      if (dateOrder === undefined || dateOrder === 'open') continue;
      if (order !== undefined && order !== dateOrder) return 'open';
      order = dateOrder;
    }
  } catch (error) {
    // The rows before a truncation are imported all the same.
    if (!(error instanceof ReportError)) throw error;
  }
  return order ?? 'open';
}

interface RowColumns {
  mapping: ColumnMapping;
  otherColumns: OtherColumns;
}

/** @throws ReportError if the mapping names an unknown field or column, or no column is the title */
function columnsOf(names: readonly string[], mapping: ColumnMapping | undefined): RowColumns {
  const list = names
    .filter((name) => name !== '')
    .join(', ')
    .slice(0, 500);
  if (names.some((name) => name.trim().toLowerCase() === 'fqdn/ip'))
    throw new ReportError(
      `The columns (${list}) are those of testssl.sh, which lists passed tests as well. Import its JSON.`,
      { line: 1 },
    );
  const columns = mapping ?? defaultMapping(names);
  for (const [member, column] of Object.entries(columns)) {
    if (!isCsvField(member)) {
      const fieldNames = Object.keys(CSV_FIELDS).join(', ');
      throw new ReportError(
        `The mapping names "${member.slice(0, 50)}", which is not a field. Use one of ${fieldNames}.`,
      );
    }
    if (!names.includes(column))
      throw new ReportError(`The report has no column "${column.slice(0, 100)}".`, { line: 1 });
  }
  if (columns.title === undefined) {
    throw new ReportError(
      `No column contains the titles of findings. Map one of the columns to \`title\`: ${list}.`,
      { line: 1 },
    );
  }
  return { mapping: columns, otherColumns: findOtherColumns(names) };
}

function* recordsOf(
  row: Readonly<Record<string, string>>,
  { mapping, otherColumns }: RowColumns,
  time: Pick<ReportedFinding, 'seenAt' | 'unclearTime'>,
  location: SourceLocation,
): Generator<ReportRecord> {
  const textIn = (column: string | undefined): string | undefined =>
    column === undefined ? undefined : row[column]?.trim() || undefined;
  const cell = (member: CsvField): string | undefined => textIn(mapping[member]);
  const title = cell('title');
  const closed = reasonClosed(row, otherColumns);
  if (closed !== undefined) {
    yield { kind: 'skipped', reason: closed, location };
    return;
  }
  if (title === undefined) {
    yield { kind: 'unreadable', reason: 'no title', location };
    return;
  }
  const cvss = bestCvss([{ vector: cell('cvss_vector'), score: cell('cvss_score') }]);
  const severity =
    parseSeverity(cell('severity')) ??
    (cvss.cvssScore === undefined ? undefined : severityOfScore(cvss.cvssScore));
  if (severity === undefined) {
    yield { kind: 'unreadable', reason: 'unknown severity', location };
    return;
  }
  const text = (member: CsvField): string | undefined => {
    const plain = cell(member);
    return plain === undefined ? undefined : textToMarkdown(plain);
  };
  const version = textIn(otherColumns.version);
  const quality = textIn(otherColumns.quality);
  const evidence = [
    ...(cell('evidence') === undefined ? [] : [cell('evidence') as string]),
    ...(quality === undefined ? [] : [`Quality of detection: ${quality} %`]),
  ];
  const cves = cell('cve_ids') ?? '';
  const rule = cell('rule') ?? ruleOfTitle(title, version);
  const fingerprint = cell('fingerprint');
  const description = text('description');
  const impact = text('impact');
  const recommendedFix = text('recommended_fix');
  const cveIds = extractCveIds(/cve-/i.test(title) ? `${cves} ${title}` : cves);
  const cweIds = extractCweIds((cell('cwe_ids') ?? '').replace(/(^|[\s,;])(?=\d)/g, '$1CWE-'));
  const referenceUrls = cell('reference_urls')?.match(/\bhttps?:\/\/[^\s<>"',;]{1,2000}/g) ?? [];
  const { cvssScore, cvssVector } = cvss;
  const { seenAt, unclearTime } = time;
  for (const { target, locations } of targetsOfRow(cell, version)) {
    // One literal, because objects that are spread together are slow to read.
    const finding: ReportedFinding = {
      rule,
      fingerprint,
      title,
      severity,
      description,
      impact,
      recommendedFix,
      cveIds,
      cweIds,
      cvssScore,
      cvssVector,
      referenceUrls,
      evidence,
      target,
      locations,
      seenAt,
      unclearTime,
    };
    yield { kind: 'finding', finding, location };
  }
}
