import type { ColumnMapping } from '../../report.ts';

/** Our fields, named as in the API, with their common column names; the likeliest first. */
export const CSV_FIELDS = {
  title: [
    'title',
    'name',
    'vulnerability',
    'finding',
    'issue',
    'summary',
    'plugin name',
    'vulnerability name',
  ],
  severity: ['severity', 'risk', 'risk level', 'threat', 'priority', 'rating'],
  description: ['description', 'details', 'detail', 'synopsis', 'overview'],
  impact: ['impact'],
  recommended_fix: ['recommended fix', 'recommendation', 'remediation', 'solution', 'mitigation', 'fix'],
  rule: ['rule', 'plugin id', 'rule id', 'nvt oid', 'check id', 'qid', 'vuln id'],
  fingerprint: ['fingerprint', 'unique id', 'unique id from tool'],
  url: ['url', 'uri', 'location url', 'web address'],
  host: ['host', 'ip', 'ip address', 'address', 'hostname', 'asset', 'target', 'dns name'],
  port: ['port', 'port number'],
  protocol: ['protocol', 'port protocol', 'transport'],
  file: ['file', 'path', 'file path', 'filename'],
  package: ['package', 'component', 'component name', 'library', 'pkgname'],
  cve_ids: ['cve', 'cves', 'cve id', 'cve ids', 'cveid'],
  cwe_ids: ['cwe', 'cwes', 'cwe id', 'cweid'],
  cvss_score: ['cvss', 'cvss score', 'cvss base score', 'cvss v3.0 base score', 'cvss3', 'score'],
  cvss_vector: ['cvss vector', 'vector', 'cvss v3 vector', 'cvssv3'],
  reference_urls: ['references', 'reference', 'see also', 'links', 'reference urls'],
  evidence: ['evidence', 'plugin output', 'output', 'proof', 'specific result', 'results'],
  seen_at: ['seen at', 'date', 'last seen', 'timestamp', 'last detected', 'found'],
} as const;

export type CsvField = keyof typeof CSV_FIELDS;

export function isCsvField(name: string): name is CsvField {
  return Object.hasOwn(CSV_FIELDS, name);
}

const plain = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[\s_./-]+/g, ' ')
    .trim();

const PLAIN_NAMES = Object.entries(CSV_FIELDS).map(([member, names]) => [member, names.map(plain)] as const);

/** Guesses the mapping from the column names. */
export function defaultMapping(columns: readonly string[]): ColumnMapping {
  const taken = new Set<string>();
  const mapping: Record<string, string> = {};
  const plainColumns = columns.map(plain);
  for (const [member, names] of PLAIN_NAMES) {
    for (const name of names) {
      const column = columns.find((one, index) => plainColumns[index] === name && !taken.has(one));
      if (column === undefined) continue;
      taken.add(column);
      mapping[member] = column;
      break;
    }
  }
  return mapping;
}
