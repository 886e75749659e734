import { beforeEach, describe, expect, it } from 'vitest';
import { operatorCaller } from '../../src/auth/callers.ts';
import { STATUS } from '../../src/domain/shared/statuses-and-severities.ts';
import { deleteVulnerability } from '../../src/domain/vulnerabilities/delete-vulnerability.ts';
import {
  readVulnerability,
  type Vulnerability,
} from '../../src/domain/vulnerabilities/read-vulnerability.ts';
import type { ImportOptions } from '../../src/domain/imports/import-types.ts';
import { importDirectly, undoDirectly } from '../harness/direct-imports.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { useSharedServer } from '../harness/server.ts';
import { host, port, report } from './reports.ts';

const SITE = 'https://shop.example';
/** 10:00 of a day in January 2026; halves are 22:00. */
const day = (number: number): number => Date.UTC(2026, 0, 1, 10) + (number - 1) * 86_400_000;
/** Uploads and undos are later than every report, and each is later than the previous one. */
let now = day(100);

let organizationId: number;
let assessment: { id: number; uid: string };

const server = await useSharedServer();
beforeEach(async () => {
  const fixtures = createFixtures(server);
  const organization = await fixtures.organization();
  organizationId = organization.id;
  assessment = await fixtures.assessment(organization.uid);
});

const upload = async (format: string, text: string, options: Partial<ImportOptions>, isWide = false) => {
  now += 60_000;
  const scope = { organizationId, assessment: isWide ? null : assessment };
  const outcome = await importDirectly(server.context.db, scope, { format, report: text, options, at: now });
  expect(outcome).toMatchObject({ state: 'succeeded', error: null });
  return outcome;
};
const undo = (id: number) => {
  now += 60_000;
  return undoDirectly(server.context.db, { id, at: now });
};

/** A report of ZAP 2.16 on one site. */
const zap = (at: number, ...alerts: { plugin: string; risk?: number }[]): string =>
  JSON.stringify({
    '@programName': 'ZAP',
    '@version': '2.16.0',
    '@generated': new Date(at).toUTCString(),
    created: new Date(at).toISOString(),
    site: [
      {
        '@name': SITE,
        '@host': 'shop.example',
        '@port': '443',
        '@ssl': 'true',
        alerts: alerts.map(({ plugin, risk = 2 }) => ({
          pluginid: plugin,
          alertRef: plugin,
          alert: `Alert ${plugin}`,
          name: `Alert ${plugin}`,
          riskcode: String(risk),
          confidence: '2',
          desc: '<p>Description</p>',
          instances: [{ uri: `${SITE}/`, method: 'GET', param: '', attack: '', evidence: '' }],
          count: '1',
        })),
      },
    ],
  });
const R = { plugin: '10038' };
const importZap = (
  at: number,
  alerts: { plugin: string; risk?: number }[],
  whenGone: 'keep' | 'fix' = 'keep',
) => upload('zap', zap(at, ...alerts), { whenGone });

const iso = (at: number) => new Date(at).toISOString();

/** The findings of the assessment, by id. */
async function findings(): Promise<Vulnerability[]> {
  const { read } = server.context.db;
  const rows = await read
    .selectFrom('vulnerabilities')
    .select('id')
    .where('assessment_id', '=', assessment.id)
    .orderBy('id')
    .execute();
  return Promise.all(rows.map(({ id }) => readVulnerability(read, operatorCaller('a test'), id)));
}
const onlyFinding = async (): Promise<Vulnerability> => {
  const [finding, ...otherFindings] = await findings();
  expect([finding, otherFindings]).toEqual([expect.anything(), []]);
  return finding as Vulnerability;
};
const assets = () =>
  server.context.db.read
    .selectFrom('assets')
    .select(['location', 'first_seen', 'last_seen', 'import_id'])
    .where('organization_id', '=', organizationId)
    .orderBy('location')
    .execute();
async function ports() {
  const rows = await server.context.db.read
    .selectFrom('ports')
    .innerJoin('assets', 'assets.id', 'ports.asset_id')
    .select(['location', 'number', 'observed_state', 'ports.first_seen', 'ports.last_seen'])
    .where('organization_id', '=', organizationId)
    .orderBy('location')
    .orderBy('number')
    .execute();
  return rows.map((row) => [row.location, row.number, row.observed_state, row.first_seen, row.last_seen]);
}

describe('A report that is older than one without its finding', () => {
  it('does not reopen what that one fixed', async () => {
    await importZap(day(1), [R], 'fix');
    await importZap(day(2), [], 'fix');
    expect(await onlyFinding()).toMatchObject({ statusId: STATUS.fixed });
    const newest = await importZap(day(4), [], 'fix');
    const lateImport = await importZap(day(3), [R], 'fix');
    expect(await onlyFinding()).toMatchObject({
      statusId: STATUS.fixed,
      goneAt: day(4),
      goneImportId: newest.id,
      firstSeenAt: day(1),
      lastSeenAt: day(3),
      lastImportId: lateImport.id,
    });
  });

  it('moves the fix to the report after it, as an import in time would have', async () => {
    await importZap(day(1), [R], 'fix');
    await importZap(day(2), [], 'fix');
    expect(await onlyFinding()).toMatchObject({ closedAt: day(2) });
    await importZap(day(4), [], 'fix');
    await importZap(day(3), [R], 'fix');
    expect(await onlyFinding()).toMatchObject({ closedAt: day(4) });
  });

  it('leaves what that one kept gone', async () => {
    const first = await importZap(day(1), [R]);
    await importZap(day(2), []);
    const newest = await importZap(day(4), []);
    const lateImport = await importZap(day(3), [R]);
    expect(await onlyFinding()).toMatchObject({
      statusId: STATUS.pendingReview,
      goneAt: day(4),
      goneImportId: newest.id,
      importId: first.id,
      lastSeenAt: day(3),
      lastImportId: lateImport.id,
    });
  });

  it.each(['keep', 'fix'] as const)('makes findings that are gone at once (%s)', async (whenGone) => {
    const newer = await importZap(day(4), [], whenGone);
    await importZap(day(3), [R], whenGone);
    expect(await onlyFinding()).toMatchObject({
      statusId: whenGone === 'fix' ? STATUS.fixed : STATUS.pendingReview,
      goneAt: day(4),
      goneImportId: newer.id,
    });
  });
});

describe('The undo of one of two imports of the same findings', () => {
  it.each(['keep', 'fix'] as const)(
    'keeps what the other import of the same file saw (%s)',
    async (whenGone) => {
      const file = zap(day(1), R);
      const first = await upload('zap', file, { whenGone });
      const before = await onlyFinding();
      const second = await upload('zap', file, { whenGone });
      await undo(first.id);
      expect(await onlyFinding()).toMatchObject({
        id: before.id,
        statusId: STATUS.pendingReview,
        firstSeenAt: day(1),
        lastSeenAt: day(1),
        importId: second.id,
        lastImportId: second.id,
      });
      expect(await assets()).toMatchObject([{ location: `${SITE}/`, import_id: second.id }]);
      await undo(second.id);
      expect([await findings(), await assets()]).toEqual([[], []]);
    },
  );

  it.each(['keep', 'fix'] as const)(
    'keeps what the older report saw if the newer one came first and goes (%s)',
    async (whenGone) => {
      const newer = await importZap(day(3), [{ ...R, risk: 3 }], whenGone);
      const older = await importZap(day(1), [R], whenGone);
      expect(await onlyFinding()).toMatchObject({
        severity: 'High',
        importId: older.id,
        lastImportId: newer.id,
        firstSeenAt: day(1),
        lastSeenAt: day(3),
      });
      await undo(newer.id);
      expect(await onlyFinding()).toMatchObject({
        severity: 'Medium',
        importId: older.id,
        lastImportId: older.id,
        firstSeenAt: day(1),
        lastSeenAt: day(1),
      });
      expect(await assets()).toMatchObject([{ location: `${SITE}/`, import_id: older.id }]);
      await undo(older.id);
      expect([await findings(), await assets()]).toEqual([[], []]);
    },
  );

  it('keeps hosts and ports of the other import of the same file', async () => {
    const file = nmap(day(1), port(22));
    const first = await upload('nmap', file, {}, true);
    const second = await upload('nmap', file, {}, true);
    await undo(first.id);
    expect(await ports()).toEqual([['192.0.2.1', 22, 'open', day(1), day(1)]]);
    expect(await assets()).toEqual([
      { location: '192.0.2.1', first_seen: day(1), last_seen: day(1), import_id: second.id },
    ]);
    await undo(second.id);
    expect([await ports(), await assets()]).toEqual([[], []]);
  });
});

describe('Undos from the last import to the first', () => {
  it('leave no finding and no asset', async () => {
    const imports = [
      await importZap(day(1), [R]),
      await importZap(day(2), [R]),
      await importZap(day(3), [R]),
    ];
    for (const { id } of imports.reverse()) await undo(id);
    expect([await findings(), await assets()]).toEqual([[], []]);
  });

  it.each(['keep', 'fix'] as const)('leave no finding that was gone for a while (%s)', async (whenGone) => {
    const imports = [await importZap(day(1), [R], whenGone), await importZap(day(2), [], whenGone)];
    for (const { id } of imports.reverse()) await undo(id);
    expect([await findings(), await assets()]).toEqual([[], []]);
  });

  it('leave the time and the import of the last report that stands', async () => {
    const [first, second, third] = [
      await importZap(day(1), [R]),
      await importZap(day(2), [R]),
      await importZap(day(3), [{ ...R, risk: 3 }]),
    ];
    for (const { id } of [third, second]) await undo(id);
    expect(await onlyFinding()).toMatchObject({
      severity: 'Medium',
      lastSeenAt: day(1),
      importId: first.id,
      lastImportId: first.id,
    });
    const next = await importZap(day(1.5), [{ ...R, risk: 1 }]);
    expect(await onlyFinding()).toMatchObject({
      severity: 'Low',
      firstSeenAt: day(1),
      lastSeenAt: day(1.5),
      importId: first.id,
      lastImportId: next.id,
    });
  });

  it.each(['keep', 'fix'] as const)(
    'leave covered what a report that stands covered (%s)',
    async (whenGone) => {
      const [remaining, ...otherImports] = [
        await importZap(day(5), [], whenGone),
        await importZap(day(6), [], whenGone),
        await importZap(day(7), [], whenGone),
      ];
      for (const { id } of otherImports.reverse()) await undo(id);
      await importZap(day(4), [R], whenGone);
      expect(await onlyFinding()).toMatchObject({
        statusId: whenGone === 'fix' ? STATUS.fixed : STATUS.pendingReview,
        closedAt: whenGone === 'fix' ? day(5) : null,
        goneAt: day(5),
        goneImportId: remaining.id,
      });
    },
  );
});

/** A scan of the first thousand ports of a host. */
const nmap = (at: number, portElements: string): string =>
  report(host('192.0.2.1', portElements, { seen: at / 1_000 }));

describe('A finding that a person deletes', () => {
  const stored = async () => {
    const { read } = server.context.db;
    const tables = ['scanner_findings', 'detections', 'finding_contents'] as const;
    const counts = await Promise.all(
      tables.map((table) =>
        read
          .selectFrom(table)
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow(),
      ),
    );
    return counts.map(({ count }) => count);
  };

  it('leaves nothing of what imports saw of it', async () => {
    const before = await stored();
    await importZap(day(1), [R]);
    await importZap(day(2), [{ ...R, risk: 3 }]);
    expect(await stored()).toEqual(before.map((count, index) => count + ([1, 2, 2][index] as number)));
    const { id } = await onlyFinding();
    const by = { actor: operatorCaller('a test'), now };
    await server.context.db.write((tx) => deleteVulnerability(tx, by, id));
    expect(await stored()).toEqual(before);
  });
});

describe('A scan that is older than another', () => {
  it('opens no port that the newer one found closed', async () => {
    await upload('nmap', nmap(day(5), port(22)), {}, true);
    await upload('nmap', nmap(day(3), port(22) + port(80)), {}, true);
    const outOfOrder = await ports();
    expect(outOfOrder.map((row) => row.slice(0, 3))).toEqual([
      ['192.0.2.1', 22, 'open'],
      ['192.0.2.1', 80, 'closed'],
    ]);

    const fixtures = createFixtures(server);
    organizationId = (await fixtures.organization()).id;
    await upload('nmap', nmap(day(3), port(22) + port(80)), {}, true);
    await upload('nmap', nmap(day(5), port(22)), {}, true);
    expect(outOfOrder).toEqual(await ports());
  });

  it('opens a port again when the newer one is undone', async () => {
    const newer = await upload('nmap', nmap(day(5), port(22)), {}, true);
    await upload('nmap', nmap(day(3), port(22) + port(80)), {}, true);
    await undo(newer.id);
    expect(await ports()).toEqual([
      ['192.0.2.1', 22, 'open', day(3), day(3)],
      ['192.0.2.1', 80, 'open', day(3), day(3)],
    ]);
  });

  it('opens every port again of a host whose ports an older report lists one by one', async () => {
    const numbers = Array.from({ length: 8_001 }, (_, index) => index + 1);
    const portLines = numbers.map((number) =>
      JSON.stringify({ ip: '192.0.2.1', timestamp: iso(day(3)), port: number, protocol: 'tcp' }),
    );
    await upload('naabu', portLines.join('\n'), {}, true);
    const before = await ports();
    expect(before).toHaveLength(numbers.length);
    const scaninfo = '<scaninfo type="syn" protocol="tcp" services="1-8001"/>';
    const newer = await upload(
      'nmap',
      report(host('192.0.2.1', port(22), { seen: day(5) / 1_000 }), scaninfo),
      {},
      true,
    );
    expect((await ports()).filter((row) => row[2] === 'open')).toHaveLength(1);
    await undo(newer.id);
    expect(await ports()).toEqual(before);
  });
});

/** Reports that name one port of a host more than once, as these tools write them. */
const REPEATING: readonly [format: string, (at: number) => string][] = [
  [
    'naabu',
    (at) =>
      [0, 1_000, 2_000]
        .map((later) =>
          JSON.stringify({
            host: 'www.example.com',
            ip: '192.0.2.10',
            timestamp: iso(at + later),
            port: 443,
            protocol: 'tcp',
            tls: true,
          }),
        )
        .join('\n'),
  ],
  [
    'httpx',
    (at) =>
      ['/', '/admin', '/login']
        .map((path, index) =>
          JSON.stringify({
            timestamp: iso(at + index * 1_000),
            port: '443',
            url: `https://www.example.com${path}`,
            input: 'www.example.com',
            scheme: 'https',
            webserver: 'nginx',
            method: 'GET',
            host: '192.0.2.10',
            path,
            status_code: 200,
            failed: false,
          }),
        )
        .join('\n'),
  ],
  [
    'masscan',
    (at) =>
      JSON.stringify([
        {
          ip: '192.0.2.10',
          timestamp: String(at / 1_000 + 1),
          ports: [{ port: 443, proto: 'tcp', status: 'open', reason: 'syn-ack', ttl: 64 }],
        },
        {
          ip: '192.0.2.10',
          timestamp: String(at / 1_000 + 2),
          ports: [{ port: 443, proto: 'tcp', service: { name: 'https', banner: 'nginx' } }],
        },
      ]),
  ],
];

describe.each(REPEATING)('A dry run of a report of %s that repeats a port', (format, text) => {
  const counts = async (at: number, dryRun: boolean) => {
    const { result } = await upload(format, text(at), { dryRun }, true);
    const {
      assets_created: created,
      assets_updated: updated,
      ports_opened: opened,
      ports_closed: closed,
    } = result;
    return { created, updated, opened, closed };
  };

  it('counts as the run does', async () => {
    const [dry, run] = [await counts(day(1), true), await counts(day(1), false)];
    expect(run).toMatchObject({ created: 1, opened: 1, closed: 0 });
    expect(dry).toEqual(run);
  });

  it('counts as the run does on a host that stands', async () => {
    await upload('nmap', report(host('192.0.2.10', port(22), { seen: day(1) / 1_000 })), {}, true);
    const [dry, run] = [await counts(day(2), true), await counts(day(2), false)];
    expect(run).toMatchObject({ created: 0, opened: 1, closed: 0 });
    expect(dry).toEqual(run);
  });
});
