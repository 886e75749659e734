import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../harness/expect-problem.ts';
import { readAndRecount } from '../harness/vulnerability-counters.ts';
import { createFixtures, type TestUser } from '../harness/fixtures.ts';
import { formOf, insertImport } from '../harness/imports.ts';
import { type TestResponse, useSharedServer } from '../harness/server.ts';

/** Drafts are seen by staff alone until staff publish them (docs/roles.md). */

let now = Date.now();
const server = await useSharedServer(() => (now += 1_000));
const fixtures = createFixtures(server);

let organization: string;
let organizationId: number;
let assessment: string;
let staff: TestUser;
let colleague: TestUser;
let admin: TestUser;
let member: TestUser;

beforeEach(async () => {
  await fixtures.together(async (batch) => {
    ({ uid: organization, id: organizationId } = await batch.organization());
    assessment = (await batch.assessment(organization)).uid;
    staff = await batch.user({ assignedTo: [organization] });
    colleague = await batch.user({ assignedTo: [organization] });
    admin = await batch.user({ organization, admin: true });
    member = await batch.user({ organization });
    await batch.access(assessment, member.id);
  });
});
afterEach(async () => {
  const { counters, rows } = await readAndRecount(server.context.db, organizationId, now);
  expect(counters).toEqual(rows);
});

const send = (method: string, path: string, { token }: TestUser, body?: unknown): Promise<TestResponse> =>
  server.request(method, `/v1${path}`, { token, body });

const expectForbidden = (response: TestResponse, detail: RegExp) => {
  expectProblem(server, response, { area: 'v1', status: 403, kind: 'forbidden' });
  expect(response.body.detail).toMatch(detail);
};

async function report(by: TestUser, fields: object = {}): Promise<string> {
  const created = await send('POST', '/vulnerabilities', by, {
    assessment_id: assessment,
    title: 'Injection',
    severity: 'High',
    description: 'Text.',
    ...fields,
  });
  expect(created.status).toBe(201);
  return `/vulnerabilities/${created.body.id}`;
}

const draft = (by = staff, fields: object = {}) => report(by, { draft: true, ...fields });

async function replace(path: string, by: TestUser, change: object): Promise<TestResponse> {
  const { title, severity, description } = (await send('GET', path, staff)).body;
  return send('PUT', path, by, { title, severity, description, ...change });
}

const setDrafts = async (drafts: string, by = staff) =>
  send('PATCH', `/assessments/${assessment}`, by, { drafts });

const titles = async (by: TestUser, query = '') =>
  (await send('GET', `/vulnerabilities?${query}`, by)).body.map(({ title }: { title: string }) => title);

describe('A draft', () => {
  it('says that it is one to staff alone', async () => {
    const path = await draft();
    expect((await send('GET', path, staff)).body).toMatchObject({ draft: true, published_by: null });
    const published = await report(staff);
    expect((await send('GET', published, staff)).body).toMatchObject({ draft: false, published_by: null });
    for (const user of [admin, member]) {
      const { body } = await send('GET', published, user);
      expect(body).not.toHaveProperty('draft');
      expect(body).not.toHaveProperty('published_by');
    }
  });

  it('is in no list, count or summary of others', async () => {
    const tag = await fixtures.vulnerabilityTag(organization);
    const asset = await fixtures.asset({ organization });
    const gateway = await fixtures.asset({ organization, name: 'Gateway' });
    await fixtures.list(assessment, asset.uid);
    await fixtures.list(assessment, gateway.uid);
    const path = await draft(staff, {
      title: 'Hidden',
      cve_ids: ['CVE-2021-44228'],
      tags: [tag.id],
      asset_uids: [asset.uid, gateway.uid],
    });
    await report(staff, { title: 'Shown', tags: [tag.id], asset_uids: [asset.uid] });
    const queries = [
      '',
      'filter[search]=hidden',
      'filter[search]=hi',
      `filter[search]=%23${path.split('/').at(-1)}`,
      'filter[search]=gateway',
      'filter[search]=cve-2021',
      `filter[tag_id]=${tag.id}`,
      `filter[asset_uid]=${asset.uid}`,
      `filter[assessment_id]=${assessment}`,
      'filter[phase][]=new',
      'filter[severity][]=High',
      `filter[created_by]=${staff.id}`,
      'sort=-updated_at',
    ];
    for (const query of queries)
      for (const user of [admin, member]) {
        const { body, headers } = await send('GET', `/vulnerabilities?${query}`, user);
        const shown = query.includes('search') ? [] : ['Shown'];
        expect({ query, shown: body.map(({ title }: { title: string }) => title) }).toEqual({ query, shown });
        const { total_entries: total } = JSON.parse(headers.get('x-pagination') ?? '{}');
        expect({ query, total }).toEqual({ query, total: shown.length });
      }
    const counts = async (by: TestUser) => ({
      ...(await send('GET', '/vulnerabilities/summary', by)).body,
      assessment: (await send('GET', `/assessments/${assessment}`, by)).body,
      tag: (await send('GET', '/vulnerability_tags', by)).body.find(
        ({ id }: { id: number }) => id === tag.id,
      ),
    });
    for (const user of [admin, member])
      expect(await counts(user)).toMatchObject({
        by_severity: { High: 1 },
        by_phase: { new: 1 },
        open_by_age: { days_7: 1 },
        assessment: { vulnerability_count: 1, open_vulnerability_count: 1 },
        tag: { count: 1 },
      });
    expect(await counts(staff)).toMatchObject({
      by_severity: { High: 2 },
      open_by_age: { days_7: 2 },
      assessment: { vulnerability_count: 2 },
      tag: { count: 2 },
    });
    const csv = await server.request('GET', '/v1/vulnerabilities', {
      token: admin.token,
      headers: { accept: 'text/csv' },
    });
    expect(csv.text).toContain('Shown');
    expect(csv.text).not.toContain('Hidden');
  });

  it('is found by others in no operation', async () => {
    const path = await draft();
    const comment = await send('POST', `${path}/comments`, staff, { text: 'Text' });
    const [file] = (
      await server.request('POST', `/v1${path}/attachments`, {
        token: staff.token,
        ...formOf([['file', 'evidence', 'evidence.txt']]),
      })
    ).body;
    const retest = await send('POST', `${path}/patch_verifications`, staff, { message: 'Fixed.' });
    const attempts: [string, string, unknown?][] = [
      ['GET', path],
      ['PUT', path, { title: 'Other', severity: 'Low' }],
      ['DELETE', path],
      ['GET', `${path}/timeline`],
      ['GET', `${path}/comments`],
      ['POST', `${path}/comments`, { text: 'Text' }],
      ['PATCH', `${path}/comments/${comment.body.id}`, { text: 'Other' }],
      ['DELETE', `${path}/comments/${comment.body.id}`],
      ['GET', `${path}/attachments/${file.id}`],
      ['DELETE', `${path}/attachments/${file.id}`],
      ['GET', `${path}/patch_verifications`],
      ['POST', `${path}/patch_verifications`, { message: 'Fixed.' }],
      ['PATCH', `${path}/patch_verifications/${retest.body.id}`, { status: 'cancelled' }],
      ['PATCH', path, { status_id: 2 }],
    ];
    const missing = await send('GET', '/vulnerabilities/999999999', admin);
    for (const user of [admin, member])
      for (const [method, target, body] of attempts) {
        const { status, body: problem } = await send(method, target, user, body);
        expect([status, problem.detail], `${method} ${target}`).toEqual([404, missing.body.detail]);
      }
    const id = Number(path.split('/').at(-1));
    const bulk = await send('POST', '/vulnerabilities/bulk_update', admin, {
      ids: [id],
      set: { status_id: 2 },
    });
    expect(bulk.status).toBe(422);
    expect((await send('GET', path, staff)).body).toMatchObject({ draft: true, comment_count: 1 });
  });

  it('is in no audit row of others, even after it is published', async () => {
    const path = await draft();
    const id = path.split('/').at(-1) as string;
    await replace(path, staff, { title: 'Edited', status_id: 2 });
    await send('POST', `${path}/comments`, staff, { text: 'Text' });
    await server.request('POST', `/v1${path}/attachments`, {
      token: staff.token,
      ...formOf([['file', 'evidence', 'evidence.txt']]),
    });
    await send('POST', `${path}/patch_verifications`, staff, { message: 'Fixed.' });
    await send('POST', '/vulnerabilities/bulk_update', staff, {
      ids: [Number(id)],
      set: { severity: 'Low' },
    });
    const events = async (by: TestUser) =>
      (await send('GET', '/audit_events?filter[since]=2000-01-01T00:00:00Z&limit=100', by)).body.filter(
        (event: { object_type: string; object_id: string; after: { vulnerability?: number } | null }) =>
          (event.object_type === 'vulnerability' && event.object_id === id) ||
          event.after?.vulnerability === Number(id),
      );
    expect(await events(admin)).toEqual([]);
    expect((await events(staff)).length).toBeGreaterThanOrEqual(6);
    await replace(path, staff, { draft: false });
    expect(await events(admin)).toMatchObject([
      { action: 'vulnerability.create', before: null, after: { title: 'Edited', severity: 'Low' } },
    ]);
  });

  it('can be created and deleted without a trace for others', async () => {
    const path = await draft();
    expect((await send('DELETE', path, staff)).status).toBe(204);
    const { body } = await send('GET', '/audit_events?filter[object_type]=vulnerability', admin);
    expect(body).toEqual([]);
    expect((await send('GET', '/vulnerabilities/summary', staff)).body.by_severity.High).toBe(0);
  });

  it('is not counted in the audit log when its tag is deleted', async () => {
    const tag = await fixtures.vulnerabilityTag(organization);
    await draft(staff, { tags: [tag.id] });
    await report(staff, { tags: [tag.id] });
    expect((await send('DELETE', `/vulnerability_tags/${tag.id}`, admin)).status).toBe(204);
    const { body } = await send('GET', `/audit_events?filter[action]=vulnerability-tag.delete`, admin);
    expect(body).toMatchObject([{ before: { vulnerabilities: 1 } }]);
  });

  it('does not count as an open vulnerability of its asset', async () => {
    const asset = await fixtures.asset({ organization });
    await fixtures.list(assessment, asset.uid);
    const path = await draft(staff, { asset_uids: [asset.uid] });
    const open = async () => {
      const { rows } = await server.context.db.read
        .selectFrom('assets')
        .select('open_vulnerabilities')
        .where('uid', '=', asset.uid)
        .execute()
        .then((selected) => ({ rows: selected }));
      return rows[0]?.open_vulnerabilities;
    };
    expect(await open()).toBe(0);
    await replace(path, staff, { draft: false, asset_uids: [asset.uid] });
    expect(await open()).toBe(1);
  });
});

describe('draft', () => {
  it.each([true, false])('%s is refused from others than staff', async (value) => {
    const path = await report(member);
    for (const user of [admin, member])
      for (const [method, target, body] of [
        [
          'POST',
          '/vulnerabilities',
          { assessment_id: assessment, title: 'A', severity: 'Low', draft: value },
        ],
        ['PUT', path, { title: 'A', severity: 'Low', draft: value }],
        ['POST', '/vulnerabilities/bulk_update', { ids: [1], set: { draft: value } }],
        ['POST', '/vulnerabilities/bulk_update', { filter: { draft: value }, set: { status_id: 2 } }],
        ['GET', `/vulnerabilities?filter[draft]=${value}`, undefined],
        ['GET', `/vulnerabilities/summary?filter[draft]=${value}`, undefined],
      ] as const)
        expectForbidden(await send(method, target, user, body), /staff/);
    for (const user of [admin, member])
      expectForbidden(
        await server.request('POST', '/v1/imports', {
          token: user.token,
          ...formOf([
            ['assessment_id', assessment],
            ['draft', String(value)],
            ['file', 'title,severity\nImported,Low\n', 'report.csv'],
          ]),
        }),
        /staff/,
      );
    const csv = await server.request('GET', `/v1/vulnerabilities?filter[draft]=${value}`, {
      token: admin.token,
      headers: { accept: 'text/csv' },
    });
    expect(csv.status).toBe(403);
  });

  it('selects drafts for staff', async () => {
    await draft(staff, { title: 'Hidden' });
    await report(staff, { title: 'Shown' });
    expect(await titles(staff)).toEqual(['Hidden', 'Shown']);
    expect(await titles(staff, 'filter[draft]=true')).toEqual(['Hidden']);
    expect(await titles(staff, 'filter[draft]=false')).toEqual(['Shown']);
    const count = async (value: boolean) =>
      (await send('GET', `/vulnerabilities/summary?filter[draft]=${value}`, staff)).body.by_severity.High;
    expect([await count(true), await count(false)]).toEqual([1, 1]);
  });
});

describe('Publishing', () => {
  it('makes it a new vulnerability of that moment', async () => {
    const path = await draft();
    const before = (await send('GET', path, staff)).body;
    const { status, body } = await replace(path, colleague, { draft: false, comment: 'Reviewed.' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ draft: false, published_by: { id: colleague.id } });
    expect(body.created_at > before.created_at).toBe(true);
    expect(body.first_seen_at).toBe(body.created_at);
    expect(Date.parse(body.resolved_at)).toBe(Math.floor(Date.parse(body.created_at) / 1_000) * 1_000);
    const seen = (await send('GET', path, member)).body;
    expect(seen).toMatchObject({ created_at: body.created_at, comment_count: 1 });
    expect((await send('GET', `${path}/comments`, member)).body).toMatchObject([{ text: 'Reviewed.' }]);
    const kinds = async (by: TestUser) =>
      (await send('GET', `${path}/timeline`, by)).body.map(({ kind }: { kind: string }) => kind);
    expect(await kinds(member)).toEqual(['created', 'comment']);
    expect(await kinds(staff)).toContain('edited');
  });

  it('keeps comments and changes of the draft internal', async () => {
    const path = await draft();
    await send('POST', `${path}/comments`, staff, { text: 'Is it real?' });
    await replace(path, staff, { title: 'Other', status_id: 2, comment: 'With an edit.' });
    await send('POST', '/vulnerabilities/bulk_update', staff, {
      ids: [Number(path.split('/').at(-1))],
      set: { severity: 'Low' },
      comment: 'In bulk.',
    });
    const comments = (await send('GET', `${path}/comments`, staff)).body;
    expect(comments.map(({ internal }: { internal: boolean }) => internal)).toEqual([true, true, true]);
    await replace(path, staff, { draft: false });
    expect((await send('GET', `${path}/comments`, member)).body).toEqual([]);
    expect((await send('GET', `${path}/timeline`, member)).body).toMatchObject([{ kind: 'created' }]);
    expect((await send('GET', path, member)).body).toMatchObject({
      title: 'Other',
      status_id: 2,
      severity: 'Low',
      comment_count: 0,
    });
  });

  it('is final', async () => {
    const path = await report(staff);
    const response = await replace(path, staff, { draft: true });
    expect(response.status).toBe(422);
    expect(response.body.failedValidation).toMatchObject([{ property: 'draft' }]);
    const id = Number(path.split('/').at(-1));
    const bulk = await send('POST', '/vulnerabilities/bulk_update', staff, {
      ids: [id],
      set: { draft: true },
    });
    expect(bulk.status).toBe(422);
    expect((await replace(path, staff, { draft: false })).status).toBe(200);
    const hidden = await draft();
    expect((await replace(hidden, staff, { draft: true })).body).toMatchObject({ draft: true });
  });

  it('works for many, and its undo leaves them published', async () => {
    const paths = [await draft(), await draft(staff, { title: 'Second' }), await report(staff)];
    const ids = paths.map((path) => Number(path.split('/').at(-1)));
    const preview = await send('POST', '/vulnerabilities/bulk_update', staff, {
      ids,
      set: { draft: false },
      dry_run: true,
    });
    expect(preview.body).toMatchObject({ matched_count: 3, updated_count: 2 });
    expect(await titles(member)).toHaveLength(1);
    const published = await send('POST', '/vulnerabilities/bulk_update', staff, {
      ids,
      set: { draft: false, severity: 'Low' },
      comment: 'Published.',
    });
    expect(published.body).toMatchObject({ updated_count: 3 });
    expect(await titles(member)).toHaveLength(3);
    const summary = async (by: TestUser) =>
      (await send('GET', '/vulnerabilities/summary', by)).body.by_severity;
    expect(await summary(member)).toMatchObject({ High: 0, Low: 3 });
    expect((await send('GET', `${paths[0]}/comments`, member)).body).toMatchObject([{ internal: false }]);
    const undone = await send('POST', '/vulnerabilities/bulk_update', staff, {
      undo: published.headers.get('x-request-id'),
    });
    expect(undone.body).toMatchObject({ updated_count: 3 });
    expect(await summary(admin)).toMatchObject({ High: 3, Low: 0 });
    expect(await summary(staff)).toMatchObject({ High: 3 });
  });
});

describe('drafts of an assessment', () => {
  it('makes what staff report a draft, unless they say otherwise', async () => {
    expect((await send('GET', `/assessments/${assessment}`, member)).body.drafts).toBe('off');
    expect((await setDrafts('on')).body.drafts).toBe('on');
    expect((await send('GET', await report(staff), staff)).body.draft).toBe(true);
    expect((await send('GET', await report(staff, { draft: false }), staff)).body.draft).toBe(false);
    expect((await send('GET', await report(member), staff)).body.draft).toBe(false);
  });

  it('is changed by staff alone', async () => {
    for (const drafts of ['on', 'second_person']) expectForbidden(await setDrafts(drafts, admin), /staff/);
    expect((await setDrafts('off', admin)).status).toBe(200);
    expect((await setDrafts('sometimes')).status).toBe(422);
    const create = (by: TestUser, fields: object) =>
      send('POST', '/assessments', by, { name: 'New', organization_uid: organization, ...fields });
    expectForbidden(await create(admin, { drafts: 'on' }), /staff/);
    expect((await create(admin, {})).body.drafts).toBe('off');
    expect((await create(staff, { drafts: 'second_person' })).body.drafts).toBe('second_person');
  });

  it('can ask for a second person', async () => {
    await setDrafts('second_person');
    expectForbidden(
      await send('POST', '/vulnerabilities', staff, {
        assessment_id: assessment,
        title: 'A',
        severity: 'Low',
        draft: false,
      }),
      /another member of staff/,
    );
    const path = await report(staff);
    const id = Number(path.split('/').at(-1));
    expectForbidden(await replace(path, staff, { draft: false }), /another member of staff/);
    for (const dryRun of [true, false])
      expectForbidden(
        await send('POST', '/vulnerabilities/bulk_update', staff, {
          ids: [id],
          set: { draft: false },
          dry_run: dryRun,
        }),
        /another member of staff/,
      );
    expect((await send('GET', path, member)).status).toBe(404);
    expect((await replace(path, colleague, { draft: false })).body.published_by.id).toBe(colleague.id);
  });

  it('keeps an assessment with drafts from being deleted', async () => {
    const path = await draft();
    const remove = (by: TestUser) => send('DELETE', `/assessments/${assessment}`, by);
    expectForbidden(await remove(admin), /staff/);
    expect((await remove(staff)).status).toBe(409);
    await report(staff);
    expect((await remove(admin)).status).toBe(409);
    expect((await send('DELETE', path, staff)).status).toBe(204);
  });
});

it('An import of drafts tells others no counts', async () => {
  const { id: assessmentId } = await server.context.db.read
    .selectFrom('assessments')
    .select('id')
    .where('uid', '=', assessment)
    .executeTakeFirstOrThrow();
  const id = await insertImport(server, {
    organizationId,
    assessmentId,
    createdBy: staff.id,
    state: 'succeeded',
    finishedAt: 2,
  });
  expect((await send('GET', `/imports/${id}`, admin)).body.options).not.toHaveProperty('draft');
  expect((await send('GET', `/imports/${id}`, staff)).body.options.draft).toBe(false);
});
