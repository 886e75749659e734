import { beforeEach, describe, expect, it } from 'vitest';
import type { GroupRole } from '../../src/auth/roles.ts';
import { useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const START = Date.UTC(2026, 10, 21, 10, 30);

let organization: { id: number; uid: string };
let admin: TestUser;
let users: [TestUser, TestUser, TestUser];
let group: { id: number };

const server = await useSharedServer(() => START);
const fixtures = createFixtures(server);
beforeEach(async () => {
  await fixtures.together(async (batch) => {
    organization = await batch.organization();
    admin = await batch.user({ organization: organization.uid, admin: true });
    const user = () => batch.user({ organization: organization.uid });
    users = [await user(), await user(), await user()];
    group = await batch.group(organization.uid);
  });
});

const send = (body: unknown, token = admin.token, headers: Record<string, string> = {}) =>
  server.request('POST', `/api/assessment/v1/assessment-groups/${group.id}/members/batchAdd`, {
    token,
    body,
    headers,
  });
const add = (members: readonly (readonly [TestUser | string, string])[], token?: string) =>
  send(
    {
      members: members.map(([user, role]) => ({
        userUid: typeof user === 'string' ? user : user.uid,
        role,
      })),
    },
    token,
  );
const page = async () =>
  (
    await server.request('GET', `/api/assessment/v1/assessment-groups/${group.id}/members`, {
      token: admin.token,
    })
  ).body;
const roles = async () =>
  Object.fromEntries(
    (await page()).members.map(({ userUid, role }: { userUid: string; role: string }) => [userUid, role]),
  );
const memberWith = async (role: GroupRole) => {
  const user = await fixtures.user({ organization: organization.uid });
  await fixtures.member(group.id, user.uid, role);
  return user;
};
const events = async () =>
  (await fixtures.auditEvents()).filter(
    ({ action, actor_kind, organization_id }) =>
      actor_kind === 'user' &&
      action === 'assessment-group.add-members' &&
      organization_id === organization.id,
  );
type Response = Awaited<ReturnType<typeof send>>;
const codes = (response: Response) => {
  expect(response.status).toBe(200);
  return response.body.results.map((result: any) => result.errorCode ?? result.status);
};
const expectProblem = ({ status, body }: Response, expected: number, kind: string) =>
  expect([status, body.type]).toEqual([
    expected,
    `${server.context.addresses.errorTypeBase}/assessment/${kind}`,
  ]);

describe('Operation 47: add members to an assessment group', () => {
  it('returns 200 with a result for each user in request order', async () => {
    await fixtures.member(group.id, users[1].uid, 'assessment_member');
    const response = await add([
      [users[2], 'infra_admin'],
      ['nobody', 'assessment_member'],
      [users[1], 'assessment_member'],
      [users[0], 'rbac_group_admin'],
    ]);
    expect([response.status, response.body]).toEqual([
      200,
      {
        results: [
          { userUid: users[2].uid, status: 'added', role: 'infra_admin', id: expect.any(Number) },
          {
            userUid: 'nobody',
            status: 'error',
            errorCode: 'user_not_found',
            errorDetail: expect.stringMatching(/./),
          },
          { userUid: users[1].uid, status: 'noop', role: 'assessment_member', id: expect.any(Number) },
          { userUid: users[0].uid, status: 'added', role: 'rbac_group_admin', id: expect.any(Number) },
        ],
        metadata: {
          processedAt: '2026-11-21T10:30:00.000Z',
          counts: { added: 2, removed: 0, noop: 1, error: 1 },
        },
      },
    ]);
    const { members, metadata } = await page();
    expect(metadata.pagination.total).toBe(3);
    for (const { userUid, status, role, id } of response.body.results)
      if (status !== 'error') expect(members).toContainEqual(expect.objectContaining({ userUid, role, id }));
    expect(await events()).toMatchObject([
      {
        object_id: String(group.id),
        user_id: admin.id,
        before: null,
        after: JSON.stringify({
          members: [
            { user: users[2].uid, role: 'infra_admin' },
            { user: users[0].uid, role: 'rbac_group_admin' },
          ],
        }),
      },
    ]);
  });

  it('changes the role of a member and updates the counts by role', async () => {
    await add([[users[0], 'assessment_member']]);
    const changed = await add([[users[0], 'assessment_operator']]);
    expect(codes(changed)).toEqual(['added']);
    expect(await roles()).toEqual({ [users[0].uid]: 'assessment_operator' });
    const counted = async (role: string) =>
      (
        await server.request('GET', `/api/assessment/v1/assessment-groups/${group.id}/members?role=${role}`, {
          token: admin.token,
        })
      ).body.metadata.pagination.total;
    expect([await counted('assessment_member'), await counted('assessment_operator')]).toEqual([0, 1]);
    expect((await events()).at(-1)).toMatchObject({
      before: JSON.stringify({ members: [{ user: users[0].uid, role: 'assessment_member' }] }),
    });
    expect(codes(await add([[users[0], 'assessment_operator']]))).toEqual(['noop']);
    expect(await events()).toHaveLength(2);
  });

  it('returns user_not_found for users of another organization, and user_not_in_org to staff who can see them', async () => {
    const foreignUser = await fixtures.user({ organization: (await fixtures.organization()).uid });
    const staff = await fixtures.user();
    const assigned = await fixtures.user({ assignedTo: [organization.uid] });
    const codesFor = async (token: string) => codes(await add([[foreignUser, 'assessment_member']], token));
    expect(await codesFor(admin.token)).toEqual(['user_not_found']);
    expect(await codesFor(assigned.token)).toEqual(['user_not_found']);
    expect(await codesFor(staff.token)).toEqual(['user_not_in_org']);
    expect(await roles()).toEqual({});
  });

  it('returns role_invalid for unknown roles', async () => {
    const response = await add([
      [users[0], 'admin'],
      [users[1], ''],
      [users[2], 'RBAC_GROUP_ADMIN'],
      ['nobody', 'x'],
    ]);
    expect(codes(response)).toEqual(Array(4).fill('role_invalid'));
    expect(response.body.results[0]).not.toHaveProperty('role');
  });

  it('returns forbidden for changing the role of the last rbac_group_admin', async () => {
    await add([
      [users[0], 'rbac_group_admin'],
      [users[1], 'assessment_member'],
    ]);
    expect(codes(await add([[users[0], 'assessment_member']]))).toEqual(['forbidden']);
    // An admin added earlier in the same request counts.
    expect(
      codes(
        await add([
          [users[1], 'rbac_group_admin'],
          [users[0], 'assessment_member'],
        ]),
      ),
    ).toEqual(['added', 'added']);
    await add([[users[0], 'rbac_group_admin']]);
    expect(
      codes(
        await add([
          [users[0], 'infra_admin'],
          [users[1], 'infra_admin'],
        ]),
      ),
    ).toEqual(['added', 'forbidden']);
  });

  it('keeps one admin when two demote each other concurrently', async () => {
    for (let round = 0; round < 5; round += 1) {
      await add([
        [users[0], 'rbac_group_admin'],
        [users[1], 'rbac_group_admin'],
      ]);
      await Promise.all([
        add([[users[0], 'assessment_member']], users[1].token),
        add([[users[1], 'assessment_member']], users[0].token),
      ]);
      expect(Object.values(await roles())).toContain('rbac_group_admin');
    }
  });

  it('adds a user once when concurrent requests add the same user', async () => {
    const done = await Promise.all(Array.from({ length: 8 }, () => add([[users[0], 'assessment_member']])));
    expect(done.flatMap(codes).sort()).toEqual(['added', ...Array(7).fill('noop')]);
    expect((await page()).metadata.pagination.total).toBe(1);
  });

  describe('Access', () => {
    const PLAIN = ['assessment_member', 'assessment_creator', 'assessment_read_only', 'assessment_operator'];

    it('lets a member with the role rbac_group_admin assign all but infra_admin', async () => {
      const giver = await memberWith('rbac_group_admin');
      const giveable = [...PLAIN, 'rbac_group_admin'];
      for (const roleName of [...PLAIN, 'rbac_group_admin', 'infra_admin']) {
        const user = await fixtures.user({ organization: organization.uid });
        expect([roleName, ...codes(await add([[user, roleName]], giver.token))]).toEqual([
          roleName,
          giveable.includes(roleName) ? 'added' : 'role_not_assignable',
        ]);
      }
      // A role that the caller cannot assign cannot be replaced either.
      const holder = await memberWith('infra_admin');
      expect(codes(await add([[holder, 'assessment_member']], giver.token))).toEqual(['role_not_assignable']);
    });

    it('rejects the role that only access by name can have', async () => {
      const user = await fixtures.user({ organization: organization.uid });
      expect(codes(await add([[user, 'assessment_developer']], admin.token))).toEqual(['role_invalid']);
    });

    it('lets admins and staff assign every role', async () => {
      for (const { token } of [admin, await fixtures.user()]) {
        const user = await fixtures.user({ organization: organization.uid });
        expect(codes(await add([[user, 'infra_admin']], token))).toEqual(['added']);
      }
    });

    it('returns 403 to other members and to users who are not members', async () => {
      for (const role of ['assessment_operator', 'assessment_member', 'infra_admin'] as const)
        expectProblem(
          await add([[users[0], 'assessment_member']], (await memberWith(role)).token),
          403,
          'forbidden',
        );
      expectProblem(await add([[users[0], 'assessment_member']], users[1].token), 403, 'forbidden');
    });

    it('returns 404 to users of other organizations and for unknown groups', async () => {
      const foreignAdmin = await fixtures.user({
        organization: (await fixtures.organization()).uid,
        admin: true,
      });
      expectProblem(await add([[users[0], 'assessment_member']], foreignAdmin.token), 404, 'group-not-found');
    });

    it('is listed as an action in operation 12 for callers who may use it', async () => {
      const actions = async (token: string) =>
        (await server.request('GET', `/api/assessment/v1/assessment-groups/${group.id}/members`, { token }))
          .body.metadata.actions;
      const href = `${server.context.addresses.clientBaseUrl}/api/assessment/v1/assessment-groups/${group.id}/members`;
      for (const { token } of [admin, await memberWith('rbac_group_admin')])
        expect(await actions(token)).toEqual([
          { name: 'batchRemove', method: 'POST', href: `${href}/batchRemove` },
          { name: 'batchAdd', method: 'POST', href: `${href}/batchAdd` },
        ]);
      expect(await actions((await memberWith('assessment_member')).token)).toEqual([]);
    });
  });

  describe('Validation', () => {
    it.each<[string, (uid: string) => unknown]>([
      ['an empty list of members', () => ({})],
      ['null as members', () => ({ members: null })],
      ['a missing list of members', () => ({ members: [] })],
      ['a missing role', (userUid) => ({ members: [{ userUid }] })],
      ['a role that is not text', (userUid) => ({ members: [{ userUid, role: 1 }] })],
      ['null as role', (userUid) => ({ members: [{ userUid, role: null }] })],
      ['a missing user', () => ({ members: [{ role: 'assessment_member' }] })],
      ['a malformed uid', () => ({ members: [{ userUid: 'a b', role: 'assessment_member' }] })],
      [
        'a duplicate user',
        (userUid) => ({
          members: [
            { userUid, role: 'assessment_member' },
            { userUid, role: 'infra_admin' },
          ],
        }),
      ],
    ])('returns 400 for %s', async (_what, body) => {
      expectProblem(await send(body(users[0].uid)), 400, 'invalid-request');
      expect(await roles()).toEqual({});
    });

    it('accepts 100 members and returns 413 for more', async () => {
      const newMembers = (count: number) =>
        send({
          members: Array.from({ length: count }, (_, index) => ({
            userUid: `nobody${index}`,
            role: 'assessment_member',
          })),
        });
      expect((await newMembers(101)).status).toBe(413);
      expect((await newMembers(100)).body.metadata.counts.error).toBe(100);
    });

    it('writes a batch with the role and membership of each user and updates the counts', async () => {
      const responses = await Promise.all(
        Array.from({ length: 30 }, () => fixtures.invited({ organization: organization.uid })),
      );
      const roleNames = ['assessment_member', 'assessment_operator', 'assessment_creator'];
      const batch = (shift: number) => ({
        members: responses
          .map(({ uid }, index) => ({ userUid: uid, role: roleNames[(index + shift) % 3] }))
          .reverse(),
      });
      for (const [shift, body] of [batch(0), batch(1)].entries()) {
        const { results } = (await send(body)).body;
        expect(results.map((result: any) => [result.userUid, result.role, result.status])).toEqual(
          body.members.map(({ userUid, role }) => [userUid, role, 'added']),
        );
        const { members } = await page();
        const ids = (rows: any[]) => new Map(rows.map(({ userUid, role, id }) => [userUid, `${role} ${id}`]));
        expect(ids(members)).toEqual(ids(results));
        for (const role of roleNames) {
          const path = `/api/assessment/v1/assessment-groups/${group.id}/members?role=${role}`;
          const { metadata } = (await server.request('GET', path, { token: admin.token })).body;
          expect([shift, role, metadata.pagination.total]).toEqual([shift, role, 10]);
        }
      }
    });

    it('adds once per idempotency key and returns 400 when the key is reused for another request', async () => {
      const headers = { 'idempotency-key': 'once' };
      const members = (role: string) => ({ members: [{ userUid: users[0].uid, role }] });
      const first = await send(members('assessment_member'), admin.token, headers);
      const second = await send(members('assessment_member'), admin.token, headers);
      expect([second.body, second.headers.get('idempotency-replayed')]).toEqual([first.body, 'true']);
      expectProblem(await send(members('infra_admin'), admin.token, headers), 400, 'invalid-request');
      expect(await events()).toHaveLength(1);
    });
  });
});
