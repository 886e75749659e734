import { beforeEach, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/auth/callers.ts';
import { testingSessionList } from '../../src/domain/assessments/testing-session-list.ts';
import { expectProblem } from '../harness/expect-problem.ts';
import { createFixtures, type TestUser } from '../harness/fixtures.ts';
import { formOf, uploadReport, waitForImport } from '../harness/imports.ts';
import { type TestResponse, useSharedServer } from '../harness/server.ts';

/** What staff reported is not rewritten by those who are tested (docs/roles.md). */

let now = Date.now();
const server = await useSharedServer(() => (now += 10));
const fixtures = createFixtures(server);

let organization: string;
let assessment: string;
let staff: TestUser;
let admin: TestUser;
let member: TestUser;

beforeEach(async () => {
  await fixtures.together(async (batch) => {
    organization = (await batch.organization()).uid;
    assessment = (await batch.assessment(organization)).uid;
    staff = await batch.user({ assignedTo: [organization] });
    admin = await batch.user({ organization, admin: true });
    member = await batch.user({ organization });
    await batch.access(assessment, member.id);
  });
});

const send = (method: string, path: string, { token }: TestUser, body?: unknown): Promise<TestResponse> =>
  server.request(method, `/v1${path}`, { token, body });

const expectForbidden = (response: TestResponse, detail: RegExp) => {
  expectProblem(server, response, { area: 'v1', status: 403, kind: 'forbidden' });
  expect(response.body.detail).toMatch(detail);
};

const FIELDS = {
  title: 'Injection',
  severity: 'High',
  description: 'Text.',
  impact: 'All data.',
  recommended_fix: 'Bind parameters.',
  category: { parent: 'Injection', display: 'SQL' },
  cve_ids: ['CVE-2021-44228'],
  cwe_ids: ['CWE-89'],
  cvss_vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
  exploitable_locations: [{ type: 'url', value: 'https://acme.example/' }],
  validation_steps: [{ detail: 'Open the page.' }],
  http_requests: ['GET / HTTP/1.1'],
  reference_urls: ['https://acme.example/reference'],
};

async function report(by: TestUser, fields: object = {}): Promise<string> {
  const created = await send('POST', '/vulnerabilities', by, {
    assessment_id: assessment,
    ...FIELDS,
    ...fields,
  });
  expect(created.status).toBe(201);
  return `/vulnerabilities/${created.body.id}`;
}

it('Comments and files say whether staff made them', async () => {
  const path = await report(member);
  for (const user of [staff, member]) {
    await send('POST', `${path}/comments`, user, { text: 'Text' });
    await server.request('POST', `/v1${path}/attachments`, {
      token: user.token,
      ...formOf([['file', 'evidence', 'evidence.txt']]),
    });
  }
  const marks = [{ by_staff: true }, { by_staff: false }];
  expect((await send('GET', `${path}/comments`, member)).body).toMatchObject(marks);
  expect((await send('GET', path, member)).body.attachments).toMatchObject(marks);
});

it('A vulnerability says who reported it: staff, or the organization', async () => {
  for (const [user, isStaffs] of [
    [staff, true],
    [admin, false],
    [member, false],
  ] as const) {
    const path = await report(user);
    expect((await send('GET', path, member)).body.reported_by_staff).toBe(isStaffs);
    const { may } = (await send('GET', path, admin)).body;
    expect(may).toEqual({
      edit: !isStaffs,
      triage: true,
      dismiss: true,
      comment: true,
      decide_retest: false,
      delete: !isStaffs,
    });
    expect((await send('GET', path, staff)).body.may).toMatchObject({ edit: true, delete: true });
  }
});

describe('Operation 19', () => {
  it.each<[string, unknown]>([
    ['title', 'Other'],
    ['severity', 'Low'],
    ['description', 'Other.'],
    ['impact', ''],
    ['recommended_fix', ''],
    ['category', { parent: 'Injection', display: 'LDAP' }],
    ['cve_ids', []],
    ['cwe_ids', ['CWE-79']],
    ['cvss_vector', null],
    ['exploitable_locations', []],
    ['validation_steps', []],
    ['http_requests', []],
    ['reference_urls', []],
  ])('lets only staff change %s of what staff reported', async (field, value) => {
    const path = await report(staff);
    const change = { ...FIELDS, [field]: value };
    for (const user of [admin, member])
      expectForbidden(
        await send('PUT', path, user, change),
        new RegExp(field.replace('cvss_vector', 'cvss_score')),
      );
    expect((await send('GET', path, admin)).body).toMatchObject({ title: FIELDS.title, severity: 'High' });
    const own = await report(member);
    for (const [target, user] of [
      [path, staff],
      [own, member],
    ] as const)
      expect((await send('PUT', target, user, change)).status).toBe(200);
  });

  it('lets only staff change its assets and its assessment', async () => {
    const asset = await fixtures.asset({ organization });
    await fixtures.list(assessment, asset.uid);
    const other = await fixtures.assessment(organization);
    const path = await report(staff, { asset_uids: [asset.uid] });
    expectForbidden(await send('PUT', path, admin, FIELDS), /asset_uids/);
    const same = { ...FIELDS, asset_uids: [asset.uid] };
    expectForbidden(await send('PUT', path, admin, { ...same, assessment_id: other.uid }), /assessment_id/);
    expect((await send('PUT', path, admin, { ...same, assessment_id: assessment })).status).toBe(200);
  });

  it('accepts the same values, with another status, tags, assignee, due date and a comment', async () => {
    const path = await report(staff);
    const { body } = await send('GET', path, member);
    const triaged = {
      ...body,
      status_id: 6,
      tag_list: ['accepted'],
      tags: [],
      assignee_id: member.id,
      due_on: '2030-01-01',
      comment: 'Until the next release.',
    };
    const response = await send('PUT', path, member, triaged);
    expect([response.status, response.body.status_id, response.body.assignee?.id]).toEqual([
      200,
      6,
      member.id,
    ]);
    expect(response.body.comment_count).toBe(1);
    const [comment] = (await send('GET', `${path}/comments`, member)).body;
    expect([comment.text, comment.user.id]).toEqual(['Until the next release.', member.id]);
  });
});

it('Operation 5 adds a comment, and a blank one counts as absent', async () => {
  const path = await report(staff);
  expect((await send('PATCH', path, member, { status_id: 7, comment: 'Not ours.' })).status).toBe(200);
  expect((await send('PATCH', path, member, { comment: '  ' })).status).toBe(200);
  expect((await send('PATCH', path, member, { comment: 'Again.' })).status).toBe(200);
  const comments: { text: string }[] = (await send('GET', `${path}/comments`, member)).body;
  expect(comments.map(({ text }) => text)).toEqual(['Not ours.', 'Again.']);
  const tooLong = await send('PATCH', path, member, { status_id: 1, comment: 'x'.repeat(65_537) });
  expect(tooLong.status).toBe(422);
  expect((await send('GET', path, member)).body.status_id).toBe(7);
});

describe('Operation 30', () => {
  const bulk = (by: TestUser, body: object) => send('POST', '/vulnerabilities/bulk_update', by, body);
  const idOf = (path: string) => Number(path.split('/').at(-1));

  it('does not change severities of what staff reported, and says how many', async () => {
    const ids = [await report(staff), await report(staff, { severity: 'Low' }), await report(member)].map(
      idOf,
    );
    for (const user of [admin, member]) {
      const response = await bulk(user, { ids, set: { severity: 'Low' } });
      expectForbidden(response, /^Staff reported 1 of the vulnerabilities/);
      expectForbidden(await bulk(user, { ids, set: { severity: 'Low' }, dry_run: true }), /1 of/);
    }
    const { body } = await send('GET', `/vulnerabilities/${ids[2]}`, admin);
    expect(body.severity).toBe('High');
    expect((await bulk(member, { ids: [ids[2]], set: { severity: 'Low' } })).status).toBe(200);
    expect((await bulk(staff, { ids, set: { severity: 'Low' } })).status).toBe(200);
  });

  it('needs a reason for a dismissal', async () => {
    const ids = [idOf(await report(staff))];
    for (const status_id of [6, 7, 8, 9])
      for (const rest of [{}, { comment: '' }, { comment: ' \n' }, { dry_run: true }]) {
        const response = await bulk(member, { ids, set: { status_id }, ...rest });
        expect([response.status, response.body.failedValidation?.[0]?.property]).toEqual([422, 'comment']);
      }
    expect((await bulk(member, { ids, set: { status_id: 5 } })).status).toBe(200);
    const dismissed = await bulk(member, { ids, set: { status_id: 8 }, comment: 'See the other one.' });
    expect(dismissed.status).toBe(200);
    await bulk(member, { ids, set: { status_id: 2 } });
    const reopened = await bulk(member, { ids, set: { status_id: 6 }, comment: 'Accepted.' });
    const undone = await bulk(member, { undo: reopened.headers.get('x-request-id') });
    expect([undone.status, undone.body.updated_count]).toEqual([200, 1]);
  });
});

it('Only staff delete what staff reported, their files and their comments', async () => {
  const path = await report(staff);
  const attach = (by: TestUser) =>
    server.request('POST', `/v1${path}/attachments`, {
      token: by.token,
      ...formOf([['file', 'evidence', 'evidence.txt']]),
    });
  const remove = (target: string, by: TestUser) => send('DELETE', target, by);
  expectForbidden(await remove(path, admin), /only staff can delete it/);

  const file = `${path}/attachments/${(await attach(staff)).body[0].id}`;
  expectForbidden(await remove(file, admin), /only staff/);
  expect((await remove(file, staff)).status).toBe(204);
  const ownFile = `${path}/attachments/${(await attach(member)).body[0].id}`;
  expect((await remove(ownFile, admin)).status).toBe(204);

  const comment = async (by: TestUser) =>
    `${path}/comments/${(await send('POST', `${path}/comments`, by, { text: 'Text' })).body.id}`;
  const ofStaff = await comment(staff);
  expectForbidden(await remove(ofStaff, admin), /only staff/);
  expect((await remove(ofStaff, staff)).status).toBe(204);
  expect((await remove(await comment(member), admin)).status).toBe(204);
  expect((await remove(path, staff)).status).toBe(204);
});

describe('Hours', () => {
  const sessions = () => `/assessments/${assessment}/testing_sessions`;
  const iso = (time: number) => new Date(time).toISOString();
  const log = async (by: TestUser, input: object = {}) => {
    const times = { started_at: iso(now - 7_200_000), ended_at: iso(now - 3_600_000) };
    return send('POST', sessions(), by, { ...times, ...input });
  };

  it('of staff are changed and deleted by staff alone', async () => {
    const path = `/testing_sessions/${(await log(staff)).body.id}`;
    expectForbidden(await send('PATCH', path, admin, { note: 'Less' }), /hours of staff/);
    expectForbidden(await send('DELETE', path, admin), /hours of staff/);
    expect((await send('PATCH', path, staff, { note: 'More' })).status).toBe(200);
    const running = (await send('POST', sessions(), staff, {})).body.id;
    expectForbidden(
      await send('PATCH', `/testing_sessions/${running}`, admin, { ended_at: iso(now) }),
      /hours of staff/,
    );
    expect((await send('DELETE', path, staff)).status).toBe(204);
  });

  it('that staff logged for a tester are theirs, but the tester stops the clock', async () => {
    const { body } = await send('POST', sessions(), staff, { tester_id: member.id });
    const path = `/testing_sessions/${body.id}`;
    expectForbidden(await send('PATCH', path, member, { note: 'Other' }), /hours of staff/);
    expect((await send('PATCH', path, member, { ended_at: iso(now) })).status).toBe(200);
    expectForbidden(await send('PATCH', path, member, { ended_at: iso(now) }), /hours of staff/);
  });

  it('show how they were corrected, but for the first stop', async () => {
    const { body: created } = await send('POST', sessions(), member, {});
    const path = `/testing_sessions/${created.id}`;
    const end = iso(now);
    const listed = async () => (await send('GET', sessions(), admin)).body[0];
    await send('PATCH', path, member, { ended_at: end });
    expect([(await listed()).edited, (await listed()).edits]).toEqual([false, []]);
    const start = iso(Date.parse(created.started_at) - 3_600_000);
    await send('PATCH', path, member, { started_at: start });
    await send('PATCH', path, admin, { note: 'Checked', ended_at: null });
    await send('PATCH', path, admin, { note: 'Checked' });
    const { edits, edited } = await listed();
    expect(edited).toBe(true);
    expect(edits).toEqual([
      {
        at: expect.any(String),
        user: { id: member.id, name: null, email: member.email },
        before: { started_at: created.started_at },
        after: { started_at: start },
      },
      {
        at: expect.any(String),
        user: { id: admin.id, name: null, email: admin.email },
        before: { ended_at: end, note: '' },
        after: { ended_at: null, note: 'Checked' },
      },
    ]);
    const [all] = (await send('GET', '/testing_sessions', admin)).body;
    expect([all.edited, 'edits' in all]).toEqual([true, false]);
  });

  it('are read a few at a time if their corrections are long', async () => {
    const ids = [(await log(member)).body.id, (await log(member)).body.id, (await log(member)).body.id];
    for (const id of ids)
      for (let index = 0; index < 5; index += 1)
        expect(
          (await send('PATCH', `/testing_sessions/${id}`, member, { note: `${index}`.repeat(65_536) }))
            .status,
        ).toBe(200);
    const listed = await send('GET', sessions(), member);
    expect(listed.body.map((session: any) => session.edits.length)).toEqual([5, 5, 5]);
    const { db } = server.context;
    const { uid } = member;
    const caller = { userId: member.id, uid, organizationId: null, staff: true, assignedOrganizations: null };
    const page = await testingSessionList.read(
      { db: db.read, caller: caller as unknown as Caller, now },
      { filters: { assessmentId: [assessment] }, sort: 'startedAt', descending: true },
      0,
      20,
    );
    expect([page.rows, page.hasMore]).toEqual([1, true]);
  });

  it('can be corrected fifty times', async () => {
    const path = `/testing_sessions/${(await log(member)).body.id}`;
    for (let index = 0; index < 50; index += 1)
      expect((await send('PATCH', path, member, { note: `${index}` })).status).toBe(200);
    const refused = await send('PATCH', path, member, { note: 'once more' });
    expect([refused.status, refused.body.failedValidation[0].message]).toEqual([
      422,
      expect.stringMatching(/more than 50 times/),
    ]);
  });
});

describe('Retests', () => {
  const sessions = () => `/assessments/${assessment}/testing_sessions`;
  const HOUR = 3_600_000;
  const request = async (path: string, by: TestUser) =>
    `${path}/patch_verifications/${(await send('POST', `${path}/patch_verifications`, by, { message: 'Fixed.' })).body.id}`;
  const decide = (path: string, by: TestUser, status: string) => send('PATCH', path, by, { status });
  const log = (by: TestUser, startedAt: number, endedAt: number, tester?: number) =>
    send('POST', sessions(), by, {
      started_at: new Date(startedAt).toISOString(),
      ended_at: new Date(endedAt).toISOString(),
      ...(tester === undefined ? {} : { tester_id: tester }),
    });

  it.each(['staff', 'member'] as const)('are only cancelled by who asked for them: %s', async (kind) => {
    const requester = kind === 'staff' ? staff : member;
    await log(requester, now - 2 * HOUR, now - HOUR);
    const path = await report(member);
    const retest = await request(path, requester);
    for (const status of ['verified', 'failed', 'blocked'])
      expectForbidden(await decide(retest, requester, status), /You requested this retest/);
    expect((await send('GET', path, requester)).body.may.decide_retest).toBe(false);
    expect((await decide(retest, requester, 'cancelled')).status).toBe(200);
  });

  it('of what staff reported are decided by staff alone', async () => {
    await log(member, now - 2 * HOUR, now - HOUR);
    const path = await report(staff);
    const retest = await request(path, admin);
    for (const status of ['verified', 'failed', 'blocked'])
      expectForbidden(await decide(retest, member, status), /Staff reported/);
    expect((await send('GET', path, member)).body.may.decide_retest).toBe(false);
    expect((await send('GET', path, staff)).body.may.decide_retest).toBe(true);
    expect((await decide(retest, staff, 'verified')).status).toBe(200);
    const second = await request(await report(staff), member);
    expect((await decide(second, admin, 'cancelled')).status).toBe(200);
  });

  it.each<[string, () => Promise<unknown>, number]>([
    ['of an hour counts', () => log(member, now - 2 * HOUR, now - HOUR), 200],
    ['of a minute counts', () => log(member, now - HOUR, now - HOUR + 60_000), 200],
    ['of less does not count', () => log(member, now - HOUR, now - HOUR + 59_000), 403],
    ['that an admin entered does not count', () => log(admin, now - 2 * HOUR, now - HOUR, member.id), 403],
    ['that began just now does not count', () => send('POST', sessions(), member, {}), 403],
  ])('are decided by testers: a session %s', async (_what, test, status) => {
    await test();
    const path = await report(admin);
    const retest = await request(path, admin);
    expect((await send('GET', path, member)).body.may.decide_retest).toBe(status === 200);
    expect((await decide(retest, member, 'failed')).status).toBe(status);
  });

  it('are not decided by a session that was logged later', async () => {
    const path = await report(admin);
    const retest = await request(path, admin);
    await log(member, now - 2 * HOUR, now - HOUR);
    expectForbidden(await decide(retest, member, 'verified'), /testers/);
  });

  it.each<[string, () => Promise<TestResponse>, object]>([
    ['began earlier', () => send('POST', sessions(), member, {}), { started_at: -2 }],
    ['ended later', () => log(member, now - 2 * HOUR, now - 2 * HOUR + 1_000), { ended_at: -1 }],
    ['goes on', () => log(member, now - 2 * HOUR, now - 2 * HOUR + 1_000), { ended_at: null }],
  ])('are not decided by a session that was corrected later, so that it %s', async (_what, test, hours) => {
    const session = `/testing_sessions/${(await test()).body.id}`;
    const path = await report(admin);
    const retest = await request(path, admin);
    const change = Object.fromEntries(
      Object.entries(hours).map(([name, hour]) => [
        name,
        hour === null ? null : new Date(now + hour * HOUR).toISOString(),
      ]),
    );
    expect((await send('PATCH', session, member, change)).status).toBe(200);
    expect((await send('GET', path, member)).body.may.decide_retest).toBe(false);
    expectForbidden(await decide(retest, member, 'verified'), /testers/);
  });

  it('are decided by a session that was stopped later, or whose note was corrected', async () => {
    const { body } = await log(member, now - 2 * HOUR, now - HOUR);
    const retest = await request(await report(admin), admin);
    const note = { note: 'The "started_at": of the scan' };
    expect((await send('PATCH', `/testing_sessions/${body.id}`, member, note)).status).toBe(200);
    expect((await decide(retest, member, 'verified')).status).toBe(200);

    const running = await send('POST', sessions(), member, {});
    await send('DELETE', `/testing_sessions/${body.id}`, member);
    now += HOUR;
    const second = await request(await report(admin), admin);
    const stop = { ended_at: new Date(now).toISOString() };
    expect((await send('PATCH', `/testing_sessions/${running.body.id}`, member, stop)).status).toBe(200);
    expect((await decide(second, member, 'verified')).status).toBe(200);
  });
});

describe('Imports', () => {
  const nuclei = (severity: string, name = 'Exposed panel') =>
    `${JSON.stringify({
      'template-id': 'exposed-panel',
      type: 'http',
      host: 'https://acme.example',
      'matched-at': 'https://acme.example/panel',
      info: { name, severity, description: `${name}.` },
      timestamp: new Date(now).toISOString(),
    })}\n`;
  const run = async (by: TestUser, content: string, fields: Record<string, string> = {}) => {
    const started = await uploadReport(server, by.token, content, {
      assessment_id: assessment,
      format: 'nuclei',
      ...fields,
    });
    expect([started.status, started.body.detail]).toEqual([202, undefined]);
    return waitForImport(server, by.token, started.body.id);
  };
  const undo = async (id: number, by: TestUser) => {
    const response = await send('POST', `/imports/${id}/undo`, by);
    expect(response.status).toBe(202);
    return waitForImport(server, by.token, id, (job) => job.undone !== null);
  };
  const list = async () =>
    (await send('GET', `/vulnerabilities?filter[assessment_id][]=${assessment}`, staff)).body;

  it('by others leave what staff found, and say in the timeline what they saw', async () => {
    const first = await run(staff, nuclei('high'));
    const [reported] = await list();
    expect(reported).toMatchObject({ reported_by_staff: true, severity: 'High', title: 'Exposed panel' });
    await run(member, nuclei('low', 'Panel'));
    const [seen] = await list();
    expect(seen).toMatchObject({ severity: 'High', title: 'Exposed panel', import_id: first.id });
    expect(Date.parse(seen.last_seen_at)).toBeGreaterThan(Date.parse(reported.last_seen_at));
    const timeline = async () =>
      ((await send('GET', `/vulnerabilities/${reported.id}/timeline`, staff)).body as any[]).filter(
        ({ kind }) => kind === 'seen',
      );
    expect(await timeline()).toMatchObject([
      { before: { severity: 'High', title: 'Exposed panel' }, after: { severity: 'Low', title: 'Panel' } },
    ]);
    // The same again says nothing new, and staff's next report counts.
    await run(member, nuclei('low', 'Panel'));
    expect(await timeline()).toHaveLength(1);
    await run(staff, nuclei('low', 'Panel'));
    expect((await list())[0]).toMatchObject({ severity: 'Low', title: 'Panel' });
  });

  it('by others of the same file do not move the time of staff, and so bring back what staff reported before', async () => {
    const withoutTime = (severity: string) => nuclei(severity).replace(/,"timestamp":"[^"]*"/, '');
    const file = withoutTime('high');
    await run(staff, withoutTime('low'));
    await run(staff, file);
    const earlier = { scanned_at: '2020-01-01T00:00:00Z' };
    const { id } = await run(member, file, earlier);
    expect(await list()).toMatchObject([{ severity: 'High', first_seen_at: '2020-01-01T00:00:00.000Z' }]);
    await undo(id, member);
    expect(await list()).toMatchObject([{ severity: 'High' }]);
    // Staff may do it.
    await run(staff, file, earlier);
    expect(await list()).toMatchObject([{ severity: 'Low' }]);
  });

  it('by others change what they made themselves, also after staff saw it', async () => {
    await run(member, nuclei('high'));
    await run(staff, nuclei('medium'));
    await run(member, nuclei('low'));
    expect(await list()).toMatchObject([{ reported_by_staff: false, severity: 'Low' }]);
  });

  it('that staff started are cancelled and undone by staff alone', async () => {
    const { id } = await run(staff, nuclei('high'));
    expectForbidden(await send('POST', `/imports/${id}/undo`, admin), /only staff/);
    expectForbidden(await send('POST', `/imports/${id}/cancel`, admin), /only staff/);
    expect((await undo(id, staff)).undone).toMatchObject({ findings: 1, kept: 0 });
    expect(await list()).toEqual([]);
  });

  it('keep what staff reported when others undo theirs', async () => {
    const byStaff = await run(staff, nuclei('high'));
    const byMember = await run(member, nuclei('low'));
    await undo(byStaff.id, staff);
    expect(await list()).toMatchObject([{ reported_by_staff: true }]);
    expect((await undo(byMember.id, member)).undone).toMatchObject({
      findings: 0,
      // The vulnerability and its asset.
      kept: 2,
    });
    expect(await list()).toMatchObject([{ reported_by_staff: true }]);
  });
});
