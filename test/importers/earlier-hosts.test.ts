import { describe, expect, it } from 'vitest';
import { operatorCaller } from '../../src/auth/callers.ts';
import { nmap } from '../../src/importers/formats/nmap/nmap.ts';
import { runImport } from '../../src/importers/run-import.ts';
import { DEFAULT_OPTIONS } from '../harness/direct-imports.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { uploadReport, waitForImport } from '../harness/imports.ts';
import { useSharedServer } from '../harness/server.ts';
import { FIRST, host, inChunks, port, report, SECOND, SEEN } from './reports.ts';

const DAY = 86_400;

const server = await useSharedServer();
const fixtures = createFixtures(server);

/** A new organization that imports reports. */
async function createScope() {
  const organization = await fixtures.organization();
  const { token } = await fixtures.user({ organization: organization.uid, admin: true });
  const get = async (path: string) => (await server.request('GET', path, { token })).body;
  const ids = new Map<string, number>();
  return {
    async imports(names: readonly (keyof typeof REPORTS)[]) {
      for (const name of names) {
        const { body } = await uploadReport(server, token, REPORTS[name]);
        expect(await waitForImport(server, token, body.id)).toMatchObject({ state: 'succeeded' });
        ids.set(name, body.id);
      }
    },
    /** Applies the hosts of an import again, like a run that resumes after a crash at its end. */
    async repeat(name: keyof typeof REPORTS) {
      const { db, clock } = server.context;
      await runImport({
        db,
        source: () => inChunks(REPORTS[name]),
        format: nmap,
        job: {
          id: ids.get(name) ?? 0,
          organizationId: organization.id,
          assessment: null,
          caller: operatorCaller('an import'),
          canWriteAssets: true,
          canReport: true,
          options: DEFAULT_OPTIONS,
          sha256: '',
          createdAt: clock(),
        },
        clock,
        signal: new AbortController().signal,
      });
    },
    async undo(name: keyof typeof REPORTS) {
      const id = ids.get(name) ?? 0;
      expect((await server.request('POST', `/v1/imports/${id}/undo`, { token })).status).toBe(202);
      await waitForImport(server, token, id, (job) => job.undone !== null);
    },
    /** All data of the API about the ports of the organization's hosts, with imports by name. */
    async state() {
      const names = new Map([...ids].map(([name, id]) => [id, name]));
      const assets: any[] = await get('/api/asset/v2/assets?fields=uid,location,firstSeen,lastSeen');
      const hosts = await Promise.all(
        assets.map(async ({ uid, ...asset }) => {
          const path = `/api/streaming/v1/${organization.uid}/assets/${uid}/ports`;
          const [open, closed, history] = [
            (await get(path)).data.attributes.ports,
            (await get(`${path}?observed_state=closed`)).data.attributes.ports,
            (await get(`${path}/history`)).data.attributes.events,
          ];
          const events = history.map((event: any) => ({ ...event, import_id: names.get(event.import_id) }));
          // A large host has its events in chunks.
          events.sort(
            (one: any, other: any) => Date.parse(other.at) - Date.parse(one.at) || one.number - other.number,
          );
          return { ...asset, open, closed, events };
        }),
      );
      const countsOf = async (state: string) =>
        (await get(`/api/streaming/v1/${organization.uid}/assets/ports?observed_state=${state}`)).data
          .attributes.ports;
      const counted = await server.context.db.read
        .selectFrom('port_counts')
        .innerJoin('assets', 'assets.id', 'port_counts.asset_id')
        .select(['assets.location', 'observed_state', 'ports'])
        .where('assets.organization_id', '=', organization.id)
        .orderBy('assets.location')
        .orderBy('observed_state')
        .execute();
      hosts.sort((one, other) => (one.location < other.location ? -1 : 1));
      return {
        hosts,
        open: await countsOf('open'),
        closed: await countsOf('closed'),
        counted,
      };
    },
  };
}

const A = '192.0.2.1';
const B = '192.0.2.2';
const ssh = (version: string) =>
  port(22, 'open', `<service name="ssh" product="OpenSSH" version="${version}" method="probed"/>`);
const web = (product: string, method: string) =>
  port(80, 'open', `<service name="http"${product} method="${method}"/>`);
const manyPorts = Array.from({ length: 6_000 }, (_, index) => port(index + 1)).join('');

const REPORTS = {
  day1: report(host(A, ssh('7') + port(25), { seen: SEEN + DAY })),
  day3: report(
    host(A, ssh('8') + port(80), { seen: SEEN + 3 * DAY }) + host(B, port(53), { seen: SEEN + 3 * DAY }),
  ),
  day4: report(
    `<host endtime="${SEEN + 4 * DAY}"><status state="down"/><address addr="${B}" addrtype="ipv4"/></host>`,
  ),
  day5: report(host(A, ssh('9'), { seen: SEEN + 5 * DAY })),
  day6: [
    { ip: A, port: 8_080 },
    { ip: B, port: 53 },
    { ip: A, port: 22 },
  ]
    .map((line) => JSON.stringify({ ...line, timestamp: new Date((SEEN + 6 * DAY) * 1_000).toISOString() }))
    .join('\n'),
  // Probes of one port only: what an earlier scan found on the other stays.
  probed2: report(host(A, ssh('7') + web(' product="nginx"', 'probed'), { seen: SEEN + 2 * DAY })),
  probed3: report(
    host(A, port(22, 'open', '<service name="ssh" method="probed"/>') + web('', 'table'), {
      seen: SEEN + 3 * DAY,
    }),
  ),
  first: FIRST,
  second: SECOND,
  large3: report(
    host(A, manyPorts, { seen: SEEN + 3 * DAY }),
    '<scaninfo protocol="tcp" services="1-6000"/>',
  ),
  large5: report(
    host(A, port(22) + port(5_000, 'filtered'), { seen: SEEN + 5 * DAY }),
    '<scaninfo protocol="tcp" services="1-5999"/>',
  ),
};
type Name = keyof typeof REPORTS;

describe('Reports of hosts', () => {
  it('close a port that a later report no longer lists, in whatever order they are imported', async () => {
    const scope = await createScope();
    await scope.imports(['day5', 'day3']);
    const { hosts } = await scope.state();
    expect(hosts[0].open.map(({ number }: any) => number)).toEqual([22]);
    expect(hosts[0].closed.map(({ number }: any) => number)).toEqual([80]);
  });

  it.each<[Name[], Name[]]>([
    [
      ['day3', 'day5'],
      ['day5', 'day3'],
    ],
    [
      ['probed2', 'probed3', 'day5'],
      ['probed3', 'day5', 'probed2'],
    ],
    [
      ['probed2', 'probed3'],
      ['probed3', 'probed2'],
    ],
    [
      ['first', 'second'],
      ['second', 'first'],
    ],
    [
      ['day1', 'day3', 'day4', 'day5', 'day6'],
      ['day6', 'day4', 'day1', 'day5', 'day3'],
    ],
    [
      ['large3', 'large5'],
      ['large5', 'large3'],
    ],
  ])('give the same as %j when they are imported as %j', async (inOrder, mixed) => {
    const [first, second] = [await createScope(), await createScope()];
    await first.imports(inOrder);
    await second.imports(mixed);
    expect(await second.state()).toEqual(await first.state());
  });

  it.each<[Name[], Name[], Name[]]>([
    [['day3', 'day5'], ['day5'], ['day3']],
    [['day3', 'day5'], ['day3'], ['day5']],
    [['day5', 'day3'], ['day5'], ['day3']],
    [['day5', 'day3'], ['day3'], ['day5']],
    [['day3', 'day5'], ['day3', 'day5'], []],
    [['first', 'second'], ['first'], ['second']],
    [
      ['day6', 'day1', 'day4', 'day5', 'day3'],
      ['day3', 'day6'],
      ['day1', 'day5'],
    ],
    [
      ['day1', 'day3', 'day4', 'day5', 'day6'],
      ['day6', 'day5'],
      ['day1', 'day3', 'day4'],
    ],
    [['large5', 'large3'], ['large3'], ['large5']],
    [['large3', 'large5'], ['large5'], ['large3']],
  ])('imported as %j, of which %j are undone, leave what %j give', async (imported, undone, remaining) => {
    const [first, second] = [await createScope(), await createScope()];
    await first.imports(imported);
    for (const name of undone) await first.undo(name);
    await second.imports(remaining);
    expect(await first.state()).toEqual(await second.state());
  });

  it('of a host whose scans were not stored keep its ports and their history', async () => {
    const [first, second] = [await createScope(), await createScope()];
    for (const scope of [first, second]) await scope.imports(['day3']);
    // Removes what a database of an earlier version lacks.
    await server.context.db.write(async (tx) => {
      const hosts = tx.selectFrom('assets').select('id').where('location', 'in', [A, B]);
      await tx.deleteFrom('host_detections').where('asset_id', 'in', hosts).execute();
      await tx.deleteFrom('host_observations').where('asset_id', 'in', hosts).execute();
    });
    const before = await first.state();
    await first.imports(['day1', 'day5']);
    await second.imports(['day5', 'day1']);
    const after = await first.state();
    expect(after).toEqual(await second.state());
    const day3 = (state: typeof before) =>
      state.hosts.flatMap(({ events }) => events.filter((event: any) => event.import_id === 'day3'));
    expect(day3(after)).toEqual(day3(before));
    expect(after.hosts[0].closed.map(({ number }: any) => number)).toEqual([25, 80]);
    for (const name of ['day5', 'day1'] as const) await first.undo(name);
    expect(await first.state()).toEqual(before);
  });

  it('change nothing when they are applied again', async () => {
    const [first, second] = [await createScope(), await createScope()];
    await first.imports(['day5', 'day3']);
    await second.imports(['day5', 'day3']);
    const before = await first.state();
    await first.repeat('day3');
    expect(await first.state()).toEqual(before);
    await first.undo('day3');
    await second.undo('day3');
    expect(await first.state()).toEqual(await second.state());
  });
});
