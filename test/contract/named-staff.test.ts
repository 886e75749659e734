import { beforeEach, describe, expect, it } from 'vitest';
import { insertImport } from '../harness/imports.ts';
import { type TestServer, useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const NOW = Date.UTC(2026, 10, 21, 10, 30);
const UNKNOWN_ID = 987_654_321;

let organization: { id: number; uid: string };
let assessment: { id: number; uid: string };
let otherOrganization: { id: number; uid: string };
let admin: TestUser;
let staff: TestUser;
let vulnerability: number;

const server = await useSharedServer(() => NOW);
const fixtures = createFixtures(server);
beforeEach(async () => {
  await fixtures.together(async (batch) => {
    organization = await batch.organization();
    assessment = await batch.assessment(organization.uid);
    otherOrganization = await batch.assessment((await batch.organization()).uid);
    admin = await batch.user({ organization: organization.uid, admin: true });
    staff = await batch.user();
    vulnerability = (await batch.vulnerability(assessment.uid, { title: 'Old' })).id;
  });
});

type Send = (id: number, token?: string) => ReturnType<TestServer['request']>;

const post = (path: string, body: object, token = admin.token) =>
  server.request('POST', path, { token, body });
const finding = { title: 'Old', severity: 'High' };
const createWithAssignee: Send = (id, token) =>
  post('/v1/vulnerabilities', { ...finding, assessment_id: assessment.uid, assignee_id: id }, token);
const replaceAssignee: Send = (id, token = admin.token) =>
  server.request('PUT', `/v1/vulnerabilities/${vulnerability}`, {
    token,
    body: { ...finding, assignee_id: id },
  });
const bulkAssign: Send = (id, token) =>
  post('/v1/vulnerabilities/bulk_update', { ids: [vulnerability], set: { assignee_id: id } }, token);
const logSession: Send = (id, token) =>
  post(
    `/v1/assessments/${assessment.uid}/testing_sessions`,
    { started_at: '2026-11-21T08:00:00Z', ended_at: '2026-11-21T09:00:00Z', tester_id: id },
    token,
  );

/** With what staff get, and client users who name staff whom they know. */
const OPERATIONS: [string, Send, number, number][] = [
  ['18 (assignee_id)', createWithAssignee, 201, 201],
  ['19 (assignee_id)', replaceAssignee, 200, 200],
  ['30 (assignee_id)', bulkAssign, 200, 200],
  // Only staff log the hours of staff.
  ['49 (tester_id)', logSession, 201, 403],
];

/** The body of a response, without the id in the request. */
const answerOf = async (send: Send, id: number) => {
  const { status, body } = await send(id);
  return [
    status,
    JSON.stringify(body.failedValidation ?? body.failedValidations).replaceAll(String(id), 'ID'),
  ];
};

describe.each(OPERATIONS)('Operation %s', (_name, send, success, ofClients) => {
  it('answers a client user who names unknown staff as for an unknown id', async () => {
    await fixtures.vulnerability(otherOrganization.uid, { assigneeId: staff.id });
    await fixtures.testingSession(otherOrganization.uid, staff.id, NOW - 2, NOW - 1);
    await comment(true);
    const unknown = await answerOf(send, UNKNOWN_ID);
    expect(unknown[0]).toBe(422);
    expect(await answerOf(send, staff.id)).toEqual(unknown);
  });

  it('lets staff name themselves and other staff with access', async () => {
    const otherUser = await fixtures.user();
    for (const { id } of [staff, otherUser]) expect((await send(id, staff.token)).status).toBe(success);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['had a testing session', () => fixtures.testingSession(assessment.uid, staff.id, NOW - 2, NOW - 1)],
    ['is an assignee', () => fixtures.vulnerability(assessment.uid, { assigneeId: staff.id })],
    [
      'started an import',
      () => insertImport(server, { organizationId: organization.id, createdBy: staff.id }),
    ],
    ['reported a vulnerability', () => createWithAssignee(admin.id, staff.token)],
    ['wrote a comment', () => comment(false)],
  ])('knows staff who %s in the organization', async (_what, work) => {
    await work();
    expect((await send(staff.id)).status).toBe(ofClients);
  });
});

async function comment(internal: boolean) {
  const path = `/v1/vulnerabilities/${vulnerability}/comments`;
  expect((await post(path, { text: 'seen', internal }, staff.token)).status).toBe(201);
}

describe('Staff who are assigned to a vulnerability', () => {
  it('stay when a client user edits or moves it', async () => {
    const target = await fixtures.assessment(organization.uid);
    expect((await replaceAssignee(staff.id, staff.token)).status).toBe(200);
    for (const assessment_id of [assessment.uid, target.uid]) {
      const { status, body } = await server.request('PUT', `/v1/vulnerabilities/${vulnerability}`, {
        token: admin.token,
        body: { ...finding, title: `In ${assessment_id}`, assessment_id, assignee_id: staff.id },
      });
      expect([status, body.assignee?.id]).toEqual([200, staff.id]);
    }
  });
});
