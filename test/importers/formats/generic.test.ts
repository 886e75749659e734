import { expect, it } from 'vitest';
import { endpointOf } from '../../../src/importers/formats/generic/endpoints.ts';
import { generic } from '../../../src/importers/formats/generic/generic.ts';
import { identityOf } from '../../../src/importers/targets.ts';
import { describeFormat, findingsOf, readRecords } from '../format-harness.ts';

describeFormat(generic);

const identities = async (...items: object[]) => {
  const report = items.map((item) => ({ title: 'A title', severity: 'Low', description: '', ...item }));
  const findings = await findingsOf(generic, JSON.stringify({ findings: report }));
  return findings.map((finding) => identityOf(finding, 'generic'));
};

it('identifies a finding by its id within the tool, else by rule or title and location', async () => {
  const [first, moved, second] = await identities(
    { unique_id_from_tool: 'a', file_path: 'x' },
    { unique_id_from_tool: 'a', title: 'Other', file_path: 'y' },
    { unique_id_from_tool: 'b', file_path: 'x' },
  );
  expect(moved).toBe(first);
  expect(second).not.toBe(first);
  const places = await identities(
    { file_path: 'x', line: 1 },
    { file_path: 'x', line: 9, title: ' a  TITLE' },
    { file_path: 'y' },
    { vuln_id_from_tool: 'R', file_path: 'x' },
    { endpoints: ['192.0.2.1:80', '192.0.2.1:80'] },
    { endpoints: ['192.0.2.1:81'] },
  );
  expect(places[1]).toBe(places[0]);
  expect(new Set(places).size).toBe(5);
});

it.each([
  ['https://a.example/x?y=1', { url: 'https://a.example/x?y=1' }],
  ['a.example', { host: 'a.example' }],
  ['a.example/path', { host: 'a.example' }],
  ['ssh://user@192.0.2.1:2222', { host: '192.0.2.1', port: 2222, protocol: 'tcp' }],
  ['udp://192.0.2.1:53', { host: '192.0.2.1', port: 53, protocol: 'udp' }],
  ['[2001:DB8::1]:443', { host: '2001:db8::1', port: 443, protocol: 'tcp' }],
  [{ protocol: 'https', host: 'a.example', path: 'x', query: 'y' }, { url: 'https://a.example/x?y' }],
  [
    { host: '192.0.2.1', port: '80' },
    { host: '192.0.2.1', port: 80, protocol: 'tcp' },
  ],
  ['', undefined],
  ['not a host', undefined],
  [17, undefined],
  [{}, undefined],
])('reads the endpoint %j', (endpoint, target) => {
  expect(endpointOf(endpoint)?.target).toEqual(target);
});

it('reads tags, and says that files are not imported', async () => {
  const item = {
    title: 'A',
    severity: 'Low',
    tags: ['payment', 'external'],
    files: [{ title: 'a', data: '' }],
  };
  const { records } = await readRecords(generic, JSON.stringify({ findings: [item] }));
  expect(records).toMatchObject([
    { kind: 'finding', finding: { tags: ['payment', 'external'] } },
    { kind: 'partial', reason: 'files not imported' },
  ]);
});

it('leaves the version of a component out of the title that identifies it', async () => {
  const identityAt = async (version: string) => {
    const item = {
      title: `lodash ${version}: hole`,
      severity: 'Low',
      component_name: 'lodash',
      component_version: version,
    };
    const [finding] = await findingsOf(generic, JSON.stringify({ findings: [item] }));
    return [finding === undefined ? '' : identityOf(finding, 'generic'), finding?.locations?.[0]?.value];
  };
  const [identity, location] = await identityAt('4.17.1');
  expect(location).toBe('lodash 4.17.1');
  expect(await identityAt('4.17.20')).toEqual([identity, 'lodash 4.17.20']);
});
