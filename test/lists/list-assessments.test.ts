import { beforeAll, expect, it } from 'vitest';
import { verifyListContract } from '../harness/list-contract.ts';
import { useOwnServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

const START = Date.UTC(2026, 10, 21, 10, 30);

let now = START;
let token: string;
let group: number;
let tag: number;

const server = await useOwnServer({}, () => now);
const fixtures = createFixtures(server);
beforeAll(async () => {
  const { uid: organization } = await fixtures.organization();
  await fixtures.organization('others');
  await fixtures.assessment('others');
  token = (await fixtures.user({ organization, admin: true })).token;
  group = (await fixtures.group(organization)).id;
  const bodies = [
    { uid: 'zebra', name: 'Ärger', state: 'paused', starts_on: '2026-01-01', ends_on: '2026-02-01' },
    { uid: 'alpha', name: 'ärger again', state: 'completed', starts_on: '2026-01-01' },
    { uid: 'beta', name: 'Web', ends_on: '2026-02-01', assessment_group_id: group },
    { uid: 'gamma', name: 'Web', assessment_group_id: group, tag_list: ['external'] },
    { uid: 'delta', name: 'Under the \u00e4RG', state: 'pending', tag_list: ['external', 'internal'] },
    { uid: 'erg', name: 'Other', starts_on: '2027-01-01' },
    { uid: 'last', name: '\u{1f600}' },
  ];
  // Staff get exactly the uid that they ask for.
  const staff = await fixtures.user();
  for (const [index, body] of bodies.entries()) {
    // Two at a time, so that the sort has ties.
    now = START + Math.floor(index / 2) * 1_000;
    const created = await server.request('POST', '/v1/assessments', {
      token: staff.token,
      body: { ...body, organization_uid: organization },
    });
    expect(created.status).toBe(201);
    tag = created.body.tag_ids[0] ?? tag;
  }
});

it('lists assessments', async () => {
  const matches = (text: string) => (row: Record<string, any>) =>
    [row['uid'], row['name']].some((value: string) => value.toLowerCase().includes(text));
  const rows = await verifyListContract(server, {
    operation: 'listAssessments',
    path: '/v1/assessments',
    token,
    key: 'uid',
    style: 'v1',
    responseOnly: ['include_permissions'],
    filters: {
      assessment_group_id: { value: String(group), fits: (row) => row['assessment_group_id'] === group },
      'filter[search]': { value: 'äRG', fits: matches('ärg') },
      'filter[tag_id][]': { value: [String(tag), '0'], fits: (row) => row['tag_ids'].includes(tag) },
      'filter[state][]': {
        value: ['paused', 'active'],
        fits: ({ state }) => ['paused', 'active'].includes(state),
      },
    },
    orders: {
      created_at: (row) => row['created_at'],
      uid: ({ uid }) => uid,
      name: ({ name }) => name,
      state: ({ state }) => state,
      starts_on: (row) => row['starts_on'],
      ends_on: (row) => row['ends_on'],
    },
    atLeast: 7,
  });
  expect(rows.map(({ uid }) => uid)).toEqual(['zebra', 'alpha', 'beta', 'gamma', 'delta', 'erg', 'last']);
});

it('searches for a part of the uid', async () => {
  const { body } = await server.request('GET', '/v1/assessments?filter[search]=ERG', { token });
  expect(body.map(({ uid }: { uid: string }) => uid)).toEqual(['erg']);
});

it.each(['filter[state][]=open', 'sort=updated_at', 'assessment_group_id=x', 'filter[tag_id][]=x'])(
  'returns 400 for %s',
  async (query) => {
    expect((await server.request('GET', `/v1/assessments?${query}`, { token })).status).toBe(400);
  },
);
