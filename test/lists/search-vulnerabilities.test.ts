import { beforeAll, expect, it } from 'vitest';
import { createFixtures, type TestUser } from '../harness/fixtures.ts';
import { useSharedServer } from '../harness/server.ts';

const server = await useSharedServer();
const fixtures = createFixtures(server);
let organization: string;
let admin: TestUser;
let plain: number;

const find = async (search: string, { token } = admin): Promise<string[]> => {
  const path = `/v1/vulnerabilities?filter[search]=${encodeURIComponent(search)}`;
  const { body, headers } = await server.request('GET', path, { token });
  expect(JSON.parse(headers.get('x-pagination') ?? '').total_entries).toBe(body.length);
  return body.map(({ title }: { title: string }) => title).sort();
};

beforeAll(async () => {
  organization = (await fixtures.organization()).uid;
  admin = await fixtures.user({ organization, admin: true });
  const { uid: assessment } = await fixtures.assessment(organization);
  const tag = await fixtures.vulnerabilityTag(organization, 'front-end');
  const asset = await fixtures.asset({
    organization,
    type: 'webapp',
    location: 'https://shop-1.acme.example',
    name: 'Store\u2010front',
  });
  plain = (await fixtures.vulnerability(assessment, { title: 'Plain' })).id;
  await fixtures.vulnerability(assessment, {
    title: 'Log4Shell',
    cveIds: ['CVE-2021-44228', 'CVE-2021-45046'],
    cweIds: ['CWE-917'],
  });
  await fixtures.vulnerability(assessment, {
    title: 'Cross-Site Request\u2011Forgery',
    description: 'Same-origin requests',
    tagIds: [tag.id],
    assetUids: [asset.uid],
  });
});

const FORGERY = 'Cross-Site Request\u2011Forgery';

it.each([
  ['CVE-2021-44228', ['Log4Shell']],
  ['2021-45046', ['Log4Shell']],
  ['cve 2021', ['Log4Shell']],
  ['cwe-917', ['Log4Shell']],
  ['CWE-91 ', []],
  // The ids are not next to each other in the text that is searched.
  ['44228 cve', []],
  ['cross site request-forgery', [FORGERY]],
  ['Cross-Site', [FORGERY]],
  ['same origin', [FORGERY]],
  ['same-origin', [FORGERY]],
  ['front end', [FORGERY]],
  ['FRONT-END', [FORGERY]],
  ['shop-1.acme', [FORGERY]],
  ['SHOP 1.acme', [FORGERY]],
  ['store-front', [FORGERY]],
  // Two characters are not searched for in descriptions.
  ['p-', [FORGERY]],
])('finds %j', async (search, expected) => {
  expect(await find(search)).toEqual(expected);
});

it('finds a vulnerability by its number, and those whose texts contain it', async () => {
  for (const search of [`#${plain}`, `${plain}`, ` #${plain} `])
    expect(await find(search)).toContain('Plain');
  expect(await find(`#0${plain}`)).toEqual(['Plain']);
  expect(await find(`#${plain}9`)).toEqual([]);
  expect(await find('#999999999999999')).toEqual([]);
  expect(await find('9'.repeat(255))).toEqual([]);
});

it('finds nothing of others by number, id or asset', async () => {
  const other = (await fixtures.organization()).uid;
  const { token } = await fixtures.user({ organization: other, admin: true });
  for (const search of [`#${plain}`, '44228', 'cwe-917', 'shop-1', 'store front'])
    expect(await find(search, { ...admin, token })).toEqual([]);
});

it('finds what a replacement has changed, and no longer what it replaced', async () => {
  const { uid: assessment } = await fixtures.assessment(organization);
  const { id } = await fixtures.vulnerability(assessment, { title: 'Replaced', cveIds: ['CVE-2019-1111'] });
  await server.request('PUT', `/v1/vulnerabilities/${id}`, {
    token: admin.token,
    body: { title: 'Replaced', severity: 'Low', cve_ids: ['CVE-2019-2222'] },
  });
  expect(await find('CVE-2019-2222')).toEqual(['Replaced']);
  expect(await find('CVE-2019-1111')).toEqual([]);
});

it('finds the vulnerabilities of an asset under its new name', async () => {
  const { uid: assessment } = await fixtures.assessment(organization);
  const asset = await fixtures.asset({ organization, name: 'before-it' });
  await fixtures.vulnerability(assessment, { title: 'Of an asset', assetUids: [asset.uid] });
  expect(await find('before it')).toEqual(['Of an asset']);
  await server.request('PATCH', `/api/asset/v2/assets/${asset.uid}`, {
    token: admin.token,
    body: { name: 'afterwards' },
  });
  expect(await find('before it')).toEqual([]);
  expect(await find('afterwards')).toEqual(['Of an asset']);
});
