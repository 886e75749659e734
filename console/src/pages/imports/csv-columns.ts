/** What a column of a CSV can be for us (operation 65), with its words. */
export const CSV_FIELDS: Readonly<Record<string, string>> = {
  title: 'Title',
  severity: 'Severity',
  description: 'Description',
  impact: 'Impact',
  recommended_fix: 'Recommended fix',
  rule: 'Rule',
  fingerprint: 'Fingerprint',
  url: 'URL',
  host: 'Host',
  port: 'Port',
  protocol: 'Protocol',
  file: 'File',
  package: 'Package',
  cve_ids: 'CVE',
  cwe_ids: 'CWE',
  cvss_score: 'CVSS score',
  cvss_vector: 'CVSS vector',
  reference_urls: 'References',
  evidence: 'Evidence',
  seen_at: 'Seen at',
};

/** Bytes of a file that have its first row. */
const HEAD_BYTES = 64 * 1024;

/** @returns the names of the columns of a CSV, which its first row has */
export async function readColumns(file: File): Promise<string[]> {
  const head = await file.slice(0, HEAD_BYTES).text();
  return parseFirstRow(head.replace(/^\u{FEFF}/u, ''));
}

/** @returns the cells of the first row of a CSV, with the separator that it has most often (RFC 4180) */
export function parseFirstRow(text: string): string[] {
  const line = readFirstRecord(text);
  const [separator = ','] = [',', ';', '\t'].toSorted(
    (one, other) => line.split(other).length - line.split(one).length,
  );
  const cells: string[] = [];
  let [cell, quoted] = ['', false];
  for (let index = 0; index < line.length; index += 1) {
    const sign = line[index] ?? '';
    if (quoted && sign === '"' && line[index + 1] === '"') {
      cell += '"';
      index += 1;
    } else if (sign === '"') quoted = !quoted;
    else if (sign === separator && !quoted) {
      cells.push(cell.trim());
      cell = '';
    } else cell += sign;
  }
  return [...cells, cell.trim()].filter((name) => name !== '');
}

/** @returns the text up to the first line's end that is in no quotes */
function readFirstRecord(text: string): string {
  let quoted = false;
  for (const [index, sign] of [...text].entries()) {
    if (sign === '"') quoted = !quoted;
    if ((sign === '\n' || sign === '\r') && !quoted) return [...text].slice(0, index).join('');
  }
  return text;
}
