import { beforeAll, expect, it } from 'vitest';
import { verifyListContract } from '../harness/list-contract.ts';
import { useOwnServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const NOW = Date.UTC(2026, 10, 21, 10, 30);
const HOUR = 3_600_000;

let member: TestUser;
let testers: [TestUser, TestUser];
let uid: string;

const server = await useOwnServer({}, () => NOW);
const fixtures = createFixtures(server);
beforeAll(async () => {
  const { uid: organization } = await fixtures.organization();
  testers = [await fixtures.user(), await fixtures.user()];
  uid = (await fixtures.assessment(organization)).uid;
  member = await fixtures.user({ organization });
  await fixtures.access(uid, member.id);
  for (const [index, hours] of [50, 40, 30, 30, 20, 20, 10, 5].entries())
    await fixtures.testingSession(
      uid,
      testers[index % 3 === 0 ? 1 : 0].id,
      NOW - hours * HOUR,
      NOW - hours * HOUR + 100,
    );
  await fixtures.testingSession(uid, testers[0].id, NOW - 2 * HOUR, null);
  await fixtures.testingSession(
    (await fixtures.assessment(organization)).uid,
    testers[0].id,
    NOW - HOUR,
    null,
  );
});

const iso = (hours: number) => new Date(NOW - hours * HOUR).toISOString();

it('lists the testing sessions of an assessment', async () => {
  const rows = await verifyListContract(server, {
    operation: 'listAssessmentTestingSessions',
    path: `/v1/assessments/${uid}/testing_sessions`,
    token: member.token,
    key: 'id',
    style: 'v1',
    filters: {
      'filter[tester_id][]': {
        value: String(testers[1].id),
        fits: ({ tester }) => tester.id === testers[1].id,
      },
      'filter[running]': { value: 'false', fits: (row) => row['ended_at'] !== null },
      'filter[since]': { value: iso(20), fits: (row) => row['started_at'] >= iso(20) },
      'filter[until]': { value: iso(20), fits: (row) => row['started_at'] < iso(20) },
    },
    orders: {},
    atLeast: 9,
  });
  expect(new Set(rows.map((row) => row['assessment_id']))).toEqual(new Set([uid]));
});
