import type { ColumnMapping } from '../../report.ts';

/** Our fields, named as in the API, with their common column names; the likeliest first. */
export const CSV_FIELDS = {
  title: [
    'title',
    'nvt name',
    'plugin name',
    'vulnerability name',
    'vulnerability title',
    'finding name',
    'issue name',
    'name',
    'vulnerability',
    'finding',
    'issue',
    'summary',
  ],
  severity: ['severity', 'risk', 'risk level', 'threat', 'priority', 'rating'],
  description: ['description', 'details', 'detail', 'synopsis', 'overview', 'summary'],
  impact: ['impact'],
  recommended_fix: ['recommended fix', 'recommendation', 'remediation', 'solution', 'mitigation', 'fix'],
  rule: ['rule', 'plugin id', 'rule id', 'nvt oid', 'check id', 'qid', 'vuln id', 'vuln id from tool'],
  fingerprint: ['fingerprint', 'unique id', 'unique id from tool'],
  url: ['url', 'uri', 'location url', 'web address', 'endpoints'],
  host: ['host', 'ip', 'ip address', 'address', 'hostname', 'asset', 'target', 'dns name'],
  port: ['port', 'port number'],
  protocol: ['protocol', 'port protocol', 'transport'],
  file: ['file', 'path', 'file path', 'filename'],
  package: ['package', 'component', 'component name', 'library', 'pkgname'],
  cve_ids: ['cve', 'cves', 'cve id', 'cve ids', 'cveid', 'vulnerability ids'],
  cwe_ids: ['cwe', 'cwes', 'cwe id', 'cweid'],
  cvss_score: ['cvss', 'cvss score', 'cvss base score', 'cvss v3.0 base score', 'cvss3', 'score'],
  cvss_vector: ['cvss vector', 'vector', 'cvss v3 vector', 'cvssv3'],
  reference_urls: ['references', 'reference', 'see also', 'links', 'reference urls', 'other references'],
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

/** Flags of findings that are not open, with the reason. */
const CLOSED_COLUMNS: Readonly<Record<string, string>> = {
  'false p': 'false positive',
  'false positive': 'false positive',
  falsepositive: 'false positive',
  duplicate: 'duplicate',
  'out of scope': 'out of scope',
  outofscope: 'out of scope',
  'risk accepted': 'risk accepted',
  riskaccepted: 'risk accepted',
  'is mitigated': 'mitigated',
  ismitigated: 'mitigated',
};
const CLOSED_STATUSES: Readonly<Record<string, string>> = {
  'false positive': 'false positive',
  duplicate: 'duplicate',
  'out of scope': 'out of scope',
  'risk accepted': 'risk accepted',
  accepted: 'risk accepted',
  mitigated: 'mitigated',
  fixed: 'mitigated',
  closed: 'mitigated',
  resolved: 'mitigated',
  remediated: 'mitigated',
  passed: 'passed',
  inactive: 'inactive',
};

/** Columns beside the fields, recognised by name alone. */
export interface OtherColumns {
  /** Reasons not to import a row, by the column of their flag; if several columns share a name, by the first. */
  flags: readonly (readonly [column: string, reason: string])[];
  status: string | undefined;
  active: string | undefined;
  /** The version of the package. */
  version: string | undefined;
  /** How sure the test is. */
  quality: string | undefined;
}

export function findOtherColumns(columns: readonly string[]): OtherColumns {
  const columnNamed = (...names: string[]) => columns.find((column) => names.includes(plain(column)));
  return {
    flags: Object.entries(CLOSED_COLUMNS).flatMap(([name, reason]) => {
      const column = columnNamed(name);
      return column === undefined ? [] : [[column, reason] as const];
    }),
    status: columnNamed('status'),
    active: columnNamed('active'),
    version: columnNamed('component version', 'package version', 'installed version', 'pkgversion'),
    quality: columnNamed('qod', 'quality of detection'),
  };
}

/** @returns why the report itself calls a row no open finding; `undefined` if it does not */
export function reasonClosed(
  row: Readonly<Record<string, string>>,
  { flags, status, active }: OtherColumns,
): string | undefined {
  if (flags.length === 0 && status === undefined && active === undefined) return undefined;
  for (const [column, reason] of flags)
    if (/^(?:true|yes|y|1|x)$/.test(plain(row[column] ?? ''))) return reason;
  const word = status === undefined ? '' : plain(row[status] ?? '');
  if (Object.hasOwn(CLOSED_STATUSES, word)) return CLOSED_STATUSES[word];
  const isActive = active === undefined ? '' : plain(row[active] ?? '');
  return /^(?:false|no|n|0)$/.test(isActive) ? 'inactive' : undefined;
}

const PLAIN_NAMES = Object.entries(CSV_FIELDS).map(([member, names]) => [member, names.map(plain)] as const);

export function defaultMapping(columns: readonly string[]): ColumnMapping {
  const columnsByName = new Map<string, string[]>();
  for (const column of columns) {
    const name = plain(column);
    const sameNamed = columnsByName.get(name);
    if (sameNamed === undefined) columnsByName.set(name, [column]);
    else sameNamed.push(column);
  }
  const mappedColumns = new Set<string>();
  const mapping: Record<string, string> = {};
  for (const [member, names] of PLAIN_NAMES) {
    for (const name of names) {
      const column = columnsByName.get(name)?.find((candidate) => !mappedColumns.has(candidate));
      if (column === undefined) continue;
      mappedColumns.add(column);
      mapping[member] = column;
      break;
    }
  }
  return mapping;
}
