import { beforeAll, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { banUser } from '../../src/domain/users/ban-user.ts';
import { verifyListContract } from '../harness/list-contract.ts';
import { useOwnServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

let token: string;
const server = await useOwnServer();
const fixtures = createFixtures(server);
beforeAll(async () => {
  await fixtures.organization('many');
  await fixtures.organization('other');
  const admin = await fixtures.user({ organization: 'many', admin: true, email: 'zoe@many.example' });
  token = admin.token;
  for (const name of ['Ada', 'Bob', 'Änne'])
    await fixtures.user({
      organization: 'many',
      name,
      email: `${name.length}.${Math.random()}@many.example`,
    });
  for (const name of ['Adam', 'Eve']) await fixtures.invited({ organization: 'many', name });
  const banned = [await fixtures.user({ organization: 'many', name: 'Adele' })];
  banned.push(await fixtures.user({ organization: 'many', email: 'ada.b@many.example' }));
  for (const { id } of banned) await server.context.db.write((tx) => banUser(tx, cliChangeContext(1), id));
  const invited = await fixtures.invited({ organization: 'many', name: 'Ban' });
  await fixtures.token(invited.id);
  await server.context.db.write((tx) => banUser(tx, cliChangeContext(1), invited.id));
  await fixtures.user({ organization: 'other', name: 'Ada of others' });
});

it('lists users', async () => {
  const rows = await verifyListContract(server, {
    operation: 'listUsers',
    path: '/v1/users',
    token,
    key: 'id',
    style: 'v1',
    filters: {
      'filter[search]': {
        value: 'aD',
        fits: ({ name, email }) => `${name ?? ''} ${email}`.toLowerCase().includes('ad'),
      },
      'filter[banned]': { value: 'true', fits: ({ banned }) => banned, hides: true },
      'filter[invited]': { value: '1', fits: ({ invite_url }) => invite_url !== null },
    },
    orders: {},
    atLeast: 6,
  });
  const addresses = rows.map(({ email }) => email as string);
  expect(addresses).toEqual(addresses.toSorted());
});
