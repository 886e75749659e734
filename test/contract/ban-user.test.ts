import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { onBehalfOf, cliChangeContext } from '../../src/auth/callers.ts';
import { recordEvent } from '../../src/domain/audit/record-event.ts';
import { banUser } from '../../src/domain/users/ban-user.ts';
import { startSecondServer, type TestResponse, useSharedServer } from '../harness/server.ts';
import { INVALID_IDS } from '../harness/invalid-values.ts';
import { columnsOfRequest, type TestUser, createFixtures } from '../harness/fixtures.ts';

const NOW = Date.UTC(2026, 10, 21, 10, 30);

let organization: { id: number; uid: string };
let admin: TestUser;
let user: TestUser;

const server = await startSecondServer(await useSharedServer(() => NOW), {
  clientBaseUrl: 'https://gateway.example',
});
const fixtures = createFixtures(server);
const staff = await fixtures.user();
afterAll(() => server.close());
beforeEach(async () => {
  organization = await fixtures.organization();
  admin = await fixtures.user({ organization: organization.uid, admin: true });
  user = await fixtures.user({ organization: organization.uid });
});

const ban = (id: number | string, token = admin.token) =>
  server.request('DELETE', `/v1/users/${id}`, { token });
const expectBodiless = (response: TestResponse, status: number) => {
  expect([response.status, response.text]).toEqual([status, '']);
  expect(response.headers.get('content-type')).toBeNull();
};
const row = (id: number) =>
  server.context.db.read.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst();
const isBanned = async (id: number) => (await row(id))?.banned_at !== null;
const eventsOf = async (id: number) =>
  (await fixtures.auditEvents()).filter(
    (event) => event.object_id === String(id) && ['user.ban', 'user.delete'].includes(event.action),
  );

describe('Operation 6: ban or delete a user', () => {
  it('returns 200 with the banned user', async () => {
    const [second, first] = [
      await fixtures.assessment(organization.uid, `b-${organization.uid}`),
      await fixtures.assessment(organization.uid, `a-${organization.uid}`),
    ];
    await fixtures.assessment(organization.uid);
    const group = await fixtures.group(organization.uid);
    const grouped = await fixtures.assessment(organization.uid, `c-${organization.uid}`, group.id);
    await fixtures.member(group.id, user.uid, 'infra_admin');
    for (const { uid } of [second, first, grouped]) await fixtures.access(uid, user.id);
    const response = await ban(user.id);
    expect(response.body).toEqual({
      id: user.id,
      email: user.email,
      assessment_ids: [first.uid, second.uid, grouped.uid],
      banned: true,
      admin: false,
      invite_url: null,
    });
    expect(response.status).toBe(200);
    expect((await row(user.id))?.banned_at).toBe(NOW);
  });

  it('returns every assessment of the organization for an admin', async () => {
    const uids = [];
    for (let i = 0; i < 3; i += 1) uids.push((await fixtures.assessment(organization.uid)).uid);
    await fixtures.assessment((await fixtures.organization()).uid);
    const otherUser = await fixtures.user({ organization: organization.uid, admin: true });
    const { body } = await ban(otherUser.id);
    expect(body).toMatchObject({ admin: true, assessment_ids: uids.sort() });
  });

  it('revokes every credential of the user immediately', async () => {
    const assessment = await fixtures.assessment(organization.uid);
    await fixtures.access(assessment.uid, user.id);
    const jwt = await fixtures.token(user.id, { kind: 'jwt', expiresAt: NOW + 3_600_000 });
    const credentials = [
      { authorization: `Bearer ${user.token}` },
      { authorization: `Bearer ${jwt.token}` },
      { authorization: `Basic ${btoa(`${user.email}:${user.token}`)}` },
      { 'x-auth': user.token },
    ];
    const statuses = () =>
      Promise.all(
        credentials.map(
          async (headers) =>
            (
              await server.request('GET', `/v1/assessments/${assessment.uid}/testing_hours`, {
                headers: headers as Record<string, string>,
              })
            ).status,
        ),
      );
    expect(await statuses()).toEqual([200, 200, 200, 200]);
    expect((await ban(user.id)).status).toBe(200);
    expect(await statuses()).toEqual([401, 401, 401, 401]);
  });

  it('returns the same for a banned user and records one event', async () => {
    const first = await ban(user.id);
    const second = await ban(user.id);
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect(await eventsOf(user.id)).toEqual([
      {
        ...columnsOfRequest(admin, first),
        at: NOW,
        action: 'user.ban',
        object_type: 'user',
        object_id: String(user.id),
        organization_id: organization.id,
        before: '{"banned":false}',
        after: '{"banned":true}',
      },
    ]);
  });

  it('lets staff ban client users', async () => {
    expect((await ban(user.id, staff.token)).status).toBe(200);
    expect(await isBanned(user.id)).toBe(true);
  });

  describe('Users who never signed in', () => {
    it('are deleted, and returned as banned with their invitation', async () => {
      const assessment = await fixtures.assessment(organization.uid);
      const invited = await fixtures.invited({ organization: organization.uid });
      await fixtures.access(assessment.uid, invited.id);
      const group = await fixtures.group(organization.uid);
      const grouped = await fixtures.assessment(organization.uid, undefined, group.id);
      await fixtures.member(group.id, invited.uid, 'assessment_read_only');
      const response = await ban(invited.id);
      expect(response.body).toEqual({
        id: invited.id,
        email: invited.email,
        assessment_ids: [assessment.uid, grouped.uid].sort(),
        banned: true,
        admin: false,
        invite_url: expect.stringMatching(
          new RegExp(`^https://gateway\\.example/invitation\\?token=${invited.uid}\\.[-_0-9A-Za-z]{43}$`),
        ),
      });
      expect(response.status).toBe(200);
      expect(await row(invited.id)).toBeUndefined();
      expectBodiless(await ban(invited.id), 404);
    });

    it('are banned, not deleted, if they have a token', async () => {
      const invited = await fixtures.invited({ organization: organization.uid });
      const { token } = await fixtures.token(invited.id);
      const { status, body } = await ban(invited.id);
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { banned: true, invite_url: expect.stringContaining('/invitation?token=') },
      });
      expect(await isBanned(invited.id)).toBe(true);
      expect(await eventsOf(invited.id)).toMatchObject([{ action: 'user.ban' }]);
      const call = await server.request('GET', '/v1/assessments/nothing/testing_hours', { token });
      expect(call.status).toBe(401);
    });

    it('are banned, not deleted, if hours were logged for them, which keep their assessment', async () => {
      const invited = await fixtures.invited({ organization: organization.uid });
      const assessment = await fixtures.assessment(organization.uid);
      await fixtures.access(assessment.uid, invited.id);
      const sessions = `/v1/assessments/${assessment.uid}/testing_sessions`;
      const logged = await server.request('POST', sessions, {
        token: admin.token,
        body: {
          tester_id: invited.id,
          started_at: new Date(NOW - 7_200_000).toISOString(),
          ended_at: new Date(NOW - 3_600_000).toISOString(),
        },
      });
      expect(logged.status).toBe(201);
      expect((await ban(invited.id)).status).toBe(200);
      expect(await isBanned(invited.id)).toBe(true);
      expect(await eventsOf(invited.id)).toMatchObject([{ action: 'user.ban' }]);
      const listed = await server.request('GET', sessions, { token: admin.token });
      expect(listed.body).toEqual([{ ...logged.body, edits: [] }]);
      const removed = await server.request('DELETE', `/v1/assessments/${assessment.uid}`, {
        token: admin.token,
      });
      expect(removed.status).toBe(409);
    });

    it('are banned, not deleted, if a vulnerability is assigned to them', async () => {
      const invited = await fixtures.invited({ organization: organization.uid });
      const assessment = await fixtures.assessment(organization.uid);
      await fixtures.access(assessment.uid, invited.id);
      const { id } = await fixtures.vulnerability(assessment.uid);
      const assigned = await server.request('PATCH', `/v1/vulnerabilities/${id}`, {
        token: admin.token,
        body: { assignee_id: invited.id },
      });
      expect(assigned.status).toBe(200);
      expect((await ban(invited.id)).status).toBe(200);
      expect(await isBanned(invited.id)).toBe(true);
    });

    it('are banned, not deleted, if they caused an audit event', async () => {
      const invited = await fixtures.invited({ organization: organization.uid });
      await server.context.db.write((tx) =>
        recordEvent(tx, onBehalfOf(cliChangeContext(NOW), invited.id), {
          action: 'assessment.create',
          object: ['assessment', 'any'],
          organizationId: organization.id,
          before: null,
          after: {},
        }),
      );
      expect((await ban(invited.id)).status).toBe(200);
      expect(await isBanned(invited.id)).toBe(true);
    });

    it('keep what concurrent requests log for them', async () => {
      for (let round = 0; round < 5; round += 1) {
        const invited = await fixtures.invited({ organization: organization.uid });
        const assessment = await fixtures.assessment(organization.uid);
        await fixtures.access(assessment.uid, invited.id);
        const sessions = `/v1/assessments/${assessment.uid}/testing_sessions`;
        const times = {
          started_at: new Date(NOW - 7_200_000).toISOString(),
          ended_at: new Date(NOW - 3_600_000).toISOString(),
        };
        const [logged, banned] = await Promise.all([
          server.request('POST', sessions, {
            token: admin.token,
            body: { tester_id: invited.id, ...times },
          }),
          ban(invited.id),
        ]);
        expect(banned.status).toBe(200);
        expect([201, 422]).toContain(logged.status);
        const listed = await server.request('GET', sessions, { token: admin.token });
        expect(listed.body).toMatchObject(logged.status === 201 ? [logged.body] : []);
      }
    });

    it('leave nothing but audit events', async () => {
      const invited = await fixtures.invited({ organization: organization.uid, name: 'Ivy' });
      const group = await fixtures.group(organization.uid);
      const assessment = await fixtures.assessment(organization.uid, undefined, group.id);
      await fixtures.access(assessment.uid, invited.id);
      await fixtures.member(group.id, invited.uid, 'infra_admin');
      await fixtures.member(group.id, user.uid, 'infra_admin');
      const response = await ban(invited.id);
      expect(response.status).toBe(200);
      const { read } = server.context.db;
      const members = await read
        .selectFrom('assessment_group_members')
        .selectAll()
        .where('group_id', '=', group.id)
        .execute();
      expect(members.map((member) => member.user_uid)).toEqual([user.uid]);
      const counts = await read
        .selectFrom('assessment_group_member_counts')
        .select(['role', 'members'])
        .where('group_id', '=', group.id)
        .execute();
      expect(counts).toEqual([{ role: 'infra_admin', members: 1 }]);
      expect(
        await read.selectFrom('assessment_access').selectAll().where('user_id', '=', invited.id).execute(),
      ).toEqual([]);
      expect(await eventsOf(invited.id)).toMatchObject([
        {
          action: 'user.delete',
          user_id: admin.id,
          before: JSON.stringify({
            uid: invited.uid,
            email: invited.email,
            name: 'Ivy',
            admin: false,
            staff: false,
            assigned_to: [],
            assessments: [assessment.uid],
            groups: [{ group_id: group.id, role: 'infra_admin' }],
          }),
          after: null,
        },
      ]);
    });

    it('free their email address for another invitation', async () => {
      const invited = await fixtures.invited({ organization: organization.uid });
      await ban(invited.id);
      const repeated = await fixtures.invited({ organization: organization.uid, email: invited.email });
      expect(repeated.id).not.toBe(invited.id);
    });

    it('have an invitation link of their own', async () => {
      const link = async () => {
        const invited = await fixtures.invited({ organization: organization.uid });
        const { body } = await ban(invited.id);
        return new URL(body.invite_url).searchParams.get('token')?.split('.')[1];
      };
      expect(await link()).not.toBe(await link());
    });
  });

  describe('403 without a body', () => {
    it('is returned to client users who are not admins, for any user of their organization', async () => {
      const target = await fixtures.user({ organization: organization.uid });
      for (const { id } of [target, admin, user]) expectBodiless(await ban(id, user.token), 403);
      expect(await isBanned(target.id)).toBe(false);
    });

    it('is returned to admins who ban themselves, even beside other admins', async () => {
      expectBodiless(await ban(admin.id), 403);
      await fixtures.user({ organization: organization.uid, admin: true });
      expectBodiless(await ban(admin.id), 403);
      expect(await isBanned(admin.id)).toBe(false);
    });

    it('is returned to staff who ban staff or themselves', async () => {
      const colleague = await fixtures.user();
      expectBodiless(await ban(colleague.id, staff.token), 403);
      expectBodiless(await ban(staff.id, staff.token), 403);
    });

    it('is returned for the last admin', async () => {
      expectBodiless(await ban(admin.id, staff.token), 403);
      expect(await isBanned(admin.id)).toBe(false);
      expect(await eventsOf(admin.id)).toEqual([]);
    });

    it('is returned for the last admin beside a banned one', async () => {
      const otherUser = await fixtures.user({ organization: organization.uid, admin: true });
      expect((await ban(otherUser.id)).status).toBe(200);
      expectBodiless(await ban(admin.id, staff.token), 403);
    });

    it('is returned for the last admin, even if they never signed in', async () => {
      const uid = (await fixtures.organization()).uid;
      const invited = await fixtures.invited({ organization: uid, admin: true });
      expectBodiless(await ban(invited.id, staff.token), 403);
      expect(await row(invited.id)).toBeDefined();
    });
  });

  it('does not count an invited admin, who may never sign in, as a remaining one', async () => {
    const invited = await fixtures.invited({ organization: organization.uid, admin: true });
    expectBodiless(await ban(admin.id, staff.token), 403);
    expect(await isBanned(admin.id)).toBe(false);
    expect((await ban(invited.id, staff.token)).status).toBe(200);
  });

  it('bans an admin who never signed in as long as any other remains', async () => {
    const { uid } = await fixtures.organization();
    const lastAdmin = await fixtures.invited({ organization: uid, admin: true });
    const otherInvitation = await fixtures.invited({ organization: uid, admin: true });
    expect((await ban(lastAdmin.id, staff.token)).status).toBe(200);
    expectBodiless(await ban(otherInvitation.id, staff.token), 403);
  });

  describe('404 without a body', () => {
    it('is returned to admins and users for users of other organizations, staff and unknown ids', async () => {
      const foreignUser = await fixtures.user({ organization: (await fixtures.organization()).uid });
      for (const { token } of [admin, user]) {
        for (const id of [foreignUser.id, staff.id, 999_999_999]) expectBodiless(await ban(id, token), 404);
      }
      expect(await isBanned(foreignUser.id)).toBe(false);
    });

    it('is returned to staff for unknown ids', async () =>
      expectBodiless(await ban(999_999_999, staff.token), 404));

    it.each(INVALID_IDS)('is returned for the malformed id %s', async (id) => {
      expectBodiless(await ban(id), 404);
    });
  });

  describe('Concurrency', () => {
    it('keeps one of two admins who ban each other', async () => {
      for (let round = 0; round < 5; round += 1) {
        const { uid } = await fixtures.organization();
        const lastAdmin = await fixtures.user({ organization: uid, admin: true });
        const otherUser = await fixtures.user({ organization: uid, admin: true });
        const responses = await Promise.all([
          ban(otherUser.id, lastAdmin.token),
          ban(lastAdmin.id, otherUser.token),
        ]);
        const statuses = responses.map(({ status }) => status).sort();
        // The second admin is either banned before authentication, or the last admin left.
        expect([[200, 401].join(), [200, 403].join()]).toContain(statuses.join());
        expect([await isBanned(lastAdmin.id), await isBanned(otherUser.id)].sort()).toEqual([false, true]);
      }
    });

    it('keeps one admin when staff ban all of them', async () => {
      const admins = [admin];
      for (let i = 0; i < 5; i += 1)
        admins.push(await fixtures.user({ organization: organization.uid, admin: true }));
      const responses = await Promise.all(admins.map(({ id }) => ban(id, staff.token)));
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 403]);
    });

    it('bans a user once', async () => {
      const responses = await Promise.all(Array.from({ length: 5 }, () => ban(user.id)));
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      expect(await eventsOf(user.id)).toHaveLength(1);
    });
  });

  it('applies the same rules to the command line', async () => {
    const { db } = server.context;
    await expect(db.write((tx) => banUser(tx, cliChangeContext(NOW), admin.id))).rejects.toMatchObject({
      kind: 'forbidden',
    });
    await db.write((tx) => banUser(tx, cliChangeContext(NOW), user.id));
    expect(await eventsOf(user.id)).toMatchObject([{ action: 'user.ban', user_id: null }]);
  });
});
