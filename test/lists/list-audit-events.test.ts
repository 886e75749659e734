import { beforeAll, expect, it } from 'vitest';
import { verifyListContract } from '../harness/list-contract.ts';
import { useOwnServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

let token: string;
let userId: number;
let organizationId: number;
let requestId: string;
const start = Date.UTC(2026, 10, 21);
let now = start;
const server = await useOwnServer({}, () => now);
const fixtures = createFixtures(server);
beforeAll(async () => {
  ({ id: organizationId } = await fixtures.organization('logged'));
  const user = await fixtures.user({ organization: 'logged', admin: true });
  ({ token, id: userId } = user);
  const { uid } = await fixtures.assessment('logged');
  for (const name of ['one', 'two', 'three', 'four']) {
    const tag = await server.request('POST', '/v1/assessment_tags', {
      token,
      body: { name, assessment_id: uid },
    });
    requestId = tag.headers.get('x-request-id') ?? '';
    now += 60_000;
    // Several at the same time.
    await fixtures.vulnerabilityTag('logged');
    await fixtures.vulnerabilityTag('logged');
  }
  await fixtures.organization('other');
});

it('lists audit events', async () => {
  const moment = new Date(start + 120_000).toISOString();
  const rows = await verifyListContract(server, {
    operation: 'listAuditEvents',
    path: '/v1/audit_events',
    token,
    key: 'id',
    style: 'log',
    filters: {
      'filter[action][]': {
        value: ['assessment-tag.create', 'user.create'],
        fits: ({ action }) => ['assessment-tag.create', 'user.create'].includes(action),
      },
      'filter[object_type]': {
        value: 'vulnerability-tag',
        fits: ({ object_type }) => object_type === 'vulnerability-tag',
      },
      'filter[object_id]': { value: '1', fits: ({ object_id }) => object_id === '1' },
      'filter[user_id]': { value: String(userId), fits: ({ actor }) => actor.user_id === userId },
      'filter[request_id]': { value: requestId, fits: ({ request_id }) => request_id === requestId },
      'filter[since]': { value: moment, fits: ({ at }) => at >= moment },
      'filter[until]': { value: moment, fits: ({ at }) => at < moment },
    },
    orders: {},
    atLeast: 15,
  });
  const positions = rows.map(({ at, id }) => [at, id] as [string, number]);
  expect(positions).toEqual(
    positions.toSorted(([one, first], [other, second]) =>
      one === other ? second - first : one < other ? 1 : -1,
    ),
  );
});

it('returns the link to the next page to HEAD requests too', async () => {
  const path = '/v1/audit_events?page[after]=&page[size]=2';
  const [get, head] = [
    await server.request('GET', path, { token }),
    await server.request('HEAD', path, { token }),
  ];
  expect(head.status).toBe(200);
  expect(head.headers.get('link')).toMatch(/rel="next"/);
  expect(head.headers.get('link')).toBe(get.headers.get('link'));
});

it('links to the next page from a page that is read in several batches', async () => {
  const event = {
    at: 1,
    action: 'asset.criticality',
    object_type: 'organization',
    object_id: 'large',
    organization_id: organizationId,
    actor_kind: 'system' as const,
  };
  await server.context.db.write((tx) =>
    tx
      .insertInto('audit_events')
      .values(Array.from({ length: 260 }, () => event))
      .execute(),
  );
  const path = '/v1/audit_events?filter[object_id]=large&page[after]=&page[size]=250';
  const first = await server.request('GET', path, { token });
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
  const { pathname, search } = new URL(next);
  const second = await server.request('GET', pathname + search, { token });
  const ids = [...first.body, ...second.body].map(({ id }) => id);
  expect(ids).toHaveLength(260);
  expect(ids).toEqual([...new Set(ids)].toSorted((one, other) => other - one));
});
