import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { TAG_SCOPES } from '../../src/auth/scopes.ts';
import { expectProblem, expectSimpleError } from '../harness/expect-problem.ts';
import { startSecondServer, useSharedServer } from '../harness/server.ts';
import { columnsOfRequest, type TestUser, createFixtures } from '../harness/fixtures.ts';

const UNKNOWN_ASSET = 'f'.repeat(24);
const UNKNOWN_TAG = 'f'.repeat(12);
const NOW = Date.UTC(2026, 10, 21, 10, 30);

let organization: string;
let admin: TestUser;

const server = await startSecondServer(await useSharedServer(() => NOW), { maxTagBatch: 20 });
const fixtures = createFixtures(server);
afterAll(() => server.close());
beforeEach(async () => {
  organization = (await fixtures.organization()).uid;
  admin = await fixtures.user({ organization, admin: true });
});

const path = (uid = organization) => `/api/tagging/v1.0/organizations/${uid}/tags`;
const change = (body: unknown, token: string | undefined = admin.token, uid = organization) =>
  server.request('PATCH', path(uid), { token, body });
const newAsset = async (overrides: object = {}) => (await fixtures.asset({ organization, ...overrides })).uid;
const scoped = async (user: TestUser, ...scopes: string[]) =>
  (await fixtures.token(user.id, { scopes })).token;
const references = (...uids: string[]) => uids.map((uid) => ({ uid }));
const events = async () =>
  (await fixtures.auditEvents()).filter((event) => event.action === 'asset-tag.attach');

/** Creates tags through operation 8 and returns their uids. */
async function newTags(names: string[], entities: string[] = [], uid = organization): Promise<string[]> {
  const staff = await fixtures.user();
  const response = await server.request('POST', path(uid), {
    token: staff.token,
    body: { tags: names.map((name) => ({ name, entities: references(...entities) })) },
  });
  return response.body.tags.map((tag: { uid: string }) => tag.uid);
}

const entitiesOf = async (tag: string) =>
  (
    await server.context.db.read
      .selectFrom('asset_taggings')
      .innerJoin('asset_tags', 'asset_tags.id', 'asset_taggings.tag_id')
      .innerJoin('assets', 'assets.id', 'asset_taggings.asset_id')
      .select('assets.uid')
      .where('asset_tags.uid', '=', tag)
      .orderBy('assets.uid')
      .execute()
  ).map(({ uid }) => uid);

const invalid = { area: 'tagging', status: 422, kind: 'validation-failed' } as const;

describe('Operation 9: attach or detach entities to or from tags', () => {
  it('attaches and detaches each entity for each tag, and returns no body', async () => {
    const [a, b, c] = [await newAsset(), await newAsset(), await newAsset()];
    const tags = await newTags(['one', 'two'], [a, b]);
    const [untouched] = await newTags(['three'], [a]);
    const response = await change({ uids: tags, addEntities: references(c), delEntityUids: [a] });
    expect(response.status).toBe(204);
    expect(response.text).toBe('');
    for (const tag of tags) expect(await entitiesOf(tag)).toEqual([b, c].sort());
    expect(await entitiesOf(untouched!)).toEqual([a]);
  });

  it('ignores entities that are already attached or detached, and duplicate uids', async () => {
    const [a, b, c] = [await newAsset(), await newAsset(), await newAsset()];
    const [tag] = await newTags(['one'], [a]);
    const body = {
      uids: [tag, tag],
      addEntities: references(a, b, b),
      delEntityUids: [c, c],
    };
    for (let i = 0; i < 2; i += 1) expect((await change(body)).status).toBe(204);
    expect(await entitiesOf(tag!)).toEqual([a, b].sort());
  });

  it.each([{}, { addEntities: [] }, { delEntityUids: [] }, { addEntities: [], delEntityUids: [] }])(
    'accepts %j, which changes nothing',
    async (lists) => {
      const asset = await newAsset();
      const tags = await newTags(['one'], [asset]);
      expect((await change({ uids: tags, ...lists })).status).toBe(204);
      expect(await entitiesOf(tags[0]!)).toEqual([asset]);
    },
  );

  it('records one audit event with before and after, and none if nothing changes', async () => {
    const [a, b, c] = [await newAsset(), await newAsset(), await newAsset()];
    const [tag] = await newTags(['one'], [a, b]);
    const before = (await events()).length;
    const body = { uids: [tag], addEntities: references(b, c), delEntityUids: [a] };
    const response = await change(body);
    await change(body);
    const written = (await events()).slice(before);
    expect(
      written.map((event) => ({
        ...event,
        before: JSON.parse(event.before!),
        after: JSON.parse(event.after!),
      })),
    ).toEqual([
      {
        ...columnsOfRequest(admin, response),
        at: NOW,
        action: 'asset-tag.attach',
        object_type: 'organization',
        object_id: organization,
        organization_id: expect.any(Number),
        before: { detached: { [tag!]: [a] } },
        after: { attached: { [tag!]: [c] } },
      },
    ]);
  });

  it('attaches tags of a group to assets of any organization in it', async () => {
    const otherOrganization = (await fixtures.organization()).uid;
    const group = (
      await fixtures.organizationGroup(`group${organization}`, [organization, otherOrganization])
    ).uid;
    const [ownAsset, foreignAsset] = [
      await newAsset(),
      (await fixtures.asset({ organization: otherOrganization })).uid,
    ];
    const [tag] = await newTags(['shared'], [], group);
    const staff = await fixtures.user();
    const body = { uids: [tag], addEntities: references(ownAsset, foreignAsset) };
    expect((await change(body, staff.token, group)).status).toBe(204);
    expect(await entitiesOf(tag!)).toEqual([ownAsset, foreignAsset].sort());
    // The tag belongs to the group, not to the organization.
    expect((await change(body, staff.token)).status).toBe(422);
    expect((await change({ uids: [tag], delEntityUids: [ownAsset] }, admin.token, group)).status).toBe(204);
    expect((await change({ uids: [tag], delEntityUids: [foreignAsset] }, admin.token, group)).status).toBe(
      422,
    );
    expect(await entitiesOf(tag!)).toEqual([foreignAsset]);
  });

  describe('Unknown objects', () => {
    it('returns 422 with the index of unknown tags', async () => {
      const asset = await newAsset();
      const [tag] = await newTags(['one']);
      const otherOrganization = (await fixtures.organization()).uid;
      const [foreign] = await newTags(['one'], [], otherOrganization);
      const staff = await fixtures.user();
      const uids = [tag!, UNKNOWN_TAG, 'no uid', foreign!];
      const response = await change({ uids, addEntities: references(asset) }, staff.token);
      expectProblem(server, response, {
        ...invalid,
        failedValidations: [1, 2, 3].map((index) => ({
          index,
          failedValidation: [
            {
              property: `uids.${index}`,
              message: 'is not the uid of a tag that you can access',
              value: uids[index],
            },
          ],
        })),
      });
      expect(await entitiesOf(tag!)).toEqual([]);
    });

    it('returns 422 for the tags of unknown organizations and those that the caller cannot see', async () => {
      const otherOrganization = (await fixtures.organization()).uid;
      const [tag] = await newTags(['one'], [], otherOrganization);
      for (const uid of ['nobody', 'a'.repeat(60), otherOrganization]) {
        expectProblem(server, await change({ uids: [tag] }, admin.token, uid), {
          ...invalid,
          failedValidations: [
            {
              index: 0,
              failedValidation: [
                {
                  property: 'uids.0',
                  message: 'is not the uid of a tag that you can access',
                  value: tag,
                },
              ],
            },
          ],
        });
      }
    });

    it('returns 422 with the index of unknown entities in either list, and changes nothing', async () => {
      const otherOrganization = (await fixtures.organization()).uid;
      const foreign = (await fixtures.asset({ organization: otherOrganization })).uid;
      const [a, b] = [await newAsset(), await newAsset()];
      const [tag] = await newTags(['one'], [b]);
      const staff = await fixtures.user();
      const fieldError = (index: number, property: string, value: string) => ({
        index,
        failedValidation: [{ property, message: 'is not the uid of an asset that you can access', value }],
      });
      const response = await change(
        {
          uids: [tag],
          addEntities: references(a, foreign),
          delEntityUids: [b, a.toUpperCase(), UNKNOWN_ASSET],
        },
        staff.token,
      );
      const lists = response.body.failedValidations as { index: number; failedValidation: unknown[] }[];
      expectProblem(server, response, { ...invalid, failedValidations: lists });
      const all = lists.flatMap(({ index, failedValidation }) =>
        failedValidation.map((field) => ({ index, failedValidation: [field] })),
      );
      expect(all).toEqual([
        fieldError(1, 'addEntities.1.uid', foreign),
        fieldError(1, 'delEntityUids.1', a.toUpperCase()),
        fieldError(2, 'delEntityUids.2', UNKNOWN_ASSET),
      ]);
      expect(await entitiesOf(tag!)).toEqual([b]);
    });

    it('returns 422 for an organization uid with a NUL character', async () => {
      const response = await change({ uids: [UNKNOWN_TAG] }, admin.token, `${organization}%00`);
      expect([response.status, response.body.failedValidations.length]).toEqual([422, 1]);
    });

    it.each(['ACME', '-', '_a', '%00', 'é'])('returns 400 for the organization uid %s', async (uid) => {
      expectSimpleError(await change({ uids: [UNKNOWN_TAG] }, admin.token, uid), 400);
    });
  });

  describe('scopes', () => {
    it.each(TAG_SCOPES)('accepts a token with the scope %s', async (scope) => {
      const listing = (await fixtures.assessment(organization)).uid;
      const asset = await newAsset();
      await fixtures.list(listing, asset);
      const tags = await newTags(['one']);
      const isClient = scope.startsWith('asset_client');
      const user = isClient ? admin : await fixtures.user();
      if (isClient) await fixtures.access(listing, user.id);
      const body = { uids: tags, addEntities: references(asset) };
      expect((await change(body, await scoped(user, scope))).status).toBe(204);
      expect(await entitiesOf(tags[0]!)).toEqual([asset]);
    });

    it.each([
      ['asset_boss_ow', ['boss', 'any']],
      ['asset_boss_lw', ['boss', 'any']],
      ['asset_client_ow', ['client', 'any']],
      ['asset_client_lw', ['client', 'any']],
      ['asset_gw', ['client', 'boss', 'any']],
    ] as const)('allows only assets that the scope %s may modify', async (scope, writable) => {
      const listing = (await fixtures.assessment(organization)).uid;
      const tags = await newTags(['one']);
      const user = scope.startsWith('asset_client') ? admin : await fixtures.user();
      if (user === admin) await fixtures.access(listing, admin.id);
      const token = await scoped(user, scope);
      for (const writableBy of ['client', 'boss', 'any'] as const) {
        const [asset, unlisted] = [await newAsset({ writableBy }), await newAsset({ writableBy })];
        await fixtures.list(listing, asset);
        const status = (writable as readonly string[]).includes(writableBy) ? 204 : 422;
        const attach = (uid: string) => change({ uids: tags, addEntities: references(uid) }, token);
        expect((await attach(asset)).status).toBe(status);
        expect((await attach(unlisted)).status).toBe(scope.endsWith('lw') ? 422 : status);
      }
    });

    it('returns 403 to a token without a sufficient scope', async () => {
      const response = await change({ uids: [UNKNOWN_TAG] }, await scoped(admin, 'api'));
      expectProblem(server, response, { area: 'tagging', status: 403, kind: 'forbidden' });
      expect(response.headers.get('www-authenticate')).toMatch('error="insufficient_scope"');
    });

    it('accepts only write scopes in strict mode', async () => {
      const strict = await startSecondServer(server, { strictScopes: true });
      try {
        const strictFixtures = createFixtures(strict);
        const { uid } = await strictFixtures.organization();
        const user = await strictFixtures.user({ organization: uid, admin: true });
        const send = async (scope: string) => {
          const { token } = await strictFixtures.token(user.id, { scopes: [scope] });
          return (await strict.request('PATCH', path(uid), { token, body: { uids: ['x'] } })).status;
        };
        expect(await Promise.all(['tag_or', 'tag_lr', 'asset_or', 'asset_lr'].map(send))).toEqual([
          403, 403, 403, 403,
        ]);
        expect(await Promise.all(['tag_ow', 'tag_lw', 'asset_client_ow'].map(send))).toEqual([422, 422, 422]);
      } finally {
        await strict.close();
      }
    });
  });

  describe('Validation', () => {
    it('returns 422 for an entity in both lists before it looks up any object', async () => {
      const asset = await newAsset();
      const response = await change(
        { uids: [UNKNOWN_TAG], addEntities: references(asset, 'a', 'b'), delEntityUids: ['b', asset] },
        admin.token,
        'nobody',
      );
      expectProblem(server, response, {
        ...invalid,
        failedValidations: [
          [0, asset],
          [2, 'b'],
        ].map(([index, value]) => ({
          index,
          failedValidation: [
            {
              property: `addEntities.${index}.uid`,
              message: 'must not be in delEntityUids as well',
              value,
            },
          ],
        })),
      });
    });

    it.each(['not JSON', '[]', '7', 'null', ''])(
      'returns 400 for the body %j, which is not a JSON object',
      async (raw) => {
        const headers = { 'content-type': 'application/json' };
        expectSimpleError(await server.request('PATCH', path(), { token: admin.token, raw, headers }), 400);
      },
    );

    it.each([
      { uids: UNKNOWN_TAG },
      { uids: null },
      { uids: [5] },
      { uids: ['x'], addEntities: {} },
      { uids: ['x'], addEntities: ['x'] },
      { uids: ['x'], addEntities: [{ uid: null }] },
      { uids: ['x'], delEntityUids: 'x' },
      { uids: ['x'], delEntityUids: [{ uid: 'x' }] },
    ])('returns 400 for a wrong type in %j', async (body) => {
      expectSimpleError(await change(body), 400);
    });

    it('returns 422 without uids and for an empty list', async () => {
      const fieldError = (message: string, rest = {}) => ({
        ...invalid,
        failedValidation: [{ property: 'uids', message, ...rest }],
      });
      expectProblem(server, await change({ addEntities: [] }), fieldError('is required'));
      expectProblem(
        server,
        await change({ uids: [] }),
        fieldError('must have at least one item', { value: '[]' }),
      );
    });

    it.each([
      ['an entity without a uid', { addEntities: [{ uid: 'x' }, {}] }, 'addEntities.1.uid', undefined],
      ['a NUL character', { delEntityUids: ['x', 'a\0'] }, 'delEntityUids.1', 'a\0'],
      ['half a surrogate pair', { addEntities: references('x', '\udfff') }, 'addEntities.1.uid', '\ufffd'],
      [
        'a uid that is too long',
        { delEntityUids: ['x', 'x'.repeat(2_049)] },
        'delEntityUids.1',
        'x'.repeat(100),
      ],
    ])('returns 422 for %s', async (_name, body, property, value) => {
      expectProblem(server, await change({ uids: [UNKNOWN_TAG], ...body }), {
        ...invalid,
        failedValidations: [
          {
            index: 1,
            failedValidation: [
              { property, message: expect.any(String), ...(value === undefined ? {} : { value }) },
            ],
          },
        ],
      });
    });

    it('accepts the largest batch', async () => {
      const entities = await Promise.all(Array.from({ length: 20 }, () => newAsset()));
      const tags = await newTags(Array.from({ length: 20 }, (_, index) => `tag ${index}`));
      expect((await change({ uids: tags, addEntities: references(...entities) })).status).toBe(204);
      for (const tag of tags) expect(await entitiesOf(tag)).toEqual([...entities].sort());
      expect((await change({ uids: tags, delEntityUids: entities })).status).toBe(204);
      for (const tag of tags) expect(await entitiesOf(tag)).toEqual([]);
    });

    it.each([
      ['uids', { uids: Array<string>(21).fill('\0') }],
      ['addEntities', { uids: [], addEntities: Array.from({ length: 21 }, () => ({})) }],
      ['delEntityUids', { delEntityUids: Array<string>(21).fill('x') }],
    ])('returns 413 for one item more in %s than the largest batch', async (_name, body) => {
      expectProblem(server, await change(body), {
        area: 'tagging',
        status: 413,
        kind: 'batch-too-large',
        maxBatchSize: 20,
        batchSize: 21,
      });
    });
  });

  it('applies concurrent updates of the same pairs, and records each change once', async () => {
    const entities = await Promise.all(Array.from({ length: 4 }, () => newAsset()));
    const tags = await newTags(['one', 'two']);
    const before = (await events()).length;
    const responses = await Promise.all(
      Array.from({ length: 24 }, (_, i) => {
        const order = i % 2 === 0 ? entities : entities.toReversed();
        const uids = i % 4 < 2 ? tags : tags.toReversed();
        return change(
          i % 3 === 0 ? { uids, delEntityUids: order } : { uids, addEntities: references(...order) },
        );
      }),
    );
    for (const { status } of responses) expect(status).toBe(204);
    const balance = new Map<string, number>();
    const count = (list: Record<string, string[]>, by: number) => {
      for (const [tag, uids] of Object.entries(list))
        for (const uid of uids) balance.set(`${tag} ${uid}`, (balance.get(`${tag} ${uid}`) ?? 0) + by);
    };
    for (const event of (await events()).slice(before)) {
      count(JSON.parse(event.before!).detached, -1);
      count(JSON.parse(event.after!).attached, 1);
    }
    for (const tag of tags) {
      const attached = new Set(await entitiesOf(tag));
      for (const uid of entities) expect(balance.get(`${tag} ${uid}`) ?? 0).toBe(attached.has(uid) ? 1 : 0);
    }
  });
});
