import { beforeAll, expect, it } from 'vitest';
import { verifyListContract } from '../harness/list-contract.ts';
import { useOwnServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

let token: string;
const server = await useOwnServer();
const fixtures = createFixtures(server);
beforeAll(async () => {
  const { uid: organization } = await fixtures.organization();
  await fixtures.group((await fixtures.organization()).uid);
  token = (await fixtures.user({ organization, admin: true })).token;
  // Names may repeat.
  for (const name of ['Web', 'Äpfel', 'web', 'Web', 'a_b', 'zoo', '\u{1f600}', '\uffee'])
    await server.request('POST', '/v1/assessment_groups', { token, body: { name } });
});

it('lists assessment groups', async () => {
  const rows = await verifyListContract(server, {
    operation: 'listAssessmentGroups',
    path: '/v1/assessment_groups',
    token,
    key: 'id',
    style: 'v1',
    filters: {
      'filter[search]': { value: 'WE', fits: ({ name }) => name.toLowerCase().includes('we') },
    },
    orders: {},
    atLeast: 8,
  });
  expect(rows.map(({ name }) => name)).toEqual([
    'Web',
    'Web',
    'a_b',
    'web',
    'zoo',
    'Äpfel',
    '\uffee',
    '\u{1f600}',
  ]);
});
