import { afterAll, beforeAll, expect, it } from 'vitest';
import { commandLine } from '../../src/auth/callers.ts';
import { createOrganization } from '../../src/domain/organizations/organizations.ts';
import { walkList } from '../harness/list-walk.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { worldOf } from '../harness/world.ts';

let server: TestServer;
let token: string;
beforeAll(async () => {
  server = await startTestServer();
  ({ token } = await worldOf(server).user());
  for (const [index, name] of ['Zoo', 'Äpfel', 'apple', 'Same', 'Same', 'Same', 'banana'].entries())
    await server.context.db.write((tx) =>
      createOrganization(tx, commandLine(1), { uid: `uid${index}`, name }),
    );
});
afterAll(() => server.close());

it('lists organizations', async () => {
  const rows = await walkList(server, {
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
