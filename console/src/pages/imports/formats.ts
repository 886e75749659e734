import type { ReportImport } from '../../../../client/src/openapi-types.ts';

/** Labels of the report formats, by their name in the API. */
export const IMPORT_FORMAT_LABELS: Readonly<
  Record<Exclude<NonNullable<ReportImport['format']>, 'auto'>, string>
> = {
  nmap: 'Nmap',
  masscan: 'Masscan',
  naabu: 'Naabu',
  httpx: 'httpx',
  nuclei: 'Nuclei',
  sarif: 'SARIF',
  zap: 'ZAP',
  burp: 'Burp Suite',
  nessus: 'Nessus',
  openvas: 'OpenVAS',
  trivy: 'Trivy',
  nikto: 'Nikto',
  testssl: 'testssl.sh',
  wapiti: 'Wapiti',
  cyclonedx: 'CycloneDX',
  'npm-audit': 'npm audit',
  generic: 'Generic findings',
  csv: 'CSV',
};

export const formatLabel = (format: string): string =>
  (IMPORT_FORMAT_LABELS as Readonly<Record<string, string>>)[format] ?? format;

/** @returns a size with its unit: "3.2 MB" */
export function formatSize(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB'];
  let [size, unit] = [bytes, 0];
  while (size >= 1_000 && unit < units.length - 1) [size, unit] = [size / 1_000, unit + 1];
  return `${size.toLocaleString(undefined, { maximumFractionDigits: unit === 0 ? 0 : 1 })} ${units[unit]}`;
}
