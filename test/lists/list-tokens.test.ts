import { beforeAll, expect, it } from 'vitest';
import { verifyListContract } from '../harness/list-contract.ts';
import { useOwnServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

let token: string;
let now = Date.UTC(2026, 10, 21);
const server = await useOwnServer({}, () => now);
const fixtures = createFixtures(server);
beforeAll(async () => {
  const user = await fixtures.user();
  token = user.token;
  // Several tokens are created at the same time, so that their ids decide the order.
  for (let count = 0; count < 11; count += 1) {
    now += count % 4 === 0 ? 1 : 0;
    await fixtures.token(user.id);
  }
  await fixtures.user();
});

it('lists tokens', async () => {
  const rows = await verifyListContract(server, {
    operation: 'listTokens',
    path: '/v1/tokens',
    token,
    key: 'id',
    style: 'v1',
    filters: {},
    orders: {},
    atLeast: 12,
  });
  const positions = rows.map(({ created_at, id }) => [created_at, id] as [string, string]);
  expect(positions).toEqual(
    positions.toSorted(([oneTime, oneId], [otherTime, otherId]) =>
      oneTime === otherTime ? (oneId < otherId ? -1 : 1) : oneTime < otherTime ? 1 : -1,
    ),
  );
});
