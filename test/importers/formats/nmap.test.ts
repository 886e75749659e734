import { describe, expect, it } from 'vitest';
import { nmap } from '../../../src/importers/formats/nmap/nmap.ts';
import { identityOf } from '../../../src/importers/finding-identity.ts';
import { describeFormat, findingsOf, readRecords } from '../format-harness.ts';
import { host, port, report } from '../reports.ts';

// "scripts-real.xml" is made by scripts/fixtures/nmap.ts; "scripts.xml" is written after what the scripts document.
describeFormat(nmap);

const script = (id: string, output: string) =>
  `<script id="${id}" output="${output.replaceAll('\n', '&#10;')}"/>`;
const found = async (inner: string) => findingsOf(nmap, report(host('192.0.2.1', port(80, 'open', inner))));

describe('what a script finds', () => {
  it('is one finding for a CVE, a host and a port, whichever script names it', async () => {
    const [one] = await found(
      script('vulners', '\n  cpe:/a:x:y:1:\n \tCVE-2020-1234\t7.5\thttps://vulners.com/x'),
    );
    const [other] = await found(script('vulscan', 'MITRE CVE:\n[CVE-2020-1234] It is bad'));
    expect(one).toMatchObject({ severity: 'High', cvssScore: 7.5, cveIds: ['CVE-2020-1234'] });
    expect(other).toMatchObject({ severity: 'Medium', title: 'CVE-2020-1234: It is bad' });
    if (one === undefined || other === undefined) throw new Error('Both scripts name one.');
    expect(identityOf(other, 'nmap')).toBe(identityOf(one, 'nmap'));
  });

  it('is nothing where it says so, where it only echoes, and where it names no CVE', async () => {
    expect(await found(script('http-title', 'CVE-2020-1234'))).toEqual([]);
    expect(await found(script('http-vuln-x', 'State: fine'))).toEqual([]);
    expect(await found(script('some-vuln', 'CVE-2020-1234: NOT VULNERABLE'))).toEqual([]);
    expect(await found(script('some-vuln', 'CVE-2020-1234 seems to be there'))).toHaveLength(1);
  });

  it('is covered where scripts that look for vulnerabilities ran, and only there', async () => {
    const covered = async (args: string) => {
      const text = report(host('192.0.2.1', port(80))).replace('<nmaprun ', `<nmaprun args="${args}" `);
      const { records } = await readRecords(nmap, text);
      return records.filter(({ kind }) => kind === 'covered');
    };
    expect(await covered('nmap -sV --script vulners 192.0.2.1')).toEqual([
      { kind: 'covered', target: { host: '192.0.2.1' }, ports: [['tcp', 1, 1000]] },
    ]);
    expect(await covered('nmap -sV --script=default,vuln 192.0.2.1')).toHaveLength(1);
    expect(await covered('nmap -sV 192.0.2.1')).toEqual([]);
  });

  it('is lost with a host that did not end', async () => {
    const inner = script('vulners', '\n\tCVE-2020-1234\t7.5\thttps://vulners.com/x');
    const text = report(
      host('192.0.2.1', port(80, 'open', inner)) + host('192.0.2.2', port(80, 'open', inner)),
    );
    for (const cut of [text.slice(0, -30), text.replace(/<\/host>\n<\/nmaprun>/, '</hosts></nmaprun>')]) {
      const { records, error } = await readRecords(nmap, cut);
      expect(error).toBeDefined();
      expect(records.map(({ kind }) => kind)).toEqual(['ports', 'host', 'finding']);
    }
  });
});
