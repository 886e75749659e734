import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type ProblemExpectation, expectProblem } from '../harness/expect-problem.ts';
import { engine, startSecondServer, useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const PATH = '/api/asset/v2/bulk/assets/criticality:update';
const UNKNOWN = 'f'.repeat(24);
const NOW = Date.UTC(2026, 10, 21, 10, 30);

let organization: string;
let admin: TestUser;

const server = await startSecondServer(await useSharedServer(() => NOW), { maxAssetBatch: 20 });
const fixtures = createFixtures(server);
afterAll(() => server.close());
beforeEach(async () => {
  organization = (await fixtures.organization()).uid;
  admin = await fixtures.user({ organization, admin: true });
});

const update = (body: unknown, token: string | undefined = admin.token, path = PATH) =>
  server.request('POST', path, { token, body });
const change = (assetUids: string[], criticality = 'high', organizationUid = organization) => ({
  organizationUid,
  criticality,
  assetUids,
});
const assets = async (count: number, overrides: object = {}) => {
  const uids: string[] = [];
  for (let i = 0; i < count; i += 1) uids.push((await fixtures.asset({ organization, ...overrides })).uid);
  return uids;
};
const criticalityOf = async (uid: string) =>
  (
    await server.context.db.read
      .selectFrom('assets')
      .select('criticality')
      .where('uid', '=', uid)
      .executeTakeFirstOrThrow()
  ).criticality;
const events = async () =>
  (await fixtures.auditEvents()).filter((event) => event.action === 'asset.criticality');
const scoped = async (user: TestUser, ...scopes: string[]) =>
  (await fixtures.token(user.id, { scopes })).token;

describe('Operation 10: update the criticality of many assets', () => {
  it.each(['high', 'medium', 'low', 'undefined'])('sets %s and returns only the count', async (to) => {
    const uids = await assets(3, { criticality: to === 'low' ? 'high' : 'low' });
    const response = await update(change(uids, to));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.body).toEqual({ updatedCount: 3 });
    expect(await Promise.all(uids.map(criticalityOf))).toEqual([to, to, to]);
  });

  it('counts only assets whose criticality changes', async () => {
    const [low] = await assets(1, { criticality: 'low' });
    const [high] = await assets(1, { criticality: 'high' });
    expect((await update(change([low!, high!]))).body).toEqual({ updatedCount: 1 });
    expect((await update(change([low!, high!]))).body).toEqual({ updatedCount: 0 });
  });

  it('counts duplicate assets once', async () => {
    const [a, b] = await assets(2);
    expect((await update(change([a!, b!, a!, a!]))).body).toEqual({ updatedCount: 2 });
  });

  it('ignores unknown assets, uids with a valid prefix, and assets of other organizations', async () => {
    const [ownAsset] = await assets(1);
    const otherOrganization = await fixtures.organization();
    const foreign = await fixtures.asset({ organization: otherOrganization.uid });
    const staff = await fixtures.user();
    const response = await update(change([UNKNOWN, `${ownAsset}0`, foreign.uid, ownAsset!]), staff.token);
    expect(response.body).toEqual({ updatedCount: 1 });
    expect(await criticalityOf(foreign.uid)).toBe('undefined');
  });

  it('records one audit event with before and after, and none if nothing changes', async () => {
    const low = (await assets(2, { criticality: 'low' })).sort();
    const [asset] = await assets(1);
    const before = (await events()).length;
    const response = await update(change([...low, asset!]));
    await update(change([...low, asset!]));
    const written = (await events()).slice(before);
    expect(written).toEqual([
      expect.objectContaining({
        at: NOW,
        action: 'asset.criticality',
        object_type: 'organization',
        object_id: organization,
        actor_kind: 'user',
        user_id: admin.id,
        count: 1,
        denied_key: null,
        internal: 0,
        credential_id: expect.any(String),
        address: '127.0.0.1',
        request_id: response.headers.get('x-request-id'),
        after: JSON.stringify({ criticality: 'high' }),
      }),
    ]);
    const previous = JSON.parse(written[0]!.before!);
    expect({ ...previous, low: previous.low.sort() }).toEqual({ low, undefined: [asset] });
  });

  describe('Assets that a scope allows', () => {
    const WRITERS = ['client', 'boss', 'any'] as const;

    it.each([
      ['staff', 'asset_gw', ['client', 'boss', 'any']],
      ['staff', 'asset_boss_ow', ['boss', 'any']],
      ['staff', 'asset_boss_lw', ['boss listed', 'any listed']],
      ['admin', 'asset_client_ow', ['client', 'any']],
      ['member', 'asset_client_lw', ['client listed', 'any listed']],
      ['member without access', 'asset_client_lw', null],
    ] as const)('%s with %s', async (role, scope, expected) => {
      const listing = (await fixtures.assessment(organization)).uid;
      const uids = new Map<string, string>();
      for (const writableBy of WRITERS) {
        uids.set(writableBy, (await fixtures.asset({ organization, writableBy })).uid);
        const listed = (await fixtures.asset({ organization, writableBy })).uid;
        uids.set(`${writableBy} listed`, listed);
        await fixtures.list(listing, listed);
      }
      const user =
        role === 'staff'
          ? await fixtures.user()
          : await fixtures.user({ organization, admin: role === 'admin' });
      if (role === 'member') await fixtures.access(listing, user.id);

      const response = await update(change([...uids.values()]), await scoped(user, scope));
      if (expected === null) {
        expect(response.status).toBe(422);
        return;
      }
      const allowed = scope.endsWith('lw')
        ? expected
        : expected.flatMap((writableBy) => [writableBy, `${writableBy} listed`]);
      expect(response.body).toEqual({ updatedCount: allowed.length });
      const changed = [];
      for (const [name, uid] of uids) if ((await criticalityOf(uid)) === 'high') changed.push(name);
      expect(changed.sort()).toEqual([...allowed].sort());
    });

    it('combines the scopes of a token', async () => {
      const [boss] = await assets(1, { writableBy: 'boss' });
      const [client] = await assets(1, { writableBy: 'client' });
      const staff = await fixtures.user();
      const token = await scoped(staff, 'asset_boss_ow', 'asset_gw');
      expect((await update(change([boss!, client!]), token)).body).toEqual({ updatedCount: 2 });
    });
  });

  describe('organizations', () => {
    const errorFor = (value: string): ProblemExpectation => ({
      area: 'asset',
      status: 422,
      kind: 'validation-failed',
      failedValidation: [{ property: 'organizationUid', message: expect.any(String), value }],
    });

    it('returns the same error for unknown organizations, those of others, and organization groups', async () => {
      const otherOrganization = (await fixtures.organization()).uid;
      const group = (await fixtures.organizationGroup(`group${organization}`, [organization])).uid;
      const foreign = await fixtures.asset({ organization: otherOrganization });
      const details = [];
      for (const uid of ['nobody', otherOrganization, group, 'a'.repeat(60)]) {
        const response = await update(change([foreign.uid], 'high', uid));
        expectProblem(server, response, errorFor(uid));
        details.push(response.body.detail);
      }
      expect(new Set(details).size).toBe(1);
      expect(await criticalityOf(foreign.uid)).toBe('undefined');
    });

    it('limits assigned staff with organization scopes to their organizations', async () => {
      const otherOrganization = (await fixtures.organization()).uid;
      const staff = await fixtures.user({ assignedTo: [otherOrganization] });
      const [ownAsset] = await assets(1);
      const token = await scoped(staff, 'asset_boss_ow');
      expectProblem(server, await update(change([ownAsset!]), token), errorFor(organization));
      const foreign = await fixtures.asset({ organization: otherOrganization });
      expect((await update(change([foreign.uid], 'low', otherOrganization), token)).body).toEqual({
        updatedCount: 1,
      });
    });
  });

  describe('Path', () => {
    it.each(['criticality%3Aupdate', 'criticality%3aupdate', '%63riticality:update'])(
      'accepts %s',
      async (last) => {
        const path = PATH.replace('criticality:update', last);
        expect((await update(change(await assets(1)), admin.token, path)).body).toEqual({ updatedCount: 1 });
        const rejected = await server.request('GET', path, { token: admin.token });
        expectProblem(server, rejected, { area: 'asset', status: 405, kind: 'method-not-allowed' });
        expect(rejected.headers.get('allow')).toBe('POST');
      },
    );

    it.each([
      'criticality',
      'criticalityXupdate',
      'criticality:updates',
      'criticality::update',
      'criticality:update/',
      'criticality%253Aupdate',
      'criticality:anything',
    ])('rejects %s', async (last) => {
      const response = await update(change([UNKNOWN]), admin.token, PATH.replace('criticality:update', last));
      expectProblem(server, response, { area: 'asset', status: 404, kind: 'not-found' });
    });
  });

  describe('Validation', () => {
    const validChange = () => change([UNKNOWN]);
    const malformed = { area: 'asset', status: 400, kind: 'invalid-request' } as const;

    it.each(['not JSON', '{"organizationUid":', '[]', '"text"', 'null', '7', ''])(
      'returns 400 for the body %j, which is not a JSON object',
      async (raw) => {
        const headers = { 'content-type': 'application/json' };
        const response = await server.request('POST', PATH, { token: admin.token, raw, headers });
        expectProblem(server, response, malformed);
      },
    );

    it.each([
      ['organizationUid', 5],
      ['organizationUid', null],
      ['criticality', ['high']],
      ['criticality', 1],
      ['assetUids', UNKNOWN],
      ['assetUids', { 0: UNKNOWN }],
      ['assetUids', null],
    ])('returns 400 if %s has the wrong type: %j', async (property, value) => {
      expectProblem(server, await update({ ...validChange(), [property]: value }), {
        ...malformed,
        failedValidation: [
          {
            property,
            message: expect.any(String),
            value: typeof value === 'string' ? value : JSON.stringify(value),
          },
        ],
      });
    });

    it('returns 400 with the index of every item of the wrong type', async () => {
      expectProblem(server, await update({ ...validChange(), assetUids: [UNKNOWN, 7, UNKNOWN, null] }), {
        ...malformed,
        failedValidations: [1, 3].map((index) => ({
          index,
          failedValidation: [
            {
              property: `assetUids.${index}`,
              message: 'must be text',
              value: index === 1 ? '7' : 'null',
            },
          ],
        })),
      });
    });

    it.each(['organizationUid', 'criticality', 'assetUids'])('returns 422 without %s', async (property) => {
      const { [property as keyof ReturnType<typeof validChange>]: _left, ...rest } = validChange();
      expectProblem(server, await update(rest), {
        area: 'asset',
        status: 422,
        kind: 'validation-failed',
        failedValidation: [{ property, message: 'is required' }],
      });
    });

    it.each([
      ['organizationUid', ''],
      ['organizationUid', 'ACME'],
      ['organizationUid', ' acme'],
      ['organizationUid', 'acme\u0000'],
      ['organizationUid', 'acme\ud800'],
      ['criticality', 'High'],
      ['criticality', ''],
      ['criticality', 'critical'],
      ['assetUids', []],
    ])('returns 422 if %s is %j', async (property, value) => {
      expectProblem(server, await update({ ...validChange(), [property]: value }), {
        area: 'asset',
        status: 422,
        kind: 'validation-failed',
        failedValidation: [
          {
            property,
            message: expect.any(String),
            value: Array.isArray(value) ? '[]' : value.toWellFormed(),
          },
        ],
      });
    });

    it('returns 422 with the index of uids that do not match the pattern', async () => {
      const uids = [UNKNOWN, 'F'.repeat(24), 'f'.repeat(23), `g${'f'.repeat(24)}`, ''];
      expectProblem(server, await update(change(uids)), {
        area: 'asset',
        status: 422,
        kind: 'validation-failed',
        failedValidations: [1, 2, 3, 4].map((index) => ({
          index,
          failedValidation: [
            {
              property: `assetUids.${index}`,
              message: 'must be 24 characters of 0-9 and a-f',
              value: uids[index],
            },
          ],
        })),
      });
    });

    it('accepts the largest batch, and uids with dashes and underscores', async () => {
      expect((await update(change(await assets(20)))).body).toEqual({ updatedCount: 20 });
      expectProblem(server, await update(change([UNKNOWN], 'high', '-_0a')), {
        area: 'asset',
        status: 422,
        kind: 'validation-failed',
        failedValidation: [{ property: 'organizationUid', message: expect.any(String), value: '-_0a' }],
      });
    });

    it('returns 413 for one item more than the largest batch before it validates them', async () => {
      expectProblem(server, await update(change(Array<string>(21).fill('no uid'))), {
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
        const response = await update(validChange(), await scoped(admin, scope));
        expectProblem(server, response, { area: 'asset', status: 403, kind: 'forbidden' });
        expect(response.headers.get('www-authenticate')).toMatch(
          'error="insufficient_scope", scope="asset_gw asset_client_ow asset_boss_ow asset_client_lw asset_boss_lw"',
        );
      },
    );
  });

  // SQLite has a single writer, so there are no conflicts.
  it.runIf(engine() === 'postgres')(
    'returns 409 for a write conflict that outlives its retries',
    async () => {
      const [asset] = await assets(1);
      const { db } = server.context;
      const run = (statement: string) => db.write((tx) => sql.raw(statement).execute(tx));
      await run(`create function give_way() returns trigger language plpgsql as
      $$ begin raise exception 'give way' using errcode = 'serialization_failure'; end $$`);
      await run('create trigger conflict before update on assets execute function give_way()');
      try {
        expectProblem(server, await update(change([asset!])), {
          area: 'asset',
          status: 409,
          kind: 'conflict',
        });
      } finally {
        await run('drop trigger conflict on assets');
      }
      expect(await criticalityOf(asset!)).toBe('undefined');
      expect((await update(change([asset!]))).body).toEqual({ updatedCount: 1 });
    },
  );

  it('applies concurrent updates of the same assets, and records before and after of each', async () => {
    const uids = await assets(5);
    const first = (await events()).length;
    const values = Array.from({ length: 24 }, (_, i) => ['high', 'medium', 'low'][i % 3]!);
    const responses = await Promise.all(
      values.map((to, i) => update(change(i % 2 === 0 ? uids : uids.toReversed(), to))),
    );
    for (const { status } of responses) expect(status).toBe(200);
    const state = new Map(uids.map((uid) => [uid, 'undefined']));
    let counted = 0;
    for (const event of (await events()).slice(first)) {
      const { criticality } = JSON.parse(event.after!);
      for (const [previous, changed] of Object.entries<string[]>(JSON.parse(event.before!))) {
        for (const uid of changed) {
          expect(state.get(uid)).toBe(previous);
          state.set(uid, criticality);
          counted += 1;
        }
      }
    }
    expect(responses.reduce((sum, { body }) => sum + body.updatedCount, 0)).toBe(counted);
    for (const uid of uids) expect(await criticalityOf(uid)).toBe(state.get(uid));
  });
});
