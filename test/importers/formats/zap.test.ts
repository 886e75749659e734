import { describe, expect, it } from 'vitest';
import { zap } from '../../../src/importers/formats/zap/zap.ts';
import { identityOf } from '../../../src/importers/targets.ts';
import { describeFormat, findingsOf, readRecords } from '../format-harness.ts';

// The reports follow the published schema.
describeFormat(zap);

const alert = (members: object) => ({ pluginid: '1', name: 'A', riskcode: '1', confidence: '2', ...members });
const report = (...alerts: unknown[]) =>
  JSON.stringify({ '@version': '2', site: [{ '@name': 'https://shop.example', alerts }] });

describe('an alert of ZAP', () => {
  it('is the same with other URLs or severities, and in both report formats', async () => {
    const instances = (uri: string) => [{ uri, method: 'GET' }];
    const json = await findingsOf(
      zap,
      report(
        alert({ alertRef: '10038-1', instances: instances('https://shop.example/a;jsessionid=1') }),
        alert({
          alertRef: '10038-1',
          riskcode: '3',
          name: 'B',
          instances: instances('https://shop.example:443/b'),
        }),
        alert({ alertRef: '10038-2', instances: instances('https://shop.example/a') }),
      ),
    );
    const xml = await findingsOf(
      zap,
      '<OWASPZAPReport version="2.16.1"><site name="https://shop.example"><alerts><alertitem><pluginid>10038</pluginid>' +
        '<alertRef>10038-1</alertRef><name>C</name></alertitem></alerts></site></OWASPZAPReport>',
    );
    const [first, second, other] = json.map((finding) => identityOf(finding, 'zap'));
    expect(second).toBe(first);
    expect(other).not.toBe(first);
    expect(xml.map((finding) => identityOf(finding, 'zap'))).toEqual([first]);
  });

  it('takes its risk from the description without a code, and is informational without both', async () => {
    const findings = await findingsOf(
      zap,
      report(
        alert({ riskcode: undefined, riskdesc: 'High (Medium)' }),
        alert({ riskcode: 'x', riskdesc: '' }),
        alert({ riskcode: 2 }),
      ),
    );
    expect(findings.map(({ severity }) => severity)).toEqual(['High', 'Informational', 'Medium']);
  });

  it('of ZAP before 2.7 is its own instance', async () => {
    const [finding] = await findingsOf(
      zap,
      '<OWASPZAPReport version="2.5.0"><site name="http://a.example"><alerts><alertitem><pluginid>7</pluginid>' +
        '<alert>Old</alert><riskcode>1</riskcode><uri>http://a.example/x</uri><param>p</param></alertitem></alerts></site></OWASPZAPReport>',
    );
    expect(finding?.locations).toEqual([{ type: 'url', value: 'http://a.example/x' }]);
    expect(finding?.evidence?.[0]).toContain('Parameter: p');
  });

  it('can have more instances with requests and responses than one match can hold', async () => {
    const body = 'x'.repeat(60_000);
    const uris = Array.from({ length: 290 }, (_, number) => `https://shop.example/${number}`);
    const items = uris.map((uri) => ({
      uri,
      method: 'GET',
      'response-header': 'HTTP/1.1 200 OK',
      'response-body': body,
    }));
    const xmlInstances = uris
      .map(
        (uri) =>
          `<instance><uri>${uri}</uri><method>GET</method><responseheader>HTTP/1.1 200 OK</responseheader><responsebody>${body}</responsebody></instance>`,
      )
      .join('');
    const json = await findingsOf(zap, report(alert({ alertRef: '7', instances: items, solution: 'Mend.' })));
    const xml = await findingsOf(
      zap,
      '<OWASPZAPReport version="2"><site name="https://shop.example"><alerts><alertitem><pluginid>1</pluginid><alertRef>7</alertRef><confidence>2</confidence>' +
        `<name>A</name><riskcode>1</riskcode><instances>${xmlInstances}</instances><solution>Mend.</solution></alertitem></alerts></site></OWASPZAPReport>`,
    );
    expect(json).toEqual(xml);
    expect(json).toHaveLength(1);
    expect(json[0]).toMatchObject({
      recommendedFix: 'Mend.',
      locations: uris.map((value) => ({ type: 'url', value })),
    });
    // One more than the limit, so that it counts as truncated.
    expect(json[0]?.evidence).toHaveLength(21);
  });

  it('shows the HTML of its further information as text, and evidence as it was', async () => {
    const instances = [{ uri: 'https://shop.example/', evidence: '<p>seen</p>' }];
    const otherinfo = '<p>Sent &lt;b&gt; &amp; more.</p><p>At:</p><p>https://shop.example/</p>';
    const [finding] = await findingsOf(zap, report(alert({ alertRef: '1', instances, otherinfo })));
    expect(finding?.evidence?.[0]).toContain('Evidence: <p>seen</p>');
    expect(finding?.evidence?.[0]).toContain('\n\nSent <b> & more.\n\nAt:\n\nhttps://shop.example/');
  });

  it('has the location of its site without instances, and is unreadable without a name', async () => {
    const { records } = await readRecords(zap, report(alert({}), { confidence: 2 }));
    expect(records).toMatchObject([
      { kind: 'finding', finding: { target: { url: 'https://shop.example' } } },
      { kind: 'unreadable', reason: 'no name' },
      { kind: 'covered' },
    ]);
  });

  it.each([
    ['of passive rules covers those', ['10038'], ['passive']],
    ['of active rules covers both', ['40012'], ['active', 'passive']],
    ['of both covers both', ['10038', '10104'], ['active', 'passive']],
    ['of an unknown rule covers passive ones', ['123456'], ['passive']],
    ['of none covers all', [], 'all'],
  ])('%s', async (_what, plugins, checks) => {
    const { records } = await readRecords(zap, report(...plugins.map((pluginid) => alert({ pluginid }))));
    expect(records.filter(({ kind }) => kind === 'covered')).toEqual([
      { kind: 'covered', target: { url: 'https://shop.example' }, checks },
    ]);
  });
});
