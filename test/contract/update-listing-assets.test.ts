import { createHash } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../harness/expect-problem.ts';
import { startSecondServer, startTestServer, useSharedServer } from '../harness/server.ts';
import { columnsOfRequest, type TestUser, createFixtures } from '../harness/fixtures.ts';

const UNKNOWN = 'f'.repeat(24);
const NOW = Date.UTC(2026, 10, 21, 10, 30);

let organization: string;
let listing: string;
let admin: TestUser;

const server = await startSecondServer(await useSharedServer(() => NOW), { maxAssetBatch: 20 });
const fixtures = createFixtures(server);
afterAll(() => server.close());
beforeEach(async () => {
  organization = (await fixtures.organization()).uid;
  listing = (await fixtures.assessment(organization)).uid;
  admin = await fixtures.user({ organization, admin: true });
});

const path = (uid = listing) => `/api/asset/v2/listings/${uid}/assets`;
const change = (body: unknown, token: string | undefined = admin.token, uid = listing) =>
  server.request('PATCH', path(uid), { token, body });
const rules = (...list: string[]) => list.map((rule) => ({ rule }));
const newAsset = async (overrides: object = {}) => (await fixtures.asset({ organization, ...overrides })).uid;
const scoped = async (user: TestUser, ...scopes: string[]) =>
  (await fixtures.token(user.id, { scopes })).token;
const events = async () =>
  (await fixtures.auditEvents()).filter((event) => event.action === 'listing.update');

/** Returns the assets of a listing with their scope rules, by uid. */
async function listed(uid = listing): Promise<Record<string, string[]>> {
  const rows = await server.context.db.read
    .selectFrom('listing_assets')
    .innerJoin('assessments', 'assessments.id', 'listing_assets.assessment_id')
    .innerJoin('assets', 'assets.id', 'listing_assets.asset_id')
    .select(['assets.uid', 'listing_assets.scope_rules'])
    .where('assessments.uid', '=', uid)
    .execute();
  return Object.fromEntries(rows.map((row) => [row.uid, JSON.parse(row.scope_rules)]));
}

describe('Operation 11: add or remove assets of a listing', () => {
  it('adds assets with their scope rules in order, and returns no body', async () => {
    const [a, b, c] = [await newAsset(), await newAsset(), await newAsset()];
    const response = await change({
      add: [
        { assetUid: a, scopeRules: rules('second', 'first', 'second') },
        { assetUid: b },
        { assetUid: c, scopeRules: [] },
      ],
    });
    expect(response.status).toBe(204);
    expect(response.text).toBe('');
    expect(await listed()).toEqual({ [a]: ['second', 'first', 'second'], [b]: [], [c]: [] });
  });

  it('adds and removes in one request, and removes scope rules only from this listing', async () => {
    const [a, b] = [await newAsset(), await newAsset()];
    const otherAssessment = (await fixtures.assessment(organization)).uid;
    await fixtures.list(listing, a, ['old']);
    await fixtures.list(otherAssessment, a, ['other']);
    expect((await change({ add: [{ assetUid: b }], remove: [a] })).status).toBe(204);
    expect(await listed()).toEqual({ [b]: [] });
    expect(await listed(otherAssessment)).toEqual({ [a]: ['other'] });
    expect((await change({ add: [{ assetUid: a }] })).status).toBe(204);
    expect(await listed()).toEqual({ [a]: [], [b]: [] });
  });

  it.each([
    ['replaces given rules', rules('new', 'old'), ['new', 'old']],
    ['clears the rules with an empty list', [], []],
    ['keeps the rules if they are absent', undefined, ['old', 'older']],
  ])('updates an asset that is already listed: %s', async (_name, scopeRules, expected) => {
    const asset = await newAsset();
    await fixtures.list(listing, asset, ['old', 'older']);
    expect((await change({ add: [{ assetUid: asset, scopeRules }] })).status).toBe(204);
    expect(await listed()).toEqual({ [asset]: expected });
  });

  it.each([
    ['unknown names', { assetsToAdd: [], 'not a token': 1 }, 'assetsToAdd'],
    ['nothing beside a known name', { add: [], assetsToAdd: [] }, null],
    ['nothing for an empty body', {}, null],
  ])('returns ignored properties in Assay-Ignored: %s', async (_what, body, ignored) => {
    const response = await change(body);
    expect([response.status, response.headers.get('assay-ignored')]).toEqual([204, ignored]);
  });

  it('applies the last rules of an asset that is added twice', async () => {
    const asset = await newAsset();
    const add = [
      { assetUid: asset, scopeRules: rules('a') },
      { assetUid: asset, scopeRules: rules('b', 'c') },
      { assetUid: asset },
    ];
    expect((await change({ add })).status).toBe(204);
    expect(await listed()).toEqual({ [asset]: ['b', 'c'] });
  });

  it('ignores unknown assets and those of other organizations in both lists', async () => {
    const otherOrganization = (await fixtures.organization()).uid;
    const foreign = (await fixtures.asset({ organization: otherOrganization })).uid;
    const foreignAssessment = (await fixtures.assessment(otherOrganization)).uid;
    await fixtures.list(foreignAssessment, foreign);
    const ownAsset = await newAsset();
    const staff = await fixtures.user();
    const add = [UNKNOWN, 'no uid', foreign, ownAsset].map((assetUid) => ({ assetUid }));
    expect((await change({ add, remove: [`${ownAsset}0`, 'x'] }, staff.token)).status).toBe(204);
    expect(await listed()).toEqual({ [ownAsset]: [] });
    expect((await change({ remove: [foreign, UNKNOWN, 'x', 'x'] }, staff.token)).status).toBe(204);
    expect(await listed(foreignAssessment)).toEqual({ [foreign]: [] });
  });

  it.each([{}, { add: [] }, { remove: [] }, { add: [], remove: [] }, { anything: 1 }])(
    'accepts %j, which changes nothing',
    async (body) => {
      const asset = await newAsset();
      await fixtures.list(listing, asset, ['rule']);
      expect((await change(body)).status).toBe(204);
      expect(await listed()).toEqual({ [asset]: ['rule'] });
    },
  );

  it('records one audit event with before and after', async () => {
    const [added, removed, replaced, remaining] = [
      await newAsset(),
      await newAsset(),
      await newAsset(),
      await newAsset(),
    ];
    await fixtures.list(listing, removed, ['gone']);
    await fixtures.list(listing, replaced, ['old', 'older']);
    await fixtures.list(listing, remaining, ['kept']);
    const before = (await events()).length;
    const response = await change({
      add: [
        { assetUid: added, scopeRules: rules('new') },
        { assetUid: replaced, scopeRules: rules('older') },
        { assetUid: remaining, scopeRules: rules('kept') },
      ],
      remove: [removed],
    });
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
        action: 'listing.update',
        object_type: 'assessment',
        object_id: listing,
        organization_id: expect.any(Number),
        before: { assets: { [added]: null, [removed]: ['gone'], [replaced]: ['old', 'older'] } },
        after: { assets: { [added]: ['new'], [removed]: null, [replaced]: ['older'] } },
      },
    ]);
  });

  it('records no event if nothing changes', async () => {
    const [a, b] = [await newAsset(), await newAsset()];
    await fixtures.list(listing, a, ['rule']);
    const before = (await events()).length;
    for (const body of [
      { add: [{ assetUid: a }, { assetUid: UNKNOWN }], remove: [b] },
      { add: [{ assetUid: a, scopeRules: rules('rule') }] },
      {},
    ]) {
      expect((await change(body)).status).toBe(204);
    }
    expect((await events()).length).toBe(before);
  });

  describe('Assets that a scope allows', () => {
    const WRITERS = ['client', 'boss', 'any'] as const;

    it.each([
      ['staff', 'asset_gw', ['client', 'boss', 'any'], true],
      ['staff', 'asset_boss_ow', ['boss', 'any'], true],
      ['staff', 'asset_boss_lw', ['boss', 'any'], false],
      ['admin', 'asset_client_ow', ['client', 'any'], true],
      ['member', 'asset_client_lw', ['client', 'any'], false],
    ] as const)('%s with %s', async (role, scope, writable, unlistedToo) => {
      const otherAssessment = (await fixtures.assessment(organization)).uid;
      const unreached = (await fixtures.assessment(organization)).uid;
      const user =
        role === 'staff'
          ? await fixtures.user()
          : await fixtures.user({ organization, admin: role === 'admin' });
      if (role === 'member')
        for (const uid of [listing, otherAssessment]) await fixtures.access(uid, user.id);
      const token = await scoped(user, scope);

      const expectedHere: string[] = [];
      const add: { assetUid: string }[] = [];
      const remove: string[] = [];
      for (const writableBy of WRITERS) {
        const isAllowed = (writable as readonly string[]).includes(writableBy);
        const [inListing, inAnother, nowhere, inUnreached] = [
          await newAsset({ writableBy }),
          await newAsset({ writableBy }),
          await newAsset({ writableBy }),
          await newAsset({ writableBy }),
        ];
        await fixtures.list(listing, inListing);
        await fixtures.list(otherAssessment, inAnother);
        await fixtures.list(unreached, inUnreached);
        remove.push(inListing);
        for (const assetUid of [inAnother, nowhere, inUnreached]) add.push({ assetUid });
        if (!isAllowed) expectedHere.push(inListing);
        if (isAllowed) expectedHere.push(inAnother);
        if (isAllowed && unlistedToo) expectedHere.push(nowhere);
        if (isAllowed && scope !== 'asset_client_lw') expectedHere.push(inUnreached);
      }
      expect((await change({ add, remove }, token)).status).toBe(204);
      expect(Object.keys(await listed()).sort()).toEqual(expectedHere.sort());
    });

    it('returns the same error for unknown listings and those that the caller cannot see', async () => {
      const otherOrganization = (await fixtures.organization()).uid;
      const foreignAssessment = (await fixtures.assessment(otherOrganization)).uid;
      const member = await fixtures.user({ organization });
      const assigned = await fixtures.user({ assignedTo: [otherOrganization] });
      const asset = await newAsset();
      const body = { add: [{ assetUid: asset }] };
      const responses = [
        await change(body, admin.token, 'nothing'),
        await change(body, admin.token, 'a'.repeat(60)),
        await change(body, admin.token, '-_9z'),
        await change(body, admin.token, foreignAssessment),
        await change(body, member.token),
        await change(body, await scoped(assigned, 'asset_boss_ow')),
        await change(body, await scoped(assigned, 'asset_boss_lw')),
      ];
      for (const response of responses)
        expectProblem(server, response, { area: 'asset', status: 404, kind: 'not-found' });
      expect(new Set(responses.map(({ body: { detail } }) => detail)).size).toBe(1);
      expect(await listed()).toEqual({});
      expect(await listed(foreignAssessment)).toEqual({});
    });
  });

  describe('Validation', () => {
    const malformed = { area: 'asset', status: 400, kind: 'invalid-request' } as const;
    const invalid = { area: 'asset', status: 422, kind: 'validation-failed' } as const;

    it.each(['not JSON', '[]', '"text"', 'null', ''])(
      'returns 400 for the body %j, which is not a JSON object',
      async (raw) => {
        const headers = { 'content-type': 'application/json' };
        expectProblem(
          server,
          await server.request('PATCH', path(), { token: admin.token, raw, headers }),
          malformed,
        );
      },
    );

    it.each([
      ['add', {}],
      ['add', null],
      ['remove', 'x'],
      ['remove', null],
    ])('returns 400 if %s has the wrong type: %j', async (property, value) => {
      expectProblem(server, await change({ [property]: value }), {
        ...malformed,
        failedValidation: [
          {
            property,
            message: 'must be a list',
            value: typeof value === 'string' ? value : JSON.stringify(value),
          },
        ],
      });
    });

    it.each([
      ['an item of add', { add: [{ assetUid: UNKNOWN }, 'x'] }, 'add.1', 'x'],
      ['an assetUid', { add: [{ assetUid: UNKNOWN }, { assetUid: 5 }] }, 'add.1.assetUid', '5'],
      [
        'scopeRules',
        { add: [{ assetUid: UNKNOWN }, { assetUid: 'x', scopeRules: {} }] },
        'add.1.scopeRules',
        '{}',
      ],
      [
        'a scope rule',
        { add: [{ assetUid: UNKNOWN }, { assetUid: 'x', scopeRules: ['y'] }] },
        'add.1.scopeRules.0',
        'y',
      ],
      [
        'a rule',
        { add: [{ assetUid: UNKNOWN }, { assetUid: 'x', scopeRules: [{ rule: 1 }] }] },
        'add.1.scopeRules.0.rule',
        '1',
      ],
      ['an item of remove', { remove: ['x', { uid: 'x' }] }, 'remove.1', '{"uid":"x"}'],
    ])('returns 400 if %s has the wrong type', async (_name, body, property, value) => {
      expectProblem(server, await change(body), {
        ...malformed,
        failedValidations: [
          { index: 1, failedValidation: [{ property, message: expect.stringMatching(/^must be /), value }] },
        ],
      });
    });

    it('returns 404 for a listing uid with a NUL character', async () => {
      expect((await change({}, admin.token, 'acme%00')).status).toBe(404);
    });

    it.each(['ACME', '%20', 'A', '%00a', 'é'])('returns 400 for the listing uid %s', async (uid) => {
      const response = await change({}, admin.token, uid);
      expectProblem(server, response, {
        ...malformed,
        failedValidation: [
          { property: 'listingUid', message: expect.any(String), value: decodeURIComponent(uid) },
        ],
      });
    });

    it.each([
      ['no assetUid', { scopeRules: [] }, 'add.1.assetUid', undefined],
      ['an empty rule', { assetUid: 'x', scopeRules: rules('') }, 'add.1.scopeRules.0.rule', ''],
      [
        'a rule of 2,049 characters',
        { assetUid: 'x', scopeRules: rules('ok', 'r'.repeat(2_049)) },
        'add.1.scopeRules.1.rule',
        'r'.repeat(100),
      ],
      [
        'a rule with a NUL character',
        { assetUid: 'x', scopeRules: rules('a\0') },
        'add.1.scopeRules.0.rule',
        'a\0',
      ],
      ['a rule without text', { assetUid: 'x', scopeRules: [{}] }, 'add.1.scopeRules.0.rule', undefined],
      [
        '101 rules',
        { assetUid: 'x', scopeRules: rules(...Array<string>(101).fill('r')) },
        'add.1.scopeRules',
        expect.stringMatching(/^\[\{"rule":"r"\},.{86}$/),
      ],
      ['half a surrogate pair', { assetUid: 'x\udc00' }, 'add.1.assetUid', 'x\ufffd'],
    ])('returns 422 for %s', async (_name, item, property, value) => {
      expectProblem(server, await change({ add: [{ assetUid: UNKNOWN }, item] }), {
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

    it('accepts 100 rules of 2,048 code points each', async () => {
      const asset = await newAsset();
      const longest = '🔒'.repeat(2_048);
      const list = [longest, ...Array.from({ length: 99 }, (_, index) => `rule ${index}`)];
      expect((await change({ add: [{ assetUid: asset, scopeRules: rules(...list) }] })).status).toBe(204);
      expect(await listed()).toEqual({ [asset]: list });
    });

    it('returns 422 for an asset in both lists, also an unknown one, before it looks up the listing', async () => {
      const asset = await newAsset();
      const add = [asset, 'a', UNKNOWN].map((assetUid) => ({ assetUid }));
      const response = await change({ add, remove: ['b', UNKNOWN, asset] }, admin.token, 'nothing');
      expectProblem(server, response, {
        ...invalid,
        failedValidations: [
          [0, asset],
          [2, UNKNOWN],
        ].map(([index, value]) => ({
          index,
          failedValidation: [
            { property: `add.${index}.assetUid`, message: 'must not be in remove as well', value },
          ],
        })),
      });
      expect(await listed()).toEqual({});
    });

    it.each([
      ['add', Array.from({ length: 21 }, () => ({}))],
      ['remove', Array<string>(21).fill('\0')],
    ])('returns 413 for one item more in %s than the largest batch', async (property, list) => {
      expectProblem(server, await change({ [property]: list }), {
        area: 'asset',
        status: 413,
        kind: 'batch-too-large',
        maxBatchSize: 20,
        batchSize: 21,
      });
    });

    it.each(['api', 'tag_ow', 'asset_or', 'asset_lr'])(
      'returns 403 to a token with only the scope %s',
      async (scope) => {
        const response = await change({}, await scoped(admin, scope));
        expectProblem(server, response, { area: 'asset', status: 403, kind: 'forbidden' });
        expect(response.headers.get('www-authenticate')).toMatch('error="insufficient_scope"');
      },
    );
  });

  it('applies concurrent updates of a listing one after another', async () => {
    const uids = await Promise.all(Array.from({ length: 4 }, () => newAsset()));
    const first = (await events()).length;
    const responses = await Promise.all(
      Array.from({ length: 24 }, (_, i) => {
        const order = i % 2 === 0 ? uids : uids.toReversed();
        const scopeRules = rules(...Array.from({ length: (i % 5) + 1 }, (_rule, j) => `${i}.${j}`));
        return change(
          i % 6 === 5 ? { remove: order } : { add: order.map((assetUid) => ({ assetUid, scopeRules })) },
        );
      }),
    );
    for (const { status } of responses) expect(status).toBe(204);
    let state: Record<string, unknown> = Object.fromEntries(uids.map((uid) => [uid, null]));
    for (const event of (await events()).slice(first)) {
      const { assets: before } = JSON.parse(event.before!);
      for (const [uid, previous] of Object.entries(before)) expect(state[uid]).toEqual(previous);
      state = { ...state, ...JSON.parse(event.after!).assets };
    }
    const expected = Object.fromEntries(Object.entries(state).filter(([, list]) => list !== null));
    expect(await listed()).toEqual(expected);
  });

  it('updates more assets than one statement handles, and records up to 300, and the number and a digest of more', async () => {
    const largeServer = await startTestServer();
    try {
      const largeFixtures = createFixtures(largeServer);
      const { uid, id } = await largeFixtures.organization();
      const { token } = await largeFixtures.user({ organization: uid, admin: true });
      const assessment = await largeFixtures.assessment(uid);
      const uids = Array.from({ length: 1_203 }, (_, index) => index.toString(16).padStart(24, '0'));
      await largeServer.context.db.write(async (tx) => {
        for (let start = 0; start < uids.length; start += 500)
          await tx
            .insertInto('assets')
            .values(
              uids.slice(start, start + 500).map((asset) => ({
                uid: asset,
                organization_id: id,
                type: 'webapp',
                location: asset,
                name: asset,
                criticality: 'low',
                writable_by: 'any',
                created_at: NOW,
                updated_at: NOW,
              })),
            )
            .execute();
      });
      const storedRules = async () =>
        largeServer.context.db.read.selectFrom('listing_assets').select('scope_rules').execute();
      const recorded = async () => {
        const event = (await largeFixtures.auditEvents()).at(-1);
        return [event?.before, event?.after].map((text) => JSON.parse(text ?? '').assets);
      };
      const digest = (list: readonly string[], text: string) => ({
        count: list.length,
        sha256: createHash('sha256')
          .update(list.map((asset) => `${asset} ${text}\n`).join(''))
          .digest('hex'),
      });
      const send = (body: object) => largeServer.request('PATCH', path(assessment.uid), { token, body });
      const add = uids.toReversed().map((assetUid) => ({ assetUid, scopeRules: rules('a', 'b') }));
      expect((await send({ add })).status).toBe(204);
      expect(await storedRules()).toEqual(uids.map(() => ({ scope_rules: '["a","b"]' })));
      expect(await recorded()).toEqual([digest(uids, 'null'), digest(uids, '["a","b"]')]);

      expect((await send({ remove: uids.slice(301) })).status).toBe(204);
      expect(await storedRules()).toHaveLength(301);
      expect(await recorded()).toEqual([
        digest(uids.slice(301), '["a","b"]'),
        digest(uids.slice(301), 'null'),
      ]);

      expect((await send({ remove: uids.slice(1) })).status).toBe(204);
      expect(await storedRules()).toHaveLength(1);
      expect(await recorded()).toEqual(
        [['a', 'b'], null].map((previousTags) =>
          Object.fromEntries(uids.slice(1, 301).map((asset) => [asset, previousTags])),
        ),
      );
    } finally {
      await largeServer.close();
    }
  });
});
