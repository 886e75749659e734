import { beforeAll, expect, it } from 'vitest';
import { verifyListContract } from '../harness/list-contract.ts';
import { useOwnServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

let now = Date.UTC(2026, 10, 21);
let path: string;
let token: string;
const server = await useOwnServer({}, () => now);
const fixtures = createFixtures(server);
beforeAll(async () => {
  const { uid } = await fixtures.organization();
  const assessment = await fixtures.assessment(uid);
  ({ token } = await fixtures.user({ organization: uid, admin: true }));
  const { id } = await fixtures.vulnerability(assessment.uid);
  path = `/v1/vulnerabilities/${id}/patch_verifications`;
  for (let number = 1; number <= 9; number += 1) {
    if (number % 2 === 0) now += 1_000;
    const { body } = await server.request('POST', path, { token, body: { message: `Retest ${number}` } });
    if (number < 9)
      await server.request('PATCH', `${path}/${body.id}`, { token, body: { status: 'cancelled' } });
  }
});

it('lists retests, oldest first', async () => {
  const rows = await verifyListContract(server, {
    operation: 'listRetests',
    path,
    token,
    key: 'id',
    style: 'v1',
    filters: {},
    orders: {},
    atLeast: 9,
  });
  expect(rows.map(({ message }) => message)).toEqual(Array.from({ length: 9 }, (_, n) => `Retest ${n + 1}`));
  expect(rows.map(({ status }) => status)).toEqual([...Array(8).fill('cancelled'), 'requested']);
});
