import { beforeAll, describe, expect, it } from 'vitest';
import { upsertScannedHosts } from '../../src/domain/assets/scans/upsert-hosts.ts';
import { ScannedPorts } from '../../src/domain/assets/scans/diff-ports.ts';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { countedFieldsOf, counterDeltas } from '../../src/domain/vulnerabilities/counter-deltas.ts';
import { addDeltas } from '../../src/domain/shared/counters.ts';
import { verifyListContract } from '../harness/list-contract.ts';
import { useOwnServer } from '../harness/server.ts';
import { buildObservedPort } from '../../src/importers/parsing/scanned-hosts.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { addressKey } from '../../src/auth/ip-addresses.ts';

const NOW = Date.UTC(2026, 10, 22);
const RANKS = ['undefined', 'low', 'medium', 'high'];
let now = NOW;
let admin: string;
let member: string;
let tag: string;
const CREATED_SINCE = '2026-11-22T00:00:10.000Z';

/** Links an asset to vulnerabilities as the rules do. */
async function affected(assessment: string, assetId: number, statusIds: number[]): Promise<void> {
  const { db } = server.context;
  for (const statusId of statusIds) {
    const { id } = await fixtures.vulnerability(assessment, { statusId });
    const row = await db.read
      .selectFrom('vulnerabilities')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    await db.write(async (tx) => {
      await tx
        .insertInto('vulnerability_assets')
        .values({ organization_id: row.organization_id, vulnerability_id: id, asset_id: assetId })
        .execute();
      const counted = countedFieldsOf(row, { tags: [], assets: [] });
      await addDeltas(tx, counterDeltas(counted, { ...counted, assets: [assetId] }));
    });
  }
}

const server = await useOwnServer({}, () => now);
const fixtures = createFixtures(server);
beforeAll(async () => {
  const organization = await fixtures.organization('assets');
  await fixtures.organization('other');
  await fixtures.assessment('assets', 'assets-web');
  await fixtures.assessment('assets', 'assets-api');
  admin = (await fixtures.user({ organization: 'assets', admin: true })).token;
  const user = await fixtures.user({ organization: 'assets' });
  member = user.token;
  await fixtures.access('assets-web', user.id);
  const hosts = ['10.0.0.5', '10.0.1.7', '2001:db8::7', 'mail.assets.example', '9.2.0.192'];
  const uids: string[] = [];
  for (const [index, location] of hosts.entries()) {
    now += 1_000;
    const asset = await fixtures.asset({
      organization: 'assets',
      type: 'host',
      name: `Host ${index}`,
      location,
      criticality: (['high', 'low', 'undefined', 'medium', 'high'] as const)[index]!,
    });
    uids.push(asset.uid);
    await affected('assets-web', asset.id, [[1, 2, 5], [], [3], [9], [4]][index] ?? []);
    if (index === 0) await affected('assets-api', asset.id, [1, 1]);
    if (index < 3) await fixtures.list('assets-web', asset.uid, ['at night']);
  }
  for (const name of ['Äpfel shop', '\u{1f600} smile', '\uffee half', '50%_off']) {
    now += 2_000;
    const asset = await fixtures.asset({
      organization: 'assets',
      name,
      location: `https://${encodeURIComponent(name)}.assets.example`.toLowerCase().replace(/%/g, 'x'),
    });
    uids.push(asset.uid);
  }
  await fixtures.asset({ organization: 'assets', type: 'network', name: 'Office network' });
  await fixtures.list('assets-api', uids[4]!);
  await fixtures.asset({ organization: 'other', type: 'host', location: '10.0.0.5' });
  const tagged = await server.request('POST', '/api/tagging/v1.0/organizations/assets/tags', {
    token: admin,
    body: { tags: [{ name: 'dmz', entities: [{ uid: uids[0] }, { uid: uids[6] }] }] },
  });
  tag = tagged.body.tags[0].uid;
  const port = (number: number, state = 'open') => buildObservedPort('tcp', number, { state });
  const scan = {
    complete: true,
    unlistedStates: [],
    scannedPorts: new ScannedPorts([['tcp', 1, 1_000]]),
  };
  now += 10_000;
  await server.context.db.write((tx) =>
    upsertScannedHosts(tx, cliChangeContext(now), organization.id, [
      { ...scan, address: '10.0.0.5', ports: [port(22), port(443), port(80, 'closed')], seenAt: now - 5_000 },
      { ...scan, address: '10.0.1.7', ports: [port(80)] },
    ]),
  );
});

const walk = (token: string) => ({
  operation: 'listAssets',
  path: '/api/asset/v2/assets',
  token,
  key: 'uid',
  style: 'flat' as const,
  filters: {
    'organizationUid[]': {
      value: ['assets', 'other'],
      fits: ({ organizationUid }: Row) => organizationUid === 'assets' || organizationUid === 'other',
    },
    'listingUid[]': {
      value: ['assets-web'],
      fits: ({ listings }: Row) =>
        listings.some(({ listingUid }: { listingUid: string }) => listingUid === 'assets-web'),
    },
    'outsideListingUid[]': {
      value: ['assets-web'],
      fits: ({ location }: Row) => ['mail.assets.example', '9.2.0.192'].includes(location),
    },
    'assetType[]': {
      value: ['host', 'network'],
      fits: ({ assetType }: Row) => ['host', 'network'].includes(assetType),
    },
    search: {
      value: 'ASSETS.example',
      fits: ({ location }: Row) => location.includes('assets.example'),
    },
    'criticality[]': {
      value: ['high', 'medium'],
      fits: ({ criticality }: Row) => ['high', 'medium'].includes(criticality),
    },
    'tagUid[]': {
      value: [tag],
      fits: ({ tags }: Row) => tags.some(({ uid }: { uid: string }) => uid === tag),
    },
    'portNumber[]': {
      value: ['22', '80'],
      fits: ({ openPortCount }: Row) => openPortCount > 0,
    },
    'ipRange[]': {
      value: ['10.0.0.0/16', '2001:db8::/32'],
      fits: ({ location }: Row) => /^(10\.0\.|2001:db8)/.test(location),
    },
    createdSince: { value: CREATED_SINCE, fits: ({ createdAt }: Row) => createdAt >= CREATED_SINCE },
  },
  orders: {
    location: ({ location }: Row) => (addressKey(location) === null ? location : ` ${addressKey(location)}`),
    createdAt: ({ createdAt }: Row) => createdAt,
    updatedAt: ({ updatedAt }: Row) => updatedAt,
    lastSeen: ({ lastSeen }: Row) => lastSeen,
    criticality: ({ criticality }: Row) => RANKS.indexOf(criticality),
    vulnerabilityCount: ({ vulnerabilityCount }: Row) => vulnerabilityCount,
  },
  atLeast: 10,
});
type Row = Readonly<Record<string, any>>;

describe('Operation 75: list assets', () => {
  it('lists assets with every parameter to staff', async () => {
    await fixtures.organization('third');
    await fixtures.asset({ organization: 'third', type: 'network', name: 'Third' });
    const { token } = await fixtures.user();
    const rows = await verifyListContract(server, walk(token));
    expect(rows.filter(({ location }) => location === '10.0.0.5')).toHaveLength(2);
  });

  it('sorts by location by default, with counts, listings and tags', async () => {
    const { body } = await server.request('GET', '/api/asset/v2/assets', { token: admin });
    expect(body.map(({ location }: Row) => location).slice(0, 3)).toEqual([
      '9.2.0.192',
      '10.0.0.5',
      '10.0.1.7',
    ]);
    expect(body[1]).toEqual({
      uid: expect.stringMatching(/^[0-9a-f]{24}$/),
      organizationUid: 'assets',
      assetType: 'host',
      name: 'Host 0',
      location: '10.0.0.5',
      description: '',
      criticality: 'high',
      writableBy: 'any',
      listings: [{ listingUid: 'assets-web', scopeRules: [{ rule: 'at night' }] }],
      tags: [{ uid: tag, name: 'dmz' }],
      openPortCount: 2,
      vulnerabilityCount: 4,
      firstSeen: new Date(now - 5_000).toISOString(),
      lastSeen: new Date(now - 5_000).toISOString(),
      createdAt: '2026-11-22T00:00:01.000Z',
      updatedAt: '2026-11-22T00:00:01.000Z',
    });
  });

  it('lists to a member the assets and counts that they can see', async () => {
    const { body } = await server.request(
      'GET',
      '/api/asset/v2/assets?sort=vulnerabilityCount&sortDir=desc',
      {
        token: member,
      },
    );
    expect(body.map((row: Row) => [row['location'], row['vulnerabilityCount']])).toEqual([
      ['10.0.0.5', 2],
      ['2001:db8::7', 1],
      // Not listed, and with vulnerabilities that the member sees.
      ['9.2.0.192', 1],
      ['10.0.1.7', 0],
      ['mail.assets.example', 0],
    ]);
    const hidden = await server.request('GET', '/api/asset/v2/assets?listingUid[]=assets-api', {
      token: member,
    });
    expect(hidden.body).toEqual([]);
  });

  it('filters by addresses of both families', async () => {
    const at = async (...ranges: string[]) => {
      const query = ranges.map((range) => `ipRange[]=${encodeURIComponent(range)}`).join('&');
      const { body } = await server.request('GET', `/api/asset/v2/assets?${query}&page[after]=`, {
        token: admin,
      });
      return body.map(({ location }: Row) => location);
    };
    expect(await at('10.0.0.5')).toEqual(['10.0.0.5']);
    // As many addresses as fit in a URL; a link to it would be too long for a header.
    const addresses = Array.from({ length: 600 }, (_, index) => `10.9.${index >> 8}.${index & 255}`);
    expect(await at(...addresses, '10.0.1.7')).toEqual(['10.0.1.7']);
    expect(await at('10.0.1.255/24')).toEqual(['10.0.1.7']);
    expect(await at('::ffff:10.0.0.0/120')).toEqual(['10.0.0.5']);
    expect(await at('2001:db8::/127')).toEqual([]);
    expect(await at('0.0.0.0/0')).toEqual(['9.2.0.192', '10.0.0.5', '10.0.1.7']);
    expect(await at('::ffff:0:0/96')).toEqual(['9.2.0.192', '10.0.0.5', '10.0.1.7']);
    expect(await at('::/0')).toEqual(['2001:db8::7']);
    expect(await at('0.0.0.0/0', '::/0')).toEqual(['9.2.0.192', '10.0.0.5', '10.0.1.7', '2001:db8::7']);
    for (const block of ['::/1', '::/80', '::ffff:0:0/95', '::/64'])
      expect([block, await at(block)]).toEqual([block, block === '::/1' ? ['2001:db8::7'] : []]);
    expect(await at('fffe::/1')).toEqual([]);
  });

  it.each([
    'ipRange[]=10.0.0.0/33',
    'ipRange[]=10.0.0',
    'ipRange[]=fe80::1%25eth0',
    'ipRange[]=x',
    'assetType[]=server',
    'criticality[]=High',
    'portNumber[]=http',
    'createdSince=yesterday',
    'sort=name',
    'sortDir=up',
    'perPage=5001',
    'fields=uid,secret',
    'listingUid[]=A',
  ])('returns 400 for %s', async (query) => {
    const { status } = await server.request('GET', `/api/asset/v2/assets?${query}`, { token: admin });
    expect(status).toBe(400);
  });

  it('ignores active, and accepts arrays without brackets', async () => {
    const { body } = await server.request('GET', '/api/asset/v2/assets?active=true&assetType=network', {
      token: admin,
    });
    expect(body).toHaveLength(1);
  });

  it('returns the requested fields', async () => {
    const { body } = await server.request('GET', '/api/asset/v2/assets?fields=location&assetType[]=network', {
      token: admin,
    });
    expect(body).toEqual([{ uid: expect.any(String), location: 'Office network' }]);
  });

  it('exports CSV and NDJSON, and records the export', async () => {
    const csv = await server.request('GET', '/api/asset/v2/assets?fields=location,tags&tagUid[]=' + tag, {
      token: admin,
      headers: { accept: 'text/csv' },
    });
    expect(csv.text.split('\r\n')[0]).toBe('uid,location,tags');
    expect(csv.text).toContain(`10.0.0.5,"[{""uid"":""${tag}"",""name"":""dmz""}]"`);
    const lines = await server.request('GET', '/api/asset/v2/assets', {
      token: admin,
      headers: { accept: 'application/x-ndjson' },
    });
    expect(lines.text.trim().split('\n')).toHaveLength(10);
    const events = await fixtures.auditEvents();
    expect(events.filter(({ action }) => action === 'asset.export')).toHaveLength(2);
  });
});
