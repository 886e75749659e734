import { beforeAll, expect, it } from 'vitest';
import { verifyListContract } from '../harness/list-contract.ts';
import { useOwnServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

const tokens = { admin: '', member: '', outsider: '', staff: '', assigned: '' };
const server = await useOwnServer();
const fixtures = createFixtures(server);
beforeAll(async () => {
  await fixtures.organization('tagged');
  await fixtures.organization('other');
  await fixtures.assessment('tagged', 'tagged-web');
  await fixtures.assessment('tagged', 'tagged-api');
  await fixtures.assessment('other', 'other-web');
  tokens.admin = (await fixtures.user({ organization: 'tagged', admin: true })).token;
  const member = await fixtures.user({ organization: 'tagged' });
  await fixtures.access('tagged-web', member.id);
  tokens.member = member.token;
  tokens.outsider = (await fixtures.user({ organization: 'tagged' })).token;
  tokens.staff = (await fixtures.user()).token;
  tokens.assigned = (await fixtures.user({ assignedTo: ['tagged'] })).token;
  for (const name of ['Zebra', 'apple', 'Äpfel', 'zoo', '100%', 'a_b'])
    await fixtures.assessmentTag('tagged-web', name);
  const shared = await fixtures.assessmentTag('tagged-api', 'shared');
  await server.context.db.write((tx) =>
    tx
      .insertInto('assessment_taggings')
      .columns(['organization_id', 'assessment_id', 'tag_id'])
      .expression((eb) =>
        eb
          .selectFrom('assessments')
          .select(({ val }) => ['organization_id', 'id as assessment_id', val(shared.id).as('tag_id')])
          .where('uid', '=', 'tagged-web'),
      )
      .execute(),
  );
  await fixtures.assessmentTag('other-web', 'apple of others');
});

const list = async (token: string, query = '') =>
  (await server.request('GET', `/v1/assessment_tags?${query}`, { token })).body as {
    name: string;
    count: number;
  }[];

it('lists assessment tags by name', async () => {
  const rows = await verifyListContract(server, {
    operation: 'listAssessmentTags',
    path: '/v1/assessment_tags',
    token: tokens.member,
    key: 'id',
    style: 'v1',
    filters: {
      'filter[search]': { value: 'äP', fits: ({ name }) => name.toLowerCase().includes('äp') },
    },
    orders: {},
    atLeast: 7,
  });
  expect(rows.map(({ name }) => name)).toEqual(['100%', 'Zebra', 'a_b', 'apple', 'shared', 'zoo', 'Äpfel']);
  expect(rows[0]).toEqual({ id: expect.any(Number), name: '100%', count: 1 });
});

it('counts the assessments that the caller can see', async () => {
  const counts = await Promise.all(
    Object.values(tokens).map(async (token) => {
      const rows = await list(token, 'filter[organization_uid][]=tagged');
      return ['apple', 'shared'].map((name) => rows.find((row) => row.name === name)?.count);
    }),
  );
  expect(counts).toEqual([
    [1, 2],
    [1, 1],
    [0, 0],
    [1, 2],
    [1, 2],
  ]);
});

it('lists tags of other organizations only to staff with access', async () => {
  const names = async (token: string) => (await list(token, 'filter[search]=others')).map(({ name }) => name);
  expect(await names(tokens.staff)).toEqual(['apple of others']);
  for (const token of [tokens.admin, tokens.member, tokens.assigned]) expect(await names(token)).toEqual([]);
});
