import { beforeEach, describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import type { ScannedHost } from '../../src/domain/assets/scans/apply-scans.ts';
import { upsertScannedHosts } from '../../src/domain/assets/scans/upsert-hosts.ts';
import { type ObservedPort, ScannedPorts } from '../../src/domain/assets/scans/diff-ports.ts';
import { useSharedServer } from '../harness/server.ts';
import { buildObservedPort } from '../../src/importers/parsing/scanned-hosts.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const NOW = Date.UTC(2026, 10, 22, 8);
const ADDRESS = '192.0.2.1';
let organization: { id: number; uid: string };
let admin: TestUser;
let uid: string;

const server = await useSharedServer(() => NOW);
const fixtures = createFixtures(server);
beforeEach(async () => {
  organization = await fixtures.organization();
  admin = await fixtures.user({ organization: organization.uid, admin: true });
});

const port = (number: number, overrides: Partial<ObservedPort> = {}): ObservedPort => ({
  ...buildObservedPort('tcp', number),
  ...overrides,
});
const SCANNED_PORTS = new ScannedPorts([['tcp', 1, 1_000]]);
async function scan(minutes: number, ports: ObservedPort[], overrides: Partial<ScannedHost> = {}) {
  const host = {
    address: ADDRESS,
    ports,
    complete: true,
    scannedPorts: SCANNED_PORTS,
    unlistedStates: [],
    seenAt: NOW - minutes * 60_000,
    ...overrides,
  };
  const { createdHosts } = await server.context.db.write((tx) =>
    upsertScannedHosts(tx, cliChangeContext(NOW), organization.id, [host]),
  );
  uid = createdHosts[0]?.uid ?? uid;
}
const read = (query = '', token: string = admin.token, org = organization.uid, asset = uid) =>
  server.request('GET', `/api/streaming/v1/${org}/assets/${asset}/ports/history${query}`, { token });
const events = async (query = '') => (await read(query)).body.data.attributes.events;
const changes = async (query = '') =>
  (await events(query)).map(
    ({ at, number, kind }: { at: string; number: number; kind: string }) =>
      `${(NOW - Date.parse(at)) / 60_000} ${number} ${kind}`,
  );
const UNKNOWN = {
  service_name: null,
  service_banner: null,
  product_name: null,
  product_version: null,
  cpe: null,
};

describe('Operation 81: get the port history of a host', () => {
  it('returns opened, closed and changed ports, newest first, and omits ports first seen closed', async () => {
    await scan(30, [port(22), port(80), port(443, { state: 'closed' }), port(81, { state: 'filtered' })]);
    await scan(20, [port(22, { service: 'ssh', probed: true }), port(443)]);
    await scan(10, [port(22, { service: 'ssh', probed: true }), port(443)]);
    await scan(5, [], { down: true });
    expect(await changes()).toEqual([
      '5 22 closed',
      '5 443 closed',
      '20 22 changed',
      '20 80 closed',
      '20 81 closed',
      '20 443 opened',
      '30 22 opened',
      '30 80 opened',
    ]);
    expect((await events())[2]).toEqual({
      at: '2026-11-22T07:40:00.000Z',
      number: 22,
      protocol: 'tcp',
      kind: 'changed',
      before: { ...UNKNOWN, observed_state: 'open' },
      after: { ...UNKNOWN, observed_state: 'open', service_name: 'ssh' },
      import_id: null,
    });
    expect((await events())[6]).toMatchObject({ before: null, after: { observed_state: 'open' } });
  });

  it('orders by the time of the scan, regardless of import order', async () => {
    await scan(10, [port(22)]);
    await scan(20, [port(22), port(80)]);
    expect(await changes()).toEqual(['10 80 closed', '20 22 opened', '20 80 opened']);
  });

  it('paginates as operation 14 does, across many scans', async () => {
    for (let index = 0; index < 130; index += 1)
      await scan(500 - index, index % 2 === 0 ? [port(22), port(80)] : [port(80)]);
    const all = await changes('?per_page=1000');
    expect(all).toHaveLength(131);
    const paged: string[] = [];
    for (let page = 1; page <= 14; page += 1) paged.push(...(await changes(`?per_page=10&page=${page}`)));
    expect(paged).toEqual(all);
    expect((await read('?per_page=10&page=2')).body).toMatchObject({
      data: { type: 'asset_list', id: uid },
      meta: { total: 131, page: 2, per_page: 10, total_pages: 14 },
      links: { next: expect.stringMatching(/page=3$/), prev: expect.stringMatching(/page=1$/) },
    });
    expect(await changes('?number=80')).toEqual(['500 80 opened']);
    expect((await read('?number=22&per_page=7')).body.meta.total).toBe(130);
    expect(await changes('?limit=3')).toEqual(all.slice(0, 3));
    const since = new Date(NOW - 373 * 60_000).toISOString();
    expect(await changes(`?since=${since}`)).toEqual(all.slice(0, 3));
  });

  it.each(['since=yesterday', 'number=x', 'number=70000', 'page=0'])('returns 400 for %s', async (query) => {
    await scan(1, [port(22)]);
    const response = await read(`?${query}`);
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ status: 400, source: query.split('=')[0] });
  });

  it('allows the readers of the ports', async () => {
    await scan(1, [port(22)]);
    const user = await fixtures.user({ organization: organization.uid });
    expect((await read('', user.token)).status).toBe(404);
    const { uid: listing } = await fixtures.assessment(organization.uid);
    await fixtures.access(listing, user.id);
    await fixtures.list(listing, uid);
    expect((await read('', user.token)).status).toBe(200);
    const otherOrganization = await fixtures.organization();
    expect((await read('', admin.token, otherOrganization.uid)).status).toBe(404);
    expect((await read('', admin.token, organization.uid, 'f'.repeat(24))).status).toBe(404);
  });

  it('is deleted with the asset', async () => {
    await scan(1, [port(22)]);
    expect(await events()).toHaveLength(1);
    await server.request('DELETE', `/api/asset/v2/assets/${uid}`, { token: admin.token });
    expect((await read()).status).toBe(404);
    const { db } = server.context;
    const remaining = await db.read
      .selectFrom('port_events')
      .leftJoin('assets', 'assets.id', 'port_events.asset_id')
      .select('port_events.id')
      .where('assets.id', 'is', null)
      .execute();
    expect(remaining).toEqual([]);
  });
});
