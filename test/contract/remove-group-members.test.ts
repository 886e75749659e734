import { beforeEach, describe, expect, it } from 'vitest';
import { expectAssessmentProblem } from '../harness/expect-problem.ts';
import { GROUP_ROLES, type GroupRole } from '../../src/auth/roles.ts';
import { useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const NOW = Date.UTC(2026, 10, 21, 10, 30);
let organization: string;
let group: number;
let admin: TestUser;

const server = await useSharedServer(() => NOW);
const fixtures = createFixtures(server);
beforeEach(async () => {
  organization = (await fixtures.organization()).uid;
  group = (await fixtures.group(organization)).id;
  admin = await fixtures.user({ organization, admin: true });
});

const pathOf = (id: number | string) => `/api/assessment/v1/assessment-groups/${id}/members/batchRemove`;
const remove = (userUids: unknown, token: string | undefined = admin.token, id: number | string = group) =>
  server.request('POST', pathOf(id), { token, body: { userUids } });
const member = async (role: GroupRole = 'assessment_member') => {
  const { uid } = await fixtures.invited({ organization });
  await fixtures.member(group, uid, role);
  return uid;
};
const colleague = async () => (await fixtures.invited({ organization })).uid;
const membersLeft = async () =>
  (
    await server.context.db.read
      .selectFrom('assessment_group_members')
      .select('user_uid')
      .where('group_id', '=', group)
      .orderBy('id')
      .execute()
  ).map((row) => row.user_uid);
/** Compares with the list of members, which does not use the counters. */
const counted = async (query = '') => {
  const path = `/api/assessment/v1/assessment-groups/${group}/members?perPage=1${query}`;
  return (await server.request('GET', path, { token: admin.token })).body.metadata.pagination.total;
};
const events = async () =>
  (await fixtures.auditEvents()).filter((event) => event.action === 'assessment-group.remove-members');

const NOT_FOUND = { status: 'error', errorCode: 'user_not_found', errorDetail: 'No user has this uid.' };
const LAST_ADMIN = {
  status: 'error',
  errorCode: 'forbidden',
  errorDetail: 'The last rbac_group_admin of a group cannot be removed.',
};

describe('Operation 13: remove users from an assessment group', () => {
  it('returns the result of each user in request order, and the counts', async () => {
    const [first, remaining, last] = [await member(), await member(), await member('assessment_creator')];
    const noMember = await colleague();
    const response = await remove([last, 'nobody_-9', noMember, first]);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.body).toEqual({
      results: [
        { userUid: last, status: 'removed' },
        { userUid: 'nobody_-9', ...NOT_FOUND },
        { userUid: noMember, status: 'noop' },
        { userUid: first, status: 'removed' },
      ],
      metadata: {
        processedAt: '2026-11-21T10:30:00.000Z',
        counts: { added: 0, removed: 2, noop: 1, error: 1 },
      },
    });
    expect(await membersLeft()).toEqual([remaining]);
    expect(await counted()).toBe(1);
    expect(await counted('&role=assessment_member')).toBe(1);
    expect(await counted('&role=assessment_creator')).toBe(0);
  });

  it('returns noop for a user who was already removed', async () => {
    const uid = await member();
    expect((await remove([uid])).body.results).toEqual([{ userUid: uid, status: 'removed' }]);
    expect((await remove([uid])).body.results).toEqual([{ userUid: uid, status: 'noop' }]);
  });

  it('keeps the user in other groups', async () => {
    const uid = await member();
    const otherGroup = await fixtures.group(organization);
    await fixtures.member(otherGroup.id, uid, 'assessment_member');
    await remove([uid]);
    const remaining = await server.context.db.read
      .selectFrom('assessment_group_members')
      .select('group_id')
      .where('user_uid', '=', uid)
      .execute();
    expect(remaining).toEqual([{ group_id: otherGroup.id }]);
  });

  it('removes 100 users at once', async () => {
    const uids = [];
    for (let i = 0; i < 100; i += 1) uids.push(await member(GROUP_ROLES[(i % 5) + 1] as GroupRole));
    const { body } = await remove(uids);
    expect(body.results).toEqual(uids.map((userUid) => ({ userUid, status: 'removed' })));
    expect(body.metadata.counts).toEqual({ added: 0, removed: 100, noop: 0, error: 0 });
    expect(await counted()).toBe(0);
  });

  it('records one audit event with the removed users and their roles', async () => {
    const [owner, reader, remaining] = [
      await member('rbac_group_admin'),
      await member('assessment_read_only'),
      await member('rbac_group_admin'),
    ];
    const before = (await events()).length;
    const response = await remove([reader, 'nobody', owner, remaining]);
    const [event, ...otherEvents] = (await events()).slice(before);
    expect(otherEvents).toEqual([]);
    expect(event).toMatchObject({
      at: NOW,
      object_type: 'assessment-group',
      object_id: String(group),
      user_id: admin.id,
      address: '127.0.0.1',
      request_id: response.headers.get('x-request-id'),
      after: null,
    });
    expect(event?.organization_id).toEqual(expect.any(Number));
    expect(event?.credential_id).toEqual(expect.any(String));
    expect(JSON.parse(event?.before ?? '')).toEqual({
      members: [
        { user: reader, role: 'assessment_read_only' },
        { user: owner, role: 'rbac_group_admin' },
      ],
    });
  });

  it('records no event if no one was removed', async () => {
    const before = (await events()).length;
    await remove(['nobody', await colleague()]);
    expect(await events()).toHaveLength(before);
  });

  describe('The last rbac_group_admin', () => {
    it('is not removed', async () => {
      const uid = await member('rbac_group_admin');
      const otherMember = await member();
      const { body } = await remove([uid, otherMember]);
      expect(body.results).toEqual([
        { userUid: uid, ...LAST_ADMIN },
        { userUid: otherMember, status: 'removed' },
      ]);
      expect(body.metadata.counts).toEqual({ added: 0, removed: 1, noop: 0, error: 1 });
      expect(await membersLeft()).toEqual([uid]);
      expect(await counted('&role=rbac_group_admin')).toBe(1);
    });

    it('is the last in request order if the request removes all', async () => {
      const [a, b, c] = [
        await member('rbac_group_admin'),
        await member('rbac_group_admin'),
        await member('rbac_group_admin'),
      ];
      expect((await remove([c, a, b])).body.results).toEqual([
        { userUid: c, status: 'removed' },
        { userUid: a, status: 'removed' },
        { userUid: b, ...LAST_ADMIN },
      ]);
      expect(await counted('&role=rbac_group_admin')).toBe(1);
    });

    it('is not removed by staff or by themselves', async () => {
      const owner = await fixtures.user({ organization });
      await fixtures.member(group, owner.uid, 'rbac_group_admin');
      for (const token of [(await fixtures.user()).token, owner.token]) {
        expect((await remove([owner.uid], token)).body.results).toEqual([
          { userUid: owner.uid, ...LAST_ADMIN },
        ]);
      }
    });

    it('can be removed once there is another one', async () => {
      const first = await member('rbac_group_admin');
      await remove([first]);
      await member('rbac_group_admin');
      expect((await remove([first])).body.results).toEqual([{ userUid: first, status: 'removed' }]);
    });

    it('is kept when concurrent requests remove one each', async () => {
      for (let round = 0; round < 5; round += 1) {
        const newGroup = (await fixtures.group(organization)).id;
        const owners: string[] = [];
        for (let i = 0; i < 6; i += 1) {
          const { uid } = await fixtures.invited({ organization });
          await fixtures.member(newGroup, uid, 'rbac_group_admin');
          owners.push(uid);
        }
        const responses = await Promise.all(owners.map((uid) => remove([uid], admin.token, newGroup)));
        const results = responses.map(({ body }) => body.results[0]);
        expect(results.filter(({ status }) => status === 'removed')).toHaveLength(5);
        expect(results.filter(({ errorCode }) => errorCode === 'forbidden')).toHaveLength(1);
        const path = `/api/assessment/v1/assessment-groups/${newGroup}/members`;
        const { body } = await server.request('GET', path, { token: admin.token });
        expect(body.members).toHaveLength(1);
        expect(body.metadata.pagination.total).toBe(1);
      }
    });
  });

  it('removes a member once when concurrent requests remove the same members in any order', async () => {
    const uids: string[] = [];
    for (let i = 0; i < 10; i += 1) uids.push(await member(GROUP_ROLES[(i % 5) + 1] as GroupRole));
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, i) => remove(i % 2 === 0 ? uids : uids.toReversed())),
    );
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    const removed = responses.reduce((sum, { body }) => sum + body.metadata.counts.removed, 0);
    expect(removed).toBe(10);
    expect(await membersLeft()).toEqual([]);
    expect(await counted()).toBe(0);
  });

  describe('Users of another organization', () => {
    it('are returned as unknown, except to staff', async () => {
      const otherOrganization = (await fixtures.organization()).uid;
      const foreignUser = await fixtures.invited({ organization: otherOrganization });
      const staff = await fixtures.user();
      expect((await remove([foreignUser.uid, staff.uid])).body.results).toEqual([
        { userUid: foreignUser.uid, ...NOT_FOUND },
        { userUid: staff.uid, ...NOT_FOUND },
      ]);
      const staffResult = {
        status: 'error',
        errorCode: 'user_not_in_org',
        errorDetail: "The user is not of the group's organization.",
      };
      expect((await remove([foreignUser.uid, staff.uid, 'nobody'], staff.token)).body.results).toEqual([
        { userUid: foreignUser.uid, ...staffResult },
        { userUid: staff.uid, ...staffResult },
        { userUid: 'nobody', ...NOT_FOUND },
      ]);
    });
  });

  describe('Access', () => {
    it.each(GROUP_ROLES)('depends on the role of the member: %s', async (role) => {
      const user = await fixtures.user({ organization });
      await fixtures.member(group, user.uid, role);
      const target = await member();
      const response = await remove([target], user.token);
      if (role === 'rbac_group_admin' || role === 'infra_admin') {
        expect(response.body.results).toEqual([{ userUid: target, status: 'removed' }]);
      } else {
        expectAssessmentProblem(server, response, 403, 'forbidden');
        expect(await membersLeft()).toContain(target);
      }
    });

    it('allows staff', async () => {
      const target = await member();
      expect((await remove([target], (await fixtures.user()).token)).body.metadata.counts.removed).toBe(1);
    });

    it('returns 403 to other users of the organization', async () => {
      const user = await fixtures.user({ organization });
      const otherGroup = await fixtures.group(organization);
      await fixtures.member(otherGroup.id, user.uid, 'rbac_group_admin');
      expectAssessmentProblem(server, await remove([await member()], user.token), 403, 'forbidden');
    });

    it('returns 404 to users of other organizations, as for an unknown group', async () => {
      const target = await member();
      const otherOrganization = (await fixtures.organization()).uid;
      const { token } = await fixtures.user({ organization: otherOrganization, admin: true });
      const foreign = await remove([target], token);
      expectAssessmentProblem(server, foreign, 404, 'group-not-found');
      const unknown = await remove([target], token, 999_999_999);
      expectAssessmentProblem(server, unknown, 404, 'group-not-found');
      expect(foreign.body.detail).toBe(unknown.body.detail);
      expect(await membersLeft()).toEqual([target]);
    });

    it('returns 403 to members who removed themselves', async () => {
      const user = await fixtures.user({ organization });
      await fixtures.member(group, user.uid, 'infra_admin');
      expect((await remove([user.uid], user.token)).body.metadata.counts.removed).toBe(1);
      expectAssessmentProblem(server, await remove([user.uid], user.token), 403, 'forbidden');
    });
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a string', 'u1'],
    ['no element', []],
    ['a number as an element', [1]],
    ['an empty element', ['']],
    ['an element of 65 characters', ['a'.repeat(65)]],
    ['an element with an invalid character', ['user.name']],
    ['an element with a trailing line break', ['user\n']],
    ['an element with a NUL character', ['user\u0000']],
    ['an element with a letter outside ASCII', ['usér']],
    ['a duplicate element', ['u1', 'u2', 'u1']],
  ])('returns 400 for %s as userUids', async (_name, userUids) => {
    const response = await remove(userUids);
    expectAssessmentProblem(server, response, 400, 'invalid-request');
    expect(response.body.detail).toContain('userUids');
  });

  it.each(['a', 'A-_9', 'a'.repeat(64)])('accepts the element %s', async (uid) => {
    expect((await remove([uid])).body.results).toEqual([{ userUid: uid, ...NOT_FOUND }]);
  });

  it('returns 413 for 101 elements before it validates them', async () => {
    const uids = Array.from({ length: 101 }, (_, i) => `u${i}`);
    expectAssessmentProblem(server, await remove(uids), 413, 'batch-too-large');
    expectAssessmentProblem(server, await remove(uids.map(() => 'u.1')), 413, 'batch-too-large');
    expect((await remove(uids.slice(1))).status).toBe(200);
  });

  it.each([
    ['not JSON', '{'],
    ['an array', '[]'],
    ['a string', '"u1"'],
    ['null', 'null'],
    ['empty', ''],
  ])('returns 400 for a body that is %s', async (_name, raw) => {
    expectAssessmentProblem(
      server,
      await server.request('POST', pathOf(group), { token: admin.token, raw }),
      400,
      'invalid-request',
    );
  });

  it('ignores unknown properties of the body', async () => {
    const uid = await member();
    const response = await server.request('POST', pathOf(group), {
      token: admin.token,
      body: { userUids: [uid], force: true },
    });
    expect(response.body.metadata.counts.removed).toBe(1);
  });

  it.each(['0', '-1', 'x', '1.5', '%00'])('returns 400 for the malformed group id %s', async (id) => {
    expectAssessmentProblem(server, await remove(['u1'], admin.token, id), 400, 'invalid-request');
  });

  it('returns 404 for a group id with too many digits', async () => {
    expectAssessmentProblem(
      server,
      await remove(['u1'], admin.token, '99999999999999999999999'),
      404,
      'group-not-found',
    );
  });
});
