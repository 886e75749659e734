import { beforeEach, describe, expect, it } from 'vitest';
import { endOverdueTestingSessionsJob } from '../../src/jobs/start-jobs.ts';
import { expectProblem } from '../harness/expect-problem.ts';
import { useSharedServer } from '../harness/server.ts';
import { INVALID_IDS } from '../harness/invalid-values.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const START = Date.UTC(2026, 10, 21, 10, 30);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let now: number;
let organization: { id: number; uid: string };
let admin: TestUser;
let tester: TestUser;
let uid: string;

const server = await useSharedServer(() => now);
const fixtures = createFixtures(server);
beforeEach(async () => {
  now = START;
  organization = await fixtures.organization();
  admin = await fixtures.user({ organization: organization.uid, admin: true });
  tester = await fixtures.user({ organization: organization.uid, name: 'Ada Tester' });
  uid = (await fixtures.assessment(organization.uid)).uid;
  await fixtures.access(uid, tester.id);
});

const post = (body: unknown = {}, token = tester.token, headers: Record<string, string> = {}) =>
  server.request('POST', `/v1/assessments/${uid}/testing_sessions`, { token, body, headers });
const patch = (
  id: number | string,
  body: unknown,
  token = tester.token,
  headers: Record<string, string> = {},
) => server.request('PATCH', `/v1/testing_sessions/${id}`, { token, body, headers });
const remove = (id: number, token = tester.token, headers: Record<string, string> = {}) =>
  server.request('DELETE', `/v1/testing_sessions/${id}`, { token, headers });
const list = async (query = '') =>
  (await server.request('GET', `/v1/assessments/${uid}/testing_sessions${query}`, { token: admin.token }))
    .body;
const hours = async () =>
  (await server.request('GET', `/v1/assessments/${uid}/testing_hours`, { token: admin.token })).body;
const setState = (state: string) =>
  server.request('PATCH', `/v1/assessments/${uid}`, { token: admin.token, body: { state } });
const iso = (time: number) => new Date(time).toISOString();
const logged = (from: number, to: number, overrides: object = {}) => ({
  started_at: iso(START - from * HOUR),
  ended_at: iso(START - to * HOUR),
  ...overrides,
});
const events = async (action: string) =>
  (await fixtures.auditEvents({ ofJobs: true })).filter(
    (event) => event.action === action && event.organization_id === organization.id,
  );
type Response = Awaited<ReturnType<typeof post>>;
const expectInvalid = (response: Response, property: string, message: unknown) =>
  expect([response.status, response.body.failedValidation]).toEqual([
    422,
    [expect.objectContaining({ property, message })],
  ]);
const expectConflict = (response: Response) =>
  expectProblem(server, response, { area: 'v1', status: 409, kind: 'conflict' });

describe('Operation 49: end times with a precision of seconds', () => {
  it('accepts an end in the same second as a start with milliseconds', async () => {
    const start = START - HOUR + 900;
    const times = { started_at: iso(start), ended_at: iso(START - HOUR).replace('.000', '') };
    const { status, body } = await post(times);
    expect([status, body.started_at, body.ended_at]).toEqual([201, iso(start), iso(start)]);
    expect((await post({ ...times, ended_at: iso(START - HOUR + 899) })).status).toBe(422);
    expect((await post({ ...times, ended_at: iso(START - HOUR - 1_000) })).status).toBe(422);

    now = START + 900;
    const running = (await post()).body;
    now = START + 950;
    const stopped = await patch(running.id, { ended_at: iso(START) });
    expect([stopped.status, stopped.body.ended_at]).toEqual([200, running.started_at]);
  });
});

describe('Operation 49: start or log a testing session', () => {
  it('starts a session now with {}', async () => {
    const created = await post();
    expect([created.status, created.body]).toEqual([
      201,
      {
        id: expect.any(Number),
        assessment_id: uid,
        tester: { id: tester.id, name: 'Ada Tester', email: tester.email },
        started_at: iso(START),
        ended_at: null,
        hours: 0,
        note: '',
        edited: false,
      },
    ]);
    expect(created.headers.get('etag')).toMatch(/^"1\./);
    now += 90 * MINUTE;
    expect(await list()).toEqual([{ ...created.body, hours: 1.5, edits: [] }]);
    expect((await events('testing-session.start')).map(({ after }) => JSON.parse(after ?? ''))).toEqual([
      { assessment: uid, tester: tester.uid, started_at: START, ended_at: null, note: '' },
    ]);
  });

  it('logs a session with any UTC offset and overlaps, which operation 7 counts once per tester', async () => {
    const created = await post({
      started_at: '2026-11-21T09:00:00+02:00',
      ended_at: '2026-11-21T08:30:00',
      note: 'A <b>note</b>',
    });
    expect([created.status, created.body]).toEqual([
      201,
      expect.objectContaining({
        started_at: '2026-11-21T07:00:00.000Z',
        ended_at: '2026-11-21T08:30:00.000Z',
        hours: 1.5,
        note: 'A <b>note</b>',
      }),
    ]);
    expect((await post(logged(3, 2))).status).toBe(201);
    expect((await hours()).stats_total).toBe(1.5);
    expect(await events('testing-session.log')).toHaveLength(2);
  });

  it.each([
    [{ started_at: iso(START - HOUR) }, 'ended_at', /^is required/],
    [{ ended_at: iso(START - HOUR) }, 'started_at', /^is required/],
    [{ started_at: null, ended_at: iso(START - HOUR) }, 'started_at', /^is required/],
    [logged(1, 2), 'ended_at', 'must not be before started_at'],
    [logged(25.1, 1), 'ended_at', /24 hours/],
    [{ started_at: iso(START), ended_at: iso(START + MINUTE + 1) }, 'ended_at', /future/],
    [{ started_at: 'yesterday', ended_at: iso(START) }, 'started_at', /^must be a date and time/],
    [
      { started_at: iso(START - 1), ended_at: '2026-02-30T10:00:00Z' },
      'ended_at',
      /^must be a date and time/,
    ],
  ])('returns 422 for %j', async (body, property, message) => {
    expectInvalid(
      await post(body),
      property,
      typeof message === 'string' ? message : expect.stringMatching(message),
    );
    expect(await list()).toEqual([]);
  });

  it('accepts 24 hours, an empty session, and up to a minute in the future as now', async () => {
    expect((await post(logged(25, 1))).body.hours).toBe(24);
    expect((await post(logged(1, 1))).body.hours).toBe(0);
    const inFuture = await post({ started_at: iso(START + 1), ended_at: iso(START + MINUTE) });
    expect([inFuture.body.started_at, inFuture.body.ended_at]).toEqual([iso(START), iso(START)]);
  });

  it('returns 409 while the tester has a running session of the assessment, unless it logs a past one', async () => {
    await post();
    expectConflict(await post());
    expect((await post(logged(2, 1))).status).toBe(201);
    expect((await post({}, admin.token)).status).toBe(201);
    const otherAssessment = await fixtures.assessment(organization.uid);
    await fixtures.access(otherAssessment.uid, tester.id);
    const inOtherAssessment = await server.request(
      'POST',
      `/v1/assessments/${otherAssessment.uid}/testing_sessions`,
      {
        token: tester.token,
        body: {},
      },
    );
    expect(inOtherAssessment.status).toBe(201);
  });

  it('starts one session for concurrent requests', async () => {
    const created = await Promise.all(Array.from({ length: 8 }, () => post()));
    expect(created.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
    expect(await list('?filter[running]=true')).toHaveLength(1);
  });

  it.each(['pending', 'paused', 'completed'])(
    'returns 409 while the assessment is %s, unless it logs a past session',
    async (state) => {
      await setState(state);
      expectConflict(await post());
      expect((await post(logged(2, 1))).status).toBe(201);
    },
  );

  it('ends after 24 hours, before and after the job that stores it', async () => {
    const { body: created } = await post();
    now = START + 24 * HOUR - 1;
    expect(await list('?filter[running]=1')).toHaveLength(1);
    now = START + 30 * HOUR;
    const ended = { ...created, ended_at: iso(START + 24 * HOUR), hours: 24, edits: [] };
    expect(await list()).toEqual([ended]);
    expect(await list('?filter[running]=1')).toEqual([]);
    const total = { stats_total: 24, from: iso(START), to: iso(START + 24 * HOUR) };
    expect(await hours()).toEqual(total);
    const run = () =>
      endOverdueTestingSessionsJob(server.context).run({ signal: new AbortController().signal } as never);
    await run();
    await run();
    expect([await list(), await hours()]).toEqual([[ended], total]);
    expect(await events('testing-session.update')).toMatchObject([
      { actor_kind: 'system', object_id: String(created.id), after: `{"ended_at":${START + 24 * HOUR}}` },
    ]);
  });

  it('starts again after the 24 hours of the previous session', async () => {
    await post();
    now = START + 24 * HOUR;
    expect((await post()).status).toBe(201);
    expect((await list()).map((row: { ended_at: unknown }) => row.ended_at)).toEqual([null, iso(now)]);
  });

  it('starts once per idempotency key', async () => {
    const headers = { 'idempotency-key': 'start' };
    const [first, second] = [await post({}, tester.token, headers), await post({}, tester.token, headers)];
    expect([second.status, second.body]).toEqual([201, first.body]);
  });

  describe('Access', () => {
    it('returns 404 without access before other checks', async () => {
      const outsider = await fixtures.user({ organization: organization.uid });
      const foreignAdmin = await fixtures.user({
        organization: (await fixtures.organization()).uid,
        admin: true,
      });
      for (const { token } of [outsider, foreignAdmin])
        expectProblem(server, await post({ tester_id: tester.id }, token), {
          area: 'v1',
          status: 404,
          kind: 'not-found',
        });
    });

    it('returns 403 to users who name another tester and are not admins', async () => {
      expectProblem(server, await post({ tester_id: admin.id }), {
        area: 'v1',
        status: 403,
        kind: 'forbidden',
      });
      expect((await post({ tester_id: tester.id })).status).toBe(201);
    });

    it('lets admins name users who may log time, but no staff', async () => {
      for (const { id } of [tester, admin]) {
        const created = await post(logged(2, 1, { tester_id: id }), admin.token);
        expect([created.status, created.body.tester?.id]).toEqual([201, id]);
      }
      const assigned = await fixtures.user({ assignedTo: [organization.uid] });
      const ofStaff = logged(2, 1, { tester_id: assigned.id });
      expectProblem(server, await post(ofStaff, admin.token), { area: 'v1', status: 403, kind: 'forbidden' });
      expect((await post(ofStaff, assigned.token)).status).toBe(201);
      const reader = await fixtures.user({ organization: organization.uid });
      const { assessment_group_id: group } = (
        await server.request('GET', `/v1/assessments/${uid}`, { token: admin.token })
      ).body;
      if (group !== null) await fixtures.member(group, reader.uid, 'assessment_read_only');
      expectInvalid(
        await post(logged(2, 1, { tester_id: reader.id }), admin.token),
        'tester_id',
        'is not the id of a user with access to the assessment',
      );
    });

    it('returns the same 422 for every other tester', async () => {
      const outsider = await fixtures.user({ organization: organization.uid });
      const otherOrganization = (await fixtures.organization()).uid;
      const foreignAdmin = await fixtures.user({ organization: otherOrganization, admin: true });
      const assigned = await fixtures.user({ assignedTo: [otherOrganization] });
      const banned = await fixtures.user({ organization: organization.uid });
      await fixtures.access(uid, banned.id);
      await server.request('DELETE', `/v1/users/${banned.id}`, { token: admin.token });
      for (const id of [outsider.id, foreignAdmin.id, assigned.id, banned.id, 987_654_321])
        expectInvalid(
          await post({ tester_id: id }, admin.token),
          'tester_id',
          'is not the id of a user with access to the assessment',
        );
    });
  });
});

describe('Operation 50: stop or correct a testing session', () => {
  it('stops a running session', async () => {
    const { body: created } = await post();
    now += HOUR;
    const stopped = await patch(created.id, { ended_at: iso(now), note: 'done' });
    expect([stopped.status, stopped.body]).toEqual([
      200,
      { ...created, ended_at: iso(now), hours: 1, note: 'done', edited: true },
    ]);
    expect(stopped.headers.get('etag')).toMatch(/^"2\./);
    expect(await list()).toMatchObject([stopped.body]);
    expect(await events('testing-session.update')).toMatchObject([
      {
        user_id: tester.id,
        before: '{"ended_at":null,"note":""}',
        after: `{"ended_at":${now},"note":"done"}`,
      },
    ]);
    expect((await post()).status).toBe(201);
  });

  it('applies the rules of operation 49', async () => {
    const { body: created } = await post(logged(5, 4, { note: 'x' }));
    expect((await patch(created.id, { started_at: iso(START - 6 * HOUR) })).body.hours).toBe(2);
    expectInvalid(
      await patch(created.id, { started_at: iso(START - 3 * HOUR) }),
      'ended_at',
      'must not be before started_at',
    );
    expectInvalid(
      await patch(created.id, { ended_at: iso(START - 7 * HOUR) }),
      'ended_at',
      'must not be before started_at',
    );
    expectInvalid(
      await patch(created.id, { started_at: iso(START - 29 * HOUR) }),
      'ended_at',
      expect.stringMatching(/24 hours/),
    );
    expectInvalid(
      await patch(created.id, { ended_at: iso(START + 2 * MINUTE) }),
      'ended_at',
      expect.stringMatching(/future/),
    );
    expect((await patch(created.id, { ended_at: iso(START + 1_000) })).body.ended_at).toBe(iso(START));
    expect((await patch(created.id, { started_at: null, note: null })).body).toMatchObject({
      started_at: iso(START - 6 * HOUR),
      note: '',
    });
  });

  it('keeps the start of a running session within 24 hours', async () => {
    const { body: created } = await post();
    expectInvalid(
      await patch(created.id, { started_at: iso(START - 25 * HOUR) }),
      'started_at',
      expect.stringMatching(/24 hours/),
    );
    expectInvalid(
      await patch(created.id, { started_at: iso(START + 2 * MINUTE) }),
      'started_at',
      expect.stringMatching(/future/),
    );
    expect(
      (await patch(created.id, { started_at: iso(START - 24 * HOUR + MINUTE) })).body.ended_at,
    ).toBeNull();
  });

  it('restarts a session with null under the rules for a start', async () => {
    const { body: created } = await post(logged(2, 1));
    expect((await patch(created.id, { ended_at: null })).body).toMatchObject({ ended_at: null, hours: 2 });
    expectConflict(await post());
    const { body: otherSession } = await post(logged(4, 3));
    expectConflict(await patch(otherSession.id, { ended_at: null }));
    const { body: oldSession } = await post(logged(30, 29));
    expectInvalid(
      await patch(oldSession.id, { ended_at: null }),
      'started_at',
      expect.stringMatching(/24 hours/),
    );
    await setState('paused');
    expectConflict(await patch(created.id, { ended_at: null }));
  });

  it('keeps the version if nothing changes, and returns 412 for a stale one', async () => {
    const { body: created } = await post(logged(2, 1));
    const unchanged = await patch(created.id, { ended_at: created.ended_at, note: '' });
    expect([unchanged.body, unchanged.headers.get('etag')]).toEqual([
      created,
      expect.stringMatching(/^"1\./),
    ]);
    expect(await events('testing-session.update')).toEqual([]);
    expectProblem(server, await patch(created.id, { note: 'x' }, tester.token, { 'if-match': '"2.x"' }), {
      area: 'v1',
      status: 412,
      kind: 'precondition-failed',
    });
  });

  it('allows the tester and admins, and returns 403 to others with access, 404 to others', async () => {
    const { body: created } = await post(logged(2, 1));
    const colleague = await fixtures.user({ organization: organization.uid });
    await fixtures.access(uid, colleague.id);
    const outsider = await fixtures.user({ organization: organization.uid });
    const foreignAdmin = await fixtures.user({
      organization: (await fixtures.organization()).uid,
      admin: true,
    });
    expect((await patch(created.id, { note: 'x' }, colleague.token)).status).toBe(403);
    expect((await remove(created.id, colleague.token)).status).toBe(403);
    for (const { token } of [outsider, foreignAdmin]) {
      expect((await patch(created.id, { note: 'x' }, token)).status).toBe(404);
      expect((await remove(created.id, token)).status).toBe(404);
    }
    for (const { token } of [admin, await fixtures.user()])
      expect((await patch(created.id, { note: token.slice(-4) }, token)).status).toBe(200);
  });

  it.each(INVALID_IDS)('returns 404 for the malformed id %s', async (id) => {
    expect((await patch(id, { note: 'x' })).status).toBe(404);
  });
});

describe('Operation 51: delete a testing session', () => {
  it('returns 204 to the tester and admins, and records the last state', async () => {
    const first = (await post(logged(2, 1, { note: 'gone' }))).body;
    const second = (await post()).body;
    expect((await remove(first.id, tester.token, { 'if-match': '"9.x"' })).status).toBe(412);
    expect((await remove(first.id)).status).toBe(204);
    expect((await remove(first.id)).status).toBe(404);
    expect((await remove(second.id, admin.token)).status).toBe(204);
    expect(await list()).toEqual([]);
    const [event] = await events('testing-session.delete');
    expect([JSON.parse(event?.before ?? ''), event?.after]).toEqual([
      {
        assessment: uid,
        tester: tester.uid,
        started_at: START - 2 * HOUR,
        ended_at: START - HOUR,
        note: 'gone',
      },
      null,
    ]);
  });
});
