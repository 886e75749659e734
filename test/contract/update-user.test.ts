import { beforeEach, describe, expect, it } from 'vitest';
import { useSharedServer } from '../harness/server.ts';
import { createFormClient } from '../harness/form-client.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

let organization: { id: number; uid: string };
let admin: TestUser;
let user: TestUser;
let now = Date.UTC(2026, 10, 21, 10, 30);
const server = await useSharedServer(() => now);
const fixtures = createFixtures(server);
const staff = await fixtures.user();
beforeEach(async () => {
  organization = await fixtures.organization();
  admin = await fixtures.user({ organization: organization.uid, admin: true });
  user = await fixtures.user({ organization: organization.uid, name: 'Ada' });
});

const updateUser = (id: number, body?: object, token = admin.token, query = '', headers = {}) =>
  server.request('PUT', `/v1/users/${id}${query}`, { token, body, headers });
const ban = (id: number) => server.request('DELETE', `/v1/users/${id}`, { token: admin.token });
const whoAmI = (token: string) => server.request('GET', '/v1/users/whoami', { token });
const eventsOf = async (response: { headers: Headers }) =>
  (await fixtures.auditEvents())
    .filter(({ request_id }) => request_id === response.headers.get('x-request-id'))
    .map(({ action, before, after }) => [action, JSON.parse(before ?? 'null'), JSON.parse(after ?? 'null')]);

describe('Operation 56: update a user', () => {
  it('updates the given fields and records before and after of each', async () => {
    const [firstAssessment, secondAssessment] = [
      await fixtures.assessment(organization.uid),
      await fixtures.assessment(organization.uid),
    ];
    await fixtures.access(firstAssessment.uid, user.id);
    const response = await updateUser(user.id, {
      admin: true,
      name: ' Bea ',
      assessments: [secondAssessment.uid],
    });
    expect([response.status, response.body]).toEqual([
      200,
      expect.objectContaining({
        id: user.id,
        name: 'Bea',
        admin: true,
        assessment_ids: [secondAssessment.uid],
      }),
    ]);
    expect(await eventsOf(response)).toEqual([
      ['user.rename', { name: 'Ada' }, { name: 'Bea' }],
      ['assessment.grant', null, { user: user.id, role: 'assessment_member' }],
      ['assessment.revoke', { user: user.id, role: 'assessment_member' }, null],
      ['user.set-role', { admin: false }, { admin: true }],
    ]);
    expect((await whoAmI(user.token)).body.admin).toBe(true);
  });

  it('keeps absent and null fields, and changes nothing if the values are the same', async () => {
    const { uid } = await fixtures.assessment(organization.uid);
    const first = await updateUser(user.id, { assessments: [uid] });
    for (const body of [{}, { name: null, admin: null }, { name: 'Ada', admin: false, assessments: [uid] }]) {
      const response = await updateUser(user.id, body);
      expect([response.status, response.body]).toEqual([200, first.body]);
      expect(response.headers.get('etag')).toBe(first.headers.get('etag'));
      expect(await eventsOf(response)).toEqual([]);
    }
    expect((await updateUser(user.id, { assessments: [] })).body.assessment_ids).toEqual([]);
  });

  it('accepts admin and reactivate in the query, also without a body', async () => {
    const created = await updateUser(user.id, undefined, admin.token, '?admin=true');
    expect([created.status, created.body.admin]).toEqual([200, true]);
    expect((await updateUser(user.id, { admin: true }, admin.token, '?admin=1')).status).toBe(200);
    const differs = await updateUser(user.id, { admin: false }, admin.token, '?admin=true');
    expect([differs.status, differs.body.failedValidation[0].property]).toEqual([422, 'admin']);
    expect((await updateUser(user.id, { name: 'Cleo' }, admin.token, '?admin=0')).body).toMatchObject({
      admin: false,
      name: 'Cleo',
    });
    await ban(user.id);
    expect((await updateUser(user.id, undefined, admin.token, '?reactivate=true')).body.banned).toBe(false);
    expect((await updateUser(user.id, undefined)).status).toBe(400);
    expect((await updateUser(user.id, undefined, admin.token, '?admin=perhaps')).status).toBe(400);
  });

  it('lifts a ban without restoring what it revoked', async () => {
    const account = await fixtures.account({ organization: organization.uid });
    const visitor = createFormClient(server);
    await visitor.signIn(account.email, account.password);
    const tokens = [
      (await fixtures.token(account.id)).token,
      (await fixtures.token(account.id, { kind: 'jwt', expiresAt: now + 3_600_000 })).token,
    ];
    await server.context.db.write((tx) =>
      tx
        .insertInto('refresh_tokens')
        .values({
          id: `refresh-${account.id}`,
          secret_hash: `refresh-${account.id}`,
          client_id: 'assay-docs',
          user_id: account.id,
          grant_id: 'g',
          scopes: 'api',
          created_at: now,
          expires_at: now + 3_600_000,
          grant_expires_at: now + 3_600_000,
        })
        .execute(),
    );
    await ban(account.id);
    const response = await updateUser(account.id, { reactivate: true });
    expect([response.status, response.body.banned]).toEqual([200, false]);
    expect(await eventsOf(response)).toEqual([['user.reactivate', { banned: true }, { banned: false }]]);
    for (const token of tokens) expect((await whoAmI(token)).status).toBe(401);
    const sessions = () =>
      server.context.db.read.selectFrom('sessions').selectAll().where('user_id', '=', account.id).execute();
    expect(await sessions()).toEqual([]);
    const refresh = await server.context.db.read
      .selectFrom('refresh_tokens')
      .select('revoked_at')
      .where('user_id', '=', account.id)
      .execute();
    expect(refresh).toEqual([{ revoked_at: now }]);
    // The user can sign in again.
    await visitor.signIn(account.email, account.password);
    expect(await sessions()).toHaveLength(1);
    expect((await whoAmI((await fixtures.token(account.id)).token)).status).toBe(200);
  });

  it('creates a new link for a pending invitation and revokes the previous one', async () => {
    const invited = await fixtures.invited({ organization: organization.uid });
    const before = (await server.request('GET', `/v1/users/${invited.id}`, { token: admin.token })).body;
    const response = await updateUser(invited.id, { reinvite: true });
    expect(response.body.invite_url).toMatch(/\/invitation\?token=/);
    expect(response.body.invite_url).not.toBe(before.invite_url);
    const open = async (url: string) =>
      await createFormClient(server).open(url.slice(url.indexOf('/invitation')));
    expect((await open(before.invite_url)).status).toBe(404);
    expect((await open(response.body.invite_url)).status).toBe(200);
    expect((await updateUser(user.id, { reinvite: true })).status).toBe(409);
    await ban(user.id);
    expect((await updateUser(user.id, { reinvite: true })).status).toBe(409);
  });

  it('returns 403 for the last admin who has signed in and is not banned', async () => {
    await fixtures.invited({ organization: organization.uid, admin: true });
    const banned = await fixtures.user({ organization: organization.uid, admin: true });
    await ban(banned.id);
    const response = await updateUser(admin.id, { admin: false, name: 'Not kept' });
    expect(response.status).toBe(403);
    expect((await whoAmI(admin.token)).body).toMatchObject({ admin: true, name: null });
    expect((await updateUser(banned.id, { admin: false })).status).toBe(200);
    const otherUser = await fixtures.user({ organization: organization.uid, admin: true });
    expect((await updateUser(admin.id, { admin: false }, otherUser.token)).status).toBe(200);
    expect((await updateUser(user.id, {}, admin.token)).status).toBe(403);
  });

  it('keeps an admin in an organization where none has signed in', async () => {
    const ownOrganization = await fixtures.organization();
    const [first, second] = [
      await fixtures.invited({ organization: ownOrganization.uid, admin: true }),
      await fixtures.invited({ organization: ownOrganization.uid, admin: true }),
    ];
    expect((await updateUser(first.id, { admin: false }, staff.token)).status).toBe(200);
    expect((await updateUser(second.id, { admin: false, name: 'Not kept' }, staff.token)).status).toBe(403);
    expect((await updateUser(first.id, { admin: true }, staff.token)).status).toBe(200);
    expect((await updateUser(second.id, { admin: false }, staff.token)).status).toBe(200);
  });

  it('allows admins, and staff who can see the user', async () => {
    const otherOrganization = await fixtures.organization();
    const otherUser = await fixtures.user({ organization: otherOrganization.uid, admin: true });
    const assigned = await fixtures.user({ assignedTo: [otherOrganization.uid] });
    expect((await updateUser(user.id, { name: 'No' }, user.token)).status).toBe(403);
    expect((await updateUser(admin.id, { name: 'No' }, user.token)).status).toBe(403);
    // Validation comes before access.
    expect((await updateUser(admin.id, { name: ' ' }, user.token)).status).toBe(422);
    expect((await updateUser(user.id, { name: ' ' }, otherUser.token)).status).toBe(422);
    for (const [id, token] of [
      [user.id, otherUser.token],
      [user.id, assigned.token],
      [staff.id, admin.token],
      [assigned.id, staff.token],
      [987_654_321, staff.token],
    ] as const)
      expect((await updateUser(id, { name: 'No', assessments: ['none'] }, token)).status).toBe(404);
    expect((await updateUser(user.id, { name: 'Yes' }, staff.token)).body.name).toBe('Yes');
    expect((await updateUser(staff.id, { name: 'Robin' }, staff.token)).body.name).toBe('Robin');
    expect((await updateUser(staff.id, { admin: false }, staff.token)).status).toBe(422);
  });

  it('returns 422 for assessments of other organizations, and changes nothing', async () => {
    const { uid } = await fixtures.assessment((await fixtures.organization()).uid);
    const response = await updateUser(user.id, { name: 'Bea', assessments: [uid] });
    expect([response.status, response.body.failedValidations[0].failedValidation[0].property]).toEqual([
      422,
      'assessments.0',
    ]);
    expect((await updateUser(user.id, { name: ' ' })).status).toBe(422);
    expect((await whoAmI(user.token)).body.name).toBe('Ada');
  });

  it('supports If-Match', async () => {
    const etag = (await updateUser(user.id, { name: 'One' })).headers.get('etag') ?? '';
    expect((await updateUser(user.id, { name: 'Two' }, admin.token, '', { 'if-match': etag })).status).toBe(
      200,
    );
    const lateUpdate = await updateUser(user.id, { name: 'Three', assessments: ['none'] }, admin.token, '', {
      'if-match': etag,
    });
    expect(lateUpdate.status).toBe(412);
    now += 1;
  });
});
