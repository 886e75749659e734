import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Caller, operatorCaller } from '../../src/auth/callers.ts';
import { indexPending } from '../../src/db/vulnerability-search.ts';
import type { PortRange } from '../../src/domain/assets/scans/diff-ports.ts';
import type { ImportJob, ImportOptions, ImportOutcome } from '../../src/domain/imports/import-types.ts';
import { type ImportRun, runImport } from '../../src/importers/run-import.ts';
import { undoImport } from '../../src/domain/imports/undo-import.ts';
import {
  type ReportFormat,
  type ReportedFinding,
  ReportError,
  type ReportRecord,
} from '../../src/importers/report.ts';
import { hostWithPorts, buildObservedPort } from '../../src/importers/parsing/scanned-hosts.ts';
import { DEFAULT_OPTIONS } from '../harness/direct-imports.ts';
import { useOwnServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';
import { nextImportId } from '../../src/domain/imports/start-import.ts';

const DAY = 86_400_000;
const NOW = Date.UTC(2030, 0, 31);
/** Times of three weekly reports. */
const [FIRST, SECOND, THIRD] = [NOW - 21 * DAY, NOW - 14 * DAY, NOW - 7 * DAY] as const;

let now = NOW;
let organization: { id: number; uid: string };
let assessment: { id: number; uid: string };
let staff: TestUser;

const server = await useOwnServer({}, () => now);
const fixtures = createFixtures(server);
beforeAll(async () => {
  staff = await fixtures.user();
});
beforeEach(async () => {
  now = NOW;
  organization = await fixtures.organization();
  assessment = await assessmentOf(organization.uid);
});

async function assessmentOf(organizationUid: string) {
  const uid = `a-${organizationUid}-${Math.random().toString(36).slice(2)}`;
  await fixtures.assessment(organizationUid, uid);
  const row = await server.context.db.read
    .selectFrom('assessments')
    .select('id')
    .where('uid', '=', uid)
    .executeTakeFirstOrThrow();
  return { id: row.id, uid };
}

const callerOf = (user: Partial<Caller> = {}): Caller => ({
  ...operatorCaller('an import'),
  kind: 'user',
  userId: staff.id,
  uid: staff.uid,
  ...user,
});

/** Returns a report of these records that fails at an error among them. */
const formatOf = (records: readonly (ReportRecord | Error)[]): ReportFormat => ({
  name: 'scanner',
  title: 'Scanner',
  hasFindings: true,
  detect: () => true,
  async *read() {
    for (const record of records) {
      if (record instanceof Error) throw record;
      yield record;
    }
  },
});

const finding = (rule: string, overrides: Partial<ReportedFinding> = {}): ReportRecord => ({
  kind: 'finding',
  finding: {
    rule,
    title: `Title of ${rule}`,
    severity: 'High',
    target: { url: 'https://shop.example/cart?id=1' },
    ...overrides,
  },
});
const at = (scannedAt: number): ReportRecord => ({ kind: 'report', scannedAt });
const SITE: ReportRecord = { kind: 'covered', target: { url: 'https://shop.example/' } };

interface Start {
  options?: Partial<ImportOptions>;
  caller?: Caller;
  writesAssets?: boolean;
  into?: { id: number; uid: string } | null;
  sha256?: string;
  run?: Partial<ImportRun>;
}

async function jobOf({
  options = {},
  caller = callerOf(),
  writesAssets: canWriteAssets = true,
  into = assessment,
  sha256,
}: Start) {
  const row = await server.context.db.write(async (tx) =>
    tx
      .insertInto('imports')
      .values({
        id: await nextImportId(tx, false),
        organization_id: organization.id,
        assessment_id: into?.id ?? null,
        created_by: caller.userId,
        format: 'scanner',
        filename: 'report',
        size: 1,
        sha256: sha256 ?? String(Math.random()),
        blob_key: null,
        options: JSON.stringify(options),
        started_by_caller: '{}',
        result: null,
        preview: null,
        error: null,
        undone: null,
        report_at: null,
        created_at: now,
        started_at: now,
        finished_at: null,
      })
      .returning(['id', 'sha256'])
      .executeTakeFirstOrThrow(),
  );
  const job: ImportJob = {
    id: row.id,
    organizationId: organization.id,
    assessment: into,
    caller,
    canWriteAssets,
    canReport: true,
    options: { ...DEFAULT_OPTIONS, ...options },
    sha256: row.sha256,
    createdAt: now,
  };
  return job;
}

async function imported(
  records: readonly (ReportRecord | Error)[],
  start: Start = {},
): Promise<ImportOutcome & { job: ImportJob }> {
  const job = await jobOf(start);
  return { job, ...(await run(job, records, start.run)) };
}

const run = (
  job: ImportJob,
  records: readonly (ReportRecord | Error)[],
  overrides: Partial<ImportRun> = {},
) =>
  runImport({
    db: server.context.db,
    source: async function* () {},
    format: formatOf(records),
    job,
    clock: server.context.clock,
    signal: new AbortController().signal,
    ...overrides,
  });

async function listVulnerabilities(uid = assessment.uid): Promise<any[]> {
  const rows: any[] = [];
  for (let page = 1; ; page += 1) {
    const { body } = await server.request(
      'GET',
      `/v1/vulnerabilities?filter[assessment_id][]=${uid}&page[size]=200&page[number]=${page}`,
      { token: staff.token },
    );
    rows.push(...body);
    if (body.length < 200) return rows;
  }
}

async function findByRule(rule: string, uid = assessment.uid): Promise<any> {
  const matches = (await listVulnerabilities(uid)).filter(({ title }) => title === `Title of ${rule}`);
  expect(matches).toHaveLength(1);
  return matches[0];
}

async function timeline(id: number): Promise<any[]> {
  const { body } = await server.request('GET', `/v1/vulnerabilities/${id}/timeline`, { token: staff.token });
  return body;
}

const kinds = async (id: number) => (await timeline(id)).map(({ kind }) => kind);

const setStatus = (id: number, status_id: number) =>
  server.request('PATCH', `/v1/vulnerabilities/${id}`, { token: staff.token, body: { status_id } });

/** Returns all rows that an import may write, to compare them. */
async function recordedText() {
  const { read } = server.context.db;
  const [vulnerabilities, findings, links, entries, taggings, contents] = await Promise.all([
    read
      .selectFrom('vulnerabilities')
      .selectAll()
      .where('assessment_id', '=', assessment.id)
      .orderBy('id')
      .execute(),
    read
      .selectFrom('scanner_findings')
      .selectAll()
      .where('assessment_id', '=', assessment.id)
      .orderBy('vulnerability_id')
      .execute(),
    read
      .selectFrom('vulnerability_assets')
      .selectAll()
      .where('organization_id', '=', organization.id)
      .orderBy('vulnerability_id')
      .execute(),
    read
      .selectFrom('timeline_entries')
      .selectAll()
      .where('organization_id', '=', organization.id)
      .orderBy('id')
      .execute(),
    read
      .selectFrom('vulnerability_taggings')
      .selectAll()
      .where('organization_id', '=', organization.id)
      .orderBy('vulnerability_id')
      .execute(),
    read.selectFrom('finding_contents').selectAll().orderBy('vulnerability_id').orderBy('number').execute(),
  ]);
  return { vulnerabilities, findings, links, entries, taggings, contents };
}

async function expectCounted() {
  const { body } = await server.request('GET', `/v1/assessments/${assessment.uid}`, { token: staff.token });
  const rows = await listVulnerabilities();
  expect(body).toMatchObject({
    vulnerability_count: rows.length,
    open_vulnerability_count: rows.filter(({ status_id }) => status_id < 5).length,
  });
  const assets = await server.request('GET', `/api/asset/v2/assets?organizationUid[]=${organization.uid}`, {
    token: staff.token,
  });
  for (const { uid, vulnerabilityCount } of assets.body)
    expect(vulnerabilityCount).toBe(
      rows.filter(({ status_id, asset_uids }) => status_id < 5 && asset_uids.includes(uid)).length,
    );
}

const iso = (time: number) => new Date(time).toISOString();

describe('a finding', () => {
  it('becomes a vulnerability with its asset, locations and fields', async () => {
    const { result, state, job } = await imported([
      at(FIRST),
      finding('xss', {
        severity: 'Critical',
        description: 'What it *is*',
        impact: 'What it does',
        recommendedFix: 'What to do',
        category: { parent: 'Web', display: 'XSS' },
        cveIds: ['cve-2021-44228', 'CVE-x', 'CVE-2021-44228'],
        cweIds: ['79', 'cwe-080'],
        cvssVector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
        referenceUrls: ['https://example.com/a', 'javascript:alert(1)'],
        evidence: ['GET / HTTP/1.1'],
      }),
    ]);
    expect({ state, result }).toEqual({
      state: 'succeeded',
      result: {
        assets_created: 1,
        assets_updated: 0,
        assets_outside_scope: 1,
        ports_opened: 0,
        ports_closed: 0,
        findings_created: 1,
        findings_seen_again: 0,
        findings_reopened: 0,
        findings_gone: 0,
      },
    });
    expect(await findByRule('xss')).toMatchObject({
      status_id: 1,
      severity: 'Critical',
      description: 'What it *is*',
      impact: 'What it does',
      recommended_fix: 'What to do',
      category: { parent: 'Web', display: 'XSS' },
      cve_ids: ['CVE-2021-44228'],
      cwe_ids: ['CWE-79', 'CWE-80'],
      cvss_score: 9.8,
      reference_urls: ['https://example.com/a'],
      http_requests: ['GET / HTTP/1.1'],
      exploitable_locations: [{ type: 'url', value: 'https://shop.example/cart?id=1' }],
      location_count: 1,
      source: 'scanner',
      first_seen_at: iso(FIRST),
      last_seen_at: iso(FIRST),
      import_id: job.id,
      last_import_id: job.id,
      created_by: { id: staff.id },
    });
    const assets = await server.request('GET', `/api/asset/v2/assets?organizationUid[]=${organization.uid}`, {
      token: staff.token,
    });
    expect(assets.body).toMatchObject([
      { assetType: 'webapp', location: 'https://shop.example/', listings: [] },
    ]);
    expect((await findByRule('xss')).asset_uids).toEqual([assets.body[0].uid]);
    expect(await kinds((await findByRule('xss')).id)).toEqual(['created']);
    await expectCounted();
  });

  it('with several instances in a report becomes one vulnerability with all of them', async () => {
    const url = (n: number) => ({ target: { url: `https://shop.example/${n}` } });
    const findings = Array.from({ length: 1_200 }, (_, n) => finding('xss', url(n)));
    const { result, progress } = await imported([
      at(FIRST),
      ...findings.slice(0, 600),
      finding('other'),
      finding('xss', { ...url(0), severity: 'Critical', cveIds: ['CVE-2020-1234'] }),
      ...findings.slice(600),
    ]);
    expect(result).toMatchObject({ findings_created: 2, assets_created: 1 });
    expect(progress).toMatchObject({ findings: 2, applied: 1 });
    const { exploitable_locations, ...rest } = await findByRule('xss');
    expect(rest).toMatchObject({ location_count: 1_200, severity: 'Critical' });
    expect(exploitable_locations).toHaveLength(1_000);
    expect(exploitable_locations[999]).toMatchObject({ value: 'https://shop.example/999' });
  });

  it('is identified by rule, asset and location', async () => {
    const host = (port: number, address = '192.0.2.1'): Partial<ReportedFinding> => ({
      target: { host: address, port, protocol: 'tcp' },
    });
    const { result } = await imported([
      finding('a', host(80)),
      finding('a', host(443)),
      finding('a', host(80, '192.0.2.2')),
      finding('b', host(80)),
      finding('a', host(80)),
      finding('c', { fingerprint: 'f1' }),
      finding('d', { fingerprint: 'f1' }),
      finding('c', { fingerprint: 'f1', source: 'another' }),
      finding('e', { target: { artifact: 'app', path: 'a.js', package: 'p' } }),
      finding('e', { target: { artifact: 'app', path: 'b.js', package: 'p' } }),
    ]);
    expect(result).toMatchObject({ findings_created: 8, assets_created: 3 });
  });

  it('has at most as many references as fit in the size of a vulnerability', async () => {
    const referenceUrls = Array.from(
      { length: 1_000 },
      (_, n) => `https://a.example/${n}/${'x'.repeat(2_000)}`,
    );
    const { skips } = await imported([finding('referenced', { referenceUrls })]);
    expect(skips).toEqual([{ reason: 'truncated', count: 1 }]);
    const { reference_urls: stored } = await findByRule('referenced');
    expect(JSON.stringify(stored).length).toBeLessThanOrEqual(256 * 1024);
    expect(stored.length).toBeGreaterThan(100);
  });

  it('has its texts cleaned and truncated, and truncations are counted', async () => {
    const { skips } = await imported([
      finding('long', {
        title: 't'.repeat(300),
        description: `a\0b\ud800c${'d'.repeat(100_000)}`,
        evidence: Array.from({ length: 20 }, () => 'é'.repeat(60_000)),
      }),
      finding('fine'),
    ]);
    expect(skips).toEqual([{ reason: 'truncated', count: 1 }]);
    const longTitle = (await listVulnerabilities()).find(({ title }) => title.startsWith('ttt'));
    expect(longTitle.title).toBe('t'.repeat(255));
    expect(longTitle.description).toHaveLength(65_536);
    expect(longTitle.description.startsWith('a\uFFFDb\uFFFDcd')).toBe(true);
    expect(longTitle.http_requests.length).toBeLessThan(20);
    expect(Buffer.byteLength(JSON.stringify(longTitle))).toBeLessThan(270_000);
  });

  it('below the minimum severity is not created, but updated if it exists', async () => {
    await imported([at(FIRST), finding('low', { severity: 'Low' })]);
    const { result, skips } = await imported(
      [
        at(SECOND),
        finding('low', { severity: 'Low' }),
        finding('other', { severity: 'Medium' }),
        finding('high'),
      ],
      { options: { minimumSeverity: 'High' } },
    );
    expect(result).toMatchObject({ findings_created: 1, findings_seen_again: 1 });
    expect(skips).toEqual([{ reason: 'below minimum severity', count: 1 }]);
    expect((await findByRule('low')).last_seen_at).toBe(iso(SECOND));
  });

  it('has a title, a category and tags on one line, and lines in its description', async () => {
    const lines = ' a\r\nb\x1b\u2028c\x85d ';
    const { skips } = await imported([
      finding('lines', {
        title: lines,
        category: { parent: lines, display: lines },
        tags: [lines],
        description: 'a\nb',
      }),
    ]);
    expect(skips).toEqual([]);
    expect((await listVulnerabilities()).find(({ title }) => title === 'a b c d')).toMatchObject({
      category: { parent: 'a b c d', display: 'a b c d' },
      tags: [{ name: 'a b c d' }],
      description: 'a\nb',
    });
  });

  it('gets the requested tags when it is created', async () => {
    await imported([at(FIRST), finding('old')]);
    await imported([at(SECOND), finding('old'), finding('new')], { options: { tags: ['weekly', 'Weekly'] } });
    expect((await findByRule('new')).tags).toMatchObject([{ name: 'weekly' }]);
    expect((await findByRule('old')).tags).toEqual([]);
    const { body } = await server.request('GET', '/v1/vulnerability_tags?filter[search]=weekly', {
      token: staff.token,
    });
    expect(
      body.find(({ organization_profile_id }: any) => organization_profile_id === organization.id),
    ).toMatchObject({ count: 1 });
  });
});

describe('the next report', () => {
  it('updates only the time of unchanged findings', async () => {
    await imported([at(FIRST), finding('xss')]);
    const before = await recordedText();
    const { result, job } = await imported([at(SECOND), finding('xss', { evidence: ['Date: another'] })]);
    expect(result).toMatchObject({ findings_created: 0, findings_seen_again: 1 });
    const after = await recordedText();
    expect({ ...after, findings: [] }).toEqual({ ...before, findings: [] });
    expect(await findByRule('xss')).toMatchObject({
      first_seen_at: iso(FIRST),
      last_seen_at: iso(SECOND),
      last_import_id: job.id,
      updated_at: iso(NOW),
    });
  });

  it('with the same bytes changes nothing, also after later decisions', async () => {
    const records = [finding('fixed'), finding('open')];
    const sha256 = `same ${organization.uid}`;
    await imported(records, { sha256 });
    now += 60_000;
    await setStatus((await findByRule('fixed')).id, 5);
    const before = await recordedText();
    now += DAY;
    const { result } = await imported([...records, SITE], { sha256, options: { whenGone: 'fix' } });
    expect(result).toMatchObject({ findings_seen_again: 2, findings_reopened: 0, findings_gone: 0 });
    expect(await recordedText()).toEqual(before);
  });

  it('overwrites what the scanner changed, but not what a person changed, and reports both', async () => {
    await imported([at(FIRST), finding('xss', { description: 'old' })]);
    const { id } = await findByRule('xss');
    await server.request('POST', '/v1/vulnerabilities/bulk_update', {
      token: staff.token,
      body: { ids: [id], set: { severity: 'Low' } },
    });
    const { result, job } = await imported([
      at(SECOND),
      finding('xss', { description: 'new', severity: 'Critical', cveIds: ['CVE-2020-1234'] }),
    ]);
    expect(result).toMatchObject({ findings_seen_again: 1 });
    expect(await findByRule('xss')).toMatchObject({
      description: 'new',
      severity: 'Low',
      cve_ids: ['CVE-2020-1234'],
    });
    const seenEntries = (await timeline(id)).filter(({ kind }) => kind === 'seen');
    expect(seenEntries).toMatchObject([
      {
        before: { description: 'old', severity: 'Low', cve_ids: [] },
        after: { description: 'new', severity: 'Critical', cve_ids: ['CVE-2020-1234'], import_id: job.id },
      },
    ]);
    await imported([
      at(THIRD),
      finding('xss', { description: 'new', severity: 'Critical', cveIds: ['CVE-2020-1234'] }),
    ]);
    expect((await kinds(id)).filter((kind) => kind === 'seen')).toHaveLength(1);
    await expectCounted();
  });

  it('links a known finding to its asset if that was deleted and created again', async () => {
    const assets = async () =>
      (
        await server.request('GET', `/api/asset/v2/assets?organizationUid[]=${organization.uid}`, {
          token: staff.token,
        })
      ).body;
    const remove = async () => {
      const [asset] = await assets();
      await server.context.db.write((tx) => tx.deleteFrom('assets').where('uid', '=', asset.uid).execute());
      expect(await findByRule('seen')).toMatchObject({ asset_uids: [] });
    };
    await imported([at(FIRST), finding('seen')]);
    await remove();
    const repeated = await imported([at(SECOND), finding('seen')]);
    expect(repeated.result).toMatchObject({ assets_created: 1, findings_seen_again: 1 });
    const [created] = await assets();
    expect(await findByRule('seen')).toMatchObject({ asset_uids: [created.uid] });
    expect(created).toMatchObject({ location: 'https://shop.example/', vulnerabilityCount: 1 });
    // It was unlinked deliberately.
    const { id, title, severity } = await findByRule('seen');
    const edit = { assessment_id: assessment.uid, title, severity, asset_uids: [] };
    const edited = await server.request('PUT', `/v1/vulnerabilities/${id}`, {
      token: staff.token,
      body: edit,
    });
    expect(edited.status).toBe(200);
    await imported([at(THIRD), finding('seen')]);
    expect(await findByRule('seen')).toMatchObject({ asset_uids: [] });
  });

  it('updates the counters when a severity changes', async () => {
    await imported([at(FIRST), finding('xss')]);
    await imported([at(SECOND), finding('xss', { severity: 'Low' })]);
    const { body } = await server.request(
      'GET',
      `/v1/vulnerabilities/summary?filter[assessment_id][]=${assessment.uid}`,
      {
        token: staff.token,
      },
    );
    expect(body.by_severity).toMatchObject({ High: 0, Low: 1 });
  });

  it('reopens findings that were fixed before it, but not later ones or decisions of people', async () => {
    await imported([at(FIRST), ...['early', 'late', 'accepted', 'invalid'].map((rule) => finding(rule))]);
    now = SECOND;
    await setStatus((await findByRule('early')).id, 5);
    now = NOW;
    await setStatus((await findByRule('late')).id, 5);
    await setStatus((await findByRule('accepted')).id, 6);
    await setStatus((await findByRule('invalid')).id, 7);
    const { result, job } = await imported([
      at(THIRD),
      ...['early', 'late', 'accepted', 'invalid'].map((rule) => finding(rule)),
    ]);
    expect(result).toMatchObject({ findings_reopened: 1, findings_seen_again: 3 });
    expect(await findByRule('early')).toMatchObject({ status_id: 2, closed_at: null });
    expect((await findByRule('late')).status_id).toBe(5);
    expect((await findByRule('accepted')).status_id).toBe(6);
    expect((await findByRule('invalid')).status_id).toBe(7);
    const entries = await timeline((await findByRule('early')).id);
    expect(entries.at(-1)).toMatchObject({
      kind: 'status',
      user: null,
      before: { status_id: 5 },
      after: { status_id: 2, import_id: job.id },
    });
    await expectCounted();
  });
});

describe('a finding that a complete report no longer has', () => {
  it('is gone once, and keeps its status by default', async () => {
    await imported([at(FIRST), SITE, finding('stays'), finding('goes')]);
    const second = await imported([at(SECOND), SITE, finding('stays')]);
    expect(second.result).toMatchObject({ findings_gone: 1, findings_seen_again: 1 });
    const { id } = await findByRule('goes');
    expect(await findByRule('goes')).toMatchObject({ status_id: 1, last_seen_at: iso(FIRST) });
    expect(await kinds(id)).toEqual(['created', 'gone']);
    const third = await imported([at(THIRD), SITE, finding('stays')]);
    expect(third.result).toMatchObject({ findings_gone: 0 });
    expect(await kinds(id)).toEqual(['created', 'gone']);
    const reappeared = await imported([at(NOW - DAY), SITE, finding('stays'), finding('goes')]);
    expect(reappeared.result).toMatchObject({ findings_seen_again: 2 });
    expect(await kinds(id)).toEqual(['created', 'gone', 'seen']);
  });

  it('is fixed at the time of the report if requested, except for decisions of people', async () => {
    await imported([at(FIRST), SITE, finding('goes'), finding('accepted')]);
    await setStatus((await findByRule('accepted')).id, 6);
    const { result, job } = await imported([at(SECOND), SITE], { options: { whenGone: 'fix' } });
    expect(result).toMatchObject({ findings_gone: 2 });
    expect(await findByRule('goes')).toMatchObject({
      status_id: 5,
      closed_at: iso(SECOND).replace(/\.\d+Z/, '+00:00'),
    });
    expect((await findByRule('accepted')).status_id).toBe(6);
    expect((await timeline((await findByRule('goes')).id)).at(-1)).toMatchObject({
      kind: 'status',
      after: { status_id: 5, import_id: job.id },
    });
    const reappeared = await imported([at(THIRD), SITE, finding('goes')]);
    expect(reappeared.result).toMatchObject({ findings_reopened: 1 });
    expect((await findByRule('goes')).status_id).toBe(2);
    await expectCounted();
  });

  it('counts as progress while more are marked', async () => {
    const steps: number[] = [];
    for (const [index, count] of [1, 600].entries()) {
      assessment = await assessmentOf(organization.uid);
      const before = Array.from({ length: count }, (_, n) => finding(`${index} ${n}`));
      await imported([at(FIRST), SITE, ...before]);
      let calls = 0;
      let sorted = 0;
      const { result } = await run(await jobOf({}), [at(SECOND), SITE], {
        onProgress: () => (calls += 1),
        onGroup: () => (sorted += 1),
      });
      expect([result.findings_gone, sorted]).toEqual([count, 1]);
      steps.push(calls);
    }
    // A second page, and a transaction for it.
    expect(steps[1]).toBeGreaterThanOrEqual((steps[0] as number) + 2);
  });

  it('is only gone if the report of the same tool covers it and is complete', async () => {
    const otherSite = { target: { url: 'https://other.example/' } };
    await imported([
      at(FIRST),
      finding('here'),
      finding('there', otherSite),
      finding('tool', { source: 'another' }),
    ]);
    expect((await imported([at(SECOND)])).result).toMatchObject({ findings_gone: 0 });
    const broken = await imported([at(SECOND), SITE, new ReportError('It ends.', { line: 7 })]);
    expect(broken).toMatchObject({
      state: 'failed',
      error: { message: 'It ends.', line: 7 },
      result: { findings_gone: 0 },
    });
    expect((await imported([at(SECOND), SITE])).result).toMatchObject({ findings_gone: 1 });
    expect(await kinds((await findByRule('here')).id)).toEqual(['created', 'gone']);
  });

  it('is fixed by a later report if requested, also if an earlier one kept it', async () => {
    const fix = { options: { whenGone: 'fix' } } as const;
    await imported([at(FIRST), SITE, finding('goes'), finding('stays')]);
    await imported([at(SECOND), SITE, finding('stays')]);
    const dry = await imported([at(THIRD), SITE, finding('stays')], {
      options: { whenGone: 'fix', dryRun: true },
    });
    expect(dry.result).toMatchObject({ findings_gone: 1, findings_seen_again: 1 });
    expect(dry.preview?.gone).toEqual([{ title: 'Title of goes', asset: 'https://shop.example/' }]);
    const third = await imported([at(THIRD), SITE, finding('stays')], fix);
    expect(third.result).toMatchObject({ findings_gone: 1, findings_seen_again: 1 });
    expect(await findByRule('goes')).toMatchObject({
      status_id: 5,
      closed_at: iso(THIRD).replace(/\.\d+Z/, '+00:00'),
    });
    expect(await kinds((await findByRule('goes')).id)).toEqual(['created', 'gone', 'status']);
    expect((await run(third.job, [at(THIRD), SITE, finding('stays')])).result).toEqual(third.result);
    await expectCounted();
    // A person reopens it.
    await setStatus((await findByRule('goes')).id, 3);
    const last = await imported([at(NOW - DAY), SITE, finding('stays')], fix);
    expect(last.result).toMatchObject({ findings_gone: 0 });
    expect((await findByRule('goes')).status_id).toBe(3);
  });

  it('must be on a port that the scan of its host covered', async () => {
    const fix = { options: { whenGone: 'fix' } } as const;
    const port = (number: number) => ({ target: { host: '192.0.2.7', port: number } });
    const coveredPort = (number: number): ReportRecord => ({ kind: 'covered', ...port(number) });
    await imported([at(FIRST), coveredPort(443), finding('one', port(443))], fix);
    const otherImport = await imported([at(SECOND), coveredPort(8443), finding('other', port(8443))], fix);
    expect(otherImport.result).toMatchObject({ findings_gone: 0, findings_created: 1 });
    const without = await imported([at(THIRD), coveredPort(443)], fix);
    expect(without.result).toMatchObject({ findings_gone: 1 });
    expect((await findByRule('one')).status_id).toBe(5);
    expect((await findByRule('other')).status_id).toBe(1);
    // An older report has a finding that newer reports covered but lack, and one that they did not cover.
    const older = [finding('late', port(443)), finding('elsewhere', port(25))];
    await imported([at(FIRST + DAY), ...older], fix);
    expect((await findByRule('late')).status_id).toBe(5);
    expect((await findByRule('elsewhere')).status_id).toBe(1);
  });

  it('must be in the scanned port ranges, or on the host itself if all ports were scanned', async () => {
    const host = { host: '192.0.2.7' };
    // Longer than 40 characters.
    const ranges = Array.from({ length: 20 }, (_, index) => ['tcp', index * 10, index * 10 + 5] as const);
    const few = [['tcp', 20, 30]] as const;
    const coveredPorts = (ports: readonly PortRange[]): ReportRecord => ({
      kind: 'covered',
      target: host,
      ports,
    });
    await imported([
      at(FIRST),
      coveredPorts(ranges),
      finding('port 22', { target: { ...host, port: 22 } }),
      finding('port 27', { target: { ...host, port: 27 } }),
      finding('itself', { target: host, ports: ranges }),
    ]);
    const goneTitles = async () =>
      (
        await server.context.db.read
          .selectFrom('scanner_findings')
          .innerJoin('vulnerabilities', 'vulnerabilities.id', 'vulnerability_id')
          .select('title')
          .where('vulnerabilities.assessment_id', '=', assessment.id)
          .where('gone_at', 'is not', null)
          .orderBy('title')
          .execute()
      ).map(({ title }) => title);
    await imported([at(SECOND), coveredPorts(few)]);
    expect(await goneTitles()).toEqual(['Title of port 22', 'Title of port 27']);
    await imported([at(THIRD), coveredPorts(ranges)]);
    expect(await goneTitles()).toEqual(['Title of itself', 'Title of port 22', 'Title of port 27']);
    await imported([
      at(FIRST + DAY),
      finding('late 31', { target: { ...host, port: 31 } }),
      finding('late 39', { target: { ...host, port: 39 } }),
      finding('late itself', { target: host, ports: few }),
    ]);
    expect((await goneTitles()).filter((title) => title.includes('late'))).toEqual([
      'Title of late 31',
      'Title of late itself',
    ]);
  });

  it('is gone also if there are many, on one asset or on many', async () => {
    const hosts = Array.from({ length: 620 }, (_, index) =>
      finding(`one ${index}`, { target: { host: 'one.example', port: 1 + (index % 3) } }),
    );
    const sites = Array.from({ length: 12 }, (_, index) =>
      finding(`site ${index}`, { target: { url: `https://two.example:${9_000 + (index % 5)}/` } }),
    );
    await imported([at(FIRST), ...hosts, ...sites]);
    const options = { targets: ['one.example', 'two.example'] };
    const remaining = [hosts[3], sites[5]].flatMap((record) => record ?? []);
    const { result } = await imported([at(SECOND), ...remaining], { options });
    expect(result).toMatchObject({ findings_seen_again: 2, findings_gone: 630 });
    expect((await imported([at(THIRD), ...remaining], { options })).result.findings_gone).toBe(0);
  });

  it('can be on a target that the importing user names, including the sites of a host', async () => {
    const host = { target: { host: '192.0.2.7', port: 22 } };
    const site = { target: { url: 'https://192.0.2.7:8443/' } };
    await imported([at(FIRST), finding('host', host), finding('site', site), finding('shop')]);
    const { result } = await imported([at(SECOND)], { options: { targets: ['192.0.2.7'] } });
    expect(result).toMatchObject({ findings_gone: 2 });
    expect(await kinds((await findByRule('shop')).id)).toEqual(['created']);
  });
});

describe('reports out of order', () => {
  const reports = [
    [at(FIRST), SITE, finding('always'), finding('first')],
    [at(SECOND), SITE, finding('always', { severity: 'Low' }), finding('middle')],
    [at(THIRD), SITE, finding('always', { severity: 'Critical' }), finding('last')],
  ] as const;
  const orders = [
    [0, 1, 2],
    [2, 1, 0],
    [1, 0, 2],
    [1, 2, 0],
    [0, 2, 1],
    [2, 0, 1],
  ];
  it.each(orders)('have the same result: %i, %i, %i', async (...order) => {
    for (const index of order) await imported(reports[index] ?? [], { options: { whenGone: 'fix' } });
    const states = (await listVulnerabilities())
      .map(({ title, status_id, severity, first_seen_at, last_seen_at }) => [
        title,
        status_id,
        severity,
        first_seen_at,
        last_seen_at,
      ])
      .sort();
    expect(states).toEqual([
      ['Title of always', 1, 'Critical', iso(FIRST), iso(THIRD)],
      ['Title of first', 5, 'High', iso(FIRST), iso(FIRST)],
      ['Title of last', 1, 'High', iso(THIRD), iso(THIRD)],
      ['Title of middle', 5, 'High', iso(SECOND), iso(SECOND)],
    ]);
    await expectCounted();
  });
});

describe('the time of a report', () => {
  it('is its own, else the one given by the importing user, else that of the upload', async () => {
    const timeOf = async (records: ReportRecord[], options: Partial<ImportOptions> = {}) =>
      (await imported(records, { options })).reportAt;
    expect(await timeOf([at(FIRST), finding('a')], { scannedAt: SECOND })).toBe(FIRST);
    expect(await timeOf([finding('a', { seenAt: THIRD })], { scannedAt: SECOND })).toBe(THIRD);
    expect(await timeOf([finding('a')], { scannedAt: SECOND })).toBe(SECOND);
    expect(await timeOf([finding('a')])).toBe(NOW);
    expect(await timeOf([at(Date.UTC(1600, 0, 1)), finding('a')])).toBe(NOW);
    expect(await timeOf([at(NOW + DAY), finding('a')])).toBe(NOW);
  });
});

describe('decisions', () => {
  it('of other visible assessments are carried over if requested, the latest of several', async () => {
    const [first, second, hidden] = [
      await assessmentOf(organization.uid),
      await assessmentOf(organization.uid),
      await assessmentOf(organization.uid),
    ];
    const member = await fixtures.user({ organization: organization.uid });
    for (const { uid } of [first, second, assessment]) await fixtures.access(uid, member.id);
    for (const target of [first, second, hidden])
      await imported([at(FIRST), finding('xss'), finding('dup')], { into: target });
    await setStatus((await findByRule('xss', first.uid)).id, 7);
    now += 1_000;
    await setStatus((await findByRule('xss', second.uid)).id, 6);
    await setStatus((await findByRule('dup', second.uid)).id, 8);
    now += 1_000;
    await setStatus((await findByRule('xss', hidden.uid)).id, 9);
    const caller = callerOf({
      userId: member.id,
      uid: member.uid,
      organizationId: organization.id,
      staff: false,
      admin: false,
    });
    await imported([at(SECOND), finding('xss'), finding('dup')], { caller, options: { carry: true } });
    expect((await findByRule('xss')).status_id).toBe(6);
    expect((await findByRule('dup')).status_id).toBe(1);
    const [, entry] = await timeline((await findByRule('xss')).id);
    expect(entry).toMatchObject({ kind: 'status', before: { status_id: 1 }, after: { status_id: 6 } });
    expect(JSON.stringify(entry)).not.toContain(second.uid);
  });
});

describe('assets', () => {
  it('are neither created nor changed without permission', async () => {
    const host: ReportRecord = {
      kind: 'host',
      host: { address: '192.0.2.9', ports: [], complete: true, unlistedStates: [] },
    };
    const { result, skips } = await imported([host, finding('xss')], { writesAssets: false });
    expect(result).toMatchObject({ assets_created: 0, findings_created: 1 });
    expect(skips).toEqual([{ reason: 'no permission to change assets', count: 1 }]);
    expect((await findByRule('xss')).asset_uids).toEqual([]);
    await expectCounted();
  });

  it('count as progress when they are written, also those that are grouped', async () => {
    const records = ['192.0.2.1', '192.0.2.2'].map((address): ReportRecord => ({
      kind: 'host',
      host: hostWithPorts(address, [buildObservedPort('tcp', 22)], { seenAt: FIRST }),
    }));
    const [calls, callsBeforeGrouping] = [vi.fn<() => void>(), vi.fn<(count: number) => void>()];
    const onGroup = () => callsBeforeGrouping(calls.mock.calls.length);
    await run(await jobOf({}), records, { onProgress: calls, onGroup });
    // One call for each record, and one for the transaction.
    expect(callsBeforeGrouping.mock.calls).toEqual([[3]]);
  });

  it('are changed once, also if a tool lists them once per port', async () => {
    const observed = (address: string, number: number, state = 'open'): ReportRecord => ({
      kind: 'host',
      host: hostWithPorts(address, [buildObservedPort('tcp', number, { state })], { seenAt: FIRST + number }),
    });
    const records = [
      observed('192.0.2.7', 22),
      observed('192.0.2.8', 22),
      observed('192.0.2.7', 80),
      observed('192.0.2.8', 80),
    ];
    const { result } = await imported(records);
    expect(result).toMatchObject({ assets_created: 2, assets_updated: 0, ports_opened: 4 });
    // The later observation of a port wins.
    const repeated = await imported([
      ...records,
      observed('192.0.2.7', 81),
      observed('192.0.2.7', 22, 'closed'),
    ]);
    expect(repeated.result).toMatchObject({ assets_created: 0, ports_opened: 1 });
  });

  it('that the assessment does not list are changed by admins only', async () => {
    const { uid } = await fixtures.asset({
      organization: organization.uid,
      location: 'https://shop.example/',
    });
    const listed = await fixtures.asset({
      organization: organization.uid,
      location: 'https://listed.example/',
    });
    await fixtures.list(assessment.uid, listed.uid);
    const member = await fixtures.user({ organization: organization.uid });
    await fixtures.access(assessment.uid, member.id);
    const caller = callerOf({
      userId: member.id,
      uid: member.uid,
      organizationId: organization.id,
      staff: false,
      admin: false,
    });
    await imported(
      [
        finding('unlisted'),
        finding('listed', { target: { url: 'https://listed.example/x' } }),
        finding('made', { target: { host: 'made.example', port: 22 } }),
      ],
      { caller },
    );
    expect((await findByRule('unlisted')).asset_uids).not.toContain(uid);
    expect((await findByRule('listed')).asset_uids).toEqual([listed.uid]);
    expect((await findByRule('made')).asset_uids).toHaveLength(1);
    await expectCounted();
  });
});

describe('a dry run', () => {
  it('previews what would change, and changes nothing', async () => {
    await imported([at(FIRST), SITE, finding('again'), finding('fixed'), finding('gone')]);
    now = SECOND;
    await setStatus((await findByRule('fixed')).id, 5);
    now = NOW;
    const before = await recordedText();
    const findings = Array.from({ length: 300 }, (_, n) =>
      finding(`new ${n}`, { target: { url: 'https://new.example/' } }),
    );
    const { result, preview, reportAt } = await imported(
      [at(THIRD), SITE, finding('again'), finding('fixed'), ...findings],
      {
        options: { dryRun: true, whenGone: 'fix', tags: ['dry'] },
      },
    );
    expect(result).toEqual({
      assets_created: 1,
      assets_updated: 0,
      assets_outside_scope: 2,
      ports_opened: 0,
      ports_closed: 0,
      findings_created: 300,
      findings_seen_again: 1,
      findings_reopened: 1,
      findings_gone: 1,
    });
    expect(preview?.new).toHaveLength(20);
    expect(preview?.new[0]).toEqual({ title: 'Title of new 0', asset: 'https://new.example/' });
    expect(preview?.again).toEqual([{ title: 'Title of again', asset: 'https://shop.example/' }]);
    expect(preview?.reopened).toEqual([{ title: 'Title of fixed', asset: 'https://shop.example/' }]);
    expect(preview?.gone).toEqual([{ title: 'Title of gone', asset: 'https://shop.example/' }]);
    expect(reportAt).toBeNull();
    expect(await recordedText()).toEqual(before);
  });
});

describe('an interrupted run', () => {
  const host = (n: number): ReportRecord => ({
    kind: 'host',
    host: {
      address: `192.0.2.${n}`,
      ports: [80, 443].map((number) => buildObservedPort('tcp', number)),
      complete: true,
      unlistedStates: [],
      seenAt: SECOND,
    },
  });
  const PORTS: ReportRecord = { kind: 'ports', ranges: [['tcp', 1, 1000]] };
  const rules = Array.from({ length: 400 }, (_, n) => `rule ${n}`);

  it('has the same result when it runs again', async () => {
    const otherOrganization = await fixtures.organization();
    const results = [];
    for (const isBroken of [false, true]) {
      if (isBroken) {
        organization = otherOrganization;
        assessment = await assessmentOf(otherOrganization.uid);
      }
      await imported([at(FIRST), SITE, ...rules.slice(0, 100).map((rule) => finding(rule)), finding('gone')]);
      now = FIRST + 1;
      await setStatus((await findByRule('rule 7')).id, 5);
      now = NOW;
      const job = await jobOf({ options: { whenGone: 'fix' } });
      const records = [at(SECOND), PORTS, host(1), host(2), SITE, ...rules.map((rule) => finding(rule))];
      if (isBroken) {
        const lost = new AbortController();
        let applied = 0;
        await run(job, records, {
          signal: lost.signal,
          onProgress: (progress) => {
            applied = progress.applied;
            if (applied > 0 && applied < 1) lost.abort();
          },
        });
        expect(applied).toBeGreaterThan(0);
        expect(applied).toBeLessThan(1);
      }
      const { result, state } = await run(job, records);
      expect(state).toBe('succeeded');
      const rows = (await listVulnerabilities())
        .map(({ title, status_id, last_seen_at, exploitable_locations }) => [
          title,
          status_id,
          last_seen_at,
          exploitable_locations,
        ])
        .sort();
      await expectCounted();
      results.push({ result, rows });
      const repeated = await run(job, records);
      expect(repeated.result).toEqual(result);
    }
    expect(results[1]).toEqual(results[0]);
    expect(results[0]?.result).toMatchObject({
      assets_created: 2,
      ports_opened: 4,
      findings_created: 300,
      findings_seen_again: 99,
      findings_reopened: 1,
      findings_gone: 1,
    });
  });

  it('gives new findings the tags of the report, within limits', async () => {
    const tags = Array.from({ length: 60 }, (_, index) => `tag ${index}`);
    const { job, skips } = await imported(
      [
        finding('tagged', { tags: ['Payment', ' payment ', 'x'.repeat(300), ''] }),
        finding('plain'),
        finding('many', { tags: tags }),
        { kind: 'partial', reason: 'files not imported', location: { offset: 7 } },
      ],
      { options: { tags: ['imported'] } },
    );
    expect(skips).toEqual([
      { reason: 'tag not imported', count: 2 },
      { reason: 'files not imported', count: 1, offset: 7 },
    ]);
    const tagsOf = async (rule: string) => {
      const rows = await server.context.db.read
        .selectFrom('vulnerabilities')
        .innerJoin('vulnerability_taggings', 'vulnerability_taggings.vulnerability_id', 'vulnerabilities.id')
        .innerJoin('vulnerability_tags', 'vulnerability_tags.id', 'vulnerability_taggings.tag_id')
        .select('vulnerability_tags.name')
        .where('vulnerabilities.import_id', '=', job.id)
        .where('title', '=', `Title of ${rule}`)
        .execute();
      return rows.map(({ name }) => name).sort();
    };
    expect(await tagsOf('tagged')).toEqual(['Payment', 'imported']);
    expect(await tagsOf('plain')).toEqual(['imported']);
    expect(await tagsOf('many')).toHaveLength(51);
  });

  it('keeps the descriptions of all instances of a finding', async () => {
    await imported([
      finding('twice', { description: 'First.', evidence: [] }),
      finding('twice', { description: 'Second.', evidence: [] }),
      finding('twice', { description: 'First.', evidence: [] }),
    ]);
    const row = await server.context.db.read
      .selectFrom('vulnerabilities')
      .select(['description', 'http_requests'])
      .where('title', '=', 'Title of twice')
      .where('assessment_id', '=', assessment.id)
      .executeTakeFirstOrThrow();
    expect(row).toEqual({ description: 'First.', http_requests: JSON.stringify(['Second.']) });
  });

  it.each<[string, () => AsyncGenerator<Uint8Array>, object]>([
    [
      'names the line of an error',
      async function* () {
        yield Buffer.from('a\nb\n');
        yield Buffer.from('c\nd');
      },
      { line: 3, offset: 5 },
    ],
    [
      'names the byte alone if it cannot be read again',
      async function* () {
        yield Buffer.from('a');
        throw new ReportError('It is truncated.');
      },
      { offset: 5 },
    ],
  ])('%s', async (_what, source, location) => {
    const { state, error } = await imported([finding('one'), new ReportError('It ends.', { offset: 5 })], {
      run: { source },
    });
    expect({ state, error }).toEqual({ state: 'failed', error: { message: 'It ends.', ...location } });
  });

  it('that could read no record has failed, and says why', async () => {
    const unreadable = (reason: string, line: number): ReportRecord => ({
      kind: 'unreadable',
      reason,
      location: { line },
    });
    const broken = [unreadable('no title', 2), unreadable('no title', 3), unreadable('unknown severity', 4)];
    await imported([{ kind: 'report', scannedAt: FIRST }, finding('before')]);
    const coveredSite: ReportRecord = { kind: 'covered', target: { url: 'https://shop.example/' } };
    const failed = await imported([...broken, coveredSite], { options: { whenGone: 'fix' } });
    expect(failed).toMatchObject({
      state: 'failed',
      error: { message: 'None of the 3 records could be read: no title (2), unknown severity (1).', line: 2 },
      result: { findings_gone: 0 },
    });
    for (const read of [finding('read'), host(1), { kind: 'skipped', reason: 'passed' } as const])
      expect(await imported([...broken, read])).toMatchObject({ state: 'succeeded', error: null });
  });

  it('keeps everything before the truncation of a report', async () => {
    const { state, error, result } = await imported([
      PORTS,
      host(3),
      finding('whole'),
      new ReportError('It ends.', { offset: 99 }),
      finding('never'),
    ]);
    expect({ state, error }).toEqual({
      state: 'failed',
      error: { message: 'It ends.', line: 1, offset: 99 },
    });
    expect(result).toMatchObject({ findings_created: 1, assets_created: 2, ports_opened: 2 });
  });
});

describe('an undo', () => {
  const undo = async ({ job }: { job: ImportJob }) => {
    const { db, clock } = server.context;
    const counts = await undoImport(
      { db, caller: callerOf(), clock, signal: new AbortController().signal },
      job.id,
    );
    await db.write((tx) =>
      tx
        .updateTable('imports')
        .set({ undone: JSON.stringify(counts) })
        .where('id', '=', job.id)
        .execute(),
    );
    return counts;
  };
  const assetLocations = async () => {
    const { body } = await server.request(
      'GET',
      `/api/asset/v2/assets?organizationUid[]=${organization.uid}&fields=location`,
      { token: staff.token },
    );
    return body.map(({ location }: any) => location);
  };

  const withoutVersion = (row: any) => ({ ...row, updated_at: null });
  const goneImports = async () =>
    (
      await server.context.db.read
        .selectFrom('scanner_findings')
        .select('gone_import_id')
        .where('assessment_id', '=', assessment.id)
        .where('gone_at', 'is not', null)
        .execute()
    ).map((row) => row.gone_import_id);

  it('deletes what only the import created, and keeps what others changed', async () => {
    const otherSite = { target: { url: 'https://other.example/' } };
    const first = await imported(
      [at(FIRST), finding('alone', otherSite), finding('commented'), finding('again'), finding('edited')],
      { options: { tags: ['undone'] } },
    );
    await server.request('POST', `/v1/vulnerabilities/${(await findByRule('commented')).id}/comments`, {
      token: staff.token,
      body: { text: 'Mine.' },
    });
    await setStatus((await findByRule('edited')).id, 3);
    await imported([at(SECOND), finding('again')]);
    expect(await undo(first)).toEqual({ findings: 1, assets: 1, statuses: 0, kept: 4 });
    expect((await listVulnerabilities()).map(({ title }) => title).sort()).toEqual([
      'Title of again',
      'Title of commented',
      'Title of edited',
    ]);
    expect(await assetLocations()).toEqual(['https://shop.example/']);
    await expectCounted();
  });

  it('restores statuses and sightings', async () => {
    const sha256 = `undone ${organization.uid}`;
    const first = await imported([at(FIRST), SITE, finding('fixed'), finding('gone')]);
    now = FIRST + DAY;
    await setStatus((await findByRule('fixed')).id, 5);
    const closed = (await findByRule('fixed')).closed_at;
    now = NOW;
    const records = [at(SECOND), SITE, finding('fixed')];
    const second = await imported(records, { sha256, options: { whenGone: 'fix' } });
    expect((await listVulnerabilities()).map(({ status_id }) => status_id).sort()).toEqual([2, 5]);
    expect(await undo(second)).toEqual({ findings: 0, assets: 0, statuses: 2, kept: 0 });
    expect(await findByRule('fixed')).toMatchObject({
      status_id: 5,
      closed_at: closed,
      last_seen_at: iso(FIRST),
      last_import_id: first.job.id,
    });
    expect(await findByRule('gone')).toMatchObject({ status_id: 1, closed_at: null });
    await expectCounted();
    const { result } = await imported(records, { sha256, options: { whenGone: 'fix' } });
    expect(result).toMatchObject({ findings_reopened: 1, findings_gone: 1 });
  });

  it('restores what the import overwrote, and keeps later changes of people', async () => {
    const before = finding('both', { severity: 'Low', description: 'Before.', cveIds: ['CVE-2029-0001'] });
    const after = (overrides = {}) =>
      finding('both', { severity: 'Critical', description: 'After.', impact: 'All of it.', ...overrides });
    await imported([at(FIRST), SITE, before, finding('again')]);
    await imported([at(FIRST + DAY), SITE, finding('again')]);
    const stood = (await listVulnerabilities()).map(withoutVersion);
    // It has an earlier first sighting, a gone finding, and a new location.
    const second = await imported([at(SECOND), SITE, after(), finding('again', { description: 'New.' })]);
    const earlier = await imported([at(FIRST - DAY), before]);
    expect(await findByRule('both')).toMatchObject({
      severity: 'Critical',
      impact: 'All of it.',
      cve_ids: [],
    });
    expect(await undo(second)).toEqual({ findings: 0, assets: 0, statuses: 0, kept: 0 });
    expect((await listVulnerabilities()).map(withoutVersion)).toEqual(
      stood.map((row) =>
        row.title === 'Title of both'
          ? { ...row, first_seen_at: iso(FIRST - DAY), import_id: earlier.job.id }
          : row,
      ),
    );
    expect(await goneImports()).toHaveLength(1);
    await expectCounted();

    const third = await imported([at(THIRD), SITE, after()]);
    const { id } = await findByRule('both');
    const edit = {
      assessment_id: assessment.uid,
      title: 'Title of both',
      severity: 'High',
      description: 'Mine.',
    };
    await server.request('PUT', `/v1/vulnerabilities/${id}`, { token: staff.token, body: edit });
    expect(await undo(third)).toMatchObject({ kept: 1 });
    expect(await findByRule('both')).toMatchObject({ severity: 'High', description: 'Mine.' });
  });

  it('of an import between two others leaves the values of the next one', async () => {
    const saying = (description: string) => finding('described', { description });
    await imported([at(FIRST), saying('One.')]);
    const second = await imported([at(SECOND), saying('Two.')]);
    const third = await imported([at(THIRD), saying('Three.')]);
    await undo(second);
    expect(await findByRule('described')).toMatchObject({ description: 'Three.' });
    await undo(third);
    expect(await findByRule('described')).toMatchObject({ description: 'One.' });
  });

  it('restores what an earlier report covered', async () => {
    const site = { target: { url: 'https://shop.example/' } };
    await imported([at(SECOND), SITE]);
    const third = await imported([at(THIRD), SITE]);
    await undo(third);
    const lateReport = [at(THIRD - DAY), finding('after the first', site)];
    await imported(lateReport);
    await imported([at(FIRST), finding('before the first', site)]);
    expect(await kinds((await findByRule('after the first')).id)).toEqual(['created']);
    expect(await kinds((await findByRule('before the first')).id)).toEqual(['created', 'gone']);
  });

  it('of the report without a finding restores an older sighting, in any order of imports', async () => {
    await imported([at(FIRST), SITE, finding('before')]);
    const second = await imported([at(SECOND), SITE]);
    await imported([at(FIRST + DAY), finding('late')]);
    expect(await goneImports()).toEqual([second.job.id, second.job.id]);
    await undo(second);
    expect(await goneImports()).toEqual([]);
  });

  it('of the report that saw a finding again does not restore the mark of an undone import', async () => {
    await imported([at(FIRST), SITE, finding('back')]);
    const second = await imported([at(SECOND), SITE]);
    const third = await imported([at(THIRD), SITE, finding('back')]);
    expect(await goneImports()).toEqual([]);
    await undo(second);
    await undo(third);
    expect(await goneImports()).toEqual([]);
  });

  it('of the report that fixed a finding restores the mark of the first import that is not undone', async () => {
    const fix = { options: { whenGone: 'fix' } } as const;
    await imported([at(FIRST), SITE, finding('goes')]);
    const first = await imported([at(FIRST + DAY), SITE]);
    const second = await imported([at(SECOND), SITE]);
    expect(await goneImports()).toEqual([first.job.id]);
    const third = await imported([at(THIRD), SITE], fix);
    expect(await goneImports()).toEqual([third.job.id]);
    await undo(third);
    expect(await goneImports()).toEqual([first.job.id]);
    expect((await findByRule('goes')).gone_at).toBe(iso(FIRST + DAY));
    const repeated = await imported([at(THIRD), SITE], fix);
    await undo(first);
    expect(await goneImports()).toEqual([repeated.job.id]);
    await undo(repeated);
    expect(await goneImports()).toEqual([second.job.id]);
    expect(await findByRule('goes')).toMatchObject({ status_id: 1, gone_at: iso(SECOND) });
    await expectCounted();
  });

  it('keeps findings gone and fixed that a later report lacks too', async () => {
    const fix = { options: { whenGone: 'fix' } } as const;
    await imported([at(FIRST), SITE, finding('goes')]);
    const second = await imported([at(SECOND), SITE], fix);
    const third = await imported([at(THIRD), SITE], fix);
    expect(await undo(second)).toMatchObject({ statuses: 0, kept: 1 });
    expect((await findByRule('goes')).status_id).toBe(5);
    expect(await goneImports()).toEqual([third.job.id]);
  });

  it('keeps a status that a person or a later report has set or confirmed since', async () => {
    await imported([at(FIRST), SITE, finding('person'), finding('report')]);
    now = FIRST + DAY;
    for (const rule of ['person', 'report']) await setStatus((await findByRule(rule)).id, 5);
    now = NOW;
    const second = await imported([at(SECOND), SITE, finding('person'), finding('report')]);
    now += 1_000;
    await setStatus((await findByRule('person')).id, 3);
    await imported([at(THIRD), SITE, finding('report')]);
    expect(await undo(second)).toEqual({ findings: 0, assets: 0, statuses: 0, kept: 2 });
    expect((await findByRule('person')).status_id).toBe(3);
    expect((await findByRule('report')).status_id).toBe(2);
  });
});

describe('a search', () => {
  it('finds imported findings once its job has run, and no deleted ones', async () => {
    const word = `needle${organization.uid}`;
    await imported([finding('xss', { description: `has a ${word} in it` }), finding('other')]);
    const { db } = server.context;
    for (let filled = 1; filled > 0;) filled = (await db.write((tx) => indexPending(tx, 100))).queued;
    const titles = async () =>
      (await server.request('GET', `/v1/vulnerabilities?filter[search]=${word}`, { token: staff.token }))
        .body;
    expect((await titles()).map(({ title }: any) => title)).toEqual(['Title of xss']);
    await server.request('DELETE', `/v1/vulnerabilities/${(await findByRule('xss')).id}`, {
      token: staff.token,
    });
    expect(await titles()).toEqual([]);
  });
});
