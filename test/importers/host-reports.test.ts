import { beforeEach, describe, expect, it } from 'vitest';
import type { ImportOutcome } from '../../src/domain/imports/import-types.ts';
import { useOwnServer } from '../harness/server.ts';
import { importDirectly } from '../harness/direct-imports.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { FIRST, host, port, report, SECOND, SEEN } from './reports.ts';

const NOW = Date.UTC(2030, 0, 1);
const FIRST_SEEN = 1_795_260_470_000;
const SECOND_SEEN = 1_795_260_887_000;

let organization: { id: number; uid: string };
const server = await useOwnServer({}, () => NOW);
const fixtures = createFixtures(server);
beforeEach(async () => {
  organization = await fixtures.organization();
});

/** Runs the report as an import without an assessment. */
const run = (text: string, { id: organizationId } = organization): Promise<ImportOutcome> => {
  const upload = { format: 'nmap', report: text, at: NOW };
  return importDirectly(server.context.db, { organizationId, assessment: null }, upload);
};

async function imported(text: string, organizationUid = organization) {
  const { error, result } = await run(text, organizationUid);
  expect(error).toBeNull();
  const { assets_created, assets_updated, ports_opened, ports_closed } = result;
  return { created: assets_created, updated: assets_updated, opened: ports_opened, closed: ports_closed };
}

const NOTHING = { created: 0, updated: 0, opened: 0, closed: 0 };

const assets = () =>
  server.context.db.read
    .selectFrom('assets')
    .selectAll()
    .where('organization_id', '=', organization.id)
    .orderBy('id')
    .execute();

/** Returns the ports of the organization's hosts, and checks `port_counts` against them. */
async function ports() {
  const rows = await server.context.db.read
    .selectFrom('ports')
    .innerJoin('assets', 'assets.id', 'ports.asset_id')
    .selectAll('ports')
    .where('assets.organization_id', '=', organization.id)
    .orderBy('asset_id')
    .orderBy('number')
    .orderBy('protocol')
    .execute();
  const counted = new Map<string, number>();
  for (const { asset_id, observed_state } of rows) {
    const key = `${asset_id} ${observed_state}`;
    counted.set(key, (counted.get(key) ?? 0) + 1);
  }
  const counts = await server.context.db.read
    .selectFrom('port_counts')
    .innerJoin('assets', 'assets.id', 'port_counts.asset_id')
    .selectAll('port_counts')
    .where('assets.organization_id', '=', organization.id)
    .execute();
  expect(new Map(counts.map((row) => [`${row.asset_id} ${row.observed_state}`, row.ports]))).toEqual(counted);
  return rows;
}

const states = async () =>
  Object.fromEntries((await ports()).map((row) => [`${row.number}/${row.protocol}`, row.observed_state]));

async function events(action: string) {
  const auditEvents = (await fixtures.auditEvents()).filter(
    (event) => event.action === action && event.organization_id === organization.id,
  );
  return auditEvents.map((event) => ({
    ...event,
    before: event.before === null ? null : JSON.parse(event.before),
    after: event.after === null ? null : JSON.parse(event.after),
  }));
}

describe('the first scan of a host', () => {
  it('creates an asset with its ports', async () => {
    expect(await imported(FIRST)).toEqual({ ...NOTHING, created: 1, opened: 5 });
    const [asset] = await assets();
    expect(asset).toEqual({
      id: expect.any(Number),
      uid: expect.stringMatching(/^[0-9a-f]{24}$/),
      organization_id: organization.id,
      type: 'host',
      location: '127.0.0.1',
      name: 'localhost',
      search_location: '127.0.0.1',
      search_name: 'localhost',
      address_hex: '00000000000000000000ffff7f000001',
      description: '',
      criticality: 'undefined',
      criticality_rank: 0,
      writable_by: 'any',
      first_seen: FIRST_SEEN,
      last_seen: FIRST_SEEN,
      open_vulnerabilities: 0,
      import_id: expect.any(Number),
      created_at: NOW,
      updated_at: NOW,
      version: 1,
    });
    const rows = await ports();
    expect(rows).toHaveLength(26);
    expect(rows.find(({ number }) => number === 8080)).toEqual({
      asset_id: asset?.id,
      protocol: 'tcp',
      number: 8080,
      observed_state: 'open',
      service_name: 'http',
      service_banner: 'nginx 1.24.0',
      product_name: 'nginx',
      product_version: '1.24.0',
      cpe: 'cpe:/a:igor_sysoev:nginx:1.24.0',
      first_seen: FIRST_SEEN,
      last_seen: FIRST_SEEN,
    });
  });

  it('is recorded in the audit log with all new values', async () => {
    await imported(
      report(
        host('192.0.2.1', port(22, 'open', '<service name="ssh" method="probed"/>') + port(23, 'closed')),
      ),
    );
    const [asset] = await assets();
    expect(await events('asset.create')).toEqual([
      {
        id: expect.any(Number),
        at: NOW,
        action: 'asset.create',
        object_type: 'asset',
        object_id: asset?.uid,
        organization_id: organization.id,
        actor_kind: 'command_line',
        user_id: null,
        count: 1,
        denied_key: null,
        internal: 0,
        credential_id: null,
        address: null,
        request_id: expect.any(String),
        before: null,
        after: {
          type: 'host',
          location: '192.0.2.1',
          name: '192.0.2.1',
          criticality: 'undefined',
          writable_by: 'any',
          scanned_at: SEEN * 1_000,
          ports: {
            fields: [
              'protocol',
              'number',
              'observed_state',
              'service_name',
              'service_banner',
              'product_name',
              'product_version',
              'cpe',
            ],
            rows: [
              ['tcp', 22, 'open', 'ssh', null, null, null, null],
              ['tcp', 23, 'closed', null, null, null, null, null],
            ],
          },
        },
      },
    ]);
  });

  it('is visible through operation 14', async () => {
    const admin = await fixtures.user({ organization: organization.uid, admin: true });
    await imported(FIRST);
    const uid = (await assets())[0]?.uid;
    const { status, body } = await server.request(
      'GET',
      `/api/streaming/v1/${organization.uid}/assets/${uid}/ports?limit=1`,
      { token: admin.token },
    );
    expect(status).toBe(200);
    expect(body.data.attributes.ports).toMatchObject([{ number: 8021, service_name: 'ftp' }]);
  });
});

describe('a second scan', () => {
  it('updates the ports and the time of the last scan', async () => {
    await imported(FIRST);
    const before = await assets();
    expect(await imported(SECOND)).toEqual({ ...NOTHING, updated: 1, opened: 1, closed: 1 });
    expect(await assets()).toEqual(before.map((asset) => ({ ...asset, last_seen: SECOND_SEEN })));
    const rows = await ports();
    expect(rows.every((row) => row.first_seen === FIRST_SEEN && row.last_seen === SECOND_SEEN)).toBe(true);
    expect(rows.filter(({ number }) => [8021, 8081].includes(number))).toMatchObject([
      { observed_state: 'closed', service_name: 'ftp', product_name: 'ProFTPD' },
      {
        observed_state: 'open',
        service_name: 'http',
        product_name: 'SimpleHTTPServer',
        product_version: '0.6',
      },
    ]);
    expect(await events('asset.scan')).toMatchObject([
      {
        object_id: before[0]?.uid,
        before: {
          ports: [
            { port: '8021/tcp', observed_state: 'open' },
            {
              port: '8081/tcp',
              observed_state: 'closed',
              service_name: 'blackice-icecap',
              product_name: null,
            },
          ],
        },
        after: {
          scanned_at: SECOND_SEEN,
          ports: [
            { port: '8021/tcp', observed_state: 'closed' },
            {
              port: '8081/tcp',
              observed_state: 'open',
              service_name: 'http',
              product_name: 'SimpleHTTPServer',
            },
          ],
        },
      },
    ]);
  });

  it('without changes updates only the time, and is not recorded in the audit log', async () => {
    await imported(report(host('192.0.2.1', port(22))));
    expect(await imported(report(host('192.0.2.1', port(22), { seen: SEEN + 60 })))).toEqual(NOTHING);
    expect(await ports()).toMatchObject([{ first_seen: SEEN * 1_000, last_seen: (SEEN + 60) * 1_000 }]);
    expect(await events('asset.scan')).toEqual([]);
  });

  it('has a name on one line', async () => {
    const names = '<hostnames><hostname name="mail&#10;.example&#x85;.com"/></hostnames>';
    await imported(report(host('192.0.2.1', port(25), { inner: names })));
    expect(await assets()).toMatchObject([{ name: 'mail .example .com' }]);
  });

  it('keeps the name, the criticality and who can change the asset', async () => {
    const input = {
      type: 'host',
      name: 'Mail',
      location: '192.0.2.1',
      criticality: 'high',
      writableBy: 'boss',
    } as const;
    await fixtures.asset({ organization: organization.uid, ...input });
    const [before] = await assets();
    const names = '<hostnames><hostname name="mail.example.com"/></hostnames>';
    await imported(report(host('192.0.2.1', port(25), { inner: names })));
    const times = { first_seen: SEEN * 1_000, last_seen: SEEN * 1_000 };
    expect(await assets()).toEqual([{ ...before, ...times }]);
    expect(await states()).toEqual({ '25/tcp': 'open' });
  });

  it('changes no other organization', async () => {
    await imported(report(host('192.0.2.1', port(22))));
    const otherOrganization = await fixtures.organization();
    await imported(report(host('192.0.2.1', port(80))), otherOrganization);
    expect(await states()).toEqual({ '22/tcp': 'open' });
  });
});

describe('a port that is no longer listed', () => {
  const later = (inner: string, scaninfo?: string, attributes = '') =>
    report(host('192.0.2.1', inner, { seen: SEEN + 60, attributes }), scaninfo);
  const knownPorts = port(22) + port(80, 'filtered') + port(2_000) + port(53, 'open|filtered', '', 'udp');
  const all = { '22/tcp': 'open', '53/udp': 'open|filtered', '80/tcp': 'filtered', '2000/tcp': 'open' };
  beforeEach(() => imported(report(host('192.0.2.1', knownPorts))));

  it.each<[string, string, object, number]>([
    ['is closed where the scan covered it', later(''), { ...all, '22/tcp': 'closed', '80/tcp': 'closed' }, 2],
    [
      'keeps a state that the scan did not list one by one',
      later('<extraports state="filtered" count="999"/>'),
      { ...all, '22/tcp': 'closed' },
      1,
    ],
    [
      'is closed by the protocol that was scanned',
      later('', '<scaninfo protocol="udp" services="50-60"/><scaninfo protocol="tcp" services="2000,x"/>'),
      { ...all, '53/udp': 'closed', '2000/tcp': 'closed' },
      2,
    ],
    ['stays when the scan does not say what it covered', later('', ''), all, 0],
    ['stays when the host was given up', later('', undefined, ' timedout="true"'), all, 0],
    ['stays when no ports were scanned', later('').replace('<ports></ports>', ''), all, 0],
    ['stays when the scan is older', later('').replace(`${SEEN + 60}`, `${SEEN - 60}`), all, 0],
  ])('%s', async (_name, text, expected, closed) => {
    expect((await imported(text)).closed).toBe(closed);
    expect(await states()).toEqual(expected);
    expect(await events('asset.scan')).toHaveLength(closed > 0 ? 1 : 0);
  });

  it('and was closed updates its time, so that no earlier report reopens it', async () => {
    await imported(later(''));
    await imported(report(host('192.0.2.1', port(22), { seen: SEEN + 120 })));
    await imported(report(host('192.0.2.1', '', { seen: SEEN + 180 })));
    await imported(report(host('192.0.2.1', port(22), { seen: SEEN + 170 })));
    expect((await ports())[0]).toMatchObject({ observed_state: 'closed', last_seen: (SEEN + 180) * 1_000 });
  });
});

describe('a host that is down', () => {
  const downReport = (seenAt: number) =>
    report(
      `<host endtime="${seenAt}"><status state="down"/><address addr="192.0.2.1" addrtype="ipv4"/></host>`,
      '<scaninfo type="syn" protocol="tcp" services="443"/>',
    );

  it('closes all of its ports at that time', async () => {
    await imported(report(host('192.0.2.1', port(22) + port(80, 'filtered') + port(81, 'closed'))));
    expect(await imported(downReport(SEEN + 60))).toEqual({ ...NOTHING, closed: 2 });
    expect(await states()).toEqual({ '22/tcp': 'closed', '80/tcp': 'closed', '81/tcp': 'closed' });
    for (const { last_seen } of await ports()) expect(last_seen).toBe((SEEN + 60) * 1_000);
    const [event] = await events('asset.scan');
    expect(event?.after).toMatchObject({ scanned_at: (SEEN + 60) * 1_000, down: true });
  });

  it('does not change what a later scan saw', async () => {
    await imported(report(host('192.0.2.1', port(22))));
    await imported(downReport(SEEN - 60));
    expect(await states()).toEqual({ '22/tcp': 'open' });
    expect(await events('asset.scan')).toEqual([]);
  });

  it('does not become an asset', async () => {
    expect(await imported(downReport(SEEN))).toEqual(NOTHING);
    expect(await assets()).toEqual([]);
  });
});

describe('the service of a port', () => {
  const nginx =
    '<service name="http" product="nginx" version="1.24.0" method="probed"><cpe>cpe:/a:nginx</cpe></service>';
  const asNginx = {
    service_name: 'http',
    service_banner: 'nginx 1.24.0',
    product_name: 'nginx',
    product_version: '1.24.0',
    cpe: 'cpe:/a:nginx',
  };
  it.each<[string, string, object]>([
    ['stays when the next one asked no service', '<service name="http-alt" method="table"/>', asNginx],
    ['stays when the next one says nothing', '', asNginx],
    [
      'gives way to a banner that the next one read',
      '<service name="http-alt" method="table"/><script id="banner" output="hi"/>',
      { ...asNginx, service_banner: 'hi' },
    ],
    [
      'is replaced, with what is unknown of the new one',
      '<service name="ssh" product="OpenSSH" method="probed"/>',
      {
        service_name: 'ssh',
        service_banner: 'OpenSSH',
        product_name: 'OpenSSH',
        product_version: null,
        cpe: null,
      },
    ],
    [
      'is replaced by one that answered and was not recognised',
      '<service name="http-alt" servicefp="SF-Port" method="table"/>',
      {
        service_name: 'http-alt',
        service_banner: null,
        product_name: null,
        product_version: null,
        cpe: null,
      },
    ],
  ])('%s', async (_name, inner, expected) => {
    await imported(report(host('192.0.2.1', port(80, 'open', nginx))));
    await imported(report(host('192.0.2.1', port(80, 'open', inner), { seen: SEEN + 60 })));
    expect(await ports()).toMatchObject([expected]);
  });
});

describe('an older report', () => {
  it('updates when a port was first seen, and closes what later ones no longer list', async () => {
    await imported(report(host('192.0.2.1', port(22, 'open', '<service name="ssh" method="probed"/>'))));
    const oldPorts = port(22, 'closed') + port(23);
    await imported(report(host('192.0.2.1', oldPorts, { seen: SEEN - 60 })));
    expect(await ports()).toMatchObject([
      {
        number: 22,
        observed_state: 'open',
        service_name: 'ssh',
        first_seen: (SEEN - 60) * 1_000,
        last_seen: SEEN * 1_000,
      },
      { number: 23, observed_state: 'closed', first_seen: (SEEN - 60) * 1_000, last_seen: SEEN * 1_000 },
    ]);
  });

  it('from the future counts as one of the current time', async () => {
    await imported(report(host('192.0.2.1', port(22), { seen: NOW / 1_000 + 3_600 })));
    expect(await ports()).toMatchObject([{ first_seen: NOW, last_seen: NOW }]);
  });
});

describe('a report', () => {
  it('of many hosts is imported completely, and changes nothing when repeated', async () => {
    let hosts = '';
    for (let number = 0; number < 1_500; number += 1) {
      const address = `10.0.${number >> 8}.${number & 255}`;
      hosts += host(
        address,
        port(22) + port(80, 'closed') + port(443, number % 2 === 0 ? 'open' : 'filtered'),
      );
    }
    expect(await imported(report(hosts))).toEqual({ ...NOTHING, created: 1_500, opened: 2_250 });
    expect(await ports()).toHaveLength(4_500);
    expect(await events('asset.create')).toHaveLength(1_500);
    expect(await imported(report(hosts))).toEqual(NOTHING);
  });

  it('of a host with very many ports has the same result as one of few', async () => {
    const portReport = (state: (number: number) => string | undefined, seenAt: number) => {
      let text = '';
      for (let number = 1; number <= 6_000; number += 1) {
        const portState = state(number);
        if (portState !== undefined) text += port(number, portState);
      }
      const scaninfo = '<scaninfo type="syn" protocol="tcp" services="1-5999"/>';
      return report(host('192.0.2.1', text, { seen: seenAt }), scaninfo);
    };
    const open = () => 'open';
    expect(await imported(portReport(open, SEEN))).toEqual({ ...NOTHING, created: 1, opened: 6_000 });
    expect(await ports()).toHaveLength(6_000);
    expect(await imported(portReport(open, SEEN))).toEqual(NOTHING);
    // Covered ports that it no longer lists are closed, in every part of the report; others keep their state.
    const few = (number: number) => (number === 3_000 ? 'filtered' : undefined);
    expect(await imported(portReport(few, SEEN + 60))).toEqual({ ...NOTHING, updated: 1, closed: 5_998 });
    const after = await states();
    expect([after['1/tcp'], after['3000/tcp'], after['5999/tcp'], after['6000/tcp']]).toEqual([
      'closed',
      'filtered',
      'closed',
      'open',
    ]);
    expect(await imported(portReport(open, SEEN + 120))).toEqual({ ...NOTHING, updated: 1, opened: 5_999 });
    const isDown = `<host endtime="${SEEN + 180}"><status state="down"/><address addr="192.0.2.1" addrtype="ipv4"/></host>`;
    expect(await imported(report(isDown))).toEqual({ ...NOTHING, closed: 6_000 });
  });

  it('that lists a host once per port keeps all ports', async () => {
    const text = report(
      host('192.0.2.1', port(22)) + host('192.0.2.1', port(80)),
      '<scaninfo protocol="tcp"/>',
    );
    expect(await imported(text)).toEqual({ ...NOTHING, created: 1, opened: 2 });
    expect(await states()).toEqual({ '22/tcp': 'open', '80/tcp': 'open' });
  });

  it('imported twice at the same time has all ports and correct counters', async () => {
    const hosts = (number: number) =>
      Array.from({ length: 50 }, (_, index) => host(`192.0.2.${index}`, port(number))).join('');
    await Promise.all([1_001, 1_002, 1_003].map((number) => imported(report(hosts(number)))));
    expect(await assets()).toHaveLength(50);
    expect(await ports()).toHaveLength(150);
    expect(await events('asset.create')).toHaveLength(50);
  });

  it('that is truncated is imported up to the last complete host', async () => {
    const text = report(host('192.0.2.1', port(22)) + host('192.0.2.2', port(22))).slice(0, -60);
    expect(await run(text)).toMatchObject({
      state: 'failed',
      error: { message: expect.stringMatching(/^The report is truncated/), line: 6 },
      result: { assets_created: 1, ports_opened: 1 },
    });
    expect((await assets()).map(({ location }) => location)).toEqual(['192.0.2.1']);
  });
});
