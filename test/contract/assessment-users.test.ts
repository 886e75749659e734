import { beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../harness/expect-problem.ts';
import { useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

let organization: { id: number; uid: string };
let admin: TestUser;
let users: [TestUser, TestUser, TestUser];
let uid: string;

const server = await useSharedServer();
const fixtures = createFixtures(server);
beforeEach(async () => {
  organization = await fixtures.organization();
  admin = await fixtures.user({ organization: organization.uid, admin: true });
  const user = () => fixtures.user({ organization: organization.uid });
  users = [await user(), await user(), await user()];
  uid = (await fixtures.assessment(organization.uid)).uid;
  await fixtures.access(uid, users[0].id);
});

const get = (token = admin.token) => server.request('GET', `/v1/assessments/${uid}/users`, { token });
const patch = (body: unknown, token = admin.token, headers: Record<string, string> = {}) =>
  server.request('PATCH', `/v1/assessments/${uid}/users`, { token, body, headers });
const ids = (response: Awaited<ReturnType<typeof get>>) => {
  expect(response.status).toBe(200);
  return response.body.map(({ id }: { id: number }) => id);
};
const events = async (action: string) =>
  (await fixtures.auditEvents()).filter(
    (event) => event.action === action && event.organization_id === organization.id,
  );
const versionOf = async (id: number) =>
  (
    await server.context.db.read
      .selectFrom('users')
      .select('version')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  ).version;

describe('Operation 40: users with access to an assessment', () => {
  it('omits the links of invitations for a token with the scope api_read alone', async () => {
    await fixtures.access(uid, (await fixtures.invited({ organization: organization.uid })).id);
    const reader = await fixtures.token(admin.id, { scopes: ['api_read'] });
    const { body } = await get();
    expect(body.map(({ invite_url }: { invite_url: string | null }) => typeof invite_url).sort()).toEqual([
      'object',
      'string',
    ]);
    const { status, body: read } = await get(reader.token);
    expect([status, read]).toEqual([
      200,
      body.map(({ invite_url: _link, ...others }: { invite_url: string | null }) => others),
    ]);
  });

  it('lists users as operation 55 does, ordered by id, without admins and staff', async () => {
    await fixtures.access(uid, admin.id);
    const { body } = await get();
    expect(body).toEqual([
      (await server.request('GET', `/v1/users/${users[0].id}`, { token: admin.token })).body,
    ]);
    expect(body[0].assessment_ids).toEqual([uid]);
  });

  it('adds and removes users, and returns the resulting list without an ETag', async () => {
    const response = await patch({ add: [users[2].id, users[1].id, users[2].id], remove: [users[0].id] });
    expect(ids(response)).toEqual([users[1].id, users[2].id]);
    expect(response.headers.get('etag')).toBeNull();
    expect((await get()).body).toEqual(response.body);
    const read = (token: string) => server.request('GET', `/v1/assessments/${uid}`, { token });
    expect((await read(users[1].token)).status).toBe(200);
    expect((await read(users[0].token)).status).toBe(404);
    expect((await events('assessment.grant')).slice(1)).toMatchObject(
      [users[1], users[2]].map(({ id }) => ({ object_id: uid, after: `{"user":${id}}`, user_id: admin.id })),
    );
    expect(await events('assessment.revoke')).toMatchObject([{ before: `{"user":${users[0].id}}` }]);
    expect([await versionOf(users[0].id), await versionOf(users[1].id)]).toEqual([3, 2]);
  });

  it.each([{}, { add: null, remove: null }, { add: [], remove: [] }])(
    'changes nothing with %j',
    async (body) => {
      expect(ids(await patch(body))).toEqual([users[0].id]);
    },
  );

  it('ignores users who already have or lack access, records no event for them, and ignores If-Match', async () => {
    const body = { add: [users[0].id], remove: [users[1].id] };
    expect(ids(await patch(body, admin.token, { 'if-match': '"9.x"' }))).toEqual([users[0].id]);
    expect(await versionOf(users[0].id)).toBe(2);
    expect(await events('assessment.revoke')).toEqual([]);
  });

  it('returns 422 for users outside the organization, and changes nothing', async () => {
    const foreignUser = await fixtures.user({ organization: (await fixtures.organization()).uid });
    const staff = await fixtures.user();
    for (const [body, property] of [
      [{ add: [users[1].id, foreignUser.id] }, 'add.1'],
      [{ add: [staff.id] }, 'add.0'],
      [{ remove: [987_654_321] }, 'remove.0'],
      [{ add: [users[1].id], remove: [users[1].id] }, 'add.0'],
      [{ add: [0] }, 'add.0'],
    ] as const) {
      const response = await patch(body);
      expect([response.status, response.body.failedValidations?.[0]?.failedValidation]).toEqual([
        422,
        [expect.objectContaining({ property })],
      ]);
    }
    expect(ids(await get())).toEqual([users[0].id]);
  });

  it('returns 413 for more than 1,000 users', async () => {
    expect((await patch({ add: Array.from({ length: 1_001 }, () => 1) })).status).toBe(413);
  });

  it('returns 200 to admins and staff, 403 to users with access, 404 to others', async () => {
    const foreignAdmin = await fixtures.user({
      organization: (await fixtures.organization()).uid,
      admin: true,
    });
    for (const [token, status] of [
      [users[0].token, 403],
      [users[1].token, 404],
      [foreignAdmin.token, 404],
      [(await fixtures.user()).token, 200],
    ] as const) {
      expect((await get(token)).status).toBe(status);
      expect((await patch({ add: [users[1].id] }, token)).status).toBe(status);
    }
    const rejected = await patch({ add: [987_654_321] }, users[0].token);
    expectProblem(server, rejected, { area: 'v1', status: 403, kind: 'forbidden' });
  });
});
