import { beforeAll, expect, it } from 'vitest';
import { linkOf, verifyListContract } from '../harness/list-contract.ts';
import { useOwnServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const NOW = Date.UTC(2026, 10, 21, 10, 30);
const HOUR = 3_600_000;

let token: string;
let testers: [TestUser, TestUser];
let assessments: [string, string];

const server = await useOwnServer({}, () => NOW);
const fixtures = createFixtures(server);
beforeAll(async () => {
  const { uid: organization } = await fixtures.organization();
  token = (await fixtures.user({ organization, admin: true })).token;
  testers = [await fixtures.user(), await fixtures.user({ name: '=Ada' })];
  assessments = [
    (await fixtures.assessment(organization)).uid,
    (await fixtures.assessment(organization)).uid,
  ];
  for (const [index, hours] of [50, 40, 30, 30, 20, 20, 10, 5].entries()) {
    const [assessment, tester] = [assessments[index % 2] as string, testers[index % 3 === 0 ? 1 : 0]];
    await fixtures.testingSession(assessment, tester.id, NOW - hours * HOUR, NOW - hours * HOUR + HOUR);
  }
  await fixtures.testingSession(assessments[0], testers[0].id, NOW - 2 * HOUR, null);
  // Past its maximum length, and not yet ended by the job.
  await fixtures.testingSession(assessments[1], testers[0].id, NOW - 30 * HOUR, null);
  const otherOrganization = await fixtures.organization();
  await fixtures.testingSession(
    (await fixtures.assessment(otherOrganization.uid)).uid,
    testers[0].id,
    NOW - HOUR,
    null,
  );
});

const iso = (hours: number) => new Date(NOW - hours * HOUR).toISOString();
const filters = () => ({
  'filter[tester_id][]': {
    value: String(testers[1].id),
    fits: ({ tester }: Record<string, any>) => tester.id === testers[1].id,
  },
  'filter[running]': { value: 'true', fits: (row: Record<string, any>) => row['ended_at'] === null },
  'filter[since]': { value: iso(20), fits: (row: Record<string, any>) => row['started_at'] >= iso(20) },
  'filter[until]': { value: iso(20), fits: (row: Record<string, any>) => row['started_at'] < iso(20) },
});

it('lists the testing sessions of all assessments, newest first', async () => {
  const rows = await verifyListContract(server, {
    operation: 'listTestingSessions',
    path: '/v1/testing_sessions',
    token,
    key: 'id',
    style: 'v1',
    filters: {
      'filter[assessment_id][]': {
        value: assessments[0],
        fits: (row) => row['assessment_id'] === assessments[0],
      },
      ...filters(),
    },
    orders: {},
    atLeast: 10,
  });
  const starts = rows.map((row) => [row['started_at'], row['id']] as [string, number]);
  expect(starts).toEqual(starts.toSorted(([a, i], [b, j]) => (a === b ? i - j : a < b ? 1 : -1)));
  const { body } = await server.request('GET', '/v1/testing_sessions?filter[running]=0', { token });
  expect(body).toHaveLength(9);
});

it('exports CSV and NDJSON, and records the export', async () => {
  const listed = (await server.request('GET', '/v1/testing_sessions', { token })).body;
  const csv = await server.request('GET', '/v1/testing_sessions', { token, headers: { accept: 'text/csv' } });
  const [head, first] = csv.text.split('\r\n');
  expect(csv.headers.get('content-disposition')).toBe('attachment; filename="testing-sessions.csv"');
  expect(head).toBe('id,assessment_id,tester,started_at,ended_at,hours,note,edited');
  expect(first).toContain(`${listed[0].id},${listed[0].assessment_id},"{""id"":`);
  expect(csv.text.trimEnd().split('\r\n')).toHaveLength(11);
  const ndjson = await server.request('GET', '/v1/testing_sessions?filter[running]=1', {
    token,
    headers: { accept: 'application/x-ndjson' },
  });
  expect(JSON.parse(ndjson.text)).toEqual(listed.find((row: { ended_at: unknown }) => row.ended_at === null));
  const events = (await fixtures.auditEvents()).filter(({ action }) => action === 'testing-session.export');
  expect(events).toHaveLength(2);
});

it('returns a cursor that other lists reject', async () => {
  const first = await server.request('GET', '/v1/testing_sessions?page[size]=1&page[after]=', { token });
  const next = new URL(linkOf(first, 'next') ?? '');
  const otherPath = `/v1/assessments${next.search}`;
  expect((await server.request('GET', otherPath, { token })).status).toBe(400);
});
