import { host, port, report } from '../../importers/reports.ts';

export interface ReportedItem {
  /** Its index, from 0 to 3. */
  item: number;
  /** 0: severity Medium, or an open port. 1: High, or a closed one. */
  level: number;
  /** The index of its text, or of its service version, from 0 to 1. */
  text: number;
  /** The number of locations, 1 or 2. */
  locations: number;
}

export interface ReportContent {
  format: SequenceFormat;
  /** Milliseconds since 1970; `null` for a report that states no time. */
  at: number | null;
  items: readonly ReportedItem[];
  /** Whether a port scan omitted ports above 100. */
  isNarrow: boolean;
}

/** The formats of findings whose reports state a time. */
export const TIMED_FORMATS = ['zap', 'nessus', 'nuclei', 'trivy', 'sarif'] as const;
export const UNTIMED_FORMATS = ['generic', 'csv'] as const;
export const HOST_FORMATS = ['nmap', 'masscan'] as const;
export const FINDING_FORMATS = [...TIMED_FORMATS, ...UNTIMED_FORMATS] as const;
export type SequenceFormat = (typeof FINDING_FORMATS)[number] | (typeof HOST_FORMATS)[number];

export const SITE = 'https://shop.example';
const HOSTS = ['192.0.2.1', '192.0.2.2'] as const;
export const TARGETS = [SITE, ...HOSTS];

const iso = (at: number | null): string => new Date(at ?? 0).toISOString();
const seconds = (at: number | null): number => Math.floor((at ?? 0) / 1_000);
const titleOf = ({ item, text }: ReportedItem): string => `Item ${item}${text === 0 ? '' : ', renamed'}`;
const textOf = ({ item, text }: ReportedItem): string => `Description ${text} of ${item}.`;
const pathsOf = ({ item, locations }: ReportedItem): string[] =>
  ['a', 'b'].slice(0, locations).map((name) => `${SITE}/${item}/${name}`);
const severityOf = ({ level }: ReportedItem, names: readonly [string, string]): string =>
  names[level === 0 ? 0 : 1];

/** @returns a report as written by its tool; equal content gives equal bytes */
export function reportText(content: ReportContent): string {
  return TEXTS[content.format](content);
}

/** @returns the time that a report states; Nuclei states only the time of each finding */
export const ownTimeOf = ({ format, at, items }: ReportContent): number | null =>
  format === 'nuclei' && items.length === 0 ? null : at;

const TEXTS: Readonly<Record<SequenceFormat, (content: ReportContent) => string>> = {
  zap: ({ at, items }) =>
    JSON.stringify({
      '@version': '2.16.0',
      created: iso(at),
      site: [
        {
          '@name': SITE,
          '@host': 'shop.example',
          '@port': '443',
          '@ssl': 'true',
          alerts: items.map((item) => ({
            pluginid: `1000${item.item}`,
            alertRef: `1000${item.item}`,
            name: titleOf(item),
            riskcode: severityOf(item, ['2', '3']),
            confidence: '2',
            desc: `<p>${textOf(item)}</p>`,
            solution: `<p>Solution ${item.text}.</p>`,
            instances: pathsOf(item).map((uri) => ({
              uri,
              method: 'GET',
              param: '',
              attack: '',
              evidence: '',
            })),
          })),
        },
      ],
    }),

  nessus: ({ at, items }) => {
    const item = (reported: ReportedItem) =>
      `<ReportItem port="${reported.item < 2 ? 443 : 22}" svc_name="www" protocol="tcp" severity="${severityOf(reported, ['2', '3'])}" ` +
      `pluginID="1000${reported.item}" pluginName="${titleOf(reported)}" pluginFamily="Web Servers">` +
      `<cve>CVE-2026-000${reported.text}</cve><cvss3_base_score>${reported.level === 0 ? '5.3' : '7.5'}</cvss3_base_score>` +
      `<description>${textOf(reported)}</description><solution>Solution ${reported.text}.</solution></ReportItem>`;
    return (
      `<NessusClientData_v2><Report name="Office"><ReportHost name="${HOSTS[0]}"><HostProperties>` +
      `<tag name="HOST_END_TIMESTAMP">${seconds(at)}</tag><tag name="host-ip">${HOSTS[0]}</tag></HostProperties>` +
      `${items.map(item).join('')}</ReportHost></Report></NessusClientData_v2>`
    );
  },

  nuclei: ({ at, items }) =>
    items
      .flatMap((item) =>
        pathsOf(item).map((path) =>
          JSON.stringify({
            'template-id': `template-${item.item}`,
            info: {
              name: titleOf(item),
              severity: severityOf(item, ['medium', 'high']),
              description: textOf(item),
              remediation: `Solution ${item.text}.`,
            },
            type: 'http',
            host: SITE,
            'matched-at': path,
            timestamp: iso(at),
          }),
        ),
      )
      .join('\n'),

  trivy: ({ at, items }) =>
    JSON.stringify({
      SchemaVersion: 2,
      CreatedAt: iso(at),
      ArtifactName: 'shop:1',
      Results: [
        {
          Target: 'package-lock.json',
          Class: 'lang-pkgs',
          Vulnerabilities: items.map((item) => ({
            VulnerabilityID: `CVE-2026-100${item.item}`,
            PkgName: 'one',
            InstalledVersion: `1.${item.locations}.0`,
            FixedVersion: `2.${item.text}.0`,
            Title: titleOf(item),
            Description: textOf(item),
            Severity: severityOf(item, ['MEDIUM', 'HIGH']),
          })),
        },
      ],
    }),

  sarif: ({ at, items }) =>
    JSON.stringify({
      version: '2.1.0',
      runs: [
        {
          tool: {
            driver: {
              name: 'Probe',
              rules: [0, 1, 2, 3].map((item) => ({
                id: `rule-${item}`,
                shortDescription: { text: `Item ${item}` },
              })),
            },
          },
          invocations: [{ executionSuccessful: true, endTimeUtc: iso(at) }],
          results: items.map((item) => ({
            ruleId: `rule-${item.item}`,
            level: severityOf(item, ['warning', 'error']),
            message: { text: textOf(item) },
            partialFingerprints: { primaryLocationLineHash: `${item.item}` },
            locations: [
              {
                physicalLocation: {
                  artifactLocation: { uri: 'src/app.js' },
                  region: { startLine: item.locations },
                },
              },
            ],
          })),
        },
      ],
    }),

  generic: ({ items }) =>
    JSON.stringify({
      name: 'A scanner',
      findings: items.map((item) => ({
        title: titleOf(item),
        unique_id_from_tool: `item-${item.item}`,
        severity: severityOf(item, ['Medium', 'High']),
        description: textOf(item),
        impact: `Impact ${item.text}.`,
        mitigation: `Solution ${item.text}.`,
        endpoints: pathsOf(item),
      })),
    }),

  // Its title identifies a finding.
  csv: ({ items }) =>
    [
      'Title,Severity,Description,URL',
      ...items.flatMap((item) =>
        pathsOf(item).map((path) =>
          [titleOf({ ...item, text: 0 }), severityOf(item, ['Medium', 'High']), textOf(item), path].join(','),
        ),
      ),
    ].join('\n') + '\n',

  nmap: ({ at, items, isNarrow }) => {
    const hosts = hostsOf(items).map(([address, ports]) =>
      host(
        address,
        ports
          .filter(({ item }) => !isNarrow || portOf(item) <= 100)
          .map((item) =>
            port(
              portOf(item.item),
              severityOf(item, ['open', 'closed']),
              item.level === 0
                ? `<service name="http" product="nginx" version="1.${item.text}" method="probed"/>`
                : '',
            ),
          )
          .join(''),
        { seen: seconds(at) },
      ),
    );
    const ports = isNarrow ? '1-100' : '1-1000';
    return report(hosts.join(''), `<scaninfo type="syn" protocol="tcp" services="${ports}"/>`);
  },

  masscan: ({ at, items }) =>
    JSON.stringify(
      hostsOf(items).flatMap(([ip, ports]) =>
        ports.map((open) => ({
          ip,
          timestamp: String(seconds(at)),
          ports: [{ port: portOf(open.item), proto: 'tcp', status: severityOf(open, ['open', 'closed']) }],
        })),
      ),
    ),
};

/** Three ports of the first host and one of the second. */
const portOf = (item: number): number => [22, 80, 443, 80][item] ?? 80;

/** The first host is in every report, the second one if it has a port. */
const hostsOf = (items: readonly ReportedItem[]): [string, ReportedItem[]][] => {
  const second = items.filter(({ item }) => item === 3);
  const first: [string, ReportedItem[]] = [HOSTS[0], items.filter(({ item }) => item < 3)];
  return second.length === 0 ? [first] : [first, [HOSTS[1], second]];
};
