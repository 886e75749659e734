import { beforeAll, describe, expect, it } from 'vitest';
import { verifyListContract } from '../harness/list-contract.ts';
import { expectProblem } from '../harness/expect-problem.ts';
import { useOwnServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

type Row = Readonly<Record<string, any>>;
let admin: TestUser;
let member: TestUser;
const path = (uid: string) => `/api/asset/v2/listings/${uid}/assets`;

const server = await useOwnServer();
const fixtures = createFixtures(server);
beforeAll(async () => {
  await fixtures.organization('listed');
  await fixtures.assessment('listed', 'listed-web');
  await fixtures.assessment('listed', 'listed-api');
  admin = await fixtures.user({ organization: 'listed', admin: true });
  member = await fixtures.user({ organization: 'listed' });
  await fixtures.access('listed-web', member.id);
  for (const [index, location] of ['10.0.0.2', '10.0.0.10', '10.0.0.1', 'mail.example'].entries()) {
    const asset = await fixtures.asset({
      organization: 'listed',
      type: 'host',
      name: `Host ${index}`,
      location,
    });
    await fixtures.list('listed-web', asset.uid, index === 0 ? ['at night', 'gently'] : undefined);
    if (index === 1) await fixtures.list('listed-api', asset.uid, ['another rule']);
  }
  const site = await fixtures.asset({
    organization: 'listed',
    location: 'https://shop.example/',
    criticality: 'high',
  });
  await fixtures.list('listed-web', site.uid);
  await fixtures.asset({ organization: 'listed', type: 'host', location: '10.0.0.3' });
});

describe('Operation 79: list assets of a listing', () => {
  it('lists assets with every parameter', async () => {
    const rows = await verifyListContract(server, {
      operation: 'listListingAssets',
      path: path('listed-web'),
      token: member.token,
      key: 'assetUid',
      style: 'flat',
      filters: {
        'assetType[]': { value: ['host'], fits: ({ assetType }: Row) => assetType === 'host' },
        search: { value: '10.0.0.1', fits: ({ location }: Row) => location.startsWith('10.0.0.1') },
      },
      orders: {},
      atLeast: 5,
    });
    expect(rows.map(({ location }) => location)).toEqual([
      '10.0.0.1',
      '10.0.0.2',
      '10.0.0.10',
      'https://shop.example/',
      'mail.example',
    ]);
    expect(rows[1]).toEqual({
      assetUid: expect.stringMatching(/^[0-9a-f]{24}$/),
      location: '10.0.0.2',
      assetType: 'host',
      criticality: 'undefined',
      scopeRules: [{ rule: 'at night' }, { rule: 'gently' }],
      createdAt: expect.any(String),
    });
    expect(rows[2]?.['scopeRules']).toEqual([]);
  });

  it('returns 404 for invisible and unknown listings', async () => {
    for (const uid of ['listed-api', 'no-such']) {
      const response = await server.request('GET', path(uid), { token: member.token });
      expectProblem(server, response, { area: 'asset', status: 404, kind: 'not-found' });
    }
    const { body } = await server.request('GET', path('listed-api'), { token: admin.token });
    expect(body).toMatchObject([{ location: '10.0.0.10', scopeRules: [{ rule: 'another rule' }] }]);
  });

  it("omits assets that the token's scopes do not cover", async () => {
    const boss = await fixtures.asset({
      organization: 'listed',
      type: 'host',
      location: '10.9.9.9',
      writableBy: 'boss',
    });
    await fixtures.list('listed-api', boss.uid);
    const { token } = await fixtures.token(admin.id, { scopes: ['asset_client_ow'] });
    const { body } = await server.request('GET', path('listed-api'), { token });
    expect(body.map(({ location }: Row) => location)).toEqual(['10.0.0.10']);
  });
});
