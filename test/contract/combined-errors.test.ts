import { describe, expect, it } from 'vitest';
import { type TestResponse, useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

const NOW = Date.UTC(2026, 10, 22, 8);
const LONG = 'x'.repeat(2_049);
const CONTROL = 'a\u0007b';

const server = await useSharedServer(() => NOW);
const fixtures = createFixtures(server);
const organization = (await fixtures.organization()).uid;
const assessment = (await fixtures.assessment(organization)).uid;
const vulnerability = (await fixtures.vulnerability(assessment)).id;
const asset = (await fixtures.asset({ organization })).uid;
const user = await fixtures.user({ organization });
const admin = await fixtures.user({ organization, admin: true });

const send = (method: string, path: string, body: unknown, token = admin.token) =>
  server.request(method, path, { token, body });

interface ErrorItem {
  property: string;
  message: string;
}
const errorsOf = ({ body }: TestResponse): ErrorItem[] => [
  ...((body.failedValidation ?? []) as ErrorItem[]),
  ...((body.failedValidations ?? []) as { failedValidation: ErrorItem[] }[]).flatMap(
    ({ failedValidation }) => failedValidation,
  ),
];
const propertiesOf = (response: TestResponse) => errorsOf(response).map(({ property }) => property);

const FINDING = {
  title: CONTROL,
  severity: 'Huge',
  cvss_vector: 'CVSS:3.1/nonsense',
  cve_ids: [LONG, 'CVE-2021-44228', 'CVE-21-1'],
  exploitable_locations: [{ type: 'moon', value: '' }, { value: '' }, {}, { type: 'ip', value: 'nowhere' }],
  validation_steps: [{ url: 'https://acme.example/', ip_address: '300.0.0.1' }],
  cwe_ids: ['CWE-79', 'CWE-x'],
  reference_urls: [LONG, 'ftp://acme.example/'],
  status_id: 99,
  due_on: '2026-02-30',
};
const FINDING_ERRORS = [
  'cvss_vector',
  'severity',
  'status_id',
  'due_on',
  'cve_ids.0',
  'cve_ids.2',
  'exploitable_locations.0.type',
  'exploitable_locations.1.type',
  'exploitable_locations.2.type',
  'exploitable_locations.3.value',
  'validation_steps.0.detail',
  'validation_steps.0.ip_address',
  'cwe_ids.1',
  'reference_urls.0',
  'reference_urls.1',
];

describe('Errors of the schema and of the rules are in one response', () => {
  it.each<[string, string, () => string, () => object, readonly string[]]>([
    [
      '18: create a vulnerability',
      'POST',
      () => '/v1/vulnerabilities',
      () => ({ assessment_id: assessment, ...FINDING }),
      ['title', ...FINDING_ERRORS],
    ],
    [
      '19: replace a vulnerability',
      'PUT',
      () => `/v1/vulnerabilities/${vulnerability}`,
      () => FINDING,
      // A stored title may have control characters.
      FINDING_ERRORS,
    ],
    [
      '38: create an assessment',
      'POST',
      () => '/v1/assessments',
      () => ({
        name: CONTROL,
        type: 'paper',
        starts_on: '2026-02-30',
        ends_on: '2026-13-01',
        tag_list: [''],
      }),
      ['name', 'type', 'starts_on', 'ends_on', 'tag_list.0'],
    ],
    [
      '39: change an assessment',
      'PATCH',
      () => `/v1/assessments/${assessment}`,
      () => ({ state: 'lost', starts_on: '2026-03-02', ends_on: '2026-03-01' }),
      ['state', 'ends_on'],
    ],
    [
      '54: invite a user',
      'POST',
      () => '/v1/users',
      () => ({ email: 'nobody', name: CONTROL, assessments: [assessment, LONG] }),
      ['email', 'name', 'assessments.1'],
    ],
    [
      '54: invite a user, by the parts of the name',
      'POST',
      () => '/v1/users',
      () => ({ first_name: LONG, last_name: CONTROL }),
      ['email', 'name', 'first_name'],
    ],
    [
      '56: change a user',
      'PUT',
      () => `/v1/users/${user.id}`,
      () => ({ name: CONTROL, assessments: [LONG] }),
      ['name', 'assessments.0'],
    ],
    [
      '58: create a token',
      'POST',
      () => '/v1/tokens',
      () => ({
        name: CONTROL,
        scopes: [LONG, 'all'],
        allowed_addresses: ['192.0.2.0/33'],
        expires_at: 'tomorrow',
      }),
      ['name', 'scopes.0', 'scopes.1', 'allowed_addresses.0', 'expires_at'],
    ],
    [
      '74: create one asset',
      'POST',
      () => '/api/asset/v2/assets',
      () => ({ assetType: 'host', location: 'no host', name: CONTROL, criticality: 'High' }),
      ['organizationUid', 'location', 'name', 'criticality'],
    ],
    [
      '77: change an asset',
      'PATCH',
      () => `/api/asset/v2/assets/${asset}`,
      () => ({ name: 'n'.repeat(256), criticality: 'High' }),
      ['name', 'criticality'],
    ],
  ])('%s', async (_operation, method, path, body, properties) => {
    const response = await send(method, path(), body());
    expect(response.status).toBe(422);
    expect(propertiesOf(response).toSorted()).toEqual(properties.toSorted());
    expect(response.body.detail).toContain(
      properties.length > 3 ? `and ${properties.length - 3} more.` : '; ',
    );
  });

  it('74: create an array of assets, by index, with what the request repeats', async () => {
    const host = (location: string, overrides: object = {}) => ({
      organizationUid: organization,
      assetType: 'host',
      location,
      ...overrides,
    });
    const response = await send('POST', '/api/asset/v2/assets', [
      host('192.0.2.1', { name: CONTROL }),
      host('192.0.2.1'),
      { organizationUid: 'A', location: 'no host', assetType: 'moon' },
      { assetType: 'network', name: LONG, location: '10.0.0.0/8' },
      host('no host', { writableBy: 'nobody' }),
      host(LONG),
      host('192.0.2.1', { description: '\0' }),
    ]);
    expect(response.status).toBe(422);
    expect(response.body.failedValidation).toBeUndefined();
    const byIndex = (
      response.body.failedValidations as { index: number; failedValidation: ErrorItem[] }[]
    ).map(({ index, failedValidation }) => [index, failedValidation.map(({ property }) => property)]);
    expect(byIndex).toEqual([
      [0, ['0.name']],
      [1, ['1.location']],
      [2, ['2.organizationUid', '2.assetType']],
      [3, ['3.organizationUid', '3.name']],
      [4, ['4.location', '4.writableBy']],
      [5, ['5.location']],
      [6, ['6.location', '6.description']],
    ]);
  });

  it('is a 400 if one of them is a wrong type, which the rules do not see', async () => {
    const response = await send('POST', '/v1/vulnerabilities', {
      assessment_id: assessment,
      title: 5,
      severity: 'Huge',
      category: 'x',
      cve_ids: [1, {}, 'CVE-21-1'],
      exploitable_locations: ['x', { type: 'ip', value: [] }, { type: 'ip', value: 'nowhere', port: '80' }],
      due_on: '2026-02-30',
    });
    expect(response.status).toBe(400);
    expect(propertiesOf(response)).toEqual([
      'title',
      'severity',
      'category',
      'due_on',
      'cve_ids.0',
      'exploitable_locations.0',
      'cve_ids.1',
      'exploitable_locations.1.value',
      'cve_ids.2',
      'exploitable_locations.2.value',
      'exploitable_locations.2.port',
    ]);
  });

  it('56: reports a difference from the query and the name together', async () => {
    const response = await send('PUT', `/v1/users/${user.id}?admin=true`, { admin: false, name: CONTROL });
    expect(response.status).toBe(422);
    expect(propertiesOf(response)).toEqual(['admin', 'name']);
    const ignored = await send('PUT', `/v1/users/${user.id}?name=Eve&reinvite=true`, { admin: false });
    expect(ignored.body.name).not.toBe('Eve');
  });

  it('is the first alone if a malformed body has an array over its limit', async () => {
    const response = await send('POST', '/v1/vulnerabilities', { ...FINDING, cve_ids: Array(1_001).fill(1) });
    expect(response.status).toBe(400);
    expect(propertiesOf(response)).toEqual(['cve_ids.0']);
  });

  it('stays small if every asset of a large array has many errors', async () => {
    const wrong = {
      organizationUid: 'É',
      assetType: 'moon',
      location: '\0',
      name: '\ud800',
      criticality: '!',
      writableBy: '?',
      listingUid: '€',
      description: '\0',
    };
    const response = await send(
      'POST',
      '/api/asset/v2/assets',
      Array.from({ length: 1_000 }, () => wrong),
    );
    expect(response.status).toBe(422);
    expect(propertiesOf(response)).toHaveLength(5_000);
    expect(response.body.detail).toContain('and 7997 more.');
    expect(response.text.length).toBeLessThan(1024 ** 2);
  });

  it('come before what the database would tell', async () => {
    const stranger = await fixtures.user({ organization });
    const body = { name: CONTROL, type: 'paper' };
    expect((await send('POST', '/v1/assessments', body, stranger.token)).status).toBe(422);
    expect((await send('PATCH', '/v1/assessments/none', { state: 'lost' })).status).toBe(422);
  });
});
