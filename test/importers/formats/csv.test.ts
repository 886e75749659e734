import { describe, expect, it } from 'vitest';
import { readSample } from '../../../src/importers/formats/index.ts';
import { defaultMapping } from '../../../src/importers/formats/csv/columns.ts';
import { findOtherColumns } from '../../../src/importers/formats/csv/columns.ts';
import { csv } from '../../../src/importers/formats/csv/csv.ts';
import { identityOf } from '../../../src/importers/targets.ts';
import type { ReportRecord } from '../../../src/importers/report.ts';
import { describeFormat, findingsOf, readRecords } from '../format-harness.ts';
import { inChunks } from '../reports.ts';

describeFormat(csv);

it('reads only the columns of a mapping', async () => {
  const text = 'A,B,Host,Severity\nOne,critical,192.0.2.1,low\n';
  const mapping = { title: 'A', severity: 'B' };
  const [finding] = await findingsOf(csv, text, mapping);
  expect(finding).toMatchObject({ title: 'One', severity: 'Critical' });
  expect(finding?.target).toBeUndefined();
});

it.each([
  [{ title: 'X' }, /no column "X"/],
  [{ titel: 'A' }, /names "titel", which is not a field\. Use one of title, severity/],
  [{ severity: 'A' }, /No column contains the titles/],
  [undefined, /No column contains the titles/],
])('rejects the mapping %j', async (mapping, message) => {
  const { records, error } = await readRecords(csv, 'A,B\n1,2\n', mapping === undefined ? {} : { mapping });
  expect(records).toEqual([]);
  expect(error?.message).toMatch(message);
});

it('recognises common names of columns, each once', () => {
  expect(defaultMapping(['Name', 'Risk_Level', 'IP', 'CVSS Score', 'Notes', 'Vulnerability Name'])).toEqual({
    title: 'Vulnerability Name',
    severity: 'Risk_Level',
    host: 'IP',
    cvss_score: 'CVSS Score',
  });
});

it('merges rows with the same title and site into one finding, ignoring case and whitespace', async () => {
  const rows = [
    'Open  Redirect,high,https://a.example/x',
    'open redirect,low,https://a.example/y',
    'Other,low,https://a.example/x',
  ];
  const findings = await findingsOf(csv, `Title,Severity,URL\n${rows.join('\n')}\n`);
  const [one, again, other] = findings.map((finding) => identityOf(finding, 'csv'));
  expect(again).toBe(one);
  expect(other).not.toBe(one);
});

describe('a CSV file', () => {
  const titlesOf = async (text: string) => (await findingsOf(csv, text)).map(({ title }) => title);

  it.each([
    ['a line that names the separator', 'sep=;\r\nTitle;Severity\r\nA, b;High\r\nB;Low\r\n'],
    ['delimiters at the end of its rows', 'Title,Severity\n"A, b",High,\nB,Low, ,\n'],
    ['delimiters at the end of all rows', 'Title,Severity,\n"A, b",High,\nB,Low,\n'],
    ['lines before its header', 'Report of today\nCustomer,Example\n\nTitle;Severity\nA, b;High\nB;Low\n'],
    ['a status', 'Title,Severity,Status\n"A, b",High,Open\nB,Low,New\nC,Low,Fixed\nD,Low,False Positive\n'],
    [
      'flags',
      'Title,Severity,FalsePositive,is_mitigated\n"A, b",High,FALSE,\nB,Low,,no\nC,Low,x,\nD,Low,,TRUE\n',
    ],
    ['an active flag', 'Title,Severity,Active\n"A, b",High,TRUE\nB,Low,\nC,Low,FALSE\n'],
  ])('is read with %s', async (_what, text) => {
    expect(csv.detect(await readSample(() => inChunks(text)))).toBe(true);
    expect(await titlesOf(text)).toEqual(['A, b', 'B']);
  });

  it('says why a row is no open finding, and which rows have too many fields', async () => {
    const { records } = await readRecords(
      csv,
      'Title,Severity,Duplicate,Status\nA,Low,yes,\nB,Low,,Closed\nC,Low,,,more\n',
    );
    expect(records).toEqual([
      { kind: 'skipped', reason: 'duplicate', location: { line: 2 } },
      { kind: 'skipped', reason: 'mitigated', location: { line: 3 } },
      { kind: 'unreadable', reason: 'row with more columns than the header', location: { line: 4 } },
    ]);
  });

  it('of Greenbone has the name of the test as title, and the quality of detection', async () => {
    const text =
      'IP,Port,Port Protocol,CVSS,Severity,QoD,NVT Name,Summary,NVT OID\n' +
      '192.0.2.5,443,tcp,7.5,High,30,CVE-2026-0001 in Server,It is old.,1.3.6\n';
    expect(await findingsOf(csv, text)).toMatchObject([
      {
        rule: '1.3.6',
        title: 'CVE-2026-0001 in Server',
        description: 'It is old.',
        cveIds: ['CVE-2026-0001'],
        evidence: ['Quality of detection: 30 %'],
      },
    ]);
  });

  it('of testssl.sh is refused with its columns', async () => {
    const text =
      '"id","fqdn/ip","port","severity","finding","cve","cwe"\n"TLS1","a/192.0.2.1","443","OK","no","",""\n';
    const { records, error } = await readRecords(csv, text);
    expect(records).toEqual([]);
    expect(error?.message).toMatch(/columns \(id, fqdn\/ip, port,.*Import its JSON/);
  });

  it.each([
    ['443/tcp', '', '192.0.2.1', [{ host: '192.0.2.1', port: 443, protocol: 'tcp' }]],
    ['53', 'udp', '192.0.2.1', [{ host: '192.0.2.1', port: 53, protocol: 'udp' }]],
    ['general/tcp', '', '192.0.2.1', [{ host: '192.0.2.1' }]],
    ['', '', '192.0.2.1:8443', [{ host: '192.0.2.1', port: 8443, protocol: 'tcp' }]],
    [
      '',
      '',
      '192.0.2.1, a.example;[2001:db8::1]:25',
      [{ host: '192.0.2.1' }, { host: 'a.example' }, { host: '2001:db8::1', port: 25, protocol: 'tcp' }],
    ],
    ['80', '', 'no host!', [{ host: 'no host!', port: 80, protocol: 'tcp' }]],
    [
      '',
      '',
      'https://a.example/x,y;z https://b.example/',
      [{ url: 'https://a.example/x,y;z' }, { url: 'https://b.example/' }],
    ],
  ])('has the port "%s", protocol "%s" and host %s', async (port, protocol, host, targets) => {
    const text = `Title,Severity,Host,Port,Protocol\nA,Low,"${host}",${port},${protocol}\n`;
    expect((await findingsOf(csv, text)).map(({ target }) => target)).toEqual(targets);
  });

  it('has the same finding for another version of a package, and tells the version', async () => {
    const identitiesOf = async (text: string) =>
      (await findingsOf(csv, text)).map((finding) => [
        identityOf(finding, 'csv'),
        finding.locations?.[0]?.value,
      ]);
    const [[one, shown] = []] = await identitiesOf('Title,Severity,Package\nHole,Low,lodash@4.17.1\n');
    const [[other, newer] = []] = await identitiesOf('Title,Severity,Package\nHole,Low,lodash 4.17.20\n');
    expect([other, shown, newer]).toEqual([one, 'lodash 4.17.1', 'lodash 4.17.20']);
    const head = 'Title,Severity,Component Name,Component Version\n';
    const [[titled] = []] = await identitiesOf(`${head}lodash 4.17.1: hole,Low,lodash,4.17.1\n`);
    expect(await identitiesOf(`${head}lodash 4.17.20: hole,Low,lodash,4.17.20\n`)).toEqual([
      [titled, 'lodash 4.17.20'],
    ]);
  });
});

it('lets the dates of a column decide before the option, also of a truncated file', async () => {
  const head = 'Title,Severity,Date\nA,Low,03/04/2024\nB,Low,22/03/2024\n';
  const timesOf = (records: readonly ReportRecord[]) =>
    records.flatMap((record) => (record.kind === 'finding' ? [record.finding.seenAt] : []));
  const expected = [Date.UTC(2024, 3, 3), Date.UTC(2024, 2, 22)];
  const { records, error } = await readRecords(csv, `${head}"C,Low,`);
  expect([timesOf(records), error?.message]).toEqual([expected, expect.stringMatching(/truncated/)]);
  const read: ReportRecord[] = [];
  for await (const record of csv.read(() => inChunks(head), { dateOrder: 'mdy' })) read.push(record);
  expect(timesOf(read)).toEqual(expected);
});

describe('flags of a CSV', () => {
  it('are one column for each name, so that a row of one field takes few steps', () => {
    const spellings = ['Duplicate', 'DUPLICATE', 'duplicate_', ' duplicate', 'Out of scope', 'OUT_OF_SCOPE'];
    expect(findOtherColumns(spellings).flags).toEqual([
      ['Duplicate', 'duplicate'],
      ['Out of scope', 'out of scope'],
    ]);
  });
});
