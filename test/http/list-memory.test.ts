import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { vulnerabilityList } from '../../src/domain/vulnerabilities/vulnerability-list.ts';
import { memoryBudgetOf } from '../../src/http/account-limits.ts';
import { eventually } from '../harness/eventually.ts';
import { createFixtures, type TestUser } from '../harness/fixtures.ts';
import { startSecondServer, useSharedServer } from '../harness/server.ts';

const COUNT = 100;
const TEXT = 'x'.repeat(65_000);
const PATH = '/v1/vulnerabilities?page[size]=200';

const server = await useSharedServer();
const fixtures = createFixtures(server);
const { id: organization, uid } = await fixtures.organization();
const admin = await fixtures.user({ organization: uid, admin: true });
const outsider = await fixtures.user({ organization: (await fixtures.organization()).uid, admin: true });
const assessment = await fixtures.assessment(uid);
for (let count = 0; count < COUNT; count += 1) await fixtures.vulnerability(assessment.uid);
await server.context.db.write((tx) =>
  tx
    .updateTable('vulnerabilities')
    .set({ description: TEXT, impact: TEXT, recommended_fix: TEXT })
    .where('organization_id', '=', organization)
    .execute(),
);

/** Requests a list without reading the response. */
async function begin(origin: string, { token }: TestUser): Promise<IncomingMessage> {
  const request = get(origin + PATH, { agent: false, headers: { authorization: `Bearer ${token}` } });
  onTestFinished(() => void request.destroy());
  request.on('error', () => undefined);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.on('error', () => undefined);
  return response;
}

/** Counts how often rows of the list are read. */
async function countReads<T>(run: () => Promise<T>): Promise<{ readBlocks: number; response: T }> {
  const read = vi.spyOn(vulnerabilityList, 'read');
  try {
    const response = await run();
    await new Promise((resolve) => setImmediate(resolve));
    return { readBlocks: read.mock.calls.length, response };
  } finally {
    read.mockRestore();
  }
}

describe('Lists of large rows', () => {
  it('are complete for every page', async () => {
    const ids: number[] = [];
    for (const page of [
      'page[size]=200',
      'page[size]=40',
      'page[size]=40&page[number]=2',
      'page[size]=40&page[number]=3',
    ]) {
      const { status, body } = await server.request('GET', `/v1/vulnerabilities?${page}`, admin);
      expect(status).toBe(200);
      for (const row of body) expect(row.impact === TEXT).toBe(true);
      ids.push(...body.map(({ id }: { id: number }) => id));
    }
    expect(ids.slice(0, COUNT)).toEqual(ids.slice(COUNT));
    expect(new Set(ids).size).toBe(COUNT);
    let path: string | undefined = '/v1/vulnerabilities?page[size]=33&page[after]=';
    const listedIds: number[] = [];
    while (path !== undefined) {
      const { body, headers } = await server.request('GET', path, admin);
      listedIds.push(...body.map(({ id }: { id: number }) => id));
      const next = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
      path = next && new URL(next).pathname + new URL(next).search;
    }
    expect(listedIds).toEqual(ids.slice(0, COUNT));
  });

  it('are not read for HEAD', async () => {
    const budget = memoryBudgetOf(server.context);
    const { readBlocks, response } = await countReads(() => server.request('HEAD', PATH, admin));
    expect([response.status, response.text]).toEqual([200, '']);
    // The first batch, and the next one ahead of it. There are twenty.
    expect(readBlocks).toBeLessThanOrEqual(2);
    expect(budget.used).toBe(0);
  });

  it('wait for the memory of their account, which others do not notice', async () => {
    const sibling = await startSecondServer(server, { requestMemory: 64 });
    onTestFinished(() => sibling.close());
    const budget = memoryBudgetOf(sibling.context);
    // An account has 4 of 64 MiB, and a list takes at least as much.
    const first = await begin(sibling.origin, admin);
    expect(budget.used).toBe(4 * 1024 ** 2);
    const second = begin(sibling.origin, admin);
    await eventually(() => expect(budget.waiting).toBe(1));
    expect((await sibling.request('GET', PATH, outsider)).body).toEqual([]);
    expect(budget.waiting).toBe(1);
    first.destroy();
    const response = await second;
    expect(response.statusCode).toBe(200);
    response.destroy();
    await eventually(() => expect([budget.used, budget.waiting]).toEqual([0, 0]));
  });
});

it('Lists that waited for memory show only what their caller can see then', async () => {
  const member = await fixtures.user({ organization: uid });
  const { uid: own } = await fixtures.assessment(uid);
  await fixtures.access(own, member.id);
  const path = `/v1/vulnerabilities/${(await fixtures.vulnerability(own)).id}`;
  const comment = { token: admin.token, body: { text: 'Text' } };
  expect((await server.request('POST', `${path}/comments`, comment)).status).toBe(201);
  const budget = memoryBudgetOf(server.context);
  const owner = { account: `account ${member.id}`, organization: `organization ${organization}` };
  const held = await budget.acquire(owner, Infinity);
  const listed = server.request('GET', '/v1/vulnerabilities', member);
  const comments = server.request('GET', `${path}/comments`, member);
  await eventually(() => expect(budget.waiting).toBe(2));
  const change = { token: admin.token, body: { remove: [member.id] } };
  expect((await server.request('PATCH', `/v1/assessments/${own}/users`, change)).status).toBe(200);
  held?.release();
  expect((await listed).body).toEqual([]);
  expect((await comments).status).toBe(404);
});

it('Large bodies wait for the memory of their account', async () => {
  const sibling = await startSecondServer(server, { requestMemory: 64 });
  onTestFinished(() => sibling.close());
  const budget = memoryBudgetOf(sibling.context);
  const held = await begin(sibling.origin, admin);
  const body = { comment: 'x'.repeat(100_000), ids: [] };
  const update = sibling.request('POST', '/v1/vulnerabilities/bulk_update', { token: admin.token, body });
  await eventually(() => expect(budget.waiting).toBe(1));
  held.destroy();
  expect((await update).status).toBe(422);
  await eventually(() => expect(budget.used).toBe(0));
});
