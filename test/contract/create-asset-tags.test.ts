import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { TAG_SCOPES } from '../../src/auth/scopes.ts';
import { createAssetTags, planAssetTags } from '../../src/domain/assets/create-asset-tags.ts';
import { expectProblem, expectSimpleError } from '../harness/expect-problem.ts';
import { startSecondServer, useSharedServer } from '../harness/server.ts';
import { columnsOfRequest, type TestUser, createFixtures } from '../harness/fixtures.ts';

const UNKNOWN = 'f'.repeat(24);
const NOW = Date.UTC(2026, 10, 21, 10, 30);
const TAG_UID = /^[0-9a-f]{12}$/;

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
const create = (body: unknown, token: string | undefined = admin.token, uid = organization) =>
  server.request('POST', path(uid), { token, body });
const tagged = (name: string, ...uids: string[]) => ({
  tags: [{ name, entities: uids.map((uid) => ({ uid })) }],
});
const newAsset = async (overrides: object = {}) => (await fixtures.asset({ organization, ...overrides })).uid;
const scoped = async (user: TestUser, ...scopes: string[]) =>
  (await fixtures.token(user.id, { scopes })).token;
const events = async () =>
  (await fixtures.auditEvents()).filter((event) => event.action === 'asset-tag.create');

/** Returns the tags of an organization or a group by name, with their entities. */
async function stored(uid = organization): Promise<Record<string, string[]>> {
  const rows = await server.context.db.read
    .selectFrom('asset_tags')
    .innerJoin('organizations', 'organizations.id', 'asset_tags.organization_id')
    .leftJoin('asset_taggings', 'asset_taggings.tag_id', 'asset_tags.id')
    .leftJoin('assets', 'assets.id', 'asset_taggings.asset_id')
    .select(['asset_tags.name', 'assets.uid'])
    .where('organizations.uid', '=', uid)
    .orderBy('assets.uid', (order) => order.asc().nullsFirst())
    .execute();
  const tagsByAsset: Record<string, string[]> = {};
  for (const row of rows) (tagsByAsset[row.name] ??= []).push(...(row.uid === null ? [] : [row.uid]));
  return tagsByAsset;
}

const invalid = { area: 'tagging', status: 422, kind: 'validation-failed' } as const;
const errorAt = (index: number, property: string, value?: string) => ({
  ...invalid,
  failedValidations: [
    {
      index,
      failedValidation: [
        { property, message: expect.any(String), ...(value === undefined ? {} : { value }) },
      ],
    },
  ],
});

describe('Operation 8: create asset tags', () => {
  it('creates tags in request order, with trimmed names and unique entities', async () => {
    const [a, b] = [await newAsset(), await newAsset()];
    const response = await create({
      tags: [
        { name: '  edge ', entities: [{ uid: a }, { uid: b }, { uid: a }] },
        { name: 'Core', entities: [] },
        { name: 'ünïcode 🔒' },
      ],
    });
    const tag = (name: string, ...uids: string[]) => ({
      uid: expect.stringMatching(TAG_UID),
      name,
      orgUid: organization,
      entities: uids.map((uid) => ({ uid, entityType: 'asset' })),
    });
    expect(response.body).toEqual({ tags: [tag('edge', a, b), tag('Core'), tag('ünïcode 🔒')] });
    expect(response.status).toBe(201);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(new Set(response.body.tags.map(({ uid }: { uid: string }) => uid)).size).toBe(3);
    expect(await stored()).toEqual({ edge: [a, b].sort(), Core: [], 'ünïcode 🔒': [] });
  });

  it('returns pagination headers', async () => {
    const response = await create({ tags: [{ name: 'a' }, { name: 'b' }] });
    const self = server.origin + path();
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'pagination-limit': '20',
      'pagination-current-page': '1',
      'pagination-total-pages': '1',
      'pagination-total-count': '2',
      link: `<${self}>; rel="first", <${self}>; rel="last"`,
    });
  });

  it('records one audit event per tag', async () => {
    const asset = await newAsset();
    const before = (await events()).length;
    const response = await create({
      tags: [{ name: ' edge ', entities: [{ uid: asset }] }, { name: 'core' }],
    });
    const written = (await events()).slice(before);
    expect(written.map((event) => ({ ...event, after: JSON.parse(event.after!) }))).toEqual(
      [
        { name: 'edge', entities: [asset] },
        { name: 'core', entities: [] },
      ].map((after, index) => ({
        ...columnsOfRequest(admin, response),
        at: NOW,
        action: 'asset-tag.create',
        object_type: 'asset-tag',
        object_id: response.body.tags[index].uid,
        organization_id: expect.any(Number),
        before: null,
        after,
      })),
    );
  });

  describe('names', () => {
    it.each([
      ['of 255 characters, counted as code points', '🔒'.repeat(255)],
      ['of 255 characters and outer whitespace', `   ${'n'.repeat(255)}   `],
      ['of one character', 'x'],
    ])('accepts a name %s', async (_name, name) => {
      const response = await create({ tags: [{ name }] });
      expect(response.body.tags?.[0].name).toBe(name.trim());
    });

    it.each([
      ['empty', ''],
      ['blank', ' \t\n'],
      ['of 256 characters', 'n'.repeat(256)],
      ['longer than any text may be', 'n'.repeat(3_000)],
      ['with a NUL character', 'a\0b'],
      ['with half a surrogate pair', 'a\ud83d'],
    ])('returns 422 for a name that is %s, and creates nothing', async (_name, name) => {
      expectProblem(
        server,
        await create({ tags: [{ name: 'good' }, { name }] }),
        errorAt(1, 'tags.1.name', name.slice(0, 100).toWellFormed()),
      );
      expect(await stored()).toEqual({});
    });

    it.each(['Edge', ' edge\t', 'EDGE'])(
      'returns 422 for the duplicate names edge and %j in a request',
      async (name) => {
        const response = await create({ tags: [{ name: 'edge' }, { name: 'other' }, { name }] });
        expectProblem(server, response, errorAt(2, 'tags.2.name', name));
        expect(await stored()).toEqual({});
      },
    );

    it.each(['edge', 'EDGE', ' Edge '])(
      'returns 409 for %j if the organization has edge, logs a warning, and creates nothing',
      async (name) => {
        await create({ tags: [{ name: 'edge' }] });
        const response = await create({ tags: [{ name: 'new' }, { name }] });
        expectProblem(server, response, {
          area: 'tagging',
          status: 409,
          kind: 'conflict',
          failedValidations: [
            {
              index: 1,
              failedValidation: [{ property: 'tags.1.name', message: 'already exists', value: name.trim() }],
            },
          ],
        });
        expect(await stored()).toEqual({ edge: [] });
        const requestId = response.headers.get('x-request-id');
        expect(server.logs()).toContainEqual(
          expect.objectContaining({ level: 40, requestId, operation: 'createAssetTags' }),
        );
      },
    );

    it('accepts a name that another organization uses', async () => {
      await create({ tags: [{ name: 'edge' }] });
      const otherOrganization = (await fixtures.organization()).uid;
      const foreignUser = await fixtures.user({ organization: otherOrganization, admin: true });
      expect((await create({ tags: [{ name: 'edge' }] }, foreignUser.token, otherOrganization)).status).toBe(
        201,
      );
    });

    it('creates one tag when concurrent requests use the same name', async () => {
      const responses = await Promise.all(
        Array.from({ length: 12 }, (_, i) => create({ tags: [{ name: `own ${i}` }, { name: 'edge' }] })),
      );
      const created = responses.filter(({ status }) => status === 201);
      expect(created.length).toBe(1);
      expect(responses.filter(({ status }) => status === 409).length).toBe(11);
      expect(Object.keys(await stored()).length).toBe(2);
    });
  });

  describe('entities', () => {
    it('returns 422 with the index of unknown entities, and creates nothing', async () => {
      const otherOrganization = (await fixtures.organization()).uid;
      const foreign = (await fixtures.asset({ organization: otherOrganization })).uid;
      const ownAsset = await newAsset();
      const staff = await fixtures.user();
      const response = await create(
        {
          tags: [
            { name: 'first', entities: [{ uid: ownAsset }, { uid: UNKNOWN }] },
            { name: 'second', entities: [{ uid: 'no uid' }, { uid: ownAsset }, { uid: foreign }] },
          ],
        },
        staff.token,
      );
      const fieldError = (property: string, value: string) => ({
        property,
        message: 'is not the uid of an asset that you can access',
        value,
      });
      expectProblem(server, response, {
        ...invalid,
        failedValidations: [
          { index: 0, failedValidation: [fieldError('tags.0.entities.1.uid', UNKNOWN)] },
          {
            index: 1,
            failedValidation: [
              fieldError('tags.1.entities.0.uid', 'no uid'),
              fieldError('tags.1.entities.2.uid', foreign),
            ],
          },
        ],
      });
      expect(await stored()).toEqual({});
    });

    it('rejects entities that were deleted or became invisible between validation and the transaction', async () => {
      const { db } = server.context;
      const otherOrganization = (await fixtures.organization()).uid;
      const group = (
        await fixtures.organizationGroup(`left${organization}`, [organization, otherOrganization])
      ).uid;
      const changeContext = { ...cliChangeContext(NOW), accepted: TAG_SCOPES };
      const ownAsset = await newAsset();
      const foreignAsset = (await fixtures.asset({ organization: otherOrganization })).uid;
      const tags = [{ name: 'late', assets: [ownAsset, foreignAsset] }];
      const plan = await planAssetTags(db.read, changeContext, group, tags);
      expect(plan.assetIds).toHaveLength(2);

      const invalidFields = (...properties: string[]) => ({
        kind: 'invalid',
        fieldErrors: properties.map((property) => expect.objectContaining({ property })),
      });
      const make = () => db.write((tx) => createAssetTags(tx, changeContext, group, tags, plan));
      await db.write((tx) =>
        tx
          .deleteFrom('organization_group_members')
          .where(({ eb, selectFrom }) =>
            eb(
              'organization_id',
              'in',
              selectFrom('organizations').select('id').where('uid', '=', otherOrganization),
            ),
          )
          .execute(),
      );
      await expect(make()).rejects.toMatchObject(invalidFields('tags.0.assets.1'));
      await db.write((tx) => tx.deleteFrom('assets').where('uid', '=', ownAsset).execute());
      await expect(make()).rejects.toMatchObject(invalidFields('tags.0.assets.0', 'tags.0.assets.1'));
      expect(await stored(group)).toEqual({});
    });
  });

  describe('organizations', () => {
    it('creates tags of a group with assets of any organization in it', async () => {
      const otherOrganization = (await fixtures.organization()).uid;
      const group = (
        await fixtures.organizationGroup(`group${organization}`, [organization, otherOrganization])
      ).uid;
      const [ownAsset, foreignAsset] = [
        await newAsset(),
        (await fixtures.asset({ organization: otherOrganization })).uid,
      ];
      const staff = await fixtures.user();
      const response = await create(tagged('shared', ownAsset, foreignAsset), staff.token, group);
      expect(response.body.tags).toEqual([
        expect.objectContaining({ orgUid: group, entities: expect.arrayContaining([]) }),
      ]);
      expect(await stored(group)).toEqual({ shared: [ownAsset, foreignAsset].sort() });
      // Access to one organization gives access to the group's tags, but not to the other's assets.
      expect((await create(tagged('mine', ownAsset), admin.token, group)).status).toBe(201);
      expectProblem(
        server,
        await create(tagged('not mine', foreignAsset), admin.token, group),
        errorAt(0, 'tags.0.entities.0.uid', foreignAsset),
      );
    });

    it('returns the same 404 for unknown organizations and those that the caller cannot see', async () => {
      const otherOrganization = (await fixtures.organization()).uid;
      const group = (await fixtures.organizationGroup(`group${otherOrganization}`, [otherOrganization])).uid;
      const errors = [];
      for (const uid of [
        'nobody',
        'a'.repeat(60),
        `${organization}!`,
        `${organization}%00`,
        otherOrganization,
        group,
      ]) {
        const response = await create({ tags: [{ name: 'x' }] }, admin.token, uid);
        expectSimpleError(response, 404);
        errors.push(response.body.error);
      }
      expect(new Set(errors).size).toBe(1);
    });

    it.each(['ACME', '-', '_a', '%00', 'é'])('returns 400 for the organization uid %s', async (uid) => {
      expectSimpleError(await create({ tags: [{ name: 'x' }] }, admin.token, uid), 400);
    });
  });

  it('returns the first 1,000 of more unknown entities than a call can have arguments', async () => {
    const largeServer = await startSecondServer(server, { maxTagPairs: 160_000, maxTagBatch: 1_000 });
    try {
      const staff = await createFixtures(largeServer).user();
      await createFixtures(largeServer).organization('large');
      const entities = Array.from({ length: 1_000 }, (_, index) => ({ uid: `x${index}` }));
      const tags = Array.from({ length: 160 }, (_, index) => ({ name: `many ${index}`, entities }));
      const response = await largeServer.request('POST', '/api/tagging/v1.0/organizations/large/tags', {
        token: staff.token,
        body: { tags },
      });
      expect(response.status).toBe(422);
      const errors = response.body.failedValidations as { failedValidation: unknown[] }[];
      expect(errors.flatMap(({ failedValidation }) => failedValidation)).toHaveLength(1_000);
    } finally {
      await largeServer.close();
    }
  });

  describe('scopes', () => {
    it.each(TAG_SCOPES)('accepts a token with the scope %s', async (scope) => {
      const listing = (await fixtures.assessment(organization)).uid;
      const asset = await newAsset();
      await fixtures.list(listing, asset);
      const client = scope.startsWith('asset_client');
      const user = client ? admin : await fixtures.user();
      if (client) await fixtures.access(listing, user.id);
      const response = await create(tagged(scope, asset), await scoped(user, scope));
      expect(response.status).toBe(201);
    });

    it.each([
      ['tag_lw', ['client', 'boss', 'any']],
      ['tag_lr', ['client', 'boss', 'any']],
      ['asset_lr', ['client', 'boss', 'any']],
      ['asset_client_lw', ['client', 'any']],
    ] as const)("allows the assets of the caller's listings with the scope %s", async (scope, writable) => {
      const listing = (await fixtures.assessment(organization)).uid;
      const member = await fixtures.user({ organization });
      const token = await scoped(member, scope);
      expectSimpleError(await create({ tags: [{ name: 'too early' }] }, token), 404);
      await fixtures.access(listing, member.id);
      expect((await create({ tags: [{ name: 'without entities' }] }, token)).status).toBe(201);
      for (const writableBy of ['client', 'boss', 'any'] as const) {
        const [asset, unlisted] = [await newAsset({ writableBy }), await newAsset({ writableBy })];
        await fixtures.list(listing, asset);
        const isAllowed = (writable as readonly string[]).includes(writableBy);
        const response = await create(tagged(`${scope} ${writableBy}`, asset), token);
        expect(response.status).toBe(isAllowed ? 201 : 422);
        expect((await create(tagged('unlisted', unlisted), token)).status).toBe(422);
      }
    });

    it('returns 403 to a token without a sufficient scope', async () => {
      const response = await create({ tags: [{ name: 'x' }] }, await scoped(admin, 'api'));
      expectProblem(server, response, { area: 'tagging', status: 403, kind: 'forbidden' });
      expect(response.headers.get('www-authenticate')).toMatch(
        `error="insufficient_scope", scope="${TAG_SCOPES.join(' ')}"`,
      );
    });

    it('accepts only write scopes in strict mode', async () => {
      const strict = await startSecondServer(server, { strictScopes: true });
      try {
        const strictFixtures = createFixtures(strict);
        const { uid } = await strictFixtures.organization();
        const user = await strictFixtures.user({ organization: uid, admin: true });
        const send = async (scope: string) => {
          const { token } = await strictFixtures.token(user.id, { scopes: [scope] });
          return strict.request('POST', path(uid), { token, body: { tags: [{ name: scope }] } });
        };
        for (const scope of ['tag_or', 'tag_lr', 'asset_or', 'asset_lr'])
          expectProblem(strict, await send(scope), { area: 'tagging', status: 403, kind: 'forbidden' });
        expect((await send('tag_ow')).status).toBe(201);
      } finally {
        await strict.close();
      }
    });
  });

  describe('Validation', () => {
    it.each(['not JSON', '[]', '"text"', 'null', ''])(
      'returns 400 for the body %j, which is not a JSON object',
      async (raw) => {
        const headers = { 'content-type': 'application/json' };
        expectSimpleError(await server.request('POST', path(), { token: admin.token, raw, headers }), 400);
      },
    );

    it.each([
      { tags: 'x' },
      { tags: null },
      { tags: {} },
      { tags: ['x'] },
      { tags: [{ name: 5 }] },
      { tags: [{ name: null }] },
      { tags: [{ name: 'x', entities: {} }] },
      { tags: [{ name: 'x', entities: ['x'] }] },
      { tags: [{ name: 'x', entities: [{ uid: 1 }] }] },
    ])('returns 400 for a wrong type in %j', async (body) => {
      expectSimpleError(await create(body), 400);
    });

    it('returns 422 without tags and for an empty list', async () => {
      const fieldError = (message: string, rest = {}) => ({
        ...invalid,
        failedValidation: [{ property: 'tags', message, ...rest }],
      });
      expectProblem(server, await create({}), fieldError('is required'));
      expectProblem(
        server,
        await create({ tags: [] }),
        fieldError('must have at least one item', { value: '[]' }),
      );
    });

    it('returns 422 for a tag without a name and for an entity without a uid', async () => {
      const response = await create({ tags: [{ name: 'x', entities: [{}] }, {}] });
      expectProblem(server, response, {
        ...invalid,
        failedValidations: [
          { index: 0, failedValidation: [{ property: 'tags.0.entities.0.uid', message: 'is required' }] },
          { index: 1, failedValidation: [{ property: 'tags.1.name', message: 'is required' }] },
        ],
      });
    });

    it('accepts the largest batch', async () => {
      const uids = await Promise.all(Array.from({ length: 20 }, () => newAsset()));
      const tags = uids.map((_, index) => ({ name: `tag ${index}`, entities: uids.map((uid) => ({ uid })) }));
      const response = await create({ tags });
      expect(response.status).toBe(201);
      expect(response.body.tags[19].entities.length).toBe(20);
    });

    it.each([
      ['tags', { tags: Array.from({ length: 21 }, () => ({})) }],
      ['entities', { tags: [{ name: '' }, { name: 'x', entities: Array.from({ length: 21 }, () => ({})) }] }],
    ])('returns 413 for one item more in %s than the largest batch', async (_name, body) => {
      expectProblem(server, await create(body), {
        area: 'tagging',
        status: 413,
        kind: 'batch-too-large',
        maxBatchSize: 20,
        batchSize: 21,
      });
    });
  });
});
