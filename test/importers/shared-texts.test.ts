import { describe, expect, it } from 'vitest';
import { REPORT_FORMATS } from '../../src/importers/formats/index.ts';
import { findingsOf } from './format-harness.ts';

const LONG = 'http://a/' + 'a b/'.repeat(50_000);
/** Member names have at most 64 KiB. */
const KEY = LONG.slice(0, 60_000);
/** Characters that each finding stores of a shared text: of a name, and of evidence. */
const [MAX_NAME, MAX_EVIDENCE] = [2_100, 110_000];

/** Reports of two findings that share a name. */
const REPORTS: Readonly<Record<string, readonly [format: string, report: string]>> = {
  'the host of Nessus': [
    'nessus',
    `<NessusClientData_v2><Report name="a"><ReportHost name="${LONG.slice(9)}"><HostProperties/><ReportItem severity="3" pluginID="1" pluginName="a"/><ReportItem severity="3" pluginID="2" pluginName="a"/></ReportHost></Report></NessusClientData_v2>`,
  ],
  "a resource of SARIF's list": [
    'sarif',
    `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"a","rules":[{"id":"b"}]}},"artifacts":[{"location":{"uri":"${LONG.slice(9)}"}}],"results":[${[1, 2].map((n) => `{"ruleId":"b","message":{"text":"m${n}"},"locations":[{"physicalLocation":{"artifactLocation":{"index":0}}}]}`).join()}]}]}`,
  ],
  'the product of CycloneDX': [
    'cyclonedx',
    `{"bomFormat":"CycloneDX","metadata":{"component":{"name":"${LONG}"}},"components":[{"bom-ref":"r","name":"n"}],"vulnerabilities":[{"id":"CVE-2024-1001","affects":[{"ref":"r"}]},{"id":"CVE-2024-1002","affects":[{"ref":"r"}]}]}`,
  ],
  ...Object.fromEntries(
    [
      [LONG, 'a'],
      ['a', LONG],
    ].map(([artifact, target], index) => [
      `the ${index === 0 ? 'artifact' : 'target'} of Trivy`,
      [
        'trivy',
        `{"SchemaVersion":2,"ArtifactName":"${artifact}","Results":[{"Target":"${target}","Class":"config","Misconfigurations":[{"ID":"A1","Title":"t","Severity":"HIGH","Status":"FAIL"},{"ID":"A2","Title":"t","Severity":"HIGH","Status":"FAIL"}]}]}`,
      ] as const,
    ]),
  ),
  'the target and category of Wapiti': [
    'wapiti',
    `{"classifications":{"${KEY}":{"desc":"d","sol":"","ref":{}}},"infos":{"target":"${LONG}","version":"Wapiti 3"},"vulnerabilities":{"${KEY}":[{"info":"1","level":2},{"info":"2","level":2}]}}`,
  ],
  'other information of ZAP': [
    'zap',
    `{"@version":"2","site":[{"@name":"${LONG}","alerts":[{"pluginid":"1","name":"n","riskcode":"3","otherinfo":"${LONG}","instances":[{"uri":"http://a.example/"},{"uri":"http://b.example/"}]}]}]}`,
  ],
};

describe('a long text that findings share', () => {
  it.each(Object.entries(REPORTS))(
    'is cut before each of them repeats it: %s',
    async (_what, [name, report]) => {
      const format = REPORT_FORMATS.find((candidate) => candidate.name === name);
      const findings = await findingsOf(format as NonNullable<typeof format>, report);
      expect(findings).toHaveLength(2);
      for (const { rule, title, target = {}, evidence = [] } of findings) {
        for (const text of [rule, title, ...Object.values(target)])
          expect(String(text).length).toBeLessThanOrEqual(MAX_NAME);
        for (const text of evidence) expect(text.length).toBeLessThanOrEqual(MAX_EVIDENCE);
      }
    },
  );
});
