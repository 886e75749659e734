import { readdirSync, readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { ImportOptions, ImportOutcome } from '../../src/domain/imports/import-types.ts';
import { burp } from '../../src/importers/formats/burp/burp.ts';
import { csv } from '../../src/importers/formats/csv/csv.ts';
import { cyclonedx } from '../../src/importers/formats/cyclonedx/cyclonedx.ts';
import { nessus } from '../../src/importers/formats/nessus/nessus.ts';
import { nmap } from '../../src/importers/formats/nmap/nmap.ts';
import { nikto } from '../../src/importers/formats/nikto/nikto.ts';
import { npmAudit } from '../../src/importers/formats/npm-audit/npm-audit.ts';
import { nuclei } from '../../src/importers/formats/nuclei/nuclei.ts';
import { openvas } from '../../src/importers/formats/openvas/openvas.ts';
import { sarif } from '../../src/importers/formats/sarif/sarif.ts';
import { testssl } from '../../src/importers/formats/testssl/testssl.ts';
import { trivy } from '../../src/importers/formats/trivy/trivy.ts';
import { wapiti } from '../../src/importers/formats/wapiti/wapiti.ts';
import { zap } from '../../src/importers/formats/zap/zap.ts';
import type { ReportFormat } from '../../src/importers/report.ts';
import { engine, useOwnServer } from '../harness/server.ts';
import { importDirectly } from '../harness/direct-imports.ts';
import { createFixtures } from '../harness/fixtures.ts';

const DAY = 86_400_000;
const NOW = Date.UTC(2030, 0, 31);
let now = NOW;

const server = await useOwnServer({}, () => now);

async function newPlace() {
  const fixtures = createFixtures(server);
  const { id: organizationId, uid } = await fixtures.organization();
  return { organizationId, assessment: await fixtures.assessment(uid) };
}
type Place = Awaited<ReturnType<typeof newPlace>>;

const imported = (
  { name: format }: ReportFormat,
  report: string | Uint8Array,
  scope: Place,
  options: Partial<ImportOptions> = {},
): Promise<ImportOutcome> => importDirectly(server.context.db, scope, { format, report, options, at: now });

const FOLDER = new URL('../fixtures/', import.meta.url);
const FORMATS = [
  nuclei,
  sarif,
  trivy,
  testssl,
  wapiti,
  cyclonedx,
  npmAudit,
  zap,
  burp,
  nessus,
  openvas,
  nikto,
];
const REPORTS = FORMATS.flatMap((format) => {
  const read = (file: string) => readFileSync(new URL(`${format.name}/${file}`, FOLDER));
  return readdirSync(new URL(`${format.name}/`, FOLDER))
    .filter((file) => !file.endsWith('.records.json'))
    .filter((file) => read(`${file}.records.json`).includes('"kind": "finding"'))
    .map((file) => ({ format, file, report: read(file) }));
});

describe.each(REPORTS)('The report $file of $format.name', ({ format, report }) => {
  it('creates each finding once, and changes nothing when imported again', async () => {
    const scope = await newPlace();
    const first = await imported(format, report, scope);
    expect(first.error).toBeNull();
    expect(first.result.findings_created).toBeGreaterThan(0);
    const repeated = await imported(format, report, scope);
    expect(repeated.result).toMatchObject({
      assets_created: 0,
      findings_created: 0,
      findings_seen_again: first.result.findings_created,
      findings_reopened: 0,
      findings_gone: 0,
    });
  });
});

it.runIf(engine() === 'sqlite')(
  'A report that says nothing new writes a row for each finding and asset that it saw, and no other',
  async () => {
    const { db } = server.context;
    const scope = await newPlace();
    const report = readFileSync(new URL('nuclei/results.jsonl', FOLDER));
    const { result } = await imported(nuclei, report, scope);
    const assets = result.assets_created;
    const countChanges = () =>
      db.write(async (tx) => {
        const { rows } = await sql<{ changes: number }>`select total_changes() as changes`.execute(tx);
        return rows[0]?.changes ?? 0;
      });
    const before = await countChanges();
    await imported(nuclei, report, scope);
    const after = await countChanges();
    // The import takes a number, is inserted, and gets the time of its report.
    expect(after - before).toBe(result.findings_created + assets + 3);
  },
);

it('A report whose texts an earlier version wrote otherwise updates them once, and changes nothing else', async () => {
  const scope = await newPlace();
  const report = readFileSync(new URL('wapiti/site.json', FOLDER));
  const { db } = server.context;
  const { result } = await imported(wapiti, report, scope);
  const read = () =>
    db.read
      .selectFrom('vulnerabilities')
      .selectAll()
      .where('assessment_id', '=', scope.assessment.id)
      .orderBy('id')
      .execute();
  const readTimeline = (ids: readonly number[]) =>
    db.read
      .selectFrom('timeline_entries')
      .select(['vulnerability_id', 'kind', 'before', 'after'])
      .where('vulnerability_id', 'in', ids)
      .orderBy('id')
      .execute();
  const original = await read();
  const ids = original.map(({ id }) => id);
  expect(ids).toHaveLength(result.findings_created);
  const { token } = await createFixtures(server).user();
  const fixed = await server.request('PATCH', `/v1/vulnerabilities/${ids[0]}`, {
    token,
    body: { status_id: 5 },
  });
  expect(fixed.status).toBe(200);
  await db.write(async (tx) => {
    await tx
      .updateTable('vulnerabilities')
      .set({ description: '    As an earlier version wrote it' })
      .where('id', 'in', ids)
      .execute();
    await tx
      .updateTable('scanner_findings')
      .set({ content_hash: 'earlier' })
      .where('vulnerability_id', 'in', ids)
      .execute();
  });
  const earlierTimeline = await readTimeline(ids);
  const earlier = await read();

  const seenAgain = {
    findings_created: 0,
    findings_seen_again: ids.length,
    findings_reopened: 0,
    findings_gone: 0,
  };
  expect((await imported(wapiti, report, scope)).result).toMatchObject(seenAgain);
  const updated = await read();
  expect(updated.map(({ id, status_id }) => [id, status_id])).toEqual(
    earlier.map(({ id, status_id }) => [id, status_id]),
  );
  expect(updated.map(({ description }) => description)).toEqual(
    original.map(({ description }) => description),
  );
  const timeline = await readTimeline(ids);
  expect(timeline.slice(earlierTimeline.length).map((entry) => [entry.vulnerability_id, entry.kind])).toEqual(
    ids.map((id) => [id, 'seen']),
  );

  expect((await imported(wapiti, report, scope)).result).toMatchObject(seenAgain);
  const ignored = { last_import_id: 0 };
  expect((await read()).map((row) => ({ ...row, ...ignored }))).toEqual(
    updated.map((row) => ({ ...row, ...ignored })),
  );
  expect(await readTimeline(ids)).toEqual(timeline);
});

describe('A later report', () => {
  const trivyReport = (createdAt: string, ...ids: string[]) =>
    JSON.stringify({
      SchemaVersion: 2,
      CreatedAt: createdAt,
      ArtifactName: 'shop:1',
      Results: [
        {
          Target: 'package-lock.json',
          Class: 'lang-pkgs',
          Vulnerabilities: ids.map((id) => ({ VulnerabilityID: id, PkgName: 'one', Severity: 'HIGH' })),
        },
      ],
    });
  const [MONDAY, TUESDAY, WEDNESDAY] = [
    '2030-01-07T00:00:00Z',
    '2030-01-08T00:00:00Z',
    '2030-01-09T00:00:00Z',
  ];
  const statuses = async ({ assessment }: Place) =>
    server.context.db.read
      .selectFrom('vulnerabilities')
      .select(['title', 'status_id'])
      .where('assessment_id', '=', assessment.id)
      .orderBy('title')
      .execute();

  it('of Trivy fixes missing findings, and the next one reopens those that are back', async () => {
    const scope = await newPlace();
    const fix = { whenGone: 'fix' } as const;
    await imported(trivy, trivyReport(MONDAY, 'CVE-2030-0001', 'CVE-2030-0002'), scope, fix);
    const tuesday = await imported(trivy, trivyReport(TUESDAY, 'CVE-2030-0001'), scope, fix);
    expect(tuesday.result).toMatchObject({ findings_seen_again: 1, findings_gone: 1 });
    expect(await statuses(scope)).toEqual([
      { title: 'CVE-2030-0001 in one', status_id: 1 },
      { title: 'CVE-2030-0002 in one', status_id: 5 },
    ]);
    const wednesday = await imported(
      trivy,
      trivyReport(WEDNESDAY, 'CVE-2030-0001', 'CVE-2030-0002'),
      scope,
      fix,
    );
    expect(wednesday.result).toMatchObject({
      findings_seen_again: 1,
      findings_reopened: 1,
      findings_gone: 0,
    });
    expect((await statuses(scope))[1]).toMatchObject({ status_id: 2 });
    now += DAY;
    const lateImport = await imported(trivy, `${trivyReport(MONDAY)} `, scope, fix);
    expect(lateImport.result).toMatchObject({ findings_gone: 0 });
  });

  const zapReport = (day: number, alerts: string) =>
    `<OWASPZAPReport version="2" created="2030-01-0${day}T00:00:00Z"><site name="https://a.example"><alerts>${alerts}</alerts></site></OWASPZAPReport>`;
  const zapAlert = '<alertitem><alertRef>1</alertRef><name>A</name><riskcode>2</riskcode></alertitem>';
  const nessusReport = (day: number, items: string) =>
    `<NessusClientData_v2><Report><ReportHost name="192.0.2.1"><HostProperties><tag name="HOST_END">2030-01-0${day}T00:00:00Z</tag></HostProperties>${items}</ReportHost></Report></NessusClientData_v2>`;
  const nessusItem = '<ReportItem pluginID="1" pluginName="A" severity="2" port="80" protocol="tcp"/>';
  const openvasReport = (day: number, results: string) =>
    `<report><gmp/><scan_run_status>Done</scan_run_status><results>${results}</results><host><ip>192.0.2.1</ip></host><scan_end>2030-01-0${day}T00:00:00Z</scan_end></report>`;
  const openvasResult =
    '<result><name>A</name><host>192.0.2.1</host><port>80/tcp</port><nvt oid="1.3.6"/><severity>5</severity></result>';
  const niktoReport = (day: number, items: string) =>
    `<niktoscan><scandetails sitename="http://a.example:80/">${items}<statistics endtime="2030-01-0${day} 00:00:00"/></scandetails></niktoscan>`;
  const niktoItem = '<item id="1"><description>A</description><uri>/</uri></item>';

  it.each<[ReportFormat, (day: number, findings: string) => string, string]>([
    [zap, zapReport, zapAlert],
    [nessus, nessusReport, nessusItem],
    [openvas, openvasReport, openvasResult],
    [nikto, niktoReport, niktoItem],
  ])(
    'of $name fixes missing findings of its host or site, and reopens them',
    async (format, reportOf, finding) => {
      const scope = await newPlace();
      const fix = { whenGone: 'fix' } as const;
      const results = [];
      for (const text of [
        reportOf(1, finding),
        reportOf(3, ''),
        reportOf(2, finding),
        reportOf(4, finding),
      ]) {
        const { result, error } = await imported(format, text, scope, fix);
        expect(error).toBeNull();
        results.push([result.findings_created, result.findings_gone, result.findings_reopened]);
      }
      expect(results).toEqual([
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 0],
        [0, 0, 1],
      ]);
      expect(await statuses(scope)).toEqual([{ title: 'A', status_id: 2 }]);
    },
  );

  const json = JSON.stringify;
  const day = (number: number): string => `2030-01-0${number}T00:00:00Z`;
  const trivyOf = (number: number, ...results: object[]) =>
    json({ SchemaVersion: 2, CreatedAt: day(number), ArtifactName: 'shop:1', Results: results });
  const lock = (...ids: string[]) => ({
    Target: 'package-lock.json',
    Class: 'lang-pkgs',
    Vulnerabilities: ids.map((id) => ({ VulnerabilityID: id, PkgName: 'one', Severity: 'HIGH' })),
  });
  const zapOf = (number: number, ...plugins: string[]) =>
    json({
      created: day(number),
      '@version': '2',
      site: [
        { '@name': 'https://a.example', alerts: plugins.map((pluginid) => ({ pluginid, name: pluginid })) },
      ],
    });
  const testsslOf = (number: number, ...tests: object[]) =>
    json({
      Invocation: 'testssl.sh',
      startTime: String(Date.parse(day(number)) / 1_000),
      scanResult: [{ targetHost: 'a.example', ip: '192.0.2.1', port: '443', protocols: tests }],
    });
  const test = (id: string, severity: string) => ({ id, severity, finding: 'x' });
  const bomOf = (number: number, tool: string, vulnerabilities: unknown) =>
    json({
      bomFormat: 'CycloneDX',
      metadata: { timestamp: day(number), tools: [{ name: tool }], component: { name: 'shop' } },
      components: [{ 'bom-ref': 'c', name: 'one' }],
      vulnerabilities,
    });
  const openvasOf = (number: number, oid: string) =>
    `<report><gmp/><scan_run_status>Done</scan_run_status><results><result><name>${oid}</name><host>192.0.2.1</host><port>80/tcp</port><nvt oid="${oid}"/><severity>5</severity></result></results><host><ip>192.0.2.1</ip></host><scan_end>${day(number)}</scan_end></report>`;
  const nmapOf = (number: number, scripts: string, output = '') =>
    `<nmaprun args="nmap -sV --script ${scripts} 192.0.2.1"><scaninfo type="syn" protocol="tcp" services="80"/><host endtime="${Date.parse(day(number)) / 1_000}"><status state="up"/><address addr="192.0.2.1" addrtype="ipv4"/><ports><port protocol="tcp" portid="80"><state state="open"/>${output}</port></ports></host></nmaprun>`;
  const nucleiOf = (number: number, folder: string) =>
    json({
      'template-id': folder,
      template: `http/${folder}/x.yaml`,
      info: { name: folder, severity: 'low' },
      'matched-at': 'https://a.example/',
      timestamp: day(number),
    });
  const wapitiOf = (number: number, category: string, ...vulnerabilities: object[]) =>
    json({
      vulnerabilities: { [category]: vulnerabilities },
      classifications: { [category]: {} },
      infos: { version: 'wapiti', target: 'https://a.example/', date: day(number), scope: 'domain' },
    });
  const auditOf = (number: number, items: string) =>
    `<NessusClientData_v2><Report><ReportHost name="192.0.2.1"><HostProperties><tag name="HOST_END">${day(number)}</tag></HostProperties>${items}</ReportHost></Report></NessusClientData_v2>`;
  const check = (result: string) =>
    `<ReportItem pluginID="2" pluginName="B" severity="3" port="0" protocol="tcp"><compliance>true</compliance><compliance-check-name>check</compliance-check-name><compliance-result>${result}</compliance-result></ReportItem>`;
  const sarifOf = (number: number, rules: string[], results: string[], id?: string) =>
    json({
      version: '2.1.0',
      runs: [
        {
          tool: { driver: { name: 'Probe', rules: rules.map((rule) => ({ id: rule })) } },
          ...(id === undefined ? {} : { automationDetails: { id } }),
          invocations: [{ executionSuccessful: true, endTimeUtc: day(number) }],
          results: results.map((ruleId) => ({ ruleId, message: { text: ruleId } })),
        },
      ],
    });
  const SITE = { targets: ['https://a.example'] };

  it.each<
    [
      string,
      ReportFormat,
      (number: number) => string,
      (number: number) => string,
      (number: number) => string,
      object?,
    ]
  >([
    [
      'classes of Trivy',
      trivy,
      (at) => trivyOf(at, lock('CVE-2030-0001')),
      (at) => trivyOf(at, { Target: 'Dockerfile', Class: 'config' }),
      (at) => trivyOf(at, lock()),
    ],
    [
      'rules of ZAP',
      zap,
      (at) => zapOf(at, '40012', '10038'),
      (at) => zapOf(at, '10038'),
      (at) => zapOf(at, '40018', '10038'),
    ],
    [
      'rules of SARIF',
      sarif,
      (at) => sarifOf(at, ['A', 'B'], ['A']),
      (at) => sarifOf(at, ['C'], ['C']),
      (at) => sarifOf(at, ['A', 'B'], []),
    ],
    [
      'rules of SARIF of which only those with results are listed',
      sarif,
      (at) => sarifOf(at, ['A'], ['A']),
      (at) => sarifOf(at, [], []),
      (at) => sarifOf(at, ['A'], []),
    ],
    [
      'kinds of SARIF runs',
      sarif,
      (at) => sarifOf(at, [], ['A'], 'one'),
      (at) => sarifOf(at, [], [], 'other'),
      (at) => sarifOf(at, [], [], 'one'),
    ],
    [
      'tests of testssl.sh',
      testssl,
      (at) => testsslOf(at, test('heartbleed', 'HIGH')),
      (at) => testsslOf(at, test('TLS1', 'OK')),
      (at) => testsslOf(at, test('heartbleed', 'OK')),
    ],
    [
      'a test of testssl.sh that could not be done',
      testssl,
      (at) => testsslOf(at, test('TLS1', 'LOW')),
      (at) => testsslOf(at, test('TLS1', 'WARN'), test('TLS1_1', 'OK')),
      (at) => testsslOf(at, test('TLS1', 'OK')),
    ],
    [
      'tools of CycloneDX',
      cyclonedx,
      (at) => bomOf(at, 'a', [{ id: 'CVE-2030-0001' }]),
      (at) => bomOf(at, 'b', []),
      (at) => bomOf(at, 'a', []),
    ],
    [
      'a list of components alone',
      cyclonedx,
      (at) => bomOf(at, 'a', [{ id: 'CVE-2030-0001' }]),
      (at) => bomOf(at, 'a', undefined),
      (at) => bomOf(at, 'a', []),
    ],
    [
      'scanners of Greenbone',
      openvas,
      (at) => openvasOf(at, '1.3.6'),
      (at) => openvasOf(at, 'CVE-2030-0001'),
      (at) => openvasOf(at, '1.3.7'),
    ],
    [
      'scripts of Nmap',
      nmap,
      (at) => nmapOf(at, 'vulscan', '<script id="vulscan" output="&#xa;[CVE-2030-0001] A&#xa;"/>'),
      (at) => nmapOf(at, 'vulners'),
      (at) => nmapOf(at, 'vulscan'),
    ],
    [
      'templates of Nuclei',
      nuclei,
      (at) => nucleiOf(at, 'cves'),
      (at) => nucleiOf(at, 'exposures'),
      () => '',
      SITE,
    ],
    [
      'categories of Wapiti',
      wapiti,
      (at) => wapitiOf(at, 'A', { path: '/', level: 1 }),
      (at) => wapitiOf(at, 'B'),
      (at) => wapitiOf(at, 'A'),
    ],
    [
      'an audit of Nessus',
      nessus,
      (at) => auditOf(at, check('FAILED')),
      (at) => auditOf(at, nessusItem),
      (at) => auditOf(at, check('PASSED')),
    ],
    [
      'a check of Nessus that did not run',
      nessus,
      (at) => auditOf(at, check('FAILED')),
      (at) => auditOf(at, check('ERROR')),
      (at) => auditOf(at, check('PASSED')),
    ],
  ])(
    'with other checks marks nothing as gone, and one with the same does: %s',
    async (_what, format, report, laterReports, empty, options = {}) => {
      const scope = await newPlace();
      const fix = { whenGone: 'fix', ...options } as const;
      const first = await imported(format, report(1), scope, fix);
      expect(first.error).toBeNull();
      const between = await imported(format, laterReports(2), scope, fix);
      expect([between.error, between.result.findings_gone]).toEqual([null, 0]);
      const repeated = await imported(format, report(3), scope, fix);
      expect(repeated.result).toMatchObject({ findings_created: 0, findings_reopened: 0 });
      // Older checks of the same kind cover nothing that was seen since.
      expect((await imported(format, `${laterReports(2)} `, scope, fix)).result.findings_gone).toBe(0);
      now += DAY;
      const last = await imported(format, empty(4), scope, fix);
      expect(last.result.findings_gone).toBeGreaterThan(0);
    },
  );

  const csvOf = (...dates: string[]) =>
    `Title,Severity,Date\n${dates.map((date, index) => `Title ${index},Low,"${date}"\n`).join('')}`;
  const zapAt = (generated: string, alerts: string) =>
    `<OWASPZAPReport version="2" generated="${generated}"><site name="https://a.example"><alerts>${alerts}</alerts></site></OWASPZAPReport>`;

  it.each<[string, ReportFormat, string, Partial<ImportOptions>, number]>([
    ['has a time in another shape', csv, csvOf('03/22/2024'), {}, 0],
    ['has a time in German', zap, zapAt('Fr., 22 März 2024 10:15:00', zapAlert), {}, 0],
    ['has a time that nobody understands', csv, csvOf('some day'), {}, 1],
    ['has a time that nobody understands', zap, zapAt('some day', zapAlert), {}, 1],
    ['leaves day and month open', csv, csvOf('03/04/2024'), {}, 1],
    ['leaves day and month open', csv, csvOf('03/04/2024'), { dateOrder: 'dmy' }, 0],
    ['decides day and month elsewhere in the column', csv, csvOf('03/04/2024', '03/22/2024'), {}, 0],
    [
      'decides day and month both ways',
      csv,
      csvOf('03/04/2024', '22/03/2024', '03/22/2024'),
      { dateOrder: 'dmy' },
      0,
    ],
    ['decides day and month both ways', csv, csvOf('03/04/2024', '22/03/2024', '03/22/2024'), {}, 1],
  ])('that %s (%j) reopens nothing', async (_what, format, report, options, unclear) => {
    const scope = await newPlace();
    await imported(format, report.replace('some day', day(1)), scope, { scannedAt: NOW - 20 * DAY });
    await server.context.db.write((tx) =>
      tx
        .updateTable('vulnerabilities')
        .set({ status_id: 5, closed_at: NOW - DAY })
        .where('assessment_id', '=', scope.assessment.id)
        .execute(),
    );
    const { result, skips, error } = await imported(format, `${report}\n`, scope, options);
    expect([error, result.findings_created, result.findings_reopened]).toEqual([null, 0, 0]);
    const notes = skips.filter(({ reason }) => /^(time not understood|day or month first)/.test(reason));
    expect(notes.map(({ count }) => count)).toEqual(unclear === 0 ? [] : [unclear]);
  });

  it('whose time is not understood has the given time, also if the same bytes were imported without it', async () => {
    const scope = await newPlace();
    const report = csvOf('some day', day(1));
    await imported(csv, report, scope);
    const at = NOW - 5 * DAY;
    await server.context.db.write((tx) =>
      tx
        .updateTable('vulnerabilities')
        .set({ status_id: 5, closed_at: NOW - DAY })
        .where('assessment_id', '=', scope.assessment.id)
        .execute(),
    );
    now += DAY;
    const repeated = await imported(csv, report, scope, { scannedAt: at });
    expect(repeated.result.findings_reopened).toBe(0);
    const otherScope = await newPlace();
    await imported(csv, report, otherScope, { scannedAt: at });
    const detections = await server.context.db.read
      .selectFrom('scanner_findings')
      .innerJoin('detections', 'detections.vulnerability_id', 'scanner_findings.vulnerability_id')
      .select('seen_at')
      .where('assessment_id', '=', otherScope.assessment.id)
      .orderBy('scanner_findings.vulnerability_id')
      .execute();
    expect(detections.map((row) => row.seen_at)).toEqual([at, Date.parse(day(1))]);
  });

  it('of which one record of a finding has a time that is not understood reopens nothing, in any order', async () => {
    const rows = ['Title 0,Low,some day', 'Title 0,Low,2030-01-30'];
    for (const order of [rows, rows.toReversed()]) {
      const scope = await newPlace();
      await imported(csv, csvOf(day(1)), scope);
      await server.context.db.write((tx) =>
        tx
          .updateTable('vulnerabilities')
          .set({ status_id: 5, closed_at: NOW - 10 * DAY })
          .where('assessment_id', '=', scope.assessment.id)
          .execute(),
      );
      const { result } = await imported(csv, `Title,Severity,Date\n${order.join('\n')}\n`, scope);
      expect(result).toMatchObject({ findings_seen_again: 1, findings_reopened: 0 });
    }
  });

  it('whose time is not understood marks nothing as gone, unless the time is given', async () => {
    const scope = await newPlace();
    const fix = { whenGone: 'fix' } as const;
    await imported(zap, zapReport(1, zapAlert), scope, fix);
    const unclear = await imported(zap, zapAt('some day', ''), scope, fix);
    expect(unclear.result.findings_gone).toBe(0);
    const withGivenTime = await imported(zap, zapAt('some day', '<!-- -->'), scope, {
      ...fix,
      scannedAt: NOW - DAY,
    });
    expect(withGivenTime.result.findings_gone).toBe(1);
  });

  it('of SARIF does not change findings of another tool or another run', async () => {
    const scope = await newPlace();
    const sarifReport = (tool: string, id: string, end: string, ...rules: string[]) =>
      JSON.stringify({
        version: '2.1.0',
        runs: [
          {
            tool: { driver: { name: tool } },
            automationDetails: { id },
            invocations: [{ executionSuccessful: true, endTimeUtc: end }],
            results: rules.map((ruleId) => ({
              ruleId,
              message: { text: ruleId },
              locations: [{ physicalLocation: { artifactLocation: { uri: `${id}.js` } } }],
            })),
          },
        ],
      });
    for (const [tool, id] of [
      ['Probe', 'app'],
      ['Probe', 'lib'],
      ['Other', 'app'],
    ] as const) {
      await imported(sarif, sarifReport(tool, id, MONDAY, 'one', 'two'), scope);
    }
    const later = await imported(sarif, sarifReport('Probe', 'app', TUESDAY, 'one'), scope);
    expect(later.result).toMatchObject({ findings_created: 0, findings_seen_again: 1, findings_gone: 1 });
  });
});
