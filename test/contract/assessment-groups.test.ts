import { beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../harness/expect-problem.ts';
import { useSharedServer } from '../harness/server.ts';
import { INVALID_NAMES, INVALID_IDS } from '../harness/invalid-values.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const START = Date.UTC(2026, 10, 21, 10, 30);

let organization: { id: number; uid: string };
let admin: TestUser;
let member: TestUser;
let outsider: TestUser;
let group: { id: number };

const server = await useSharedServer(() => START);
const fixtures = createFixtures(server);
beforeEach(async () => {
  organization = await fixtures.organization();
  admin = await fixtures.user({ organization: organization.uid, admin: true });
  member = await fixtures.user({ organization: organization.uid });
  outsider = await fixtures.user({ organization: organization.uid });
  group = await fixtures.group(organization.uid);
  await fixtures.member(group.id, member.uid, 'rbac_group_admin');
});

const call = (method: string, id: number | string = group.id) => {
  return (token = admin.token, body?: unknown, headers: Record<string, string> = {}) =>
    server.request(method, `/v1/assessment_groups${id === '' ? '' : `/${id}`}`, { token, body, headers });
};
const get = (token?: string) => call('GET')(token);
const list = async (token: string) => (await call('GET', '')(token)).body as { id: number }[];
const events = async (action: string) =>
  (await fixtures.auditEvents()).filter(
    (event) => event.action === action && event.organization_id === organization.id,
  );
const usersWithoutAccess = async () => {
  const otherOrganization = (await fixtures.organization()).uid;
  return [outsider, await fixtures.user({ organization: otherOrganization, admin: true })];
};

describe('Operation 43: get an assessment group', () => {
  it('returns 200 with every field, including the counts of members and assessments', async () => {
    await fixtures.member(group.id, outsider.uid, 'assessment_member');
    await fixtures.assessment(organization.uid, undefined, group.id);
    const { status, body, headers } = await get();
    expect(status).toBe(200);
    expect(body).toEqual({
      id: group.id,
      name: expect.stringMatching(/^Group /),
      description: '',
      created_at: '2026-11-21T10:30:00.000Z',
      organization_uid: organization.uid,
      member_count: 2,
      assessment_count: 1,
    });
    expect(headers.get('etag')).toMatch(/^"1\./);
  });

  it('returns 200 to members, admins and staff, and 404 to others', async () => {
    for (const { token } of [admin, member, await fixtures.user()])
      expect((await get(token)).status).toBe(200);
    for (const { token } of await usersWithoutAccess())
      expectProblem(server, await get(token), { area: 'v1', status: 404, kind: 'not-found' });
  });

  it.each(INVALID_IDS)('returns 404 for the malformed id %s', async (id) => {
    expect((await call('GET', id)()).status).toBe(404);
  });
});

describe('Operation 42: list assessment groups', () => {
  it('returns all groups of the organization to admins and staff, and their own groups to members', async () => {
    const otherGroup = await fixtures.group(organization.uid);
    expect((await list(admin.token)).map(({ id }) => id).sort()).toEqual([group.id, otherGroup.id].sort());
    expect(await list(member.token)).toEqual([(await get()).body]);
    expect(await list(outsider.token)).toEqual([]);
  });
});

describe('Operation 44: create an assessment group', () => {
  const create = call('POST', '');

  it('returns 201 with the group and its Location, and accepts duplicate names', async () => {
    for (const body of [
      { name: ' Web ', description: 'x' },
      { name: 'Web', description: null },
    ]) {
      const created = await create(admin.token, body);
      expect([created.status, created.body]).toEqual([
        201,
        {
          id: expect.any(Number),
          name: 'Web',
          description: body.description ?? '',
          created_at: '2026-11-21T10:30:00.000Z',
          organization_uid: organization.uid,
          member_count: 0,
          assessment_count: 0,
        },
      ]);
      const { pathname } = new URL(created.headers.get('location') ?? '');
      expect((await server.request('GET', pathname, { token: admin.token })).body).toEqual(created.body);
    }
    expect((await events('assessment-group.create')).at(-1)?.after).toBe('{"name":"Web","description":""}');
  });

  it.each(INVALID_NAMES)('returns 422 for the name %j', async (name) => {
    expect((await create(admin.token, { name })).status).toBe(422);
    expect((await call('PATCH')(admin.token, { name })).status).toBe(422);
  });

  it('returns 403 to users who are not admins, and requires an organization from staff', async () => {
    const body = { name: 'x', organization_uid: organization.uid };
    expectProblem(server, await create(member.token, body), { area: 'v1', status: 403, kind: 'forbidden' });
    const staff = await fixtures.user();
    expect((await create(staff.token, { name: 'x' })).body.failedValidation).toEqual([
      { property: 'organization_uid', message: 'is required' },
    ]);
    expect((await create(staff.token, body)).body.organization_uid).toBe(organization.uid);
    const otherOrganization = (await fixtures.organization()).uid;
    expect((await create(admin.token, { name: 'x', organization_uid: otherOrganization })).status).toBe(422);
  });

  it('creates once per idempotency key', async () => {
    const send = () => create(admin.token, { name: 'once' }, { 'idempotency-key': 'once' });
    const [first, second] = [await send(), await send()];
    expect([second.status, second.body]).toEqual([201, first.body]);
  });
});

describe('Operation 45: update an assessment group', () => {
  const update = (body: unknown, token?: string, headers?: Record<string, string>) =>
    call('PATCH')(token, body, headers);

  it('changes the given fields, and clears the description with null', async () => {
    const before = (await get()).body;
    const changed = await update({ name: ' New ', description: 'Text' });
    expect([changed.status, changed.body]).toEqual([200, { ...before, name: 'New', description: 'Text' }]);
    expect(changed.headers.get('etag')).toMatch(/^"2\./);
    expect((await get()).body).toEqual(changed.body);
    expect((await update({ name: null, description: null })).body).toEqual({ ...before, name: 'New' });
    const [first, second] = await events('assessment-group.update');
    expect([first?.before, first?.after]).toEqual([
      JSON.stringify({ name: before.name, description: '' }),
      '{"name":"New","description":"Text"}',
    ]);
    expect([second?.before, second?.after]).toEqual(['{"description":"Text"}', '{"description":""}']);
  });

  it('keeps the version and records no event if nothing changes', async () => {
    const unchanged = await update({ name: (await get()).body.name });
    expect(unchanged.headers.get('etag')).toMatch(/^"1\./);
    expect(await events('assessment-group.update')).toEqual([]);
  });

  it('checks access before the version: 404 without access, 403 to members, 412 for a stale version', async () => {
    const stale = { 'if-match': '"7.x"' };
    expectProblem(server, await update({ name: 'x' }, admin.token, stale), {
      area: 'v1',
      status: 412,
      kind: 'precondition-failed',
    });
    expect((await update({ name: 'x' }, member.token, stale)).status).toBe(403);
    for (const { token } of await usersWithoutAccess())
      expect((await update({ name: 'x' }, token, stale)).status).toBe(404);
  });
});

describe('Operation 46: delete an assessment group', () => {
  const remove = (token?: string, headers?: Record<string, string>) =>
    call('DELETE')(token, undefined, headers);

  it('returns 204, ends the memberships, and keeps the assessments without a group', async () => {
    const { uid } = await fixtures.assessment(organization.uid, undefined, group.id);
    const read = () => server.request('GET', `/v1/assessments/${uid}`, { token: admin.token });
    const before = await read();
    const { name } = (await get()).body;
    expect((await remove()).status).toBe(204);
    expect((await get()).status).toBe(404);
    const after = await read();
    expect(after.body).toEqual({ ...before.body, assessment_group_id: null });
    expect(after.headers.get('etag')).toMatch(/^"1\./);
    expect(await list(member.token)).toEqual([]);
    const [event] = await events('assessment-group.delete');
    expect([event?.before, event?.after]).toEqual([
      JSON.stringify({ name, description: '', members: 1, assessments: [uid] }),
      null,
    ]);
  });

  it('checks access before the version: 404 without access, 403 to members, 412 for a stale version', async () => {
    const stale = { 'if-match': '"7.x"' };
    expect((await remove(admin.token, stale)).status).toBe(412);
    expect((await remove(member.token, stale)).status).toBe(403);
    for (const { token } of await usersWithoutAccess()) expect((await remove(token, stale)).status).toBe(404);
  });
});
