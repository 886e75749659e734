import { beforeAll, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { verifyListContract } from '../harness/list-contract.ts';
import { useOwnServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { createOrganization } from '../../src/domain/users/staff-organizations.ts';

let token: string;
const server = await useOwnServer();
beforeAll(async () => {
  ({ token } = await createFixtures(server).user());
  for (const [index, name] of ['Zoo', 'Äpfel', 'apple', 'Same', 'Same', 'Same', 'banana'].entries())
    await server.context.db.write((tx) =>
      createOrganization(tx, cliChangeContext(1), { uid: `uid${index}`, name }),
    );
});

it('lists organizations', async () => {
  const rows = await verifyListContract(server, {
    operation: 'listOrganizations',
    path: '/v1/organizations',
    token,
    key: 'id',
    style: 'v1',
    filters: {},
    orders: {},
    atLeast: 7,
  });
  expect(rows.map(({ name }) => name)).toEqual(['Same', 'Same', 'Same', 'Zoo', 'apple', 'banana', 'Äpfel']);
});
