import { beforeAll, expect, it } from 'vitest';
import { useOwnServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const DAY = 86_400_000;
const TODAY = Date.UTC(2026, 10, 21, 10, 30);

let now = TODAY;
let admin: TestUser;
let member: TestUser;

const server = await useOwnServer({}, () => now);
const fixtures = createFixtures(server);
beforeAll(async () => {
  await fixtures.organization('acme');
  await fixtures.organization('other');
  await fixtures.assessment('acme', 'acme-web');
  await fixtures.assessment('acme', 'acme-api');
  await fixtures.assessment('other', 'other-web');
  admin = await fixtures.user({ organization: 'acme', admin: true });
  member = await fixtures.user({ organization: 'acme' });
  await fixtures.access('acme-api', member.id);
  const at = async (age: number, severity: 'Critical' | 'Low', statusId: number, assessment = 'acme-web') => {
    now = TODAY - age * DAY;
    return (await fixtures.vulnerability(assessment, { severity, statusId, title: 'finding' })).id;
  };
  await at(0, 'Critical', 1);
  await at(3, 'Low', 2);
  await at(20, 'Low', 3);
  await at(60, 'Low', 4, 'acme-api');
  await at(89, 'Low', 6, 'acme-api');
  const oldCritical = await at(100, 'Critical', 2);
  await at(200, 'Low', 1);
  await at(0, 'Critical', 1, 'other-web');
  now = TODAY - 10 * DAY;
  await server.request('PATCH', `/v1/vulnerabilities/${oldCritical}`, {
    token: admin.token,
    body: { status_id: 5 },
  });
  const retested = await at(1, 'Critical', 2);
  now = TODAY;
  await server.request('POST', `/v1/vulnerabilities/${retested}/patch_verifications`, {
    token: admin.token,
    body: { message: 'Look again.' },
  });
});

const summary = async (query = '', { token } = admin) =>
  (await server.request('GET', `/v1/vulnerabilities/summary?${query}`, { token })).body;

const severities = { Critical: 3, High: 0, Medium: 0, Low: 5, Informational: 0 };

it('Vulnerability summary: counts the vulnerabilities that the caller can see', async () => {
  const body = await summary();
  expect(body).toEqual({
    by_severity: severities,
    by_phase: { new: 2, open: 4, closed: 2 },
    open_by_age: { days_7: 3, days_30: 1, days_90: 1, older: 1 },
    days: expect.any(Array),
    retests_requested: 1,
  });
  expect(body.days).toHaveLength(90);
  expect(body.days.map(({ date }: any) => date).slice(-2)).toEqual(['2026-11-20', '2026-11-21']);
  expect(body.days.filter(({ opened, closed }: any) => opened + closed > 0)).toEqual([
    { date: '2026-08-24', opened: 1, closed: 1 },
    { date: '2026-09-22', opened: 1, closed: 0 },
    { date: '2026-11-01', opened: 1, closed: 0 },
    { date: '2026-11-11', opened: 0, closed: 1 },
    { date: '2026-11-18', opened: 1, closed: 0 },
    { date: '2026-11-20', opened: 1, closed: 0 },
    { date: '2026-11-21', opened: 1, closed: 0 },
  ]);
});

it('Vulnerability summary: returns the same if the filter requires reading the rows', async () => {
  expect(await summary('filter[search]=finding')).toEqual(await summary());
});

it.each([
  ['filter[severity][]=Critical', { new: 1, open: 1, closed: 1 }],
  ['filter[phase][]=closed', { new: 0, open: 0, closed: 2 }],
  ['filter[assessment_id][]=acme-api', { new: 0, open: 1, closed: 1 }],
  ['filter[assessment_id][]=other-web', { new: 0, open: 0, closed: 0 }],
  ['filter[retest][]=requested', { new: 0, open: 1, closed: 0 }],
])('Vulnerability summary: applies the filter %s', async (query, phases) => {
  expect((await summary(query)).by_phase).toEqual(phases);
});

it('Vulnerability summary: counts only accessible vulnerabilities for a member', async () => {
  expect((await summary('', member)).by_phase).toEqual({ new: 0, open: 1, closed: 1 });
});

it('Vulnerability summary: returns 400 for an invalid filter', async () => {
  const { status } = await server.request('GET', '/v1/vulnerabilities/summary?filter[severity][]=low', {
    token: admin.token,
  });
  expect(status).toBe(400);
});
