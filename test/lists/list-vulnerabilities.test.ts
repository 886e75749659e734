import { beforeAll, describe, expect, it } from 'vitest';
import { operatorCaller, type Caller } from '../../src/auth/callers.ts';
import { planFilters } from '../../src/domain/vulnerabilities/plan-filters.ts';
import { verifyListContract } from '../harness/list-contract.ts';
import { insertImport, insertGoneFindings } from '../harness/imports.ts';
import { useOwnServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';
import { changeCounted } from '../harness/vulnerability-counters.ts';

const START = Date.UTC(2026, 10, 21, 10, 30);
const MINUTE = 60_000;

let now = START;
let admin: TestUser;
let member: TestUser;
let group: { id: number };
let asset: { uid: string };
let tag: { id: number };
let first: number;
let importId: number;
let goneImportId: number;

const server = await useOwnServer({}, () => now);
const fixtures = createFixtures(server);
beforeAll(async () => {
  const acme = await fixtures.organization('acme');
  await fixtures.organization('other');
  group = await fixtures.group('acme');
  await fixtures.assessment('acme', 'acme-web', group.id);
  await fixtures.assessment('acme', 'acme-api');
  await fixtures.assessment('other', 'other-web');
  admin = await fixtures.user({ organization: 'acme', admin: true });
  member = await fixtures.user({ organization: 'acme' });
  await fixtures.access('acme-web', member.id);
  asset = await fixtures.asset({ organization: 'acme' });
  tag = await fixtures.vulnerabilityTag('acme', 'Urgent');
  const report = async (body: object, { token } = admin) => {
    now += MINUTE;
    const response = await server.request('POST', '/v1/vulnerabilities', {
      token,
      body: { title: 'Finding', severity: 'Low', assessment_id: 'acme-web', ...body },
    });
    expect(response.status).toBe(201);
    return response.body.id as number;
  };
  first = await report({
    title: 'SQL Injection',
    description: 'ÄPFEL über 100%',
    severity: 'Critical',
    status_id: 2,
    cvss_score: 9.8,
    cve_ids: ['CVE-2021-44228', 'CVE-2024-0001'],
    tags: [tag.id],
    asset_uids: [asset.uid],
    assignee_id: member.id,
    due_on: '2026-12-01',
  });
  await report({ title: 'Äpfel', severity: 'High', status_id: 5, cvss_score: 7, due_on: '2026-12-24' });
  await report({ title: 'reflected xss', severity: 'Medium', tag_list: ['urgent', 'web'] }, member);
  await report({ severity: 'Informational', assessment_id: 'acme-api', asset_uids: [asset.uid] });
  await report({ status_id: 9, assessment_id: 'acme-api', cvss_score: 3.1 });
  const created = await report({ title: '\u{1f600} smile', cvss_score: 9.8 });
  await report({ title: '\uffee half', status_id: 4, due_on: '2027-01-01' });
  importId = await insertImport(server, { organizationId: acme.id });
  await server.context.db.write((tx) =>
    changeCounted(tx, created, { source: 'zap', import_id: importId, retest_status: 'requested' }),
  );
  goneImportId = await insertImport(server, { organizationId: acme.id });
  await insertGoneFindings(server, { ids: [created], by: goneImportId, at: now });
  const otherImportId = await insertImport(server, { organizationId: acme.id });
  await insertGoneFindings(server, { ids: [first], by: otherImportId, at: now });
  now += MINUTE;
  await server.request('PATCH', `/v1/vulnerabilities/${first}`, {
    token: admin.token,
    body: { status_id: 3 },
  });
  await fixtures.vulnerability('other-web', { title: 'SQL injection of others', severity: 'Critical' });
});

const list = (query: string, { token } = admin) =>
  server.request('GET', `/v1/vulnerabilities?${query}`, { token });
const titles = async (query: string, user = admin) =>
  (await list(query, user)).body.map(({ title }: { title: string }) => title);

it('lists vulnerabilities', async () => {
  const hasTag = (row: any, name: string) => row.tags.some((item: any) => item.name.toLowerCase() === name);
  const rows = await verifyListContract(server, {
    operation: 'listVulnerabilities',
    path: '/v1/vulnerabilities',
    token: admin.token,
    key: 'id',
    style: 'v1',
    responseOnly: ['filter[include_attachments]', 'layout'],
    filters: {
      'filter[search]': {
        value: 'äpf',
        fits: ({ title, description }) => `${title} ${description}`.toLowerCase().includes('äpf'),
      },
      'filter[status_id][]': {
        value: ['1', '5'],
        fits: ({ status_id: status }) => status === 1 || status === 5,
      },
      'filter[phase][]': {
        value: 'closed',
        fits: ({ vulnerability_status: { flow_type: type } }) => type === 2,
      },
      'filter[severity][]': {
        value: ['Critical', 'High'],
        fits: ({ severity }) => severity === 'Critical' || severity === 'High',
      },
      'filter[tag_id][]': { value: String(tag.id), fits: (row) => hasTag(row, 'urgent') },
      'filter[tag][]': { value: ' WEB', fits: (row) => hasTag(row, 'web') },
      'filter[assessment_id][]': { value: 'acme-api', fits: (row) => row['assessment_id'] === 'acme-api' },
      'filter[assessment_group_id][]': {
        value: String(group.id),
        fits: (row) => row['assessment_id'] === 'acme-web',
      },
      'filter[asset_uid][]': { value: asset.uid, fits: (row) => row['asset_uids'].includes(asset.uid) },
      'filter[source][]': { value: 'zap', fits: ({ source }) => source === 'zap' },
      'filter[cve][]': {
        value: 'cve-2024-0001',
        fits: ({ cve_ids: cves }) => cves.includes('CVE-2024-0001'),
      },
      'filter[import_id][]': { value: String(importId), fits: ({ import_id: id }) => id === importId },
      'filter[gone]': { value: 'true', fits: ({ gone_at: at }) => at !== null },
      'filter[gone_import_id][]': {
        value: String(goneImportId),
        fits: ({ gone_import_id: id }) => id === goneImportId,
      },
      'filter[created_by][]': { value: String(member.id), fits: (row) => row['created_by'].id === member.id },
      'filter[assignee_id][]': { value: String(member.id), fits: (row) => row['assignee'] !== null },
      'filter[due_until]': {
        value: '2026-12-24',
        fits: ({ due_on: day }) => day !== null && day < '2026-12-24',
      },
      'filter[retest][]': { value: 'requested', fits: ({ source }) => source === 'zap' },
      'filter[id][]': { value: [String(first), '999999'], fits: ({ id }) => id === first },
      'filter[updated_since]': {
        value: '2026-11-21T10:36:00',
        fits: ({ updated_at: at }) => at >= '2026-11-21T10:36:00.000Z',
      },
      'filter[updated_within]': {
        value: '60',
        fits: ({ updated_at: at }) => at >= new Date(now - MINUTE).toISOString(),
      },
      'filter[created_since]': {
        value: '2026-11-21T10:34:00Z',
        fits: ({ created_at: at }) => at >= '2026-11-21T10:34:00.000Z',
      },
      'filter[created_until]': {
        value: '2026-11-21T10:34:00Z',
        fits: ({ created_at: at }) => at < '2026-11-21T10:34:00.000Z',
      },
    },
    orders: {
      resolved_at: ({ resolved_at: at }) => at,
      updated_at: ({ updated_at: at }) => at,
      severity: ({ severity }) => ['Informational', 'Low', 'Medium', 'High', 'Critical'].indexOf(severity),
      cvss_score: ({ cvss_score: score }) => score,
      status_id: ({ status_id: status }) => status,
      title: ({ title }) => title,
      due_on: ({ due_on: day }) => day,
    },
    atLeast: 7,
  });
  expect(rows.map(({ title }) => title)).toHaveLength(7);
});

describe('Search', () => {
  it.each([
    ['inject', ['SQL Injection']],
    ['über 1', ['SQL Injection']],
    ['100%', ['SQL Injection']],
    ['"', []],
    ['ss" OR "', []],
    ['mark : x', []],
    ['urgent', ['SQL Injection', 'reflected xss']],
    ['ACME-API', ['Finding', 'Finding']],
    ['Assessment acme-api', ['Finding', 'Finding']],
    // Descriptions are not searched for one or two characters.
    ['äp', ['Äpfel']],
    ['%', []],
    ['\u{1f600}', ['\u{1f600} smile']],
    ['\u{1f600} smi', ['\u{1f600} smile']],
    ['of others', []],
  ])('finds %j', async (search, expected) => {
    expect(await titles(`filter[search]=${encodeURIComponent(search)}`)).toEqual(expected);
    const response = await list(`filter[search]=${encodeURIComponent(search)}`);
    expect(JSON.parse(response.headers.get('x-pagination') ?? '').total_entries).toBe(expected.length);
  });

  it('finds edited values immediately, and no longer the previous ones', async () => {
    const id = (await fixtures.vulnerability('acme-api', { title: 'before it changed' })).id;
    await server.request('PUT', `/v1/vulnerabilities/${id}`, {
      token: admin.token,
      body: { title: 'afterwards', severity: 'Low', description: 'with words' },
    });
    expect(await titles('filter[search]=before%20it')).toEqual([]);
    expect(await titles('filter[search]=th%20word')).toEqual(['afterwards']);
    await server.request('DELETE', `/v1/vulnerabilities/${id}`, { token: admin.token });
    expect(await titles('filter[search]=th%20word')).toEqual([]);
  });

  describe('with more matches than are collected at once', () => {
    // Most rows of the first and last quarter; none between, more than are tested one by one.
    const isPlentiful = (index: number) => index % 9 !== 0 && (index < 2_500 || index >= 7_500);
    const second = (index: number) => Math.floor(index / 7);
    /** Their ids in order of time, with the second of each. */
    let plentiful: { id: number; at: number }[];
    let staff: TestUser;

    beforeAll(async () => {
      await fixtures.assessment('other', 'many');
      const { id: assessment_id, organization_id } = await server.context.db.read
        .selectFrom('assessments')
        .select(['id', 'organization_id'])
        .where('uid', '=', 'many')
        .executeTakeFirstOrThrow();
      const row = (index: number) => ({
        organization_id,
        assessment_id,
        title: isPlentiful(index) ? 'Plentiful' : 'Rare',
        search_title: isPlentiful(index) ? 'plentiful' : 'rare',
        description: '',
        severity: 'Low' as const,
        status_id: 1,
        status_set_at: 1,
        // Seven per second, so that pages end within a second.
        created_at: 1_000 * second(index),
        updated_at: 1,
        first_seen_at: 1,
      });
      const insertedIds: number[] = [];
      for (let start = 0; start < 10_000; start += 500) {
        const rows = Array.from({ length: 500 }, (_, index) => row(start + index));
        const ids = await server.context.db.write((tx) =>
          tx.insertInto('vulnerabilities').values(rows).returning('id').execute(),
        );
        insertedIds.push(...ids.map(({ id }) => id));
      }
      insertedIds.sort((one, other) => one - other);
      plentiful = insertedIds
        .map((id, index) => ({ id, at: second(index) }))
        .filter((_, index) => isPlentiful(index));
      staff = await fixtures.user();
    });

    it.each(['resolved_at', '-resolved_at'])('returns each match once by %s', async (sort) => {
      const read: number[] = [];
      let after: string | undefined = '';
      while (after !== undefined) {
        const { body, headers } = await list(
          `filter[search]=lentif&sort=${sort}&page[size]=200&page[after]=${after}`,
          staff,
        );
        read.push(...body.map(({ id }: any) => id));
        after = /after%5D=([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
      }
      const sign = sort.startsWith('-') ? -1 : 1;
      const sorted = [...plentiful].sort((one, other) => sign * (one.at - other.at) || one.id - other.id);
      expect(read).toEqual(sorted.map(({ id }) => id));
    });

    it('counts and pages them, and hides them from others', async () => {
      const response = await list('filter[search]=lentif&page[size]=5&page[number]=2', staff);
      expect(JSON.parse(response.headers.get('x-pagination') ?? '').total_entries).toBe(plentiful.length);
      expect(response.body.map(({ id }: any) => id)).toEqual(plentiful.slice(5, 10).map(({ id }) => id));
      expect(await titles('filter[search]=lentif')).toEqual([]);
    });

    it('combines with the filter for gone findings', async () => {
      const [{ organization_id: organizationId } = { organization_id: 0 }] = await server.context.db.read
        .selectFrom('assessments')
        .select('organization_id')
        .where('uid', '=', 'many')
        .execute();
      const ids = plentiful.map(({ id }) => id);
      const by = await insertImport(server, { organizationId });
      await insertGoneFindings(server, { ids: ids.slice(5), by, at: now });
      for (const [filter, expected] of [
        ['filter[gone]=true', ids.slice(5)],
        [`filter[gone_import_id][]=${by}`, ids.slice(5)],
        ['filter[gone]=false', ids.slice(0, 5)],
      ] as const) {
        const page = 'filter[search]=lentif&page[size]=3&page[number]=2';
        const { body, headers } = await list(`${filter}&${page}`, staff);
        expect(JSON.parse(headers.get('x-pagination') ?? '').total_entries).toBe(expected.length);
        expect(body.map(({ id }: any) => id)).toEqual(expected.slice(3, 6));
      }
      expect(await titles(`filter[gone_import_id][]=${by}`)).toEqual([]);
    });
  });
});

it.each([',', '"', '","', 'CVE-2021-4422', '%', ''])('finds nothing for the CVE %j', async (cve) => {
  expect(await titles(`filter[cve][]=${encodeURIComponent(cve)}`)).toEqual([]);
});

it('filters by as many CVEs as a request can have', async () => {
  const cve = Array.from({ length: 550 }, (_, number) => `CVE-2023-${1_000 + number}`);
  const many = cve.map((value) => `filter[cve][]=${value}`).join('&');
  expect(await titles(many)).toEqual([]);
  expect(await titles(`${many}&filter[cve][]=cve-2024-0001`)).toEqual(['SQL Injection']);
  const context = { db: server.context.db.read, caller: operatorCaller('a list'), now };
  expect(await planFilters(context, { cve }, 3_000)).toBeUndefined();
  expect(await planFilters(context, { cve: ['CVE-2024-0001'] }, 3_000)).toMatchObject({
    candidates: [first],
  });
});

it("reads no rows of others' organizations to plan a list, whatever is asked for", async () => {
  const [ownOrganization, otherOrganization] = [await fixtures.organization(), await fixtures.organization()];
  const input = { tag: [' noisy'], tagId: [] as number[], assetUid: [] as string[] };
  const report = async ({ uid }: { uid: string }) => {
    const { uid: assessment } = await fixtures.assessment(uid);
    const { id: tagId } = await fixtures.vulnerabilityTag(uid, 'Noisy');
    const { uid: assetUid } = await fixtures.asset({ organization: uid });
    input.tagId.push(tagId);
    input.assetUid.push(assetUid);
    return (await fixtures.vulnerability(assessment, { tagIds: [tagId], assetUids: [assetUid] })).id;
  };
  const planOf = (account: Partial<Caller>) =>
    planFilters(
      { db: server.context.db.read, caller: { ...operatorCaller('a list'), kind: 'user', ...account }, now },
      input,
      3_000,
    );
  const ownReport = await report(ownOrganization);
  const otherReport = await report(otherOrganization);
  const planFor = (...ids: number[]) => ({
    strategy: 'ids',
    ids: new Map(['tagId', 'tag', 'assetUid'].map((name) => [name, ids])),
    mode: 'page',
    mostRows: ids.length,
  });
  expect(await planOf({ staff: false, organizationId: ownOrganization.id })).toEqual(planFor(ownReport));
  expect(await planOf({ assignedOrganizations: [ownOrganization.id] })).toEqual(planFor(ownReport));
  expect(await planOf({ assignedOrganizations: [] })).toEqual(planFor());
  expect(await planOf({})).toEqual(planFor(ownReport, otherReport));
});

it('lists to a member the vulnerabilities of their assessments, with matching totals', async () => {
  const response = await list('filter[severity][]=Low', member);
  expect(JSON.parse(response.headers.get('x-pagination') ?? '').total_entries).toBe(response.body.length);
  expect(new Set((await list('', member)).body.map((row: any) => row.assessment_id))).toEqual(
    new Set(['acme-web']),
  );
});

it('returns the requested fields, and attachments unless disabled', async () => {
  const { id } = await fixtures.vulnerability('acme-api', { title: 'with a file' });
  const form = new FormData();
  form.append('file', new Blob(['abc'], { type: 'text/plain' }), 'a.txt');
  const sent = new Response(form);
  await server.request('POST', `/v1/vulnerabilities/${id}/attachments`, {
    token: admin.token,
    headers: { 'content-type': sent.headers.get('content-type') ?? '' },
    bytes: Buffer.from(await sent.arrayBuffer()),
  });
  const { body } = await list('filter[search]=with%20a%20file&fields=attachments,title');
  expect(body).toEqual([
    {
      id: expect.any(Number),
      title: 'with a file',
      attachments: [expect.objectContaining({ file_size: 3 })],
    },
  ]);
  const without = await list('filter[search]=with%20a%20file&filter[include_attachments]=false');
  expect(without.body[0].attachments).toEqual([]);
  expect((await list('fields=secret')).status).toBe(400);
});

it.each([
  'filter[severity][]=low',
  'filter[phase][]=done',
  'filter[retest][]=none',
  'filter[status_id][]=x',
  'filter[asset_uid][]=x',
  'filter[assessment_id][]=A%20B',
  'filter[due_until]=2026-02-30',
  'filter[gone]=perhaps',
  'filter[gone_import_id][]=x',
  'filter[updated_within]=-1',
  'sort=created_at',
])('returns 400 for %s', async (query) => {
  expect((await list(query)).status).toBe(400);
});

it('exports all matches as CSV and NDJSON', async () => {
  const get = (accept: string) =>
    server.request('GET', '/v1/vulnerabilities?filter[severity][]=Critical&fields=title,due_on', {
      token: admin.token,
      headers: { accept },
    });
  const csv = await get('text/csv');
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(csv.text).toBe(`id,title,due_on\r\n${first},SQL Injection,2026-12-01\r\n`);
  const lines = await get('application/x-ndjson');
  expect(lines.text).toBe(`${JSON.stringify({ id: first, title: 'SQL Injection', due_on: '2026-12-01' })}\n`);
  expect((await fixtures.auditEvents()).at(-1)).toMatchObject({ action: 'vulnerability.export' });
});

describe('The CSV for spreadsheets', () => {
  const csv = async (query: string, { token } = admin) =>
    (await server.request('GET', `/v1/vulnerabilities?${query}`, { token, headers: { accept: 'text/csv' } }))
      .text;

  it('has names in place of ids, and joined lists', async () => {
    const { location } = (
      await server.request('GET', `/api/asset/v2/assets/${asset.uid}`, { token: admin.token })
    ).body;
    const [heading, row, ...others] = (await csv(`layout=spreadsheet&filter[id][]=${first}`)).split('\r\n');
    expect(others).toEqual(['']);
    expect(heading).toBe(
      'id,title,severity,status,cvss_score,assessment,assets,assignee,due_on,tags,cve_ids,cwe_ids,source,created_at,closed_at',
    );
    const { email } = member;
    expect(row).toBe(
      `${first},SQL Injection,Critical,Fix In Progress,9.8,Assessment acme-web,${location},${email},2026-12-01,Urgent,` +
        'CVE-2021-44228; CVE-2024-0001,,manual,2026-11-21 10:31:00,',
    );
  });

  it('does not apply with `fields`, nor to other formats', async () => {
    expect(await csv(`layout=spreadsheet&fields=id,title&filter[id][]=${first}`)).toBe(
      `id,title\r\n${first},SQL Injection\r\n`,
    );
    expect((await list(`layout=spreadsheet&filter[id][]=${first}`)).body[0]).toHaveProperty(
      'vulnerability_status',
    );
    expect((await csv(`filter[id][]=${first}`)).split(',', 3)).toEqual(['id', 'title', 'description']);
    expect((await list('layout=wide')).status).toBe(400);
  });

  it('has uids of assets for a token that cannot read assets', async () => {
    const { token } = await fixtures.token(admin.id, { scopes: ['api'] });
    expect(await csv(`layout=spreadsheet&filter[id][]=${first}`, { ...admin, token })).toContain(
      `,${asset.uid},`,
    );
  });
});
