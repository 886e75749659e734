import { detectDelimiter, lengthOfBlankLines, streamCsvRows } from '../../parsing/csv-stream.ts';
import { bestCvss, parseSeverity, severityOfScore } from '../../parsing/severity-and-cvss.ts';
import { portNumberOf, protocolOf } from '../../parsing/scanned-hosts.ts';
import { extractCveIds, extractCweIds, codeBlock, textToMarkdown } from '../../parsing/markdown.ts';
import { parseTime } from '../../parsing/parse-time.ts';
import { webOriginOf } from '../../targets.ts';
import {
  type ColumnMapping,
  type ReportFormat,
  ReportError,
  type ReportedFinding,
  type ReportRecord,
  type ScanTarget,
} from '../../report.ts';
import { ruleOfTitle } from '../generic/generic.ts';
import { CSV_FIELDS, type CsvField, isCsvField, defaultMapping } from './columns.ts';

/** CSV of findings. The mapping, or else common names, says which column is which. */
export const csv: ReportFormat = {
  name: 'csv',
  title: 'CSV with a column per field',
  hasFindings: true,
  detect({ text }) {
    const [header = ''] = text.slice(lengthOfBlankLines(text)).split('\n', 1);
    if (header.length > 10_000 || /^\s*[<[{]/.test(header)) return false;
    const columns = header
      .split(detectDelimiter(header))
      .map((name) => name.trim().replace(/^"(.*)"$/, '$1'));
    const { title, severity } = defaultMapping(columns);
    return title !== undefined && severity !== undefined;
  },
  async *read(source, { mapping }) {
    let columns: ColumnMapping | undefined;
    for await (const found of streamCsvRows(source())) {
      const at = { line: found.line };
      if ('error' in found) {
        yield { kind: 'unreadable', reason: found.error, at };
        continue;
      }
      columns ??= columnsOf(Object.keys(found.row), mapping);
      yield recordOf(found.row, columns, found.line);
    }
  },
};

/** @throws ReportError if the mapping names an unknown field or column, or no column is the title */
function columnsOf(names: readonly string[], mapping: ColumnMapping | undefined): ColumnMapping {
  const columns = mapping ?? defaultMapping(names);
  for (const [member, column] of Object.entries(columns)) {
    if (!isCsvField(member)) {
      const known = Object.keys(CSV_FIELDS).join(', ');
      throw new ReportError(
        `The mapping names "${member.slice(0, 50)}", which is not a field. Use one of ${known}.`,
      );
    }
    if (!names.includes(column))
      throw new ReportError(`The report has no column "${column.slice(0, 100)}".`, { line: 1 });
  }
  if (columns.title === undefined) {
    throw new ReportError('No column contains the titles of findings. Map a column to `title`.', { line: 1 });
  }
  return columns;
}

function recordOf(row: Readonly<Record<string, string>>, columns: ColumnMapping, line: number): ReportRecord {
  const cell = (member: CsvField): string | undefined => {
    const text = row[columns[member] ?? '']?.trim();
    return columns[member] === undefined || text === '' ? undefined : text;
  };
  const title = cell('title');
  if (title === undefined) return { kind: 'unreadable', reason: 'no title', at: { line } };
  const cvss = bestCvss([{ vector: cell('cvss_vector'), score: cell('cvss_score') }]);
  const severity =
    parseSeverity(cell('severity')) ??
    (cvss.cvssScore === undefined ? undefined : severityOfScore(cvss.cvssScore));
  if (severity === undefined) return { kind: 'unreadable', reason: 'unknown severity', at: { line } };
  const text = (member: CsvField): string | undefined => {
    const plain = cell(member);
    return plain === undefined ? undefined : textToMarkdown(plain);
  };
  const evidence = cell('evidence');
  const fingerprint = cell('fingerprint');
  const finding: ReportedFinding = {
    rule: cell('rule') ?? ruleOfTitle(title),
    ...(fingerprint === undefined ? {} : { fingerprint }),
    title,
    severity,
    description: text('description'),
    impact: text('impact'),
    recommendedFix: text('recommended_fix'),
    cveIds: extractCveIds(cell('cve_ids') ?? ''),
    cweIds: extractCweIds((cell('cwe_ids') ?? '').replace(/(^|[\s,;])(?=\d)/g, '$1CWE-')),
    ...cvss,
    referenceUrls: cell('reference_urls')?.match(/\bhttps?:\/\/[^\s<>"',;]{1,2000}/g) ?? [],
    evidence: evidence === undefined ? [] : [codeBlock(evidence)],
    target: targetOf(cell),
    seenAt: parseTime(cell('seen_at')),
  };
  return { kind: 'finding', finding, at: { line } };
}

function targetOf(cell: (member: CsvField) => string | undefined): ScanTarget | undefined {
  const url = cell('url') ?? cell('host');
  if (url !== undefined && webOriginOf(url) !== undefined) return { url };
  const host = cell('host');
  const port = portNumberOf(cell('port'));
  if (host !== undefined) {
    return port === undefined || port === 0
      ? { host }
      : { host, port, protocol: protocolOf(cell('protocol')) ?? 'tcp' };
  }
  const [path, name] = [cell('file'), cell('package')];
  const artifact = path ?? name;
  return artifact === undefined ? undefined : { artifact, path, package: name };
}
