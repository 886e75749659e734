import { beforeAll, expect, it } from 'vitest';
import { verifyListContract } from '../harness/list-contract.ts';
import { useOwnServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

let now = Date.UTC(2026, 10, 21);
let path: string;
let member: { token: string };
let staff: { token: string };
const server = await useOwnServer({}, () => now);
const fixtures = createFixtures(server);
beforeAll(async () => {
  const { uid } = await fixtures.organization();
  const assessment = await fixtures.assessment(uid);
  const user = await fixtures.user({ organization: uid });
  await fixtures.access(assessment.uid, user.id);
  [member, staff] = [user, await fixtures.user()];
  const [first, second] = [
    await fixtures.vulnerability(assessment.uid),
    await fixtures.vulnerability(assessment.uid),
  ];
  path = `/v1/vulnerabilities/${first.id}/comments`;
  for (let number = 1; number <= 12; number += 1) {
    // Some at the same time.
    if (number % 3 === 0) now += 1_000;
    const { token } = number % 4 === 0 ? staff : member;
    const body = { text: `Comment ${number}`, internal: number % 4 === 0 };
    expect((await server.request('POST', path, { token, body })).status).toBe(201);
  }
  const otherPath = `/v1/vulnerabilities/${second.id}/comments`;
  await server.request('POST', otherPath, { token: member.token, body: { text: 'Elsewhere' } });
});

it('lists comments, oldest first, with internal ones for staff only', async () => {
  const walk = { operation: 'listComments', path, key: 'id', style: 'v1', filters: {}, orders: {} } as const;
  const all = await verifyListContract(server, { ...walk, token: staff.token, atLeast: 12 });
  expect(all.map(({ text }) => text)).toEqual(Array.from({ length: 12 }, (_, n) => `Comment ${n + 1}`));
  const rows = await verifyListContract(server, { ...walk, token: member.token, atLeast: 9 });
  expect(rows).toEqual(all.filter(({ internal }) => !internal));
});
