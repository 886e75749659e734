import { beforeEach, describe, expect, it } from 'vitest';
import { GROUP_ROLES } from '../../src/auth/roles.ts';
import { expectProblem } from '../harness/expect-problem.ts';
import { useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const START = Date.UTC(2026, 10, 21, 10, 30);

let now: number;
let organization: string;
let admin: TestUser;
let userWithAccess: TestUser;
let uid: string;

const server = await useSharedServer(() => now);
const fixtures = createFixtures(server);
beforeEach(async () => {
  now = START;
  organization = (await fixtures.organization()).uid;
  admin = await fixtures.user({ organization, admin: true });
  userWithAccess = await fixtures.user({ organization });
  const group = await fixtures.group(organization);
  uid = (await fixtures.assessment(organization, undefined, group.id)).uid;
  await fixtures.access(uid, userWithAccess.id);
});

const get = (token = userWithAccess.token, headers: Record<string, string> = {}, id = uid) =>
  server.request('GET', `/v1/assessments/${id}`, { token, headers });

describe('Operation 37: get an assessment', () => {
  it('returns 200 with every field', async () => {
    const tag = await fixtures.assessmentTag(uid, 'external');
    for (const statusId of [1, 4, 5, 9]) await fixtures.vulnerability(uid, { statusId });
    const asset = await fixtures.asset({ organization });
    await fixtures.list(uid, asset.uid);
    const { status, body, headers } = await get();
    expect([status, headers.get('cache-control')]).toEqual([200, 'private, no-cache']);
    expect(body).toEqual({
      uid,
      id: uid,
      codename: uid,
      name: `Assessment ${uid}`,
      description: '',
      type: 'web',
      state: 'active',
      drafts: 'off',
      assessment_group_id: expect.any(Number),
      organization_uid: organization,
      tags: [{ id: tag.id, name: 'external' }],
      tag_ids: [tag.id],
      vulnerability_count: 4,
      open_vulnerability_count: 2,
      asset_count: 1,
      starts_on: null,
      ends_on: null,
      created_at: '2026-11-21T10:30:00.000Z',
      updated_at: '2026-11-21T10:30:00.000Z',
      link: `${server.context.addresses.clientBaseUrl}/assessments/${uid}`,
    });
  });

  it('has an ETag whose version changes with fields and tags, also those of operation 3, and not with counts', async () => {
    const versionOf = (response: Awaited<ReturnType<typeof get>>) =>
      /^"(\d+)\./.exec(response.headers.get('etag') ?? '')?.[1];
    const first = await get();
    const etag = first.headers.get('etag') ?? '';
    expect((await get(userWithAccess.token, { 'if-none-match': etag })).status).toBe(304);
    await fixtures.vulnerability(uid);
    const counted = await get(userWithAccess.token, { 'if-none-match': etag });
    expect([counted.status, versionOf(counted)]).toEqual([200, versionOf(first)]);
    now += 1_000;
    const tagged = await server.request('POST', '/v1/assessment_tags', {
      token: admin.token,
      body: { name: 'new', assessment_id: uid },
    });
    expect(tagged.status).toBe(201);
    const after = await get();
    expect([versionOf(first), versionOf(after)]).toEqual(['1', '2']);
    expect(after.body.updated_at).toBe('2026-11-21T10:30:01.000Z');
  });

  it('allows admins and staff', async () => {
    for (const { token } of [admin, await fixtures.user()]) expect((await get(token)).status).toBe(200);
  });

  it.each(GROUP_ROLES)('returns it to members of its group with the role %s', async (role) => {
    const user = await fixtures.user({ organization });
    await fixtures.member((await get(admin.token)).body.assessment_group_id, user.uid, role);
    expect((await get(user.token)).status).toBe(200);
  });

  it('returns 404 to users without access and for unknown assessments', async () => {
    const outsider = await fixtures.user({ organization });
    await fixtures.member((await fixtures.group(organization)).id, outsider.uid, 'rbac_group_admin');
    const foreignAdmin = await fixtures.user({
      organization: (await fixtures.organization()).uid,
      admin: true,
    });
    for (const { token } of [outsider, foreignAdmin])
      expectProblem(server, await get(token), { area: 'v1', status: 404, kind: 'not-found' });
    for (const id of ['none', 'UPPER', 'x'.repeat(51), '%00', 'a%2Fb'])
      expectProblem(server, await get(admin.token, {}, id), { area: 'v1', status: 404, kind: 'not-found' });
  });
});

describe('Operation 36: list assessments', () => {
  it('returns the accessible assessments with the fields of operation 37', async () => {
    const otherAssessment = await fixtures.assessment(organization);
    await fixtures.organization('elsewhere36').catch(() => undefined);
    const list = async (token: string) =>
      (await server.request('GET', '/v1/assessments?filter[organization_uid][]=' + organization, { token }))
        .body;
    expect(await list(userWithAccess.token)).toEqual([(await get()).body]);
    expect((await list(admin.token)).map((row: { uid: string }) => row.uid)).toEqual([
      uid,
      otherAssessment.uid,
    ]);
    expect((await list((await fixtures.user()).token)).length).toBe(2);
    expect(await list((await fixtures.user({ organization })).token)).toEqual([]);
  });
});
