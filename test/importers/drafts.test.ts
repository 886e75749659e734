import { beforeEach, expect, it } from 'vitest';
import { createFixtures, type TestUser } from '../harness/fixtures.ts';
import { uploadReport, waitForImport } from '../harness/imports.ts';
import { nucleiReport } from '../harness/nuclei.ts';
import { useSharedServer } from '../harness/server.ts';

/** Imports that make drafts, and those of others that meet them (docs/roles.md). */

const START = Date.UTC(2026, 0, 1);
let now = START;
const server = await useSharedServer(() => (now += 1_000));
const fixtures = createFixtures(server);

let assessment: string;
let staff: TestUser;
let admin: TestUser;
let member: TestUser;

beforeEach(async () => {
  await fixtures.together(async (batch) => {
    const organization = (await batch.organization()).uid;
    assessment = (await batch.assessment(organization)).uid;
    staff = await batch.user({ assignedTo: [organization] });
    admin = await batch.user({ organization, admin: true });
    member = await batch.user({ organization });
    await batch.access(assessment, member.id);
  });
});

interface Reported {
  rule: string;
  name?: string;
  severity?: string;
  scannedAt?: number;
}

const reportOf = (findings: readonly Reported[]) =>
  nucleiReport(
    findings.map(({ rule, name = 'Text of staff', severity = 'high', scannedAt = START }) => ({
      rule,
      name,
      severity,
      at: scannedAt,
    })),
  );

const get = async (path: string, by: TestUser) =>
  (await server.request('GET', `/v1${path}`, { token: by.token })).body;

async function importAs(by: TestUser, report: string, fields: Record<string, string> = {}) {
  const started = await uploadReport(server, by.token, report, {
    format: 'nuclei',
    assessment_id: assessment,
    ...fields,
  });
  expect(started.status).toBe(202);
  await waitForImport(server, by.token, started.body.id);
  return get(`/imports/${started.body.id}`, by);
}

const list = (by: TestUser, query = '') => get(`/vulnerabilities?${query}`, by);

it('An import of staff makes drafts if it is told to, or the assessment says so', async () => {
  const made = await importAs(staff, reportOf([{ rule: 'a' }]), { draft: 'true' });
  expect(made).toMatchObject({ options: { draft: true }, result: { findings_created: 1 } });
  expect(await list(staff)).toMatchObject([{ draft: true, reported_by_staff: true }]);
  await server.request('PATCH', `/v1/assessments/${assessment}`, {
    token: staff.token,
    body: { drafts: 'on' },
  });
  expect((await importAs(staff, reportOf([{ rule: 'b' }]))).options.draft).toBe(true);
  expect((await importAs(staff, reportOf([{ rule: 'c' }]), { draft: 'false' })).options.draft).toBe(false);
  expect((await list(staff)).map(({ draft }: { draft: boolean }) => draft)).toEqual([true, true, false]);
  expect(await list(admin)).toHaveLength(1);
});

it('An import of drafts tells others neither what it found nor that it made drafts', async () => {
  const { id } = await importAs(staff, reportOf([{ rule: 'a' }, { rule: 'b' }]), { draft: 'true' });
  // The second import sees a draft again and creates a finding, so its counts would reveal the number of drafts.
  const { id: second } = await importAs(staff, reportOf([{ rule: 'a' }, { rule: 'c' }]), { draft: 'false' });
  for (const user of [admin, member])
    for (const hidden of [id, second]) {
      const seen = await get(`/imports/${hidden}`, user);
      expect(seen).toMatchObject({
        progress: { findings: 0 },
        result: { findings_created: 0, findings_seen_again: 0, findings_gone: 0 },
      });
      expect(seen.options).not.toHaveProperty('draft');
    }
  const events = await get('/audit_events?filter[object_type]=import&limit=100', admin);
  const texts = JSON.stringify(events);
  expect(texts).not.toContain('draft');
  expect(texts).not.toMatch(/"findings_(created|seen_again)":[1-9]/);
});

it('An import by a customer publishes the draft that it finds, with what its report says', async () => {
  await importAs(staff, reportOf([{ rule: 'a' }, { rule: 'b' }]), { draft: 'true' });
  const [draft] = await list(staff);
  const path = `/vulnerabilities/${draft.id}`;
  await server.request('PUT', `/v1${path}`, {
    token: staff.token,
    body: {
      title: 'Thoughts of staff',
      severity: 'Critical',
      description: 'Thoughts.',
      status_id: 2,
      http_requests: ['GET /secret HTTP/1.1'],
    },
  });
  await server.request('POST', `/v1${path}/comments`, { token: staff.token, body: { text: 'Is it real?' } });

  const report = reportOf([{ rule: 'a', name: 'Text of the customer', severity: 'low' }]);
  const preview = await importAs(member, report, { dry_run: 'true' });
  expect(preview).toMatchObject({
    result: { findings_created: 1, findings_seen_again: 0 },
    preview: { new: [{ title: 'Text of the customer' }], again: [] },
  });
  expect(await list(member)).toEqual([]);
  const imported = await importAs(member, report);
  expect(imported).toMatchObject({ result: { findings_created: 1, findings_seen_again: 0 } });
  const [published, ...others] = await list(member);
  expect(others).toEqual([]);
  expect(published).toMatchObject({
    id: draft.id,
    title: 'Text of the customer',
    severity: 'Low',
    description: 'Description: Text of the customer.',
    http_requests: [],
    import_id: imported.id,
    reported_by_staff: true,
    comment_count: 0,
  });
  expect(published.created_at > draft.created_at).toBe(true);
  expect(await list(member, `filter[import_id]=${imported.id}`)).toHaveLength(1);
  expect(JSON.stringify(await get(`${path}/timeline`, admin))).not.toMatch(/staff|secret/i);
  expect(await get('/vulnerabilities/summary', admin)).toMatchObject({
    by_severity: { Low: 1, Critical: 0, High: 0 },
  });
  expect(await get('/vulnerabilities/summary', staff)).toMatchObject({
    by_severity: { Low: 1, High: 1, Critical: 0 },
  });
  expect(await get(path, staff)).toMatchObject({ draft: false, published_by: { id: member.id } });

  // Later reports of others leave it, and those of staff change it.
  await importAs(
    member,
    reportOf([{ rule: 'a', name: 'Later text', severity: 'low', scannedAt: START + 5_000 }]),
  );
  expect((await get(path, member)).title).toBe('Text of the customer');
});

it('An undo of the import that published a draft leaves it published', async () => {
  await importAs(staff, reportOf([{ rule: 'a' }]), { draft: 'true' });
  const report = reportOf([{ rule: 'a', name: 'Text of the customer', severity: 'low' }]);
  const { id } = await importAs(member, report);
  const undo = await server.request('POST', `/v1/imports/${id}/undo`, { token: member.token });
  expect(undo.status).toBe(202);
  await waitForImport(server, member.token, id, ({ undone }) => undone !== null);
  expect(await get(`/imports/${id}`, member)).toMatchObject({ undone: { findings: 0, kept: 1 } });
  expect(await list(member)).toMatchObject([{ title: 'Text of staff', severity: 'High' }]);
  expect(await get('/vulnerabilities/summary', admin)).toMatchObject({ by_severity: { High: 1, Low: 0 } });
});

it('What a customer does not import stays a draft, and its absence is not told', async () => {
  await importAs(staff, reportOf([{ rule: 'a' }, { rule: 'b' }]), { draft: 'true' });
  const below = await importAs(member, reportOf([{ rule: 'a', severity: 'low' }]), {
    minimum_severity: 'High',
  });
  expect(below).toMatchObject({
    result: { findings_created: 0, findings_seen_again: 0 },
    skips: [{ reason: 'below minimum severity', count: 1 }],
  });
  const missing = await importAs(member, reportOf([{ rule: 'c', scannedAt: START + 9_000 }]), {
    targets: 'https://acme.example/',
    when_gone: 'fix',
  });
  expect(missing).toMatchObject({ result: { findings_created: 1, findings_gone: 0 } });
  const preview = await importAs(member, reportOf([{ rule: 'd', scannedAt: START + 19_000 }]), {
    targets: 'https://acme.example/',
    when_gone: 'fix',
    dry_run: 'true',
  });
  expect(preview.preview.gone).toMatchObject([{ title: 'Text of staff' }]);
  expect(preview.result.findings_gone).toBe(1);
  const undo = await server.request('POST', `/v1/imports/${missing.id}/undo`, { token: member.token });
  expect(undo.status).toBe(202);
  await waitForImport(server, member.token, missing.id, ({ undone }) => undone !== null);
  expect((await get(`/imports/${missing.id}`, member)).undone).toMatchObject({
    findings: 1,
    statuses: 0,
    kept: 0,
  });
  expect(await list(member)).toEqual([]);
  expect(await list(staff, 'filter[draft]=true')).toHaveLength(2);
});

it('Publishing does not keep a finding when its import is undone', async () => {
  const { id } = await importAs(staff, reportOf([{ rule: 'a' }]), { draft: 'true' });
  const [draft] = await list(staff);
  await server.request('POST', '/v1/vulnerabilities/bulk_update', {
    token: staff.token,
    body: { ids: [draft.id], set: { draft: false } },
  });
  const [published] = await list(admin);
  expect(published.first_seen_at).toBe(draft.first_seen_at);
  await server.request('POST', `/v1/imports/${id}/undo`, { token: staff.token });
  await waitForImport(server, staff.token, id, ({ undone }) => undone !== null);
  expect(await list(staff)).toEqual([]);
});

it('Others reach no asset through drafts, and do when they are published', async () => {
  await importAs(staff, reportOf([{ rule: 'a' }]), { draft: 'true' });
  const assets = async (by: TestUser) =>
    (await server.request('GET', '/api/asset/v2/assets', { token: by.token })).body;
  expect(await assets(member)).toEqual([]);
  const [{ uid }] = await assets(staff);
  const [draft] = await list(staff);
  await server.request('POST', '/v1/vulnerabilities/bulk_update', {
    token: staff.token,
    body: { ids: [draft.id], set: { draft: false } },
  });
  expect(await assets(member)).toMatchObject([{ uid }]);
});

it('Decisions on drafts are not carried over for others', async () => {
  await importAs(staff, reportOf([{ rule: 'a' }]), { draft: 'true' });
  const [draft] = await list(staff);
  await server.request('PATCH', `/v1/vulnerabilities/${draft.id}`, {
    token: staff.token,
    body: { status_id: 8, comment: 'No.' },
  });
  const other = await fixtures.assessment((await get(`/assessments/${assessment}`, staff)).organization_uid);
  await importAs(admin, reportOf([{ rule: 'a' }]), { carry: 'true', assessment_id: other.uid });
  expect(await list(admin)).toMatchObject([{ status_id: 1 }]);
});
