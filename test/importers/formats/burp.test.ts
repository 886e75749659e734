import { describe, expect, it } from 'vitest';
import { burp } from '../../../src/importers/formats/burp/burp.ts';
import { identityOf } from '../../../src/importers/targets.ts';
import { describeFormat, findingsOf, readRecords } from '../format-harness.ts';

// The reports follow the document type that Burp writes into each.
describeFormat(burp);

const issue = (inner: string, name = 'A', type = '1') =>
  `<issue><serialNumber>${Math.abs(inner.length)}</serialNumber><type>${type}</type><name>${name}</name>` +
  `<host ip="192.0.2.1">https://shop.example</host>${inner}</issue>`;
const report = (issues: string, attributes = '') =>
  `<issues burpVersion="2024.1" ${attributes}>${issues}</issues>`;

describe('an issue of Burp', () => {
  it('is the same on one site with any path and name; issues of extensions differ by name', async () => {
    const findings = await findingsOf(
      burp,
      report(
        issue('<path>/a</path>') +
          issue('<path>/b</path>', 'B') +
          issue('', 'C', '134217728') +
          issue('', 'D', '134217728'),
      ),
    );
    const [first, second, ...otherIdentities] = findings.map((finding) => identityOf(finding, 'burp'));
    expect(second).toBe(first);
    expect(new Set([first, ...otherIdentities]).size).toBe(3);
  });

  it('shows at most 192 KiB of a long response', async () => {
    const body = Buffer.alloc(1024 * 1024, 'a').toString('base64');
    const [finding] = await findingsOf(
      burp,
      report(issue(`<requestresponse><response base64="true">${body}</response></requestresponse>`)),
    );
    expect(finding?.evidence?.[0]).toHaveLength(192 * 1024);
  });

  it('can have more requests and responses than one match can hold', async () => {
    const response = `<response base64="true">${Buffer.alloc(300_000, 'a').toString('base64')}</response>`;
    const exchange = (number: number) =>
      `<requestresponse><request>GET /${number}</request>${response}</requestresponse>`;
    const exchanges = Array.from({ length: 25 }, (_, number) => exchange(number)).join('');
    const findings = await findingsOf(burp, report(issue(exchanges) + issue('', 'B', '2')));
    expect(findings.map(({ title }) => title)).toEqual(['A', 'B']);
    // One more than the limit, so that it counts as truncated.
    expect(findings[0]?.evidence).toHaveLength(21);
    expect(findings[0]?.evidence?.[20]).toMatch(/^GET \/20\n\naaa/);
    expect(findings[1]?.evidence).toEqual([]);
  });

  it.each([
    ['Wed Jan 27 22:43:35 WIB 2021', '2021-01-27T15:43:35Z'],
    ['Fri Apr 30 11:45:49 IST 2021', '2021-04-30T06:15:49Z'],
    ['Mon Jul  1 09:00:00 EDT 2024', '2024-07-01T13:00:00Z'],
    ['Mon Jul 01 09:00:00 GMT+02:00 2024', '2024-07-01T07:00:00Z'],
    ['Mon Jul 01 09:00:00 GMT 2024', '2024-07-01T09:00:00Z'],
    ['Mon Jul 01 09:00:00 XYZ 2024', '2024-07-01T09:00:00Z'],
    ['2024-07-01T09:00:00Z', '2024-07-01T09:00:00Z'],
  ])('saved at %s has the time %s', async (text, time) => {
    const { records } = await readRecords(burp, report('', `exportTime="${text}"`));
    expect(records).toEqual([{ kind: 'report', scannedAt: Date.parse(time) }]);
  });

  it('without a name is unreadable, and one without a site has no asset', async () => {
    const { records } = await readRecords(
      burp,
      report('<issue><type>2</type></issue><issue><type>2</type><name>A</name><host>nowhere</host></issue>'),
    );
    expect(records).toMatchObject([
      { kind: 'unreadable', reason: 'no name' },
      { kind: 'finding', finding: { target: undefined, locations: [] } },
    ]);
  });
});
