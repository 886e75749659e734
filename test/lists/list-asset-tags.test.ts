import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, expectSimpleError } from '../harness/expect-problem.ts';
import { verifyListContract } from '../harness/list-contract.ts';
import { useOwnServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

let staff: TestUser;
let admin: TestUser;
let member: TestUser;
let assets: string[];
let abroad: string;
let bossOnly: string;

const path = (uid = 'tagged') => `/api/tagging/v1.0/organizations/${uid}/tags`;
const get = (query: string, token: string, uid = 'tagged') =>
  server.request('GET', `${path(uid)}${query}`, { token });
const rowsOf = async (query: string, token: string, uid = 'tagged') =>
  (await get(query, token, uid)).body as any[];

const server = await useOwnServer();
const fixtures = createFixtures(server);
beforeAll(async () => {
  await fixtures.organization('tagged');
  await fixtures.organization('other');
  await fixtures.organizationGroup('holding', ['tagged', 'other']);
  staff = await fixtures.user();
  admin = await fixtures.user({ organization: 'tagged', admin: true });
  member = await fixtures.user({ organization: 'tagged' });
  await fixtures.assessment('tagged', 'tagged-web');
  await fixtures.access('tagged-web', member.id);
  assets = [];
  for (let index = 0; index < 3; index += 1)
    assets.push((await fixtures.asset({ organization: 'tagged' })).uid);
  bossOnly = (await fixtures.asset({ organization: 'tagged', writableBy: 'boss' })).uid;
  abroad = (await fixtures.asset({ organization: 'other' })).uid;
  await fixtures.list('tagged-web', assets[0] as string);
  const create = async (uid: string, tags: Record<string, string[]>) => {
    const body = {
      tags: Object.entries(tags).map(([name, uids]) => ({
        name,
        entities: uids.map((asset) => ({ uid: asset })),
      })),
    };
    expect((await server.request('POST', path(uid), { token: staff.token, body })).status).toBe(201);
  };
  const [a, b, c] = assets as [string, string, string];
  await create('tagged', {
    Zebra: [],
    apple: [a],
    Äpfel: [a, b],
    zoo: [c],
    '100%': [],
    a_b: [a, b, c],
    boss: [bossOnly],
  });
  await create('other', { apple: [abroad] });
  await create('holding', { shared: [a, abroad], far: [abroad] });
});

describe('Operation 70: list asset tags', () => {
  it('lists tags', async () => {
    const rows = await verifyListContract(server, {
      operation: 'listAssetTags',
      path: path(),
      token: admin.token,
      key: 'uid',
      style: 'flat',
      filters: {
        search: { value: 'äP', fits: ({ name }) => name.toLowerCase().includes('äp') },
        'entityUid[]': {
          value: [assets[1] as string, assets[2] as string],
          fits: ({ name }) => ['Äpfel', 'a_b', 'zoo'].includes(name),
        },
      },
      responseOnly: ['includeEntities'],
      orders: { name: ({ name }) => name, entityCount: ({ entityCount }) => entityCount },
      atLeast: 7,
    });
    expect(rows.map(({ name, entityCount }) => [name, entityCount])).toEqual([
      ['100%', 0],
      ['Zebra', 0],
      ['a_b', 3],
      ['apple', 1],
      ['boss', 1],
      ['zoo', 1],
      ['Äpfel', 2],
    ]);
    expect(rows[2]).toEqual({
      uid: expect.stringMatching(/^[0-9a-f]{12}$/),
      name: 'a_b',
      orgUid: 'tagged',
      entityCount: 3,
    });
  });

  it('includes the entities on request', async () => {
    for (const flag of ['true', '1']) {
      const rows = await rowsOf(`?search=a_b&includeEntities=${flag}`, admin.token);
      expect(rows).toEqual([
        {
          uid: expect.any(String),
          name: 'a_b',
          orgUid: 'tagged',
          entityCount: 3,
          entities: assets.map((uid) => ({ uid, entityType: 'asset' })),
        },
      ]);
    }
    expect((await rowsOf('?search=Zebra&includeEntities=true', admin.token))[0].entities).toEqual([]);
    expect((await rowsOf('?search=a_b&includeEntities=false', admin.token))[0].entities).toBeUndefined();
  });

  it('lists every tag of the organization with the entities that the caller can see', async () => {
    const scoped = async (user: TestUser, ...scopes: string[]) =>
      (await fixtures.token(user.id, { scopes })).token;
    const counts = async (token: string) =>
      Object.fromEntries(
        (await rowsOf('?includeEntities=true', token)).map((tag) => {
          expect(tag.entities).toHaveLength(tag.entityCount);
          return [tag.name, tag.entityCount];
        }),
      );
    const all = { '100%': 0, Zebra: 0, a_b: 3, apple: 1, boss: 1, zoo: 1, Äpfel: 2 };
    const listed = { '100%': 0, Zebra: 0, a_b: 1, apple: 1, boss: 0, zoo: 0, Äpfel: 1 };
    expect(await counts(await scoped(staff, 'tag_gr'))).toEqual(all);
    expect(await counts(await scoped(admin, 'tag_or'))).toEqual(all);
    expect(await counts(await scoped(admin, 'asset_client_ow'))).toEqual({ ...all, boss: 0 });
    expect(await counts(member.token)).toEqual(listed);
    // The sort uses the visible count.
    const rows = await rowsOf('?sort=entityCount&sortDir=desc', member.token);
    expect(rows.map(({ name, entityCount }) => [name, entityCount]).slice(0, 3)).toEqual([
      ['apple', 1],
      ['Äpfel', 1],
      ['a_b', 1],
    ]);
    // An invisible asset matches nothing.
    const hidden = assets[1] as string;
    expect(await rowsOf(`?entityUid[]=${hidden}`, member.token)).toEqual([]);
    expect(await rowsOf(`?entityUid[]=${abroad}`, admin.token)).toEqual([]);
  });

  it('lists the tags of a group under its uid with the entities that each reader can see', async () => {
    const tagsFor = async (token: string) =>
      (await rowsOf('', token, 'holding')).map(({ name, orgUid, entityCount }) => [
        name,
        orgUid,
        entityCount,
      ]);
    expect(await tagsFor(staff.token)).toEqual([
      ['far', 'holding', 1],
      ['shared', 'holding', 2],
    ]);
    expect(await tagsFor(admin.token)).toEqual([
      ['far', 'holding', 0],
      ['shared', 'holding', 1],
    ]);
  });

  it('lists every name that creating or renaming a tag rejects as taken', async () => {
    const namesFor = async (token: string, uid?: string) =>
      (await rowsOf('', token, uid)).map(({ name }) => name);
    const create = (name: string, token: string, uid?: string) =>
      server.request('POST', path(uid), { token, body: { tags: [{ name }] } });
    // Neither caller can see an asset with the tag.
    expect((await create('ZOO', member.token)).status).toBe(409);
    expect(await namesFor(member.token)).toContain('zoo');
    expect((await create('far', admin.token, 'holding')).status).toBe(409);
    expect(await namesFor(admin.token, 'holding')).toContain('far');
    const { uid } = (await rowsOf('?search=apple', member.token))[0];
    const renamed = await server.request('PUT', `${path()}/${uid}`, {
      token: member.token,
      body: { name: 'Zoo' },
    });
    expect(renamed.status).toBe(409);
  });

  it('returns 404 for organizations and groups that the caller cannot see', async () => {
    await fixtures.organizationGroup('strangers', ['other']);
    const outsider = await fixtures.user({ organization: 'tagged' });
    expectSimpleError(await get('', admin.token, 'other'), 404);
    expectSimpleError(await get('', admin.token, 'strangers'), 404);
    expectSimpleError(await get('', admin.token, 'nosuch'), 404);
    expectSimpleError(await get('', outsider.token), 404);
  });

  it.each([
    'perPage=5001',
    'perPage=0',
    'page=0',
    'sort=uid',
    'sortDir=up',
    'entityUid[]=xyz',
    'includeEntities=yes',
    `search=${'x'.repeat(256)}`,
  ])('returns 400 for %s', async (query) => {
    expectSimpleError(await get(`?${query}`, admin.token), 400);
  });
});

describe('Operation 71: get an asset tag', () => {
  const tagNamed = async (name: string, uid = 'tagged') =>
    (await rowsOf(`?search=${encodeURIComponent(name)}`, staff.token, uid))[0];

  it('returns the tag as the list does, with an ETag', async () => {
    const tag = await tagNamed('a_b');
    const response = await get(`/${tag.uid}`, admin.token);
    expect([response.status, response.body]).toEqual([200, tag]);
    expect(response.headers.get('etag')).toMatch(/^"1\./);
    expect(response.headers.get('cache-control')).toBe('private, no-cache');
    const repeated = await server.request('GET', `${path()}/${tag.uid}`, {
      token: admin.token,
      headers: { 'if-none-match': response.headers.get('etag') ?? '' },
    });
    expect([repeated.status, repeated.text]).toEqual([304, '']);
    const full = await get(`/${tag.uid}?includeEntities=true`, member.token);
    expect(full.body).toEqual({
      ...tag,
      entityCount: 1,
      entities: [{ uid: assets[0], entityType: 'asset' }],
    });
  });

  it('returns 404 for tags of another owner, unknown and invisible ones', async () => {
    const foreignTag = await tagNamed('apple', 'other');
    const shared = await tagNamed('shared', 'holding');
    for (const uid of [foreignTag.uid, shared.uid, 'ffffffffffff', '%00', 'x'.repeat(2_000)])
      expectSimpleError(await get(`/${uid}`, admin.token), 404);
    expectSimpleError(await get(`/${foreignTag.uid}`, admin.token, 'other'), 404);
    expect((await get(`/${shared.uid}`, admin.token, 'holding')).body.entityCount).toBe(1);
  });

  it('returns 403 without a scope', async () => {
    const { token } = await fixtures.token(admin.id, { scopes: ['api'] });
    expectProblem(server, await get('/ffffffffffff', token), {
      area: 'tagging',
      status: 403,
      kind: 'forbidden',
    });
  });
});
