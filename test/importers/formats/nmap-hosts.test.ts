import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { streamNmapReport } from '../../../src/importers/formats/nmap/nmap.ts';
import { FIRST, host, inChunks, port, read, report, SECOND, SEEN } from '../reports.ts';

const onlyPort = async (inner: string) => {
  const { hosts, error } = await read(report(host('192.0.2.1', port(80, 'open', inner))));
  expect(error).toBeUndefined();
  return hosts[0]?.ports[0];
};

describe('a report that Nmap made', () => {
  it('describes a host by its operating system and further names', async () => {
    const names = ['a.example.com', 'b.example.com', 'a.example.com']
      .map((name) => `<hostname name="${name}" type="PTR"/>`)
      .join('');
    const system =
      '<os><osmatch name="Linux 5.4" accuracy="98"/><osmatch name="Linux 4.15" accuracy="90"/></os>';
    const { hosts } = await read(
      report(
        host('192.0.2.1', port(22), { inner: `<hostnames>${names}</hostnames>${system}` }) +
          host('192.0.2.2', port(22), { inner: '<hostnames><hostname name="c.example.com"/></hostnames>' }),
      ),
    );
    expect(hosts[0]).toMatchObject({
      name: 'a.example.com',
      description: 'Operating system: Linux 5.4\nHost names: a.example.com, b.example.com',
    });
    expect(hosts[1]).toMatchObject({ name: 'c.example.com' });
    expect(hosts[1]).not.toHaveProperty('description');
  });

  it('yields the host with its ports and services, and the scanned ports', async () => {
    const { hosts, error, down, scannedPorts } = await read(FIRST);
    expect(error).toBeUndefined();
    expect(down).toBe(0);
    expect(scannedPorts).toEqual([
      ['tcp', 8021, 8030],
      ['tcp', 8075, 8085],
      ['tcp', 8095, 8099],
    ]);
    expect(hosts).toHaveLength(1);
    expect(hosts[0]).toMatchObject({
      address: '127.0.0.1',
      name: 'localhost',
      seenAt: 1_795_260_470_000,
      complete: true,
      unlistedStates: [],
    });
    const ports = hosts[0]?.ports ?? [];
    expect(
      ports.map(({ number, state }) => `${number} ${state}`).filter((text) => /open/.test(text)),
    ).toEqual(['8021 open', '8022 open', '8025 open', '8080 open', '8099 open']);
    expect(ports).toHaveLength(26);
    expect(ports[1]).toEqual({
      protocol: 'tcp',
      number: 8022,
      state: 'open',
      service: 'ssh',
      probed: true,
      banner: 'SSH-2.0-OpenSSH_9.6p1 Ubuntu-3ubuntu13.5',
      product: 'OpenSSH',
      version: '9.6p1 Ubuntu 3ubuntu13.5',
      cpe: 'cpe:/a:openbsd:openssh:9.6p1',
    });
    expect(ports[2]).toMatchObject({ number: 8023, service: 'arca-api', probed: false, banner: null });
    expect(ports.at(-1)).toMatchObject({
      service: 'unknown',
      probed: true,
      banner: 'HELLO <"quoted"> & friends',
    });
  });

  it('covers only protocols with ports', async () => {
    let scaninfo = '<scaninfo protocol="ip" services="0-255"/><scaninfo protocol="sctp" services="7,9-11"/>';
    for (let number = 0; number < 1_000; number += 1) {
      scaninfo += `<scaninfo protocol="p${number}" services="1-65535"/>`;
    }
    const { scannedPorts, error } = await read(report(host('192.0.2.1', port(22)), scaninfo));
    expect(error).toBeUndefined();
    expect(scannedPorts).toEqual([
      ['sctp', 7, 7],
      ['sctp', 9, 11],
    ]);
  });

  it('yields its scannedPorts again only if the report extends it', async () => {
    const udpScan = '<scaninfo protocol="udp" services="53"/>';
    const sizes: unknown[] = [];
    for await (const { scannedPorts } of streamNmapReport(
      inChunks(report(udpScan + host('192.0.2.1', '')), 10),
    )) {
      if (scannedPorts !== sizes.at(-1)) sizes.push(scannedPorts);
    }
    expect(sizes).toEqual([
      [],
      [['tcp', 1, 1_000]],
      [
        ['tcp', 1, 1_000],
        ['udp', 53, 53],
      ],
    ]);
  });

  it('is parsed the same with chunks of any size', async () => {
    const expected = await read(SECOND, 1_000_000);
    for (const size of [1, 7, 1_000]) expect(await read(SECOND, size)).toEqual(expected);
  });

  it('counts hosts that are down, listed or not', async () => {
    const downHost = '<host><status state="down"/><address addr="192.0.2.9" addrtype="ipv4"/></host>';
    expect(await read(report(downHost + downHost))).toMatchObject({
      hosts: [
        { address: '192.0.2.9', down: true, ports: [] },
        { address: '192.0.2.9', down: true, ports: [] },
      ],
      down: 2,
    });
    const unknown = downHost.replace('"down"', '"unknown"');
    expect(await read(report(unknown))).toMatchObject({ hosts: [], down: 1 });
    const total = '<runstats><hosts up="0" down="254" total="254"/></runstats>';
    expect((await read(report(downHost + total))).down).toBe(254);
  });
});

describe('a host', () => {
  it.each([
    ['IPv4', '192.0.2.1', '192.0.2.1'],
    ['IPv6', '2001:DB8:0:0::1', '2001:db8::1'],
    ['IPv6 with a zone', 'FE80::1%eth0', 'fe80::1%eth0'],
  ])('is its address: %s', async (_name, written, address) => {
    const mac = '<address addr="00:00:5E:00:53:01" addrtype="mac"/>';
    expect((await read(report(host(written, '', { inner: mac })))).hosts[0]?.address).toBe(address);
  });

  it('has the first of its names', async () => {
    const names =
      '<hostnames><hostname name=" www.example.com "/><hostname name="b.example.com"/></hostnames>';
    expect((await read(report(host('192.0.2.1', '', { inner: names })))).hosts[0]?.name).toBe(
      'www.example.com',
    );
    expect((await read(report(host('192.0.2.1', '')))).hosts[0]?.name).toBeUndefined();
  });

  it.each([
    ['its own end', ` endtime="${SEEN}"`, SEEN * 1_000],
    ['the start of the run', '', 1_600_000_000_000],
    ['the start of the run when its end is no time', ' endtime="99999999999999"', 1_600_000_000_000],
  ])('was seen at %s', async (_name, attributes, seenAt) => {
    const element = `<host${attributes}><address addr="192.0.2.1" addrtype="ipv4"/></host>`;
    expect((await read(report(element))).hosts[0]?.seenAt).toBe(seenAt);
  });

  it('is incomplete if Nmap gave up or scanned no ports', async () => {
    const gaveUp = host('192.0.2.1', '', { attributes: ' timedout="true"' });
    const noPorts = '<host><address addr="192.0.2.2" addrtype="ipv4"/></host>';
    const { hosts } = await read(report(gaveUp + noPorts + host('192.0.2.3', '')));
    expect(hosts.map(({ complete }) => complete)).toEqual([false, false, true]);
  });

  it('has the states of its unlisted ports', async () => {
    const extra =
      '<extraports state="closed" count="9"><extrareasons reason="reset" count="9"/></extraports>';
    expect((await read(report(host('192.0.2.1', extra + port(1))))).hosts[0]).toMatchObject({
      ports: [{ number: 1 }],
      unlistedStates: ['closed'],
    });
  });

  it('has each state of unlisted ports once, and no unknown ones', async () => {
    let extra = '';
    for (const state of ['filtered', 'ajar', 'closed', 'filtered']) extra += `<extraports state="${state}"/>`;
    const { hosts, error } = await read(report(host('192.0.2.1', extra + '<extraports/>')));
    expect(error).toBeUndefined();
    expect(hosts[0]?.unlistedStates).toEqual(['filtered', 'closed']);
  });

  it('has each port once, and none of IP protocols', async () => {
    const ports = port(53, 'open', '', 'udp') + port(53) + port(53, 'closed') + port(6, 'open', '', 'ip');
    const { hosts } = await read(report(host('192.0.2.1', ports)));
    expect(hosts[0]?.ports.map(({ protocol, number, state }) => [protocol, number, state])).toEqual([
      ['udp', 53, 'open'],
      ['tcp', 53, 'closed'],
    ]);
  });

  it('is not read from hints, traces and guesses of the operating system', async () => {
    const hint = '<hosthint><status state="up"/><address addr="192.0.2.7" addrtype="ipv4"/></hosthint>';
    const os =
      '<os><portused state="open" proto="tcp" portid="9"/><osmatch><osclass><cpe>cpe:/o:x</cpe></osclass></osmatch></os>';
    const { hosts } = await read(report(hint + host('192.0.2.1', port(1), { inner: os })));
    expect(hosts).toMatchObject([{ address: '192.0.2.1', ports: [{ number: 1, cpe: null }] }]);
  });
});

describe('a service', () => {
  it.each([
    [
      'product, version and the rest',
      'product="nginx" version="1.2" extrainfo="Debian"',
      'nginx 1.2 (Debian)',
    ],
    ['what there is of them', 'extrainfo="protocol 2"', '(protocol 2)'],
    ['nothing', '', null],
  ])('has as banner %s', async (_name, attributes, banner) => {
    expect((await onlyPort(`<service name="http" ${attributes} method="probed"/>`))?.banner).toBe(banner);
  });

  it('has the output of the banner script as banner', async () => {
    const inner = '<service name="http" product="nginx"/><script id="banner" output=" hello&#10;there "/>';
    expect((await onlyPort(inner))?.banner).toBe('hello\nthere');
    expect(
      (await onlyPort('<service name="http" product="nginx"/><script id="banner" output=""/>'))?.banner,
    ).toBe('nginx');
    expect((await onlyPort('<script id="http-title" output="x"/>'))?.banner).toBeNull();
  });

  it('behind TLS is named as in the output of Nmap', async () => {
    expect((await onlyPort('<service name="http" tunnel="ssl"/>'))?.service).toBe('ssl/http');
  });

  it('keeps the first CPE name', async () => {
    const inner = '<service name="x"><cpe>cpe:/a:b&amp;c</cpe><cpe>cpe:/o:d</cpe></service>';
    expect((await onlyPort(inner))?.cpe).toBe('cpe:/a:b&c');
  });

  it('has texts of bounded length, never truncated within a character', async () => {
    const cleanedPort = await onlyPort(
      `<service name="${'n'.repeat(300)}" product="${'p'.repeat(254)}😀" version="   "/>`,
    );
    expect(cleanedPort?.service).toBe('n'.repeat(255));
    expect(cleanedPort?.product).toBe('p'.repeat(254));
    expect(cleanedPort?.version).toBeNull();
  });
});

describe('a host of many megabytes', () => {
  const script = (length: number) => `<script id="http-title" output="${'x'.repeat(length)}"/>`;
  it.each([
    ['long texts', (number: number) => port(number, 'open', `<service product="${'p'.repeat(70_000)}"/>`)],
    [
      'long spaces',
      (number: number) => port(number, 'open', `<service product="a product with ${' '.repeat(70_000)}"/>`),
    ],
    [
      'much else',
      (number: number) =>
        port(
          number,
          'open|filtered',
          `<service product="a product and its number ${number}"/>${script(70_000)}`,
        ),
    ],
  ])('takes little memory: %s', async (_name, element) => {
    const gc = garbageCollector();
    async function* chunks() {
      yield Buffer.from(report('').replace('</nmaprun>\n', '<host><address addr="192.0.2.1"/><ports>'));
      for (let number = 1; number <= 300; number += 1) yield* inChunks(element(number));
      gc();
      held = process.memoryUsage().heapUsed - before;
      yield Buffer.from('</ports></host></nmaprun>');
    }
    gc();
    const before = process.memoryUsage().heapUsed;
    let held = 0;
    const ports: unknown[] = [];
    for await (const { hosts } of streamNmapReport(chunks())) ports.push(...(hosts[0]?.ports ?? []));
    expect(ports).toHaveLength(300);
    expect(held).toBeLessThan(5_000_000);
  });
});

function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}

describe('a report that cannot be used', () => {
  const hostElement = host('192.0.2.1', port(22));
  const nested = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth);
  const manyPorts = () => {
    let ports = '';
    for (let number = 0; number < 65_536; number += 1) ports += port(number);
    return ports.repeat(3) + port(1);
  };
  const bomb =
    '<!DOCTYPE nmaprun [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>\n<nmaprun>&b;</nmaprun>';
  const head = report(hostElement).replace('</nmaprun>\n', '');

  it.each<[string, () => string | Uint8Array, RegExp, number]>([
    ['is empty', () => '', /^The report is empty\.$/, 0],
    ['holds spaces alone', () => ' \n', /^line 2: The report is truncated .* output of "nmap -oX"\.$/, 0],
    [
      'is no XML',
      () => 'Nmap scan report for example.com\n',
      /^line 2: .*text data .* output of "nmap -oX"\.$/,
      0,
    ],
    ['is other XML', () => '<html><host/></html>', /^line 1: The report begins with <html>/, 0],
    ['is compressed', () => gzipSync(FIRST), /^line 1: .* output of "nmap -oX"\.$/, 0],
    ['has an entity bomb', () => bomb, /^line 1: The document type .* defines entities/, 0],
    ['has another document type', () => '<!DOCTYPE html>\n<nmaprun/>', /^line 1: The document type/, 0],
    ['uses an entity that is not XML’s own', () => `${head}&x;</nmaprun>`, /^line 6: .*undefined entity/, 1],
    ['is nested too deep', () => `${head}${nested(64)}</nmaprun>`, /^line 6: .* more than 64 levels deep/, 1],
    [
      'has too many attributes',
      () => `${head}<a ${Array.from({ length: 129 }, (_, index) => `a${index}=""`).join(' ')}/></nmaprun>`,
      /^line 6: An element has more than 128 attributes/,
      1,
    ],
    [
      'has too long an attribute',
      () => `${head}<a b="${'x'.repeat(9 * 1024 * 1024)}"/></nmaprun>`,
      /^line 6: No tag ends within 8 MiB/,
      1,
    ],
    [
      'has too long a comment',
      () => `${head}<!--${'x'.repeat(9 * 1024 * 1024)}--></nmaprun>`,
      /No tag ends within/,
      1,
    ],
    [
      'has a host with too many ports',
      () => report(hostElement + host('192.0.2.2', manyPorts())),
      /more than 196608 ports/,
      1,
    ],
    [
      'covers too many ranges',
      () => report(hostElement + `<scaninfo protocol="tcp" services="${'1,'.repeat(60_000)}"/>`.repeat(2)),
      /^line 6: The scan covers more than 100000 port ranges\.$/,
      1,
    ],
    [
      'is cut off',
      () => FIRST.slice(0, -200),
      /^line 45: The report is truncated \(unclosed tag: runstats\)/,
      1,
    ],
    ['is cut off within a host', () => report(hostElement).slice(0, -40), /is truncated/, 0],
    [
      'closes a host wrongly',
      () => report(`${hostElement}${hostElement.replace('</host>', '</hosts>')}`),
      /unexpected close tag/,
      1,
    ],
    [
      'has a host without an address',
      () => report(`${hostElement}<host><ports/></host>`),
      /^line 6: .* no IP address/,
      1,
    ],
    [
      'has an address that is none',
      () => report(hostElement + host('192.0.2.256', '')),
      /"192\.0\.2\.256" is not an IP address/,
      1,
    ],
    [
      'has a port that is none',
      () => report(hostElement + host('192.0.2.2', port(65_536))),
      /"65536" is not a port number/,
      1,
    ],
    [
      'has a state that is none',
      () => report(hostElement + host('192.0.2.2', port(1, 'ajar'))),
      /"ajar" is not a port state/,
      1,
    ],
  ])('when it %s', async (_name, bytes, message, hosts) => {
    const records = await read(bytes());
    expect(records.error).toMatch(message);
    expect(records.name).toBe('ReportError');
    expect(records.hosts).toHaveLength(hosts);
  });

  it('buffers a bounded part of an unfinished tag', async () => {
    async function* endless() {
      yield Buffer.from('<nmaprun><a b="');
      for (;;) yield Buffer.alloc(65_536, 'x');
    }
    let bytes = 0;
    const reading = (async () => {
      for await (const piece of streamNmapReport(endless())) bytes = piece.bytes;
    })();
    await expect(reading).rejects.toThrow(/No tag ends within 8 MiB/);
    expect(bytes).toBeLessThan(9 * 1024 * 1024);
  });
});
