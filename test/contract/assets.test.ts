import { beforeEach, describe, expect, it } from 'vitest';
import { putPorts } from '../harness/ports.ts';
import { addDeltas } from '../../src/domain/shared/counters.ts';
import { expectProblem } from '../harness/expect-problem.ts';
import { useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

let now = Date.UTC(2026, 10, 22, 8);
const PATH = '/api/asset/v2/assets';
let organization: string;
let admin: TestUser;
let asset: { id: number; uid: string };

const server = await useSharedServer(() => now);
const fixtures = createFixtures(server);
beforeEach(async () => {
  organization = (await fixtures.organization()).uid;
  admin = await fixtures.user({ organization, admin: true });
  asset = await fixtures.asset({ organization, type: 'host', name: 'Mail', location: '192.0.2.1' });
});

const call = (method: string, body?: unknown, headers: Record<string, string> = {}, token = admin.token) =>
  server.request(method, `${PATH}/${asset.uid}`, { token, headers, ...(body === undefined ? {} : { body }) });
const get = (token = admin.token) => call('GET', undefined, {}, token);
const patch = (body: unknown, token = admin.token) => call('PATCH', body, {}, token);
const remove = (token = admin.token) => call('DELETE', undefined, {}, token);
const scoped = async ({ id }: TestUser, ...scopes: string[]) => (await fixtures.token(id, { scopes })).token;

describe('Operation 76: get an asset', () => {
  it('returns the asset with its tags and the listings that the caller can see', async () => {
    const member = await fixtures.user({ organization });
    const firstAssessment = await fixtures.assessment(organization);
    const secondAssessment = await fixtures.assessment(organization);
    await fixtures.access(firstAssessment.uid, member.id);
    expect((await get(member.token)).status).toBe(404);
    await fixtures.list(firstAssessment.uid, asset.uid, ['at night']);
    await fixtures.list(secondAssessment.uid, asset.uid);
    expect((await get(member.token)).body.listings).toEqual([
      { listingUid: firstAssessment.uid, scopeRules: [{ rule: 'at night' }] },
    ]);
    expect((await get()).body.listings).toHaveLength(2);
  });

  it('returns more than 100 tags, the limit of the list', async () => {
    const tags = Array.from({ length: 120 }, (_, index) => ({
      name: `tag ${String(index).padStart(3, '0')}`,
      entities: [{ uid: asset.uid }],
    }));
    await server.request('POST', `/api/tagging/v1.0/organizations/${organization}/tags`, {
      token: admin.token,
      body: { tags },
    });
    expect((await get()).body.tags.map(({ name }: { name: string }) => name)).toEqual(
      tags.map(({ name }) => name),
    );
    const { body } = await server.request('GET', PATH, { token: admin.token });
    expect(body[0].tags).toHaveLength(100);
  });

  it('returns 304 for a matching If-None-Match', async () => {
    const { headers } = await get();
    const repeated = await call('GET', undefined, { 'if-none-match': headers.get('etag')! });
    expect(repeated.status).toBe(304);
    await patch({ criticality: 'high' });
    expect((await call('GET', undefined, { 'if-none-match': headers.get('etag')! })).status).toBe(200);
  });

  it.each(['f'.repeat(24), 'F'.repeat(24), 'x', '%00'])('returns 404 for the uid %s', async (uid) => {
    const response = await server.request('GET', `${PATH}/${uid}`, { token: admin.token });
    expectProblem(server, response, { area: 'asset', status: 404, kind: 'not-found' });
  });
});

describe('Operation 77: update an asset', () => {
  it('updates the given fields and records before and after', async () => {
    now += 60_000;
    const response = await patch({ name: ' Mail server ', location: 'MAIL.example.', criticality: 'high' });
    expect(response.body).toMatchObject({
      name: 'Mail server',
      location: 'mail.example',
      criticality: 'high',
      description: '',
      updatedAt: new Date(now).toISOString(),
    });
    expect((await get()).body).toEqual(response.body);
    expect((await fixtures.auditEvents()).at(-1)).toMatchObject({
      action: 'asset.update',
      object_id: asset.uid,
      before: JSON.stringify({ location: '192.0.2.1', name: 'Mail', criticality: 'undefined' }),
      after: JSON.stringify({ location: 'mail.example', name: 'Mail server', criticality: 'high' }),
    });
    const list = await server.request('GET', `${PATH}?search=mail.ex&ipRange[]=0.0.0.0/0`, {
      token: admin.token,
    });
    expect(list.body).toEqual([]);
  });

  it('resets fields to their defaults with null', async () => {
    await patch({ description: 'x', criticality: 'low', writableBy: 'client' });
    const { body } = await patch({ name: null, description: null, criticality: null, writableBy: null });
    expect(body).toMatchObject({ name: '', description: '', criticality: 'undefined', writableBy: 'any' });
    expect((await patch({ location: null })).status).toBe(422);
  });

  it('accepts application/merge-patch+json, which other operations reject', async () => {
    const type = { 'content-type': 'application/merge-patch+json; charset=utf-8' };
    expect((await call('PATCH', { name: 'A' }, type)).body.name).toBe('A');
    const created = await server.request('POST', PATH, { token: admin.token, body: {}, headers: type });
    expectProblem(server, created, { area: 'asset', status: 415, kind: 'unsupported-media-type' });
  });

  it('ignores organization, type and listing, and keeps the version if nothing changes', async () => {
    const before = await get();
    const events = (await fixtures.auditEvents()).length;
    now += 1_000;
    const response = await patch({ organizationUid: 'other', assetType: 'webapp', name: 'Mail' });
    expect(response.body).toEqual(before.body);
    expect(response.headers.get('etag')).toBe(before.headers.get('etag'));
    expect(await fixtures.auditEvents()).toHaveLength(events);
  });

  it('changes name and location together for assets other than hosts and web applications', async () => {
    asset = await fixtures.asset({ organization, type: 'network', name: 'Office' });
    expect((await patch({ name: 'Lab' })).body).toMatchObject({ name: 'Lab', location: 'Lab' });
    expect((await patch({ location: 'Elsewhere' })).status).toBe(422);
    expect((await patch({ name: null })).status).toBe(422);
    expect((await patch({ name: 'Attic', location: 'Attic' })).body.location).toBe('Attic');
  });

  it.each([
    ['location', 'no host'],
    ['name', 'x'.repeat(256)],
    ['criticality', 'High'],
    ['writableBy', 'boss'],
  ])('returns 422 if %s is %j', async (property, value) => {
    expectProblem(server, await patch({ [property]: value }), {
      area: 'asset',
      status: 422,
      kind: 'validation-failed',
      failedValidation: [expect.objectContaining({ property })],
    });
  });

  it('returns 409 for the location of another asset', async () => {
    await fixtures.asset({ organization, type: 'host', location: '192.0.2.2' });
    expectProblem(server, await patch({ location: '192.0.2.2' }), {
      area: 'asset',
      status: 409,
      kind: 'conflict',
      failedValidation: [{ property: 'location', message: 'is already taken', value: '192.0.2.2' }],
    });
    expect((await patch({ location: '192.0.2.1' })).status).toBe(200);
  });

  it('returns 412 for a stale version, which operation 10 increments too', async () => {
    const { headers } = await get();
    const match = { 'if-match': headers.get('etag')! };
    await server.request('POST', '/api/asset/v2/bulk/assets/criticality:update', {
      token: admin.token,
      body: { organizationUid: organization, criticality: 'high', assetUids: [asset.uid] },
    });
    expect((await call('PATCH', { name: 'B' }, match)).status).toBe(412);
    expect((await call('DELETE', undefined, match)).status).toBe(412);
    expect((await get()).body).toMatchObject({ name: 'Mail', criticality: 'high' });
    expect((await call('PATCH', { name: 'B' }, { 'if-match': '*' })).status).toBe(200);
  });

  it('returns 404 to callers without write access', async () => {
    const reader = await scoped(admin, 'asset_or', 'asset_client_lw');
    expect((await patch({ name: 'B' }, reader)).status).toBe(404);
    const member = await fixtures.user({ organization });
    const { uid } = await fixtures.assessment(organization);
    await fixtures.access(uid, member.id);
    await fixtures.list(uid, asset.uid);
    expect((await patch({ name: 'B' }, member.token)).status).toBe(200);
    asset = await fixtures.asset({ organization, writableBy: 'boss' });
    expect((await patch({ name: 'B' })).status).toBe(404);
    expect((await get()).status).toBe(200);
  });
});

describe('Operation 78: delete an asset', () => {
  it('deletes the asset with its ports and taggings, and removes it from vulnerabilities', async () => {
    const { db } = server.context;
    const { uid: assessment } = await fixtures.assessment(organization);
    const { id } = await fixtures.vulnerability(assessment);
    const row = await db.read
      .selectFrom('vulnerabilities')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    await db.write(async (tx) => {
      await tx
        .insertInto('vulnerability_assets')
        .values({ organization_id: row.organization_id, vulnerability_id: id, asset_id: asset.id })
        .execute();
      await addDeltas(tx, [{ kind: 'asset', subject: asset.id, bucket: 'open', amount: 1 }]);
      await putPorts(tx, asset.id, [
        {
          number: 22,
          protocol: 'tcp',
          observed_state: 'open',
          service_name: null,
          service_banner: null,
          product_name: null,
          product_version: null,
          cpe: null,
          first_seen: 1,
          last_seen: 1,
        },
      ]);
    });
    await server.request('POST', `/api/tagging/v1.0/organizations/${organization}/tags`, {
      token: admin.token,
      body: { tags: [{ name: 'dmz', entities: [{ uid: asset.uid }] }] },
    });
    expect((await get()).body).toMatchObject({ openPortCount: 1, vulnerabilityCount: 1 });
    expect((await remove()).status).toBe(204);
    expect((await get()).status).toBe(404);
    expect((await remove()).status).toBe(404);
    const left = await Promise.all([
      db.read.selectFrom('ports').selectAll().where('asset_id', '=', asset.id).execute(),
      db.read.selectFrom('port_counts').selectAll().where('asset_id', '=', asset.id).execute(),
      db.read.selectFrom('asset_taggings').selectAll().where('asset_id', '=', asset.id).execute(),
      db.read.selectFrom('vulnerability_assets').selectAll().where('asset_id', '=', asset.id).execute(),
      db.read
        .selectFrom('counter_deltas')
        .selectAll()
        .where('kind', '=', 'asset')
        .where('subject', '=', asset.id)
        .execute(),
    ]);
    expect(left).toEqual([[], [], [], [], []]);
    const after = await db.read
      .selectFrom('vulnerabilities')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    expect(after).toEqual(row);
    expect((await fixtures.auditEvents()).at(-1)).toMatchObject({
      action: 'asset.delete',
      object_id: asset.uid,
      before: expect.stringContaining('"location":"192.0.2.1"'),
      after: null,
    });
  });

  it('returns 409 while an active assessment lists the asset', async () => {
    const { uid } = await fixtures.assessment(organization);
    await fixtures.list(uid, asset.uid);
    expectProblem(server, await remove(), { area: 'asset', status: 409, kind: 'conflict' });
    await server.request('PATCH', `/api/asset/v2/listings/${uid}/assets`, {
      token: admin.token,
      body: { remove: [asset.uid] },
    });
    expect((await remove()).status).toBe(204);

    asset = await fixtures.asset({ organization });
    await fixtures.list(uid, asset.uid);
    expect((await remove()).status).toBe(409);
    await server.request('PATCH', `/v1/assessments/${uid}`, {
      token: admin.token,
      body: { state: 'completed' },
    });
    expect((await remove()).status).toBe(204);
    expect((await fixtures.auditEvents()).at(-1)).toMatchObject({
      action: 'asset.delete',
      before: expect.stringContaining(`"listings":[{"uid":"${uid}","scopeRules":[]}]`),
    });
  });

  it('returns 403 for listing scopes, regardless of the asset', async () => {
    const response = await remove(await scoped(admin, 'asset_client_lw', 'asset_or'));
    expectProblem(server, response, { area: 'asset', status: 403, kind: 'forbidden' });
    asset = await fixtures.asset({ organization, writableBy: 'boss' });
    expect((await remove()).status).toBe(404);
    expect((await remove((await fixtures.user()).token)).status).toBe(204);
  });
});
