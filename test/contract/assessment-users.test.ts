import { beforeEach, describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import {
  grantAssessmentAccess,
  revokeAssessmentAccess,
} from '../../src/domain/assessments/assessment-access.ts';
import { expectProblem } from '../harness/expect-problem.ts';
import { useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

let organization: { id: number; uid: string };
let admin: TestUser;
let users: [TestUser, TestUser, TestUser];
let assessment: { id: number; uid: string };
let uid: string;

const server = await useSharedServer();
const fixtures = createFixtures(server);
beforeEach(async () => {
  organization = await fixtures.organization();
  admin = await fixtures.user({ organization: organization.uid, admin: true });
  const user = () => fixtures.user({ organization: organization.uid });
  users = [await user(), await user(), await user()];
  assessment = await fixtures.assessment(organization.uid);
  uid = assessment.uid;
  await fixtures.access(uid, users[0].id);
});

const get = (token = admin.token) => server.request('GET', `/v1/assessments/${uid}/users`, { token });
const patch = (body: unknown, token = admin.token, headers: Record<string, string> = {}) =>
  server.request('PATCH', `/v1/assessments/${uid}/users`, { token, body, headers });
const ids = (response: Awaited<ReturnType<typeof get>>) => {
  expect(response.status).toBe(200);
  return response.body.map(({ id }: { id: number }) => id);
};
const roles = ({ body }: Awaited<ReturnType<typeof get>>) =>
  body.map(({ id, role, via }: { id: number; role: string; via: unknown[] }) => [id, role, via]);
const granted = (user: number, role = 'assessment_member') => JSON.stringify({ user, role });
/** What a sign-in does for a user who has, or has lost, the group at the provider. */
const signIn = (user: TestUser, hasGroup: boolean) =>
  server.context.db.write((tx) => {
    const by = cliChangeContext(server.context.clock());
    return hasGroup
      ? grantAssessmentAccess(tx, by, uid, user.id, 'by_provider')
      : revokeAssessmentAccess(
          tx,
          by,
          { ...assessment, organizationId: organization.id },
          user.id,
          'by_provider',
        );
  });
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

  it('lists users as operation 53 does with their roles, ordered by id, without admins and staff', async () => {
    await fixtures.access(uid, admin.id);
    const { body } = await get();
    const listed = await server.request('GET', `/v1/users?filter[search]=${users[0].email}`, {
      token: admin.token,
    });
    expect(body).toEqual([{ ...listed.body[0], role: 'assessment_member', via: ['name'] }]);
    expect(listed.body[0]).not.toHaveProperty('role');
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
      [users[1], users[2]].map(({ id }) => ({ object_id: uid, after: granted(id), user_id: admin.id })),
    );
    expect(await events('assessment.revoke')).toMatchObject([{ before: granted(users[0].id), after: null }]);
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

  it('lists everyone with a role by name or in the group, and what gives it', async () => {
    const group = await fixtures.group(organization.uid);
    const otherGroup = await fixtures.group(organization.uid);
    uid = (await fixtures.assessment(organization.uid, undefined, group.id)).uid;
    const [first, second, third] = users;
    const fourth = await fixtures.user({ organization: organization.uid });
    await fixtures.member(group.id, first.uid, 'infra_admin');
    await fixtures.member(group.id, second.uid, 'rbac_group_admin');
    await fixtures.member(group.id, admin.uid, 'assessment_operator');
    await fixtures.member(otherGroup.id, fourth.uid, 'rbac_group_admin');
    const body = {
      add: [third.id, { id: second.id, role: 'assessment_read_only' }, { id: admin.id, role: null }],
    };
    const rows = [
      [first.id, 'infra_admin', [group.id]],
      [second.id, 'assessment_read_only', ['name', group.id]],
      [third.id, 'assessment_member', ['name']],
    ];
    const response = await patch(body);
    expect(roles(response)).toEqual(rows);
    expect((await get()).body).toEqual(response.body);
    const page = await server.request('GET', `/v1/assessments/${uid}/users?page[size]=1&page[number]=2`, {
      token: admin.token,
    });
    expect(roles(page)).toEqual(rows.slice(1, 2));
    expect(JSON.parse(page.headers.get('x-pagination') ?? '')).toMatchObject({ total_entries: 3 });

    // What was given by name is all that the operation takes away.
    expect(roles(await patch({ remove: users.map(({ id }) => id) }))).toEqual([
      [first.id, 'infra_admin', [group.id]],
      [second.id, 'rbac_group_admin', [group.id]],
    ]);
    const moved = await server.request('PATCH', `/v1/assessments/${uid}`, {
      token: admin.token,
      body: { assessment_group_id: null },
    });
    expect(moved.status).toBe(200);
    expect(roles(await get())).toEqual([]);
  });

  it('still lists banned users', async () => {
    await server.request('DELETE', `/v1/users/${users[0].id}`, { token: admin.token });
    expect((await get()).body).toMatchObject([{ id: users[0].id, banned: true }]);
  });

  it('sets roles, and gives assessment_member to an id alone that has nothing by name', async () => {
    const [first, second] = users;
    const body = { add: [{ id: first.id, role: 'assessment_developer' }, { id: second.id }] };
    const rows = [
      [first.id, 'assessment_developer', ['name']],
      [second.id, 'assessment_member', ['name']],
    ];
    expect(roles(await patch(body))).toEqual(rows);
    expect((await events('assessment.grant')).slice(1)).toMatchObject([
      { before: granted(first.id), after: granted(first.id, 'assessment_developer') },
      { before: null, after: granted(second.id) },
    ]);
    expect([await versionOf(first.id), await versionOf(second.id)]).toEqual([2, 2]);
    for (const repeated of [body, { add: [first.id, second.id, first.id] }])
      expect(roles(await patch(repeated))).toEqual(rows);
    // An id alone beside a role leaves the role.
    expect(roles(await patch({ add: [first.id, ...body.add] }))).toEqual(rows);
    expect(await events('assessment.grant')).toHaveLength(3);
    expect([await versionOf(first.id), await versionOf(second.id)]).toEqual([2, 2]);
  });

  it('keeps a role when a user is updated (56) or signs in, and ends it with what was given by name', async () => {
    const [first, second] = users;
    await signIn(second, true);
    const list = (firstRole: string, secondRole: string) => [
      [first.id, firstRole, ['name']],
      [second.id, secondRole, ['name']],
    ];
    expect(roles(await get())).toEqual(list('assessment_member', 'assessment_member'));
    const role = 'assessment_read_only';
    await patch({ add: [first.id, second.id].map((id) => ({ id, role })) });
    await server.request('PUT', `/v1/users/${first.id}`, {
      token: admin.token,
      body: { assessments: [uid] },
    });
    await signIn(first, true);
    await signIn(second, true);
    expect(roles(await get())).toEqual(list(role, role));

    const versions = [await versionOf(first.id), await versionOf(second.id)];
    expect(roles(await patch({ remove: [second.id] }))).toEqual(list(role, 'assessment_member'));
    expect(await events('assessment.revoke')).toMatchObject([{ before: granted(second.id, role) }]);
    expect(roles(await patch({ remove: [second.id] }))).toEqual(list(role, 'assessment_member'));
    expect(await events('assessment.revoke')).toHaveLength(1);
    expect([await versionOf(first.id), await versionOf(second.id)]).toEqual(versions);
    for (const user of [first, second]) await signIn(user, false);
    expect(roles(await get())).toEqual([[first.id, role, ['name']]]);
  });

  it('returns 422 for a role that access by name cannot have, and for two roles of one user', async () => {
    const [first, second] = users;
    for (const [add, property] of [
      [[{ id: second.id, role: 'rbac_group_admin' }], 'add.0.role'],
      [[second.id, { id: first.id, role: 'nobody' }], 'add.1.role'],
      [[{ role: 'assessment_member' }], 'add.0.id'],
      [[{ id: 0 }], 'add.0.id'],
      [
        [
          { id: second.id, role: 'assessment_member' },
          { id: second.id, role: 'assessment_developer' },
        ],
        'add.1',
      ],
    ] as const) {
      const response = await patch({ add });
      expect([response.status, response.body.failedValidations?.[0]?.failedValidation]).toEqual([
        422,
        [expect.objectContaining({ property })],
      ]);
    }
    expect(roles(await get())).toEqual([[first.id, 'assessment_member', ['name']]]);
  });

  it('returns 422 for users outside the organization, and changes nothing', async () => {
    const foreignUser = await fixtures.user({ organization: (await fixtures.organization()).uid });
    const staff = await fixtures.user();
    for (const [body, property] of [
      [{ add: [users[1].id, foreignUser.id] }, 'add.1'],
      [{ add: [{ id: staff.id, role: 'assessment_member' }] }, 'add.0'],
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
