import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAndRecount } from '../harness/vulnerability-counters.ts';
import { expectProblem } from '../harness/expect-problem.ts';
import { useSharedServer } from '../harness/server.ts';
import { INVALID_IDS } from '../harness/invalid-values.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const START = Date.UTC(2026, 10, 21, 10, 30);

let now = START;
let organization: { id: number; uid: string };
let assessment: { uid: string };
let member: TestUser;
let otherUser: TestUser;
let admin: TestUser;
let outsider: TestUser;
let vulnerability: { id: number };

const server = await useSharedServer(() => now);
const fixtures = createFixtures(server);
const staff = await fixtures.user();
beforeEach(async () => {
  now = START;
  await fixtures.together(async (batch) => {
    organization = await batch.organization();
    assessment = await batch.assessment(organization.uid);
    member = await batch.user({ organization: organization.uid });
    otherUser = await batch.user({ organization: organization.uid });
    admin = await batch.user({ organization: organization.uid, admin: true });
    outsider = await batch.user({ organization: organization.uid });
    await batch.access(assessment.uid, member.id);
    await batch.access(assessment.uid, otherUser.id);
    vulnerability = await batch.vulnerability(assessment.uid, { statusId: 2 });
  });
  now = START + 60_000;
});
afterEach(async () => {
  const { counters, rows } = await readAndRecount(server.context.db, organization.id, now);
  expect(counters).toEqual(rows);
});

const path = (id: number | string = '', vulnerabilityId: number | string = vulnerability.id) =>
  `/v1/vulnerabilities/${vulnerabilityId}/patch_verifications${id === '' ? '' : `/${id}`}`;
const requestRetest = (
  body: unknown = { message: 'Fixed.' },
  { token } = member,
  headers: Record<string, string> = {},
) => server.request('POST', path(), { token, body, headers });
const decide = (id: number, body: unknown, { token } = staff, headers: Record<string, string> = {}) =>
  server.request('PATCH', path(id), { token, body, headers });
const list = async () => (await server.request('GET', path(), { token: member.token })).body;
const setStatus = (statusId: number) =>
  server.request('PATCH', `/v1/vulnerabilities/${vulnerability.id}`, {
    token: admin.token,
    body: { status_id: statusId },
  });
const status = async () =>
  (
    await server.context.db.read
      .selectFrom('vulnerabilities')
      .select('status_id')
      .where('id', '=', vulnerability.id)
      .executeTakeFirstOrThrow()
  ).status_id;
const timeline = async () =>
  (
    await server.request('GET', `/v1/vulnerabilities/${vulnerability.id}/timeline`, { token: member.token })
  ).body.map(({ kind, before, after }: Record<string, unknown>) => [kind, before, after]);
const userOf = ({ id, email }: TestUser) => ({ id, name: null, email });

describe('Operation 28: request a retest', () => {
  it('returns 201 with the retest, and sets the status of the vulnerability to 4', async () => {
    const response = await requestRetest();
    expect([response.status, response.body]).toEqual([
      201,
      {
        id: expect.any(Number),
        message: 'Fixed.',
        status: 'requested',
        created_at: '2026-11-21T10:31:00.000Z',
        user: userOf(member),
        decided_at: null,
        decided_by: null,
        decision_message: null,
      },
    ]);
    expect(response.headers.get('etag')).toMatch(/^"1\./);
    expect(await list()).toEqual([response.body]);
    expect(await status()).toBe(4);
    expect(await timeline()).toEqual([
      ['created', null, null],
      ['retest', null, { id: response.body.id, status: 'requested', message: 'Fixed.' }],
      ['status', { status_id: 2, status: 'Pending Fix' }, { status_id: 4, status: 'Pending Verification' }],
    ]);
    const recorded = (await fixtures.auditEvents()).slice(-2);
    expect(recorded).toMatchObject([
      {
        action: 'retest.create',
        object_id: String(response.body.id),
        before: null,
        after: JSON.stringify({ vulnerability: vulnerability.id, message: 'Fixed.', status: 'requested' }),
      },
      { action: 'vulnerability.update', before: '{"status_id":2}', after: '{"status_id":4}' },
    ]);
  });

  it('returns 409 while a retest is pending and while the vulnerability is closed', async () => {
    await requestRetest();
    const repeated = await requestRetest({ message: 'Again.' }, otherUser);
    expectProblem(server, repeated, { area: 'v1', status: 409, kind: 'conflict' });
    await setStatus(5);
    expect((await requestRetest()).status).toBe(409);
    const [{ id }] = await list();
    await decide(id, { status: 'cancelled' });
    expect((await requestRetest()).status).toBe(409);
    await setStatus(3);
    expect((await requestRetest()).status).toBe(201);
  });

  it('creates one retest for concurrent requests', async () => {
    const responses = await Promise.all(Array.from({ length: 6 }, () => requestRetest()));
    expect(responses.map((response) => response.status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    expect(await list()).toHaveLength(1);
  });

  it('creates once per idempotency key', async () => {
    const first = await requestRetest(undefined, member, { 'idempotency-key': 'one' });
    const repeated = await requestRetest(undefined, member, { 'idempotency-key': 'one' });
    expect([repeated.status, repeated.text]).toEqual([201, first.text]);
  });

  it.each([[{}], [{ message: '' }], [{ message: null }], [{ message: 'x\0' }]])(
    'returns 422 for %j',
    async (body) => {
      expect(await requestRetest(body)).toMatchObject({
        status: 422,
        body: { failedValidation: [{ property: 'message' }] },
      });
    },
  );

  it('returns 404 without access to the vulnerability, as do operations 27 and 29', async () => {
    const { body } = await requestRetest();
    const { token } = outsider;
    const responses = await Promise.all([
      requestRetest(undefined, outsider),
      server.request('GET', path(), { token }),
      decide(body.id, { status: 'verified' }, outsider),
    ]);
    expect(responses.map((response) => response.status)).toEqual([404, 404, 404]);
  });

  it.each(INVALID_IDS)('returns 404 for the id %s', async (id) => {
    const { token } = staff;
    const responses = await Promise.all([
      server.request('GET', path('', id), { token }),
      server.request('PATCH', path(id), { token, body: { status: 'failed' } }),
    ]);
    expect(responses.map((response) => response.status)).toEqual([404, 404]);
  });
});

describe('Operation 29: decide a retest', () => {
  it.each([
    ['verified', 5],
    ['failed', 3],
    ['blocked', 2],
    ['cancelled', 2],
  ])('%s sets the status of the vulnerability to %i', async (decision, statusId) => {
    const { body: requested } = await requestRetest();
    now += 60_000;
    const response = await decide(requested.id, { status: decision, message: 'Seen.' });
    expect([response.status, response.body]).toEqual([
      200,
      {
        ...requested,
        status: decision,
        decided_at: '2026-11-21T10:32:00.000Z',
        decided_by: userOf(staff),
        decision_message: 'Seen.',
      },
    ]);
    expect(response.headers.get('etag')).toMatch(/^"2\./);
    expect(await status()).toBe(statusId);
    const entries = await timeline();
    expect(entries.slice(3).map(([kind]: [string]) => kind)).toEqual(['retest', 'status']);
    expect(entries[3]).toEqual([
      'retest',
      { id: requested.id, status: 'requested' },
      { id: requested.id, status: decision, message: 'Seen.' },
    ]);
    const recorded = (await fixtures.auditEvents()).slice(-2);
    expect(recorded.map(({ action }) => action)).toEqual(['retest.decide', 'vulnerability.update']);
  });

  it.each(['verified', 'failed', 'blocked', 'cancelled'])(
    'keeps a status that is no longer 4: %s',
    async (decision) => {
      const { body } = await requestRetest();
      await setStatus(6);
      expect((await decide(body.id, { status: decision })).body.status).toBe(decision);
      expect(await status()).toBe(6);
    },
  );

  it('restores the status 4 if it was 4 before the request', async () => {
    await setStatus(4);
    const { body } = await requestRetest();
    await decide(body.id, { status: 'cancelled' });
    expect(await status()).toBe(4);
  });

  it('returns 409 for a retest that has a decision', async () => {
    const { body } = await requestRetest();
    await decide(body.id, { status: 'failed' });
    for (const decision of ['verified', 'failed', 'cancelled'])
      expectProblem(server, await decide(body.id, { status: decision }), {
        area: 'v1',
        status: 409,
        kind: 'conflict',
      });
    expect(await status()).toBe(3);
  });

  it('allows staff, and testers with a session logged before the request', async () => {
    const { body } = await requestRetest();
    for (const user of [member, otherUser, admin])
      expect((await decide(body.id, { status: 'verified' }, user)).status).toBe(403);
    // Logged after the request, so its own time does not matter.
    now += 1;
    await fixtures.testingSession(assessment.uid, otherUser.id, START - 3_600_000, START - 1_800_000);
    expect((await decide(body.id, { status: 'verified' }, otherUser)).status).toBe(403);
    await decide(body.id, { status: 'cancelled' });
    now += 1;
    const second = await requestRetest();
    expect((await decide(second.body.id, { status: 'blocked' }, otherUser)).status).toBe(200);
    now += 1;
    const third = await requestRetest();
    const otherAssessment = await fixtures.assessment(organization.uid);
    await fixtures.access(otherAssessment.uid, member.id);
    await fixtures.testingSession(otherAssessment.uid, member.id, START - 3_600_000, null);
    expect((await decide(third.body.id, { status: 'failed' }, member)).status).toBe(403);
    expect((await decide(third.body.id, { status: 'failed' }, otherUser)).status).toBe(200);
  });

  it('lets only the requester, admins and staff cancel', async () => {
    const { body: first } = await requestRetest();
    expect((await decide(first.id, { status: 'cancelled' }, otherUser)).status).toBe(403);
    expect((await decide(first.id, { status: 'cancelled' }, member)).status).toBe(200);
    const { body: second } = await requestRetest();
    expect((await decide(second.id, { status: 'cancelled' }, admin)).status).toBe(200);
  });

  it.each([[{}], [{ status: 'requested' }], [{ status: 'Verified' }], [{ status: 'failed', message: '' }]])(
    'returns 422 for %j',
    async (body) => {
      const requested = await requestRetest();
      expect(await decide(requested.body.id, body)).toMatchObject({
        status: 422,
        body: { failedValidation: [{}] },
      });
    },
  );

  it('returns 404 under the id of another vulnerability', async () => {
    const { body } = await requestRetest();
    const otherVulnerability = await fixtures.vulnerability(assessment.uid);
    const { token } = staff;
    const response = await server.request('PATCH', path(body.id, otherVulnerability.id), {
      token,
      body: { status: 'failed' },
    });
    expect([response.status, (await list())[0].status]).toEqual([404, 'requested']);
  });

  it('supports If-Match, after 403 and before 409', async () => {
    const requested = await requestRetest();
    const oldVersion = { 'if-match': '"7.x"' };
    expect((await decide(requested.body.id, { status: 'failed' }, member, oldVersion)).status).toBe(403);
    expect((await decide(requested.body.id, { status: 'failed' }, staff, oldVersion)).status).toBe(412);
    const tag = { 'if-match': requested.headers.get('etag') ?? '' };
    expect((await decide(requested.body.id, { status: 'failed' }, staff, tag)).status).toBe(200);
    expect((await decide(requested.body.id, { status: 'failed' }, staff, tag)).status).toBe(412);
  });
});
