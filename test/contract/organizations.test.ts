import { beforeEach, describe, expect, it } from 'vitest';
import { useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';
import { createFormClient } from '../harness/form-client.ts';

const NOW = Date.UTC(2026, 10, 21, 10, 30);

let organization: { id: number; uid: string };
let admin: TestUser;
let user: TestUser;
let counter = 0;
const server = await useSharedServer(() => NOW);
const fixtures = createFixtures(server);
const staff = await fixtures.user();
beforeEach(async () => {
  organization = await fixtures.organization();
  admin = await fixtures.user({ organization: organization.uid, admin: true });
  user = await fixtures.user({ organization: organization.uid });
});

const read = (uid: string, token: string) => server.request('GET', `/v1/organizations/${uid}`, { token });
const create = (body: object, token: string, headers = {}) =>
  server.request('POST', '/v1/organizations', { token, body, headers });
const change = (body: object, token = admin.token, headers = {}) =>
  server.request('PATCH', `/v1/organizations/${organization.uid}`, { token, body, headers });
const newUid = () => `made${(counter += 1)}`;
const eventsOf = async (requestId: string | null) =>
  (await fixtures.auditEvents())
    .filter(({ request_id }) => request_id === requestId)
    .map(({ action, before, after }) => [action, JSON.parse(before ?? 'null'), JSON.parse(after ?? 'null')]);

describe('Operations 61 and 62: list and get organizations', () => {
  it('return an organization with its counts to its admins', async () => {
    await fixtures.assessment(organization.uid);
    await fixtures.asset({ organization: organization.uid });
    await fixtures.asset({ organization: organization.uid });
    await fixtures.invited({ organization: organization.uid });
    const banned = await fixtures.user({ organization: organization.uid });
    await server.request('DELETE', `/v1/users/${banned.id}`, { token: admin.token });
    const { status, body } = await read(organization.uid, admin.token);
    expect([status, body]).toEqual([
      200,
      {
        id: organization.id,
        uid: organization.uid,
        name: `Organization ${organization.uid}`,
        created_at: new Date(NOW).toISOString(),
        require_second_factor: false,
        dismissal_role: 'assessment_member',
        user_count: 3,
        assessment_count: 1,
        asset_count: 2,
      },
    ]);
    const list = await server.request('GET', '/v1/organizations', { token: admin.token });
    expect(list.body).toEqual([body]);
  });

  it('return an organization without counts to its other users', async () => {
    const { body } = await read(organization.uid, user.token);
    expect([body.user_count, body.assessment_count, body.asset_count]).toEqual([null, null, null]);
    const list = await server.request('GET', '/v1/organizations', { token: user.token });
    expect(list.body).toEqual([body]);
  });

  it('return visible organizations to staff, and 404 for organization groups', async () => {
    const otherOrganization = await fixtures.organization();
    await fixtures.organizationGroup(`group${organization.uid}`, [organization.uid]);
    const assigned = await fixtures.user({ assignedTo: [otherOrganization.uid] });
    expect((await read(organization.uid, staff.token)).body.user_count).toBe(2);
    expect((await read(otherOrganization.uid, assigned.token)).status).toBe(200);
    for (const [uid, token] of [
      [organization.uid, assigned.token],
      [otherOrganization.uid, admin.token],
      [`group${organization.uid}`, staff.token],
      ['none', staff.token],
      ['NONE%00', staff.token],
    ] as const)
      expect([uid, (await read(uid, token)).status]).toEqual([uid, 404]);
    const list = await server.request('GET', '/v1/organizations', { token: assigned.token });
    expect(list.body.map(({ uid }: { uid: string }) => uid)).toEqual([otherOrganization.uid]);
  });
});

describe('Operation 63: create an organization', () => {
  it('returns 201 with the organization and its Location to staff', async () => {
    const uid = newUid();
    const response = await create({ uid, name: ' New ' }, staff.token);
    expect([response.status, response.body]).toEqual([
      201,
      {
        id: expect.any(Number),
        uid,
        name: 'New',
        created_at: new Date(NOW).toISOString(),
        require_second_factor: false,
        dismissal_role: 'assessment_member',
        user_count: 0,
        assessment_count: 0,
        asset_count: 0,
      },
    ]);
    expect(new URL(response.headers.get('location') ?? '').pathname).toBe(`/v1/organizations/${uid}`);
    expect((await read(uid, staff.token)).headers.get('etag')).toBe(response.headers.get('etag'));
    expect(await eventsOf(response.headers.get('x-request-id'))).toEqual([
      [
        'organization.create',
        null,
        { uid, name: 'New', require_second_factor: false, dismissal_role: 'assessment_member' },
      ],
    ]);
  });

  it('assigns the organization to assigned staff', async () => {
    const assigned = await fixtures.user({ assignedTo: [organization.uid] });
    const response = await create({ uid: newUid(), name: 'New' }, assigned.token);
    expect(response.status).toBe(201);
    const { uid } = response.body;
    expect((await read(uid, assigned.token)).status).toBe(200);
    expect((await eventsOf(response.headers.get('x-request-id')))[1]).toEqual([
      'user.assign',
      { assigned_to: [organization.uid] },
      { assigned_to: [organization.uid, uid].sort() },
    ]);
  });

  it('appends random characters to the uid for assigned staff, even if it is free', async () => {
    const assigned = await fixtures.user({ assignedTo: [organization.uid] });
    const foreignOrganization = await fixtures.organization();
    for (const uid of [organization.uid, foreignOrganization.uid, newUid()]) {
      const response = await create({ uid, name: 'New' }, assigned.token);
      const created = response.body.uid;
      expect([response.status, created]).toEqual([
        201,
        expect.stringMatching(new RegExp(`^${uid}[0-9a-z]{4}$`)),
      ]);
      expect(new URL(response.headers.get('location') ?? '').pathname).toBe(`/v1/organizations/${created}`);
    }
    const { body } = await create({ uid: 'a'.repeat(50), name: 'New' }, assigned.token);
    expect(body.uid).toMatch(/^a{46}[0-9a-z]{4}$/);
  });

  it('returns 403 to others before it validates the body', async () => {
    expect((await create({ uid: newUid(), name: 'New' }, admin.token)).status).toBe(403);
    expect((await create({ uid: organization.uid, name: 'New' }, admin.token)).status).toBe(403);
  });

  it('returns 409 for the uid of an organization or group, and 422 for an invalid uid', async () => {
    await fixtures.organizationGroup(`group${organization.uid}`, []);
    for (const uid of [organization.uid, `group${organization.uid}`])
      expect((await create({ uid, name: 'New' }, staff.token)).status).toBe(409);
    for (const uid of ['', 'Upper', 'a-b', 'a'.repeat(51), 'good\n'])
      expect((await create({ uid, name: 'New' }, staff.token)).status).toBe(422);
    expect((await create({ uid: newUid(), name: ' ' }, staff.token)).status).toBe(422);
  });

  it('creates once per idempotency key', async () => {
    const uid = newUid();
    const headers = { 'idempotency-key': uid };
    const first = await create({ uid, name: 'New' }, staff.token, headers);
    const second = await create({ uid, name: 'New' }, staff.token, headers);
    expect([second.status, second.body]).toEqual([201, first.body]);
  });
});

describe('Operation 64: update an organization', () => {
  it('renames the organization and records only what changed', async () => {
    const response = await change({ name: ' Other ' });
    expect([response.status, response.body.name]).toEqual([200, 'Other']);
    expect(await eventsOf(response.headers.get('x-request-id'))).toEqual([
      ['organization.update', { name: `Organization ${organization.uid}` }, { name: 'Other' }],
    ]);
    const repeated = await change({ name: 'Other', require_second_factor: null });
    expect(repeated.headers.get('etag')).toBe(response.headers.get('etag'));
    expect(await eventsOf(repeated.headers.get('x-request-id'))).toEqual([]);
  });

  it('requires a second factor, and ends sessions of users without one', async () => {
    const account = await fixtures.account({ organization: organization.uid });
    const visitor = createFormClient(server);
    await visitor.signIn(account.email, account.password);
    const sessions = () =>
      server.context.db.read.selectFrom('sessions').selectAll().where('user_id', '=', account.id).execute();
    expect(await sessions()).toHaveLength(1);
    const { body } = await change({ require_second_factor: true });
    expect(body.require_second_factor).toBe(true);
    expect(await sessions()).toHaveLength(0);
  });

  it('sets who may dismiss vulnerabilities; null is the default', async () => {
    const first = await change({ dismissal_role: 'admin' });
    expect([first.status, first.body.dismissal_role]).toEqual([200, 'admin']);
    expect(await eventsOf(first.headers.get('x-request-id'))).toEqual([
      ['organization.update', { dismissal_role: 'assessment_member' }, { dismissal_role: 'admin' }],
    ]);
    for (const body of [{ dismissal_role: 'admin' }, {}]) {
      const repeated = await change(body);
      expect(repeated.headers.get('etag')).toBe(first.headers.get('etag'));
      expect(await eventsOf(repeated.headers.get('x-request-id'))).toEqual([]);
    }
    for (const dismissal_role of ['rbac_group_admin', '', 'Admin']) {
      const { status, body } = await change({ dismissal_role });
      expect([status, body.failedValidation[0].property]).toEqual([422, 'dismissal_role']);
    }
    expect((await change({ dismissal_role: null }, user.token)).status).toBe(403);
    expect((await read(organization.uid, user.token)).body.dismissal_role).toBe('admin');
    const reset = await change({ dismissal_role: null });
    expect(reset.body.dismissal_role).toBe('assessment_member');
    expect(reset.headers.get('etag')?.split('.')[0]).not.toBe(first.headers.get('etag')?.split('.')[0]);
  });

  it('supports If-Match', async () => {
    const etag = (await read(organization.uid, admin.token)).headers.get('etag') ?? '';
    expect((await change({ name: 'One' }, admin.token, { 'if-match': etag })).status).toBe(200);
    expect((await change({ name: 'Two' }, admin.token, { 'if-match': etag })).status).toBe(412);
    expect((await change({ name: 'Two' }, user.token, { 'if-match': etag })).status).toBe(403);
    expect((await read(organization.uid, admin.token)).body.name).toBe('One');
  });

  it('allows its admins, and staff who can see it', async () => {
    expect((await change({ name: 'No' }, user.token)).status).toBe(403);
    const outsider = await fixtures.user({ organization: (await fixtures.organization()).uid, admin: true });
    expect((await change({ name: 'No' }, outsider.token)).status).toBe(404);
    const assigned = await fixtures.user({ assignedTo: [organization.uid] });
    expect((await change({ name: 'Yes' }, assigned.token)).status).toBe(200);
    expect((await change({ name: ' ' })).status).toBe(422);
    expect((await change({ name: 1 })).status).toBe(400);
  });
});
