import { beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../harness/expect-problem.ts';
import { useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const CREATED = Date.UTC(2026, 10, 20, 8);
const NOW = Date.UTC(2026, 10, 21, 10, 30);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let now: number;
let organization: string;
let assessment: string;
let admin: TestUser;
let testers: [TestUser, TestUser];

const server = await useSharedServer(() => now);
const fixtures = createFixtures(server);
beforeEach(async () => {
  now = CREATED;
  organization = (await fixtures.organization()).uid;
  assessment = (await fixtures.assessment(organization)).uid;
  admin = await fixtures.user({ organization, admin: true });
  testers = [await fixtures.user(), await fixtures.user()];
  now = NOW;
});

const hours = (token = admin.token, uid = assessment) =>
  server.request('GET', `/v1/assessments/${uid}/testing_hours`, { token });
/** A session of one of the testers; times are hours before now, `null` is still running. */
const session = (tester: 0 | 1, from: number, to: number | null) =>
  fixtures.testingSession(
    assessment,
    testers[tester].id,
    NOW - from * HOUR,
    to === null ? null : NOW - to * HOUR,
  );
const iso = (hoursAgo: number) => new Date(NOW - hoursAgo * HOUR).toISOString();

describe('Operation 7: get testing hours for an assessment', () => {
  it('returns 0 and the creation time twice without a session', async () => {
    const response = await hours();
    expect(response.body).toEqual({
      stats_total: 0,
      from: '2026-11-20T08:00:00.000Z',
      to: '2026-11-20T08:00:00.000Z',
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it.each<[string, [0 | 1, number, number | null][], { stats_total: number; from: number; to: number }]>([
    ['one session', [[0, 5, 3]], { stats_total: 2, from: 5, to: 3 }],
    [
      'the last session to end, not the last to start',
      [
        [0, 9, 1],
        [1, 8, 7],
      ],
      { stats_total: 9, from: 9, to: 1 },
    ],
    [
      'sessions logged in any order',
      [
        [0, 2, 1],
        [0, 6, 4],
      ],
      { stats_total: 3, from: 6, to: 1 },
    ],
    [
      'concurrent sessions of each tester',
      [
        [0, 4, 2],
        [1, 4, 2],
      ],
      { stats_total: 4, from: 4, to: 2 },
    ],
    [
      'a running session until now',
      [
        [0, 5, 4],
        [1, 1.5, null],
      ],
      { stats_total: 2.5, from: 5, to: 0 },
    ],
    [
      'running sessions of both testers',
      [
        [0, 3, null],
        [1, 2, null],
      ],
      { stats_total: 5, from: 3, to: 0 },
    ],
    ['an empty session', [[0, 3, 3]], { stats_total: 0, from: 3, to: 3 }],
    [
      'overlapping sessions of one tester once',
      [
        [0, 6, 3],
        [0, 5, 4],
        [0, 4, 2],
        [0, 4, 2],
      ],
      { stats_total: 4, from: 6, to: 2 },
    ],
    [
      'a session in the future as 0',
      [
        [0, 3, 2],
        [1, -1, null],
      ],
      { stats_total: 1, from: 3, to: 0 },
    ],
  ])('counts %s', async (_what, sessions, { stats_total, from, to }) => {
    for (const [tester, start, end] of sessions) await session(tester, start, end);
    expect((await hours()).body).toEqual({ stats_total, from: iso(from), to: iso(to) });
  });

  it.each([
    [1, 0.02],
    [20, 0.33],
    [40, 0.67],
    [0.2, 0],
    [100 * 60 + 1, 100.02],
  ])('rounds %d minutes to %d hours', async (minutes, stats_total) => {
    await fixtures.testingSession(assessment, testers[0].id, NOW - minutes * MINUTE, NOW);
    expect((await hours()).body.stats_total).toBe(stats_total);
  });

  it('ignores sessions of other assessments', async () => {
    const otherAssessment = await fixtures.assessment(organization);
    await fixtures.testingSession(otherAssessment.uid, testers[0].id, NOW - 2 * HOUR, NOW);
    expect((await hours()).body.stats_total).toBe(0);
  });

  it('allows users with access, admins and staff', async () => {
    const member = await fixtures.user({ organization });
    await fixtures.access(assessment, member.id);
    await session(0, 2, 1);
    const expected = { stats_total: 1, from: iso(2), to: iso(1) };
    for (const { token } of [member, admin, await fixtures.user()]) {
      const { status, body } = await hours(token);
      expect([status, body]).toEqual([200, expected]);
    }
  });

  it('returns 404 to users without access and to admins of other organizations', async () => {
    const outsider = await fixtures.user({ organization });
    await fixtures.access((await fixtures.assessment(organization)).uid, outsider.id);
    const foreignAdmin = await fixtures.user({
      organization: (await fixtures.organization()).uid,
      admin: true,
    });
    for (const { token } of [outsider, foreignAdmin]) {
      expectProblem(server, await hours(token), { area: 'v1', status: 404, kind: 'not-found' });
    }
  });

  it.each([
    'none',
    'x'.repeat(50),
    'x'.repeat(51),
    'x'.repeat(4_000),
    'UPPER',
    '%00',
    'a%00b',
    'a%20b',
    'a%2Fb',
    'a%0A',
    '%ED%95%9C',
    "'%20or%20'1'='1",
    '%25',
  ])('returns 404 for the unknown assessment %s', async (uid) => {
    expectProblem(server, await hours(admin.token, uid), { area: 'v1', status: 404, kind: 'not-found' });
  });

  it('accepts every V1 credential', async () => {
    for (const headers of [
      { authorization: `Bearer ${admin.token}` },
      { authorization: `Basic ${btoa(`${admin.email}:${admin.token}`)}` },
      { 'x-auth': admin.token },
    ]) {
      const { status } = await server.request('GET', `/v1/assessments/${assessment}/testing_hours`, {
        headers: headers as Record<string, string>,
      });
      expect(status).toBe(200);
    }
  });

  it('changes and records nothing', async () => {
    const before = (await fixtures.auditEvents()).length;
    await hours();
    expect(await fixtures.auditEvents()).toHaveLength(before);
  });
});
