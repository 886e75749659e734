import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createFixtures } from '../harness/fixtures.ts';
import { uploadReport, waitForImport } from '../harness/imports.ts';
import { useSharedServer } from '../harness/server.ts';
import { host, port, report, SEEN } from './reports.ts';

let token: string;
let assessment: { uid: string };
const server = await useSharedServer();
beforeEach(async () => {
  const fixtures = createFixtures(server);
  const organization = await fixtures.organization();
  assessment = await fixtures.assessment(organization.uid);
  ({ token } = await fixtures.user({ organization: organization.uid, admin: true }));
});

async function outcome(content: string, fields: Record<string, string>) {
  const { status, body } = await uploadReport(server, token, content, fields);
  expect(status).toBe(202);
  const { state, result, skips } = await waitForImport(server, token, body.id);
  return { state, result, skips };
}

/** Imports a report, first as a dry run. Returns their common result. */
async function imported(content: string, format = 'auto', overrides: Record<string, string> = {}) {
  const dry = await outcome(content, { format, dry_run: 'true', ...overrides });
  const run = await outcome(content, { format, ...overrides });
  expect(dry).toEqual(run);
  return run.result;
}

const FIXTURES = join(import.meta.dirname, '../fixtures');
const REPORTS = ['httpx', 'masscan', 'naabu', 'nessus', 'nmap', 'openvas'].flatMap((format) =>
  readdirSync(join(FIXTURES, format))
    .filter((name) => !name.endsWith('.records.json') && !/\.(gz|zip)$/.test(name))
    .map((name) => [format, name] as const),
);

const naabu = (lines: readonly (readonly [address: string, port: number, second?: number])[]) =>
  lines
    .map(([ip, number, second = 0]) =>
      JSON.stringify({ ip, port: number, timestamp: new Date((SEEN + second) * 1_000).toISOString() }),
    )
    .join('\n');

/** More addresses than one batch of hosts. */
const MANY = Array.from({ length: 1_500 }, (_, index) => `10.1.${index >> 8}.${index & 255}`);

describe('A dry run has the result of the run', () => {
  it.each(REPORTS)('of a report of %s: %s', async (format, name) => {
    const content = readFileSync(join(FIXTURES, format, name), 'utf8');
    const scope = { assessment_id: assessment.uid };
    await imported(content, format, scope);
    // Again: the hosts are known.
    expect(await imported(content, format, scope)).toMatchObject({ assets_created: 0, ports_opened: 0 });
  });

  it('that lists a port of a host twice', async () => {
    const lines = [...MANY, ...MANY].map((address, index) => [address, 443, index] as const);
    expect(await imported(naabu(lines), 'naabu')).toMatchObject({
      assets_created: 1_500,
      assets_updated: 0,
      ports_opened: 1_500,
      ports_closed: 0,
    });
  });

  it('that lists the ports of known hosts far apart', async () => {
    await imported(naabu(MANY.map((address) => [address, 443])), 'naabu');
    const lines = [22, 80, 8_080].flatMap((number) => MANY.map((address) => [address, number, 60] as const));
    expect(await imported(naabu(lines), 'naabu')).toMatchObject({
      assets_created: 0,
      assets_updated: 1_500,
      ports_opened: 4_500,
    });
  });

  it('that has several records of whole hosts far apart', async () => {
    const round = (ports: string, seenAt: number) =>
      MANY.map((address) => host(address, ports, { seen: seenAt })).join('');
    const content = report(
      round(port(22) + port(80), SEEN) + round(port(22), SEEN + 60) + round(port(22) + port(80), SEEN + 120),
    );
    expect(await imported(content)).toMatchObject({
      assets_created: 1_500,
      assets_updated: 0,
      ports_opened: 4_500,
      ports_closed: 1_500,
    });
  });

  it('that has more records of a host than the limit of 100', async () => {
    const records = Array.from({ length: 150 }, (_, index) =>
      host('192.0.2.1', index % 2 === 0 ? port(22) : '', { seen: SEEN + index }),
    );
    expect(await imported(report(records.join('')))).toMatchObject({ ports_opened: 50, ports_closed: 50 });
  });
});
