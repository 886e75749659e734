import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { HostileReport } from './hostile-texts.ts';

/** The timeout of the process in milliseconds. Linear work takes a tenth of it, quadratic work many times as long. */
const DEADLINE = 60_000;
const READER = fileURLToPath(new URL('hostile-texts.ts', import.meta.url));

/** Reports of every format, with § in place of texts that a user controls. */
const REPORTS: Readonly<Record<string, string>> = {
  burp: '<issues burpVersion="1"><issue><serialNumber>1</serialNumber><type>1</type><name>§</name><host ip="192.0.2.1">http://a</host><path>/</path><severity>High</severity><issueBackground>§</issueBackground></issue></issues>',
  csv: 'title,severity,url,host,cve,references\n"§",high,"§","§","§","§"\n',
  cyclonedx:
    '{"bomFormat":"CycloneDX","components":[{"bom-ref":"a","name":"a","purl":"§"}],"vulnerabilities":[{"id":"§","description":"§","affects":[{"ref":"a"}]}]}',
  generic:
    '{"findings":[{"title":"§","severity":"High","description":"§","references":"§","endpoints":["§"],"cwe":"§"}]}',
  httpx: '{"url":"http://a/","input":"§","webserver":"§","title":"§","host":"§"}',
  nessus:
    '<NessusClientData_v2><Report name="a"><ReportHost name="§"><HostProperties/><ReportItem port="80" svc_name="§" protocol="tcp" severity="3" pluginID="1" pluginName="§"><description>§</description><plugin_output>§</plugin_output></ReportItem></ReportHost></Report></NessusClientData_v2>',
  nikto:
    '{"host":"a","ip":"192.0.2.1","port":"80","banner":"","vulnerabilities":[{"id":"0","method":"GET","url":"§","msg":"§","references":"§"}]}',
  nmap: '<nmaprun scanner="nmap" args="nmap --script §"><host><status state="up"/><address addr="192.0.2.1" addrtype="ipv4"/><ports><port protocol="tcp" portid="80"><state state="open"/><script id="a-vuln" output="CVE-2024-1234 §"/></port></ports></host></nmaprun>',
  'npm-audit':
    '{"auditReportVersion":2,"vulnerabilities":{"a":{"name":"a","severity":"high","via":[{"source":1,"name":"a","title":"§","url":"§","severity":"high","range":"§"}],"range":"§","nodes":[]}}}',
  nuclei:
    '{"template-id":"a","info":{"name":"§","severity":"high","description":"§","reference":"§"},"host":"§","matched-at":"§"}',
  openvas:
    '<report><results><result id="1"><name>§</name><host>§</host><port>80/tcp</port><nvt oid="1"><tags>§</tags></nvt><threat>High</threat><severity>7</severity><description>§</description></result></results></report>',
  sarif:
    '{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"a","rules":[{"id":"b"}]}},"results":[{"ruleId":"§","message":{"text":"§"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"§"}}}]}]}]}',
  testssl: '[{"id":"§","ip":"a/192.0.2.1","port":"443","severity":"HIGH","finding":"§"}]',
  trivy:
    '{"SchemaVersion":2,"ArtifactName":"§","Results":[{"Target":"§","Misconfigurations":[{"ID":"§","Title":"§","Severity":"HIGH","Status":"FAIL","Message":"§"}]}]}',
  wapiti:
    '{"classifications":{"a":{"desc":"§","sol":"","ref":{}}},"vulnerabilities":{"a":[{"method":"GET","path":"§","info":"§","level":2,"curl_command":"§"}]},"infos":{"target":"http://a/","version":"Wapiti 3"}}',
  zap: '{"@version":"2","site":[{"@name":"http://a","alerts":[{"pluginid":"1","name":"§","riskcode":"3","confidence":"2","desc":"§","reference":"§","instances":[{"uri":"§","method":"GET"}]}]}]}',
};

/** Punycode takes one pass over the text for each distinct character. */
const HAN = String.fromCharCode(...Array.from({ length: 16_384 }, (_, at) => 0x4e00 + at));

/** Texts that need no escapes in JSON or XML. */
const TEXTS: readonly HostileReport['text'][] = [
  ['a', ' ', 'a'],
  ['', ' See: http', ''],
  ['A', '0', '-'],
  ['a', '-', 'a'],
  ['', '[a](b:', ''],
  ['', '*a_`', ''],
  ['', 'http://', ''],
  ['http://a/', '.,', 'a'],
  ['', 'CVE-2024-1', ''],
  ['', '/', 'a'],
  ['', '&lt;', ''],
  ['', '1.', 'x'],
  ['', 'cve', ''],
  ['http://', HAN, '/'],
  ['', HAN, ''],
];

/** Characters, enough to expose quadratic expressions and searches. */
const [LENGTH, LONG] = [256 * 1024, 200_000];
/** Reports that make an importer search one of their texts in another. */
const SEARCHES: readonly HostileReport[] = [
  {
    name: 'generic: a version in a title',
    format: 'generic',
    report: `{"findings":[{"title":"§","severity":"High","component_version":"ab${'a'.repeat(LONG)}"}]}`,
    text: ['', 'a', ''],
    length: 20 * LONG,
  },
  {
    name: 'sarif: messages of locations in a message',
    format: 'sarif',
    report: `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"a"}},"results":[{"ruleId":"a","message":{"text":"§"},"locations":[{"message":{"text":"ab${'a'.repeat(LONG)}"},"physicalLocation":{"artifactLocation":{"uri":"a"}}}]}]}]}`,
    text: ['', 'a', ''],
    length: 20 * LONG,
  },
  {
    name: 'openvas: the name of a host in its text',
    format: 'openvas',
    report: `<report><results><result id="1"><name>a</name><host><hostname>${'a'.repeat(LONG)}b</hostname>§</host><port>80/tcp</port><nvt oid="1"/><threat>High</threat><severity>7</severity></result></results></report>`,
    text: ['', 'a', ''],
    length: 20 * LONG,
  },
];

describe('long texts of an account', () => {
  const reports = Object.entries(REPORTS).flatMap(([format, report]) =>
    TEXTS.map((text): HostileReport => ({
      name: `${format}: ${JSON.stringify(text).slice(0, 30)}`,
      format,
      report,
      text,
      length: LENGTH,
    })),
  );

  it.each([
    ['of every format', reports],
    ['that are searched in each other', SEARCHES],
  ])('are read in linear time: %s', (_what, all) => {
    const { stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', READER], {
      input: JSON.stringify(all),
      timeout: DEADLINE,
      encoding: 'utf8',
    });
    const read = new Set(stdout.split('\n'));
    expect(stderr).toBe('');
    // The first missing report is the one that took too long.
    expect(all.map(({ name }) => name).filter((name) => !read.has(name))).toEqual([]);
  });
});
