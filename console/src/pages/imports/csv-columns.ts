/** Fields that a CSV column can be mapped to (operation 65), with their labels. */
export const CSV_FIELDS: Readonly<Record<string, string>> = {
  title: 'Title',
  severity: 'Severity',
  description: 'Description',
  impact: 'Impact',
  recommended_fix: 'Remediation',
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

/** Bytes read to find the first row. */
const HEAD_BYTES = 64 * 1024;

/** Reads the column names from the first row of a CSV file. */
export async function readColumns(file: File): Promise<string[]> {
  const head = await file.slice(0, HEAD_BYTES).text();
  return parseFirstRow(head.replace(/^\u{FEFF}/u, ''));
}

/**
 * Parses the first row of a CSV (RFC 4180), using the separator that a line such as `sep=;` before it names, else the
 * one that occurs most often in it.
 */
export function parseFirstRow(text: string): string[] {
  const separatorLine = /^"?sep=([,;|\t])"?\r?\n/i.exec(text);
  const line = readFirstRecord(text.slice(separatorLine?.[0].length ?? 0));
  const [frequent = ','] = [',', ';', '\t'].toSorted((a, b) => line.split(b).length - line.split(a).length);
  const separator = separatorLine?.[1] ?? frequent;
  const cells: string[] = [];
  let [cell, quoted] = ['', false];
  for (let index = 0; index < line.length; index += 1) {
    const char = line[index] ?? '';
    if (quoted && char === '"' && line[index + 1] === '"') {
      cell += '"';
      index += 1;
    } else if (char === '"') quoted = !quoted;
    else if (char === separator && !quoted) {
      cells.push(cell.trim());
      cell = '';
    } else cell += char;
  }
  return [...cells, cell.trim()].filter((name) => name !== '');
}

/** @returns the text up to the first line end outside quotes */
function readFirstRecord(text: string): string {
  let quoted = false;
  for (const [index, char] of [...text].entries()) {
    if (char === '"') quoted = !quoted;
    if ((char === '\n' || char === '\r') && !quoted) return [...text].slice(0, index).join('');
  }
  return text;
}
