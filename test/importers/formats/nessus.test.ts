import { describe, expect, it } from 'vitest';
import { nessus } from '../../../src/importers/formats/nessus/nessus.ts';
import { identityOf } from '../../../src/importers/targets.ts';
import { describeFormat, findingsOf, readRecords } from '../format-harness.ts';

// The reports follow the published schema.
describeFormat(nessus);

const report = (hosts: string) =>
  `<NessusClientData_v2><Report name="r" xmlns:cm="http://www.nessus.org/cm">${hosts}</Report></NessusClientData_v2>`;
const host = (name: string, items: string, tags = '') =>
  `<ReportHost name="${name}"><HostProperties>${tags}</HostProperties>${items}</ReportHost>`;
const item = (attributes: string, inner = '') =>
  `<ReportItem pluginName="P" ${attributes}>${inner}</ReportItem>`;

describe('an item of Nessus', () => {
  it('is identified by plug-in, host, port and protocol, in any notation of the host', async () => {
    const findings = await findingsOf(
      nessus,
      report(
        host('2001:db8::1', item('pluginID="1" port="443" protocol="tcp" severity="2"')) +
          host('2001:DB8:0::1', item('pluginID="1" port="443" protocol="tcp" severity="4" svc_name="www"')) +
          host(
            'web.example',
            item('pluginID="1" port="443" protocol="tcp"'),
            '<tag name="host-ip">2001:db8::1</tag>',
          ) +
          host(
            '2001:db8::1',
            item('pluginID="1" port="443" protocol="udp"') + item('pluginID="1" port="0" protocol="tcp"'),
          ),
      ),
    );
    const [first, second, third, ...otherIdentities] = findings.map((finding) =>
      identityOf(finding, 'nessus'),
    );
    expect([second, third]).toEqual([first, first]);
    expect(new Set([first, ...otherIdentities]).size).toBe(3);
  });

  it('takes its severity from the risk factor if it has no number', async () => {
    const findings = await findingsOf(
      nessus,
      report(
        host(
          '192.0.2.1',
          item('pluginID="1"', '<risk_factor>Critical</risk_factor>') +
            item('pluginID="2" severity="9"', '<risk_factor>None</risk_factor>') +
            item('pluginID="3"'),
        ),
      ),
    );
    expect(findings.map(({ severity }) => severity)).toEqual(['Critical', 'Informational', 'Informational']);
  });

  it('of an audit is identified by its check, and skipped if that passed or did not run', async () => {
    const check = (name: string, result: string, severity = 3) =>
      item(
        `pluginID="21157" severity="${severity}"`,
        `<cm:compliance-check-name>${name}</cm:compliance-check-name><cm:compliance-result>${result}</cm:compliance-result>`,
      );
    const { records } = await readRecords(
      nessus,
      report(
        host(
          '192.0.2.1',
          check('A', 'FAILED') + check('B', 'PASSED', 0) + check('C', 'ERROR') + check('D', 'WARNING', 2),
        ),
      ),
    );
    expect(records).toMatchObject([
      { finding: { rule: '21157/A', severity: 'High' } },
      { kind: 'skipped', reason: 'passed' },
      { kind: 'untested', reason: 'check not run', finding: { rule: '21157/C' } },
      { finding: { rule: '21157/D', severity: 'Medium' } },
      { kind: 'host' },
      { kind: 'covered' },
    ]);
  });

  it('without a plug-in is unreadable, and one without a port opens none', async () => {
    const { records } = await readRecords(
      nessus,
      report(
        host(
          '192.0.2.1',
          item('port="443" protocol="tcp"') + item('pluginID="1" port="70000" protocol="icmp"'),
        ),
      ),
    );
    expect(records).toMatchObject([
      { kind: 'unreadable', reason: 'no plug-in' },
      { kind: 'finding', finding: { target: { host: '192.0.2.1' } } },
      { kind: 'host', host: { ports: [{ number: 443 }] } },
      { kind: 'covered' },
    ]);
  });

  it('dates the report by the end of its last host', async () => {
    const tags = (end: string) => `<tag name="HOST_END">${end}</tag>`;
    const { records } = await readRecords(
      nessus,
      report(
        host('192.0.2.1', '', tags('Tue Nov 14 23:23:20 2023')) +
          host('192.0.2.2', '', tags('Tue Nov 14 22:00:00 2023')),
      ),
    );
    expect(records.filter(({ kind }) => kind === 'report')).toEqual([
      { kind: 'report', scannedAt: Date.UTC(2023, 10, 14, 23, 23, 20) },
    ]);
  });
});
