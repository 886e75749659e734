import { beforeEach, describe, expect, it } from 'vitest';
import type { Port } from '../../src/domain/assets/ports.ts';
import { putPorts } from '../harness/ports.ts';
import { type TestResponse, useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const FIRST_SEEN = Date.UTC(2026, 10, 21, 10, 30);
const LAST_SEEN = Date.UTC(2026, 10, 22, 8, 0, 0, 7);
let organization: string;
let admin: TestUser;
let host: { id: number; uid: string };

const server = await useSharedServer();
const fixtures = createFixtures(server);
beforeEach(async () => {
  organization = (await fixtures.organization()).uid;
  admin = await fixtures.user({ organization, admin: true });
  host = await fixtures.asset({ organization, type: 'host' });
});

const pathOf = (orgUid: string, assetUid: string) => `/api/streaming/v1/${orgUid}/assets/${assetUid}/ports`;
const read = (
  query = '',
  token: string | undefined = admin.token,
  assetUid = host.uid,
  orgUid = organization,
) => server.request('GET', pathOf(orgUid, assetUid) + query, { token });
const linkTo = (query: string) => `${server.origin}${pathOf(organization, host.uid)}?${query}`;
const portOf = (number: number, overrides: Partial<Port> = {}): Port => ({
  number,
  protocol: 'tcp',
  observed_state: 'open',
  service_name: null,
  service_banner: null,
  product_name: null,
  product_version: null,
  cpe: null,
  first_seen: FIRST_SEEN,
  last_seen: LAST_SEEN,
  ...overrides,
});
const storePorts = (ports: Port[], asset = host.id) =>
  server.context.db.write((tx) => putPorts(tx, asset, ports));
const portsOf = (response: TestResponse): Record<string, unknown>[] => response.body.data.attributes.ports;
const namesOf = (response: TestResponse) =>
  portsOf(response).map(({ number, protocol }) => `${number}/${protocol}`);

function expectError(response: TestResponse, status: number, source: string): void {
  expect(response.body).toEqual({
    detail: expect.stringMatching(/./),
    id: response.headers.get('x-request-id'),
    source,
    status,
    title: expect.stringMatching(/./),
  });
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
}

describe('Operation 14: get ports of a host asset', () => {
  it('returns exactly the envelope of the specification', async () => {
    await storePorts([
      portOf(443, {
        service_name: 'https',
        service_banner: 'nginx "1.24"\n\u2028',
        product_name: 'nginx',
        product_version: '1.24.0',
        cpe: 'cpe:/a:igor_sysoev:nginx:1.24.0',
      }),
      portOf(53, { protocol: 'udp' }),
      portOf(22, { observed_state: 'closed' }),
    ]);
    const unknown = {
      service_name: null,
      service_banner: null,
      product_name: null,
      product_version: null,
      cpe: null,
      first_seen: '2026-11-21T10:30:00.000Z',
      last_seen: '2026-11-22T08:00:00.007Z',
    };
    const meta = { total: 2, page: 1, per_page: 100, total_pages: 1 };
    const response = await read();
    expect(response.body).toEqual({
      data: {
        type: 'asset_list',
        id: host.uid,
        attributes: {
          asset_uid: host.uid,
          ports: [
            { number: 53, protocol: 'udp', observed_state: 'open', ...unknown },
            {
              ...unknown,
              number: 443,
              protocol: 'tcp',
              observed_state: 'open',
              service_name: 'https',
              service_banner: 'nginx "1.24"\n\u2028',
              product_name: 'nginx',
              product_version: '1.24.0',
              cpe: 'cpe:/a:igor_sysoev:nginx:1.24.0',
            },
          ],
        },
        links: {},
        meta,
        relationships: {},
      },
      errors: [],
      included: [],
      links: {},
      meta,
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it.each([
    ['', ['1/tcp']],
    ['?observed_state=open', ['1/tcp']],
    ['?observed_state=closed', ['2/tcp']],
  ])('lists the ports for the query "%s", and omits other states', async (query, names) => {
    await storePorts([
      portOf(1),
      portOf(2, { observed_state: 'closed' }),
      portOf(3, { observed_state: 'filtered' }),
      portOf(4, { observed_state: 'open|filtered' }),
      portOf(5, { observed_state: 'unfiltered' }),
    ]);
    const response = await read(query);
    expect(namesOf(response)).toEqual(names);
    expect(response.body.meta.total).toBe(1);
  });

  describe('Sorting and pagination', () => {
    let all: Port[];
    // Code points: U+FF5E is less than U+1F512, though its UTF-16 code unit is greater.
    const texts = [
      'ssh',
      null,
      'Zabbix',
      'ssh',
      '\u{ff5e}',
      null,
      'http',
      '\u{1f512}',
      'ssh',
      'é',
      '',
      'http-alt',
    ];
    const codePoints = (text: string) => [...text].map((character) => character.codePointAt(0) ?? 0);
    const compareText = (a: string, b: string) => {
      const [left, right] = [codePoints(a), codePoints(b)];
      const at = left.findIndex((point, index) => point !== right[index]);
      return at < 0 ? left.length - right.length : (left[at] ?? 0) - (right[at] ?? -1);
    };
    const byPort = (a: Port, b: Port) => a.number - b.number || compareText(a.protocol, b.protocol);
    /** Computes the result of the specification and docs/decided.md without a database. */
    const expected = (field: 'number' | 'service_name' | 'service_banner', direction: number) =>
      all.toSorted((a, b) => {
        if (field === 'number') return direction * (a.number - b.number) || byPort(a, b);
        const [left, right] = [a[field], b[field]];
        if (left === null || right === null)
          return Number(left === null) - Number(right === null) || byPort(a, b);
        return direction * compareText(left, right) || byPort(a, b);
      });

    beforeEach(async () => {
      all = [];
      for (let i = 0; i < 12; i += 1) {
        // Each number has one, two or three protocols.
        const protocols = (['udp', 'tcp', 'sctp'] as const).slice(i % 3);
        for (const protocol of protocols) {
          const text = texts[(all.length * 5) % texts.length] as string | null;
          const banner = texts[(all.length * 7 + 2) % texts.length] as string | null;
          all.push(portOf(9 + i * 111, { protocol, service_name: text, service_banner: banner }));
        }
      }
      await storePorts([
        ...all,
        portOf(7, { observed_state: 'closed' }),
        portOf(8, { observed_state: 'filtered' }),
      ]);
      // Another host with the same ports.
      const otherAsset = await fixtures.asset({ organization, type: 'host' });
      await storePorts(all, otherAsset.id);
    });

    const combinations = (['number', 'service_name', 'service_banner'] as const).flatMap((orderBy) =>
      (['ASC', 'DESC'] as const).flatMap((direction) =>
        [undefined, 1, 13, 500].map((limit) => ({ orderBy, direction, limit })),
      ),
    );
    it.each(combinations)(
      'pages through order_by=$orderBy order_direction=$direction limit=$limit',
      async ({ orderBy, direction, limit }) => {
        const rows = expected(orderBy, direction === 'ASC' ? 1 : -1).slice(0, limit);
        for (const perPage of [1, 5, 13, rows.length, 1_000]) {
          const totalPages = Math.ceil(rows.length / perPage);
          const query = `order_by=${orderBy}&order_direction=${direction}&per_page=${perPage}${limit === undefined ? '' : `&limit=${limit}`}`;
          for (let page = 1; page <= totalPages + 1; page += 1) {
            const response = await read(`?page=${page}&${query}`);
            expect(namesOf(response)).toEqual(
              rows
                .slice((page - 1) * perPage, page * perPage)
                .map((port) => `${port.number}/${port.protocol}`),
            );
            const meta = { total: rows.length, page, per_page: perPage, total_pages: totalPages };
            const links = {
              ...(page < totalPages ? { next: linkTo(`${query}&page=${page + 1}`) } : {}),
              ...(page > 1 ? { prev: linkTo(`${query}&page=${Math.min(page - 1, totalPages)}`) } : {}),
            };
            expect(response.body).toMatchObject({ meta, data: { meta } });
            expect(response.body.links).toEqual(links);
            expect(response.body.data.links).toEqual(links);
          }
        }
      },
    );

    it('sorts by number in ascending order by default', async () => {
      const names = expected('number', 1).map((port) => `${port.number}/${port.protocol}`);
      expect(namesOf(await read())).toEqual(names);
      expect(namesOf(await read('?order_direction=DESC'))).toEqual(
        expected('number', -1).map((port) => `${port.number}/${port.protocol}`),
      );
    });

    it('returns 100 ports per page by default', async () => {
      await storePorts(Array.from({ length: 101 }, (_, i) => portOf(20_000 + i)));
      const response = await read();
      expect(portsOf(response)).toHaveLength(100);
      expect(response.body.meta).toMatchObject({ per_page: 100, total_pages: 2 });
    });

    it('links from a page far past the end to the last page', async () => {
      const response = await read('?page=9007199254740993&per_page=10');
      expect(response.status).toBe(200);
      expect(portsOf(response)).toEqual([]);
      expect(response.body.links).toEqual({ prev: linkTo('per_page=10&page=3') });
    });

    it('accepts a limit larger than any host', async () => {
      const response = await read('?limit=99999999999999999999&per_page=1000');
      expect(portsOf(response)).toHaveLength(all.length);
    });
  });

  it('counts by the latest observations', async () => {
    await storePorts([portOf(1), portOf(2), portOf(3)]);
    await storePorts([
      portOf(2, { observed_state: 'closed', first_seen: FIRST_SEEN - 5, last_seen: LAST_SEEN + 1 }),
      // Older than the stored observation.
      portOf(3, {
        observed_state: 'closed',
        first_seen: FIRST_SEEN - 2,
        last_seen: LAST_SEEN - 1,
        cpe: 'cpe:/o',
      }),
    ]);
    const closed = await read('?observed_state=closed');
    expect(portsOf(closed)).toMatchObject([
      { number: 2, first_seen: '2026-11-21T10:29:59.995Z', last_seen: '2026-11-22T08:00:00.008Z' },
    ]);
    expect(closed.body.meta.total).toBe(1);
    const open = await read();
    expect(portsOf(open)).toMatchObject([
      { number: 1 },
      { number: 3, cpe: null, first_seen: '2026-11-21T10:29:59.998Z', last_seen: '2026-11-22T08:00:00.007Z' },
    ]);
    expect(open.body.meta.total).toBe(2);
  });

  it.each(['webapp', 'network', 'cloudaccount', 'mobileapp'] as const)(
    'returns no ports for a %s',
    async (type) => {
      const asset = await fixtures.asset({ organization, type });
      await storePorts([portOf(1)], asset.id);
      const response = await read('', admin.token, asset.uid);
      expect(response.status).toBe(200);
      expect(response.body.data.attributes).toEqual({ asset_uid: asset.uid, ports: [] });
      expect(response.body.meta).toEqual({ total: 0, page: 1, per_page: 100, total_pages: 0 });
    },
  );

  it('ignores unknown parameters and keeps them in links', async () => {
    await storePorts([portOf(1), portOf(2)]);
    const response = await read('?per_page=1&scan=x%2Fy');
    expect(response.body.links).toEqual({ next: linkTo('per_page=1&scan=x%2Fy&page=2') });
  });

  describe('Access', () => {
    it('allows users with access to an assessment that lists the asset', async () => {
      await storePorts([portOf(80)]);
      const { uid: assessment } = await fixtures.assessment(organization);
      const { uid: otherAssessment } = await fixtures.assessment(organization);
      const user = await fixtures.user({ organization });
      await fixtures.access(otherAssessment, user.id);
      expectError(await read('', user.token), 404, '');
      await fixtures.list(assessment, host.uid);
      expectError(await read('', user.token), 404, '');
      await fixtures.access(assessment, user.id);
      expect(namesOf(await read('', user.token))).toEqual(['80/tcp']);
    });

    it('allows staff', async () => {
      await storePorts([portOf(80)]);
      expect(namesOf(await read('', (await fixtures.user()).token))).toEqual(['80/tcp']);
    });

    it('returns 404 to users of other organizations', async () => {
      const otherOrganization = (await fixtures.organization()).uid;
      const { token } = await fixtures.user({ organization: otherOrganization, admin: true });
      const foreign = await read('', token);
      expectError(foreign, 404, '');
      const unknown = await read('', token, 'f'.repeat(24));
      expectError(unknown, 404, '');
      expect(foreign.body.detail).toBe(unknown.body.detail);
      // Their own organization does not give access either.
      expectError(await read('', token, host.uid, otherOrganization), 404, '');
    });

    it('returns 404 under an organization that the asset does not belong to', async () => {
      const otherOrganization = (await fixtures.organization()).uid;
      await fixtures.organizationGroup(`${organization}s`, [organization]);
      const staff = await fixtures.user();
      for (const orgUid of [otherOrganization, `${organization}s`, 'nobody'])
        expectError(await read('', staff.token, host.uid, orgUid), 404, '');
    });
  });

  it.each([
    ['Acme', undefined],
    ['a%00', undefined],
    ['a'.repeat(51), undefined],
    ['a.b', undefined],
    ['%F0%9F%94%92', undefined],
    [undefined, 'x'],
    [undefined, '%00'],
    [undefined, 'F'.repeat(24)],
    [undefined, 'f'.repeat(25)],
    [undefined, 'f'.repeat(24) + '%0A'],
  ])('returns 404 for the organization %s or the asset %s, which do not exist', async (orgUid, assetUid) => {
    const { token } = await fixtures.user();
    expectError(await read('', token, assetUid ?? host.uid, orgUid ?? organization), 404, '');
  });

  it.each([
    'observed_state=filtered',
    'observed_state=OPEN',
    'observed_state=',
    'observed_state=open&observed_state=closed',
    'limit=0',
    'limit=-1',
    'limit=all',
    'limit=1.5',
    'order_by=protocol',
    'order_by=',
    'order_direction=asc',
    'order_direction=UP',
    'per_page=0',
    'per_page=1001',
    'per_page=1e2',
    'page=0',
    'page=x',
    'page=',
    'page=1%00',
  ])('returns 400 for ?%s and names the parameter', async (query) => {
    expectError(await read(`?${query}`), 400, query.split('=', 1)[0] as string);
  });
});
