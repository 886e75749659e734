import { beforeAll, expect, it } from 'vitest';
import { verifyListContract } from '../harness/list-contract.ts';
import { useOwnServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

let token: string;
let uid: string;
const assigned: number[] = [];
const server = await useOwnServer();
const fixtures = createFixtures(server);
beforeAll(async () => {
  const { uid: organization } = await fixtures.organization();
  token = (await fixtures.user({ organization, admin: true })).token;
  uid = (await fixtures.assessment(organization)).uid;
  const otherAssessment = (await fixtures.assessment(organization)).uid;
  for (let index = 0; index < 10; index += 1) {
    const { id } = await fixtures.user({ organization });
    await fixtures.access(index % 3 === 0 ? otherAssessment : uid, id);
    if (index % 3 !== 0) assigned.push(id);
  }
});

it('lists the users of an assessment', async () => {
  const rows = await verifyListContract(server, {
    operation: 'listAssessmentUsers',
    path: `/v1/assessments/${uid}/users`,
    token,
    key: 'id',
    style: 'v1',
    filters: {},
    orders: {},
    atLeast: 6,
  });
  expect(rows.map(({ id }) => id)).toEqual(assigned);
});
