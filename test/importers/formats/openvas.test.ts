import { describe, expect, it } from 'vitest';
import { openvas } from '../../../src/importers/formats/openvas/openvas.ts';
import { identityOf } from '../../../src/importers/targets.ts';
import { describeFormat, findingsOf, readRecords } from '../format-harness.ts';

// The reports follow the published schema.
describeFormat(openvas);

const result = (inner: string, oid = '1.3.6.1') =>
  `<result><name>N</name><host>192.0.2.1</host><port>22/tcp</port><nvt oid="${oid}"/>${inner}</result>`;
const HOST =
  '<host><ip>192.0.2.1</ip><start>2024-01-01T00:00:00Z</start><end>2024-01-01T01:00:00Z</end></host>';
const report = (inner: string, results = '', host = HOST) =>
  `<report format_id="a"><report>${inner}<results>${results}</results>${host}</report></report>`;

async function coveredBy(text: string): Promise<unknown[]> {
  const { records, error } = await readRecords(openvas, text);
  expect(error).toBeUndefined();
  return records.flatMap((record) => (record.kind === 'covered' ? [record.target] : []));
}

describe('a result of Greenbone', () => {
  it.each([
    ['<severity>9.0</severity><threat>High</threat>', 'Critical'],
    ['<severity>8.9</severity><threat>High</threat>', 'High'],
    ['<severity>4.0</severity><threat>Medium</threat>', 'Medium'],
    ['<severity>0.1</severity>', 'Low'],
    ['<severity>0.0</severity><threat>Log</threat>', 'Informational'],
    ['<threat>Critical</threat>', 'Critical'],
    ['<threat>Alarm</threat>', 'High'],
    ['<severity/><threat>Medium</threat>', 'Medium'],
    ['<severity>99</severity>', 'Informational'],
  ])('with %s is %s', async (inner, severity) => {
    expect(await findingsOf(openvas, report('', result(inner)))).toMatchObject([{ severity }]);
  });

  it.each([
    ['<severity>-1.0</severity>', 'false positive'],
    ['<threat>False Positive</threat>', 'false positive'],
    ['<severity>-2.0</severity><threat>Debug</threat>', 'scanner error'],
    ['<severity>0</severity><compliance>yes</compliance>', 'passed'],
  ])('with %s is skipped as %s', async (inner, reason) => {
    const { records } = await readRecords(openvas, report('', result(inner)));
    expect(records[0]).toMatchObject({ kind: 'skipped', reason });
  });

  it('of a test that failed does not say whether its finding is still there', async () => {
    const { records } = await readRecords(
      openvas,
      report('', result('<severity>-3.0</severity><threat>Error</threat>')),
    );
    expect(records[0]).toMatchObject({
      kind: 'untested',
      reason: 'scanner error',
      finding: { rule: '1.3.6.1' },
    });
  });

  it.each([
    ['of tests', '1.3.6', ['']],
    ['of the CVE scanner', 'CVE-2024-0001', ['cve']],
  ])('covers the results %s', async (_whose, oid, checks) => {
    const { records } = await readRecords(
      openvas,
      `<report><gmp/><scan_run_status>Done</scan_run_status><results><result><name>A</name><host>192.0.2.1</host>` +
        `<port>80/tcp</port><nvt oid="${oid}"/><severity>5</severity></result></results>` +
        `<host><ip>192.0.2.1</ip></host></report>`,
    );
    expect(records.at(-1)).toEqual({ kind: 'covered', target: { host: '192.0.2.1' }, checks });
  });

  it('is identified by test, host, port and protocol in all kinds of reports', async () => {
    const resultElement = result('<severity>5.0</severity>');
    const reports = [
      report('', resultElement),
      `<report format_id="a"><results>${result('<severity>9.0</severity>')}</results></report>`,
      `<get_reports_response><report><report><results>${resultElement}</results></report></report></get_reports_response>`,
      `<get_results_response>${resultElement}</get_results_response>`,
      report(
        '',
        resultElement
          .replace('22/tcp', 'ssh (22/tcp)')
          .replace('192.0.2.1<', '192.0.2.1<hostname>a.example</hostname><'),
      ),
    ];
    const findings = (await Promise.all(reports.map((text) => findingsOf(openvas, text)))).flat();
    expect(new Set(findings.map((finding) => identityOf(finding, 'openvas'))).size).toBe(1);
    expect(findings).toHaveLength(5);
  });
});

describe('a report of Greenbone', () => {
  it('covers the hosts whose scan ended', async () => {
    expect(await coveredBy(report('<scan_run_status>Done</scan_run_status>'))).toEqual([
      { host: '192.0.2.1' },
    ]);
    expect(await coveredBy(report('', '', HOST.replace(/<end>.*<\/end>/, '<end/>')))).toEqual([]);
    expect(await coveredBy(report('', result('<severity>5.0</severity>'), ''))).toEqual([]);
  });

  it.each([
    ['<scan_run_status>Stopped</scan_run_status>', false],
    ['<scan_run_status>Interrupted at 51 %</scan_run_status>', false],
    ['<filters><term>levels=hm rows=-1</term></filters>', false],
    ['<filters><term>apply_overrides=0 levels=hml min_qod=70</term></filters>', true],
    ['<filters><term>severity>6.9 rows=-1</term></filters>'.replace('>6', '&gt;6'), false],
    ['<filters><term>severity&gt;0.0</term></filters>', true],
    ['<result_count>2<full>2</full><filtered>2</filtered></result_count>', false],
    ['<result_count>9<full>9</full><filtered>0</filtered></result_count>', true],
  ])('with %s covers its host: %s', async (inner, covers) => {
    expect(await coveredBy(report(inner))).toHaveLength(covers ? 1 : 0);
  });

  it('yields hosts with very many ports in several parts', async () => {
    let ports = '';
    for (let number = 1; number <= 50_010; number += 1)
      ports += `<port>${number}/tcp<host>192.0.2.1</host></port>`;
    const { records } = await readRecords(openvas, report(`<ports>${ports}</ports>`));
    const portCounts = records.flatMap((record) =>
      record.kind === 'host' ? [record.host.ports.length] : [],
    );
    expect(portCounts).toEqual([50_000, 10]);
  });

  it('is not detected as another format', () => {
    const sample = (text: string) => ({ text, root: { name: 'report', attributes: {} }, records: [] });
    expect(openvas.detect(sample('<report name="JaCoCo"><package/></report>'))).toBe(false);
    expect(openvas.detect(sample('<report><scan_run_status>Done</scan_run_status></report>'))).toBe(true);
  });
});

it('Texts of Greenbone become paragraphs and lists, and its output stays as it is', async () => {
  const nvt =
    '<nvt oid="1"><tags>summary=The host is prone to\n  an *unencrypted* login.|insight=The flaws are:\n\n' +
    "  - The parameter 'a_b' is\n  read.\n\n  - &lt;script&gt; is written.|affected=- Product 1\n\n  - Product 2</tags></nvt>";
  const output = 'Installed:  1\n  Path:     *';
  const inner = `<result><name>N</name><host>192.0.2.1</host><port>21/tcp</port>${nvt}<threat>High</threat><description>\n  ${output}\n\n</description></result>`;
  expect(await findingsOf(openvas, report('', inner))).toMatchObject([
    {
      description:
        'The host is prone to an \\*unencrypted\\* login.\n\n' +
        "The flaws are:\n\n- The parameter 'a_b' is read.\n- &lt;script> is written.\n\n" +
        '**Affected software**\n\n- Product 1\n- Product 2',
      evidence: [`  ${output}`],
    },
  ]);
});
