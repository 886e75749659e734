import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitForImport, type FormPart, formOf, insertImport, uploadReport } from './harness/imports.ts';
import { operationsOf, type RoutedOperation } from './harness/operations.ts';
import {
  type RequestOptions,
  type TestResponse,
  type TestServer,
  useSharedServer,
} from './harness/server.ts';
import { type TestUser, createFixtures } from './harness/fixtures.ts';

/** What the audit log tells of each operation that changes something, and to whom (operation 60). */

interface Attempt {
  method: string;
  path: string;
  body?: unknown;
  form?: readonly FormPart[];
}

interface Deed {
  /** What succeeds. */
  request: Attempt;
  /** The actions of its events, in their order. */
  tells: readonly string[];
  /** What then has nothing to change: the same again, unless told. */
  unchanged?: readonly Attempt[];
  /** What is refused to an admin as well, and what only says what it would do. */
  refused?: readonly Attempt[];
  dryRun?: Attempt;
  /** By staff, where admins may not. */
  byStaff?: true;
  /** Who may do it although they have no access, or are of another organization. */
  alsoFor?: readonly ('outsider' | 'stranger')[];
}

let server: TestServer;
let world: ReturnType<typeof createFixtures>;
let operations: RoutedOperation[];
let organization: { id: number; uid: string };
let assessment: string;
let admin: TestUser;
let member: TestUser;
let outsider: TestUser;
let stranger: TestUser;
let staff: TestUser;
let otherStaff: TestUser;

beforeAll(async () => {
  server = await useSharedServer();
  operations = await operationsOf(server);
  world = createFixtures(server);
  organization = await world.organization();
  const other = await world.organization();
  ({ uid: assessment } = await world.assessment(organization.uid));
  admin = await world.user({ organization: organization.uid, admin: true });
  member = await world.user({ organization: organization.uid });
  outsider = await world.user({ organization: organization.uid });
  stranger = await world.user({ organization: other.uid, admin: true });
  staff = await world.user();
  otherStaff = await world.user({ assignedTo: [other.uid] });
  await world.access(assessment, member.id);
});
afterAll(() => server.close());

const REPORT: FormPart = ['file', '<?xml version="1.0"?><nmaprun></nmaprun>', 'a.xml'];
const TAGS = '/v1/vulnerability_tags';
const assetTags = () => `/api/tagging/v1.0/organizations/${organization.uid}/tags`;
const found = async (path = '') => `/v1/vulnerabilities/${(await world.vulnerability(assessment)).id}${path}`;
const asset = () => world.asset({ organization: organization.uid });
const asked = (attempt: Attempt) => done(admin.token, attempt).then(({ body }) => body);
let count = 0;
const name = () => `name ${(count += 1)}`;

/** Each operation that changes something, on things of its own. */
const DEEDS: Record<string, () => Promise<Deed>> = {
  '1 delete a vulnerability tag': async () => ({
    request: { method: 'DELETE', path: `${TAGS}/${(await world.vulnerabilityTag(organization.uid)).id}` },
    tells: ['vulnerability-tag.delete'],
    alsoFor: ['outsider'],
  }),
  '2 rename a vulnerability tag': async () => {
    const path = `${TAGS}/${(await world.vulnerabilityTag(organization.uid)).id}`;
    return {
      request: { method: 'PUT', path, body: { name: name() } },
      tells: ['vulnerability-tag.rename'],
      refused: [{ method: 'PUT', path, body: { name: '' } }],
      alsoFor: ['outsider'],
    };
  },
  '3 create an assessment tag': async () => ({
    request: {
      method: 'POST',
      path: '/v1/assessment_tags',
      body: { name: name(), assessment_id: assessment },
    },
    tells: ['assessment-tag.create'],
  }),
  '4 rename an assessment tag': async () => ({
    request: {
      method: 'PUT',
      path: `/v1/assessment_tags/${(await world.assessmentTag(assessment)).id}`,
      body: { name: name() },
    },
    tells: ['assessment-tag.rename'],
  }),
  '5 update a vulnerability': async () => {
    const path = await found();
    return {
      request: { method: 'PATCH', path, body: { status_id: 5, tag_list: [name()] } },
      tells: ['vulnerability-tag.create', 'vulnerability.update'],
      refused: [
        { method: 'PATCH', path, body: { status_id: 42, tag_list: [name()] } },
        { method: 'PATCH', path, body: { status_id: 5, tags: [987_654_321] } },
      ],
    };
  },
  '6 ban a user': async () => ({
    request: {
      method: 'DELETE',
      path: `/v1/users/${(await world.user({ organization: organization.uid })).id}`,
    },
    tells: ['user.ban'],
    refused: [{ method: 'DELETE', path: `/v1/users/${admin.id}` }],
  }),
  '6 ban who was invited': async () => ({
    request: {
      method: 'DELETE',
      path: `/v1/users/${(await world.invited({ organization: organization.uid })).id}`,
    },
    tells: ['user.delete'],
  }),
  '8 create asset tags': async () => {
    const path = assetTags();
    const { uid } = await asset();
    return {
      request: { method: 'POST', path, body: { tags: [{ name: name(), entities: [{ uid }] }] } },
      tells: ['asset-tag.create'],
      refused: [
        {
          method: 'POST',
          path,
          body: { tags: [{ name: name(), entities: [{ uid: 'ffffffffffffffffffffff00' }] }] },
        },
      ],
    };
  },
  '9 change asset tags': async () => {
    const { uid } = await asset();
    const { tags } = await asked({ method: 'POST', path: assetTags(), body: { tags: [{ name: name() }] } });
    const body = { uids: [tags[0].uid], addEntities: [{ uid }] };
    return { request: { method: 'PATCH', path: assetTags(), body }, tells: ['asset-tag.attach'] };
  },
  '10 set criticality': async () => ({
    request: {
      method: 'POST',
      path: '/api/asset/v2/bulk/assets/criticality:update',
      body: {
        organizationUid: organization.uid,
        criticality: 'high',
        assetUids: [(await asset()).uid, 'ffffffffffffffffffffff00'],
      },
    },
    tells: ['asset.criticality'],
  }),
  '11 change a listing': async () => {
    const path = `/api/asset/v2/listings/${assessment}/assets`;
    const { uid: assetUid } = await asset();
    return {
      request: { method: 'PATCH', path, body: { add: [{ assetUid, scopeRules: [{ rule: 'all' }] }] } },
      tells: ['listing.update'],
      refused: [{ method: 'PATCH', path, body: { add: [{ assetUid }], remove: [assetUid] } }],
    };
  },
  '13 remove members': async () => {
    const group = await world.group(organization.uid);
    await world.member(group.id, outsider.uid, 'assessment_member');
    const path = `/api/assessment/v1/assessment-groups/${group.id}/members/batchRemove`;
    return {
      request: { method: 'POST', path, body: { userUids: [outsider.uid, 'nobody'] } },
      tells: ['assessment-group.remove-members'],
    };
  },
  '18 report a vulnerability': async () => ({
    request: {
      method: 'POST',
      path: '/v1/vulnerabilities',
      body: { assessment_id: assessment, title: name(), severity: 'Low' },
    },
    tells: ['vulnerability.create'],
    unchanged: [],
    refused: [
      {
        method: 'POST',
        path: '/v1/vulnerabilities',
        body: { assessment_id: assessment, title: name(), severity: 'Low', tag_list: [name()], tags: [987] },
      },
    ],
  }),
  '19 edit a vulnerability': async () => {
    const path = await found();
    return {
      request: { method: 'PUT', path, body: { title: name(), severity: 'Low', tag_list: [name()] } },
      tells: ['vulnerability-tag.create', 'vulnerability.update'],
      refused: [
        {
          method: 'PUT',
          path,
          body: { title: name(), severity: 'Low', tag_list: [name()], assignee_id: stranger.id },
        },
      ],
    };
  },
  '20 delete a vulnerability': async () => ({
    request: { method: 'DELETE', path: await found() },
    tells: ['vulnerability.delete'],
  }),
  '21 attach files': async () => {
    const path = await found('/attachments');
    return {
      request: { method: 'POST', path, form: [['file', name(), 'a.txt'], REPORT] },
      tells: ['attachment.create', 'attachment.create'],
      unchanged: [],
      refused: [{ method: 'POST', path, form: [['other', 'x']] }],
    };
  },
  '23 delete an attachment': async () => {
    const path = await found('/attachments');
    const [{ id }] = await asked({ method: 'POST', path, form: [REPORT] });
    return { request: { method: 'DELETE', path: `${path}/${id}` }, tells: ['attachment.delete'] };
  },
  '25 comment': async () => {
    const path = await found('/comments');
    return {
      request: { method: 'POST', path, body: { text: name() } },
      tells: ['comment.create'],
      unchanged: [],
      refused: [{ method: 'POST', path, body: { text: name(), internal: true } }],
    };
  },
  '26 edit a comment': async () => {
    const path = await found('/comments');
    const { id } = await asked({ method: 'POST', path, body: { text: name() } });
    return {
      request: { method: 'PATCH', path: `${path}/${id}`, body: { text: name() } },
      tells: ['comment.update'],
    };
  },
  '26 remove a comment': async () => {
    const path = await found('/comments');
    const { id } = await asked({ method: 'POST', path, body: { text: name() } });
    return { request: { method: 'DELETE', path: `${path}/${id}` }, tells: ['comment.delete'] };
  },
  '28 ask for a retest': async () => ({
    request: { method: 'POST', path: await found('/patch_verifications'), body: { message: name() } },
    tells: ['retest.create', 'vulnerability.update'],
  }),
  '29 decide a retest': async () => {
    const path = await found('/patch_verifications');
    const { id } = await asked({ method: 'POST', path, body: { message: name() } });
    return {
      request: { method: 'PATCH', path: `${path}/${id}`, body: { status: 'cancelled' } },
      tells: ['retest.decide', 'vulnerability.update'],
      refused: [{ method: 'PATCH', path: `${path}/${id}`, body: { status: 'verified' } }],
    };
  },
  '30 change many vulnerabilities': async () => {
    const path = '/v1/vulnerabilities/bulk_update';
    const ids = [
      (await world.vulnerability(assessment)).id,
      (await world.vulnerability(assessment)).id,
      // What has it already is not changed.
      (await world.vulnerability(assessment, { statusId: 4 })).id,
    ];
    const set = { status_id: 4 };
    return {
      request: { method: 'POST', path, body: { ids, set } },
      tells: ['vulnerability.update', 'vulnerability.update'],
      refused: [
        { method: 'POST', path, body: { ids: [...ids, 987_654_321], set, comment: 'x' } },
        { method: 'POST', path, body: { ids, set: { ...set, add_tags: [name()] }, expected_count: 9 } },
      ],
      dryRun: {
        method: 'POST',
        path,
        body: { ids, set: { ...set, add_tags: [name()] }, comment: 'x', dry_run: true },
      },
    };
  },
  '33 create a vulnerability tag': async () => ({
    request: { method: 'POST', path: TAGS, body: { name: name() } },
    tells: ['vulnerability-tag.create'],
    alsoFor: ['outsider', 'stranger'],
  }),
  '35 delete an assessment tag': async () => ({
    request: {
      method: 'DELETE',
      path: `/v1/assessment_tags/${(await world.assessmentTag(assessment)).id}`,
    },
    tells: ['assessment-tag.delete'],
  }),
  '38 create an assessment': async () => ({
    request: { method: 'POST', path: '/v1/assessments', body: { name: name() } },
    // Who creates one has access to it.
    tells: ['assessment.create', 'assessment.grant'],
    unchanged: [],
    refused: [
      {
        method: 'POST',
        path: '/v1/assessments',
        body: { name: name(), uid: assessment, tag_list: [name()] },
      },
    ],
    alsoFor: ['stranger'],
  }),
  '39 change an assessment': async () => {
    const path = `/v1/assessments/${(await world.assessment(organization.uid)).uid}`;
    return {
      request: { method: 'PATCH', path, body: { name: name(), tag_list: [name()] } },
      tells: ['assessment-tag.create', 'assessment.update'],
      refused: [
        {
          method: 'PATCH',
          path,
          body: { tag_list: [name()], starts_on: '2026-02-01', ends_on: '2026-01-01' },
        },
      ],
    };
  },
  '39 complete an assessment while somebody tests': async () => {
    const { uid } = await world.assessment(organization.uid);
    await world.access(uid, member.id);
    await world.testingSession(uid, member.id, Date.now() - 60_000, null);
    return {
      request: { method: 'PATCH', path: `/v1/assessments/${uid}`, body: { state: 'completed' } },
      tells: ['assessment.update', 'testing-session.update'],
    };
  },
  '40 give and take access': async () => {
    const { uid } = await world.assessment(organization.uid);
    await world.access(uid, member.id);
    const path = `/v1/assessments/${uid}/users`;
    return {
      request: { method: 'PATCH', path, body: { add: [outsider.id], remove: [member.id] } },
      tells: ['assessment.grant', 'assessment.revoke'],
      refused: [{ method: 'PATCH', path, body: { add: [outsider.id, stranger.id] } }],
    };
  },
  '44 create a group': async () => ({
    request: { method: 'POST', path: '/v1/assessment_groups', body: { name: name() } },
    tells: ['assessment-group.create'],
    unchanged: [],
    alsoFor: ['stranger'],
  }),
  '45 change a group': async () => ({
    request: {
      method: 'PATCH',
      path: `/v1/assessment_groups/${(await world.group(organization.uid)).id}`,
      body: { name: name() },
    },
    tells: ['assessment-group.update'],
  }),
  '46 delete a group': async () => ({
    request: { method: 'DELETE', path: `/v1/assessment_groups/${(await world.group(organization.uid)).id}` },
    tells: ['assessment-group.delete'],
  }),
  '47 add members': async () => {
    const group = await world.group(organization.uid);
    const path = `/api/assessment/v1/assessment-groups/${group.id}/members/batchAdd`;
    const members = [
      { userUid: outsider.uid, role: 'assessment_member' },
      { userUid: 'nobody', role: 'assessment_member' },
    ];
    return { request: { method: 'POST', path, body: { members } }, tells: ['assessment-group.add-members'] };
  },
  '49 start a testing session': async () => {
    const { uid } = await world.assessment(organization.uid);
    return {
      request: { method: 'POST', path: `/v1/assessments/${uid}/testing_sessions`, body: {} },
      tells: ['testing-session.start'],
    };
  },
  '49 log a testing session': async () => {
    const path = `/v1/assessments/${assessment}/testing_sessions`;
    const times = { started_at: '2026-01-01T10:00:00Z', ended_at: '2026-01-01T11:00:00Z' };
    return {
      request: { method: 'POST', path, body: times },
      tells: ['testing-session.log'],
      unchanged: [],
      refused: [{ method: 'POST', path, body: { ...times, tester_id: outsider.id } }],
    };
  },
  '50 correct a testing session': async () => ({
    request: {
      method: 'PATCH',
      path: `/v1/testing_sessions/${(await world.testingSession(assessment, member.id, 1_000, 2_000)).id}`,
      body: { note: name() },
    },
    tells: ['testing-session.update'],
  }),
  '51 delete a testing session': async () => ({
    request: {
      method: 'DELETE',
      path: `/v1/testing_sessions/${(await world.testingSession(assessment, member.id, 1_000, 2_000)).id}`,
    },
    tells: ['testing-session.delete'],
  }),
  '54 invite a user': async () => ({
    request: {
      method: 'POST',
      path: '/v1/users',
      body: { email: `${(count += 1)}@invited.example`, assessments: [assessment] },
    },
    tells: ['user.create', 'assessment.grant'],
    refused: [
      {
        method: 'POST',
        path: '/v1/users',
        body: { email: `${(count += 1)}@invited.example`, assessments: ['none'] },
      },
    ],
  }),
  '56 change a user': async () => {
    const { id } = await world.user({ organization: organization.uid });
    const path = `/v1/users/${id}`;
    return {
      request: { method: 'PUT', path, body: { name: name(), admin: true, assessments: [assessment] } },
      tells: ['user.rename', 'assessment.grant', 'user.set-role'],
      refused: [{ method: 'PUT', path, body: { name: name(), assessments: ['none'] } }],
    };
  },
  '58 create a token': async () => ({
    request: { method: 'POST', path: '/v1/tokens', body: { name: name() } },
    tells: ['token.create'],
    unchanged: [],
    refused: [{ method: 'POST', path: '/v1/tokens', body: { name: name(), scopes: ['asset_gw'] } }],
    alsoFor: ['outsider', 'stranger'],
  }),
  '59 revoke a token': async () => ({
    request: { method: 'DELETE', path: `/v1/tokens/${(await world.token(admin.id)).id}` },
    tells: ['token.revoke'],
  }),
  '63 create an organization': async () => ({
    request: {
      method: 'POST',
      path: '/v1/organizations',
      body: { uid: `new${(count += 1)}`, name: name() },
    },
    tells: ['organization.create'],
    byStaff: true,
  }),
  '64 change an organization': async () => ({
    request: { method: 'PATCH', path: `/v1/organizations/${organization.uid}`, body: { name: name() } },
    tells: ['organization.update'],
  }),
  '65 start an import': async () => ({
    request: { method: 'POST', path: '/v1/imports', form: [REPORT] },
    tells: ['import.start', 'import.end'],
    unchanged: [],
    refused: [{ method: 'POST', path: '/v1/imports', form: [['file', 'no report', 'a.xml']] }],
    alsoFor: ['stranger'],
  }),
  '69 cancel an import': async () => ({
    request: {
      method: 'POST',
      path: `/v1/imports/${await insertImport(server, { organizationId: organization.id })}/cancel`,
    },
    tells: ['import.cancel', 'import.end'],
  }),
  '72 rename an asset tag': async () => {
    const { tags } = await asked({ method: 'POST', path: assetTags(), body: { tags: [{ name: name() }] } });
    return {
      request: { method: 'PUT', path: `${assetTags()}/${tags[0].uid}`, body: { name: name() } },
      tells: ['asset-tag.rename'],
    };
  },
  '73 delete asset tags': async () => {
    const body = { tags: [{ name: name() }, { name: name() }] };
    const { tags } = await asked({ method: 'POST', path: assetTags(), body });
    const uids = tags.map(({ uid }: { uid: string }) => uid);
    return {
      request: { method: 'DELETE', path: assetTags(), body: { uids } },
      tells: ['asset-tag.delete', 'asset-tag.delete'],
      refused: [{ method: 'DELETE', path: assetTags(), body: { uids: [...uids, 'abcabcabcab0'] } }],
    };
  },
  '74 create assets': async () => {
    const path = '/api/asset/v2/assets';
    const host = () => ({
      organizationUid: organization.uid,
      assetType: 'host',
      location: `host-${(count += 1)}.events.example`,
    });
    return {
      request: { method: 'POST', path, body: [{ ...host(), listingUid: assessment }, host()] },
      tells: ['asset.create', 'asset.create', 'listing.update'],
      refused: [{ method: 'POST', path, body: [host(), { ...host(), location: 'no host' }] }],
    };
  },
  '77 change an asset': async () => ({
    request: {
      method: 'PATCH',
      path: `/api/asset/v2/assets/${(await asset()).uid}`,
      body: { description: name() },
    },
    tells: ['asset.update'],
  }),
  '78 delete an asset': async () => ({
    request: { method: 'DELETE', path: `/api/asset/v2/assets/${(await asset()).uid}` },
    tells: ['asset.delete'],
  }),
  '82 undo an import': async () => {
    const { body } = await uploadReport(server, admin.token, REPORT[1], { assessment_id: assessment });
    await waitForImport(server, admin.token, body.id);
    return {
      request: { method: 'POST', path: `/v1/imports/${body.id}/undo` },
      tells: ['import.undo'],
    };
  },
  '84 delete an assessment': async () => ({
    request: { method: 'DELETE', path: `/v1/assessments/${(await world.assessment(organization.uid)).uid}` },
    tells: ['assessment.delete'],
  }),
};

function send(token: string | undefined, attempt: Attempt, headers: Record<string, string> = {}) {
  const { method, path, body, form } = attempt;
  const options: RequestOptions = form === undefined ? { body, headers } : formOf(form, headers);
  return server.request(method, path, { ...options, token });
}

async function done(
  token: string,
  attempt: Attempt,
  headers?: Record<string, string>,
): Promise<TestResponse> {
  const response = await send(token, attempt, headers);
  expect([response.status, response.text]).toEqual([
    expect.toSatisfy((status) => status < 300),
    response.text,
  ]);
  return response;
}

const requestIdOf = ({ headers }: TestResponse) => headers.get('x-request-id') as string;
/** What the log has of a request, whoever may read it. */
const eventsOf = (response: TestResponse) =>
  server.context.db.read
    .selectFrom('audit_events')
    .select(['id', 'action', 'organization_id', 'before', 'after'])
    .where('request_id', '=', requestIdOf(response))
    .orderBy('id')
    .execute();

/** What somebody reads of a request by operation 60. */
async function read({ token }: TestUser, response: TestResponse): Promise<unknown> {
  const path = `/v1/audit_events?filter[request_id]=${requestIdOf(response)}`;
  const { status, body } = await server.request('GET', path, { token });
  return status === 200 ? body.map(({ id }: { id: number }) => id).reverse() : status;
}

const parsed = (text: string | null) => (text === null ? null : (JSON.parse(text) as object));

describe('The audit log', () => {
  it.each(Object.keys(DEEDS))(
    'tells of %s, to those whom it concerns, and of nothing else',
    async (title) => {
      const {
        request,
        tells,
        unchanged,
        refused = [],
        dryRun,
        byStaff,
        alsoFor = [],
      } = await (DEEDS[title] as () => Promise<Deed>)();
      const { token } = byStaff === true ? staff : admin;
      const operation = operations.find(
        ({ method, pattern }) => method === request.method && pattern.test(request.path),
      ) as RoutedOperation;

      const silent: [string, TestResponse][] = [
        ['a stranger without a credential', await send(undefined, request)],
      ];
      if (!alsoFor.includes('outsider')) silent.push(['without access', await send(outsider.token, request)]);
      if (!alsoFor.includes('stranger')) silent.push(['another tenant', await send(stranger.token, request)]);
      for (const attempt of refused) silent.push([JSON.stringify(attempt), await send(token, attempt)]);
      if (operation.versioned && ['PATCH', 'PUT', 'DELETE'].includes(request.method))
        silent.push(['another version', await send(token, request, { 'if-match': '"987654321-x"' })]);
      for (const [who, { status, text }] of silent)
        expect([who, status, text]).toEqual([who, expect.toSatisfy((one: number) => one >= 400), text]);
      if (dryRun !== undefined) silent.push(['a dry run', await done(token, dryRun)]);

      const key = { 'idempotency-key': `key-${(count += 1)}` };
      const response = await done(token, request, key);
      if (operation.repeats) silent.push(['the repeat', await send(token, request, key)]);
      for (const attempt of unchanged ?? [request]) silent.push(['once more', await send(token, attempt)]);
      for (const [who, one] of silent) expect([who, await eventsOf(one)]).toEqual([who, []]);

      // What a job does for the request is told of it too.
      await expect
        .poll(async () => (await eventsOf(response)).map(({ action }) => action), { timeout: 25_000 })
        .toEqual(tells);
      const events = await eventsOf(response);
      for (const { action, before, after } of events) {
        const [was, is] = [parsed(before), parsed(after)];
        if (/\.(create|log|start)$/.test(action))
          expect([action, was, is]).toEqual([action, null, expect.any(Object)]);
        else if (action.endsWith('.delete'))
          expect([action, was, is]).toEqual([action, expect.any(Object), null]);
      }
      const ids = events.map(({ id }) => id);
      expect({
        admin: await read(admin, response),
        staff: await read(staff, response),
        otherStaff: await read(otherStaff, response),
        stranger: await read(stranger, response),
        member: await read(member, response),
        outsider: await read(outsider, response),
      }).toEqual({
        admin: byStaff === true ? [] : ids,
        staff: ids,
        otherStaff: [],
        stranger: [],
        member: 403,
        outsider: 403,
      });
    },
  );

  it('tells of every operation that changes something: each is tried here', async () => {
    const titles = Object.values(DEEDS);
    const tried = await Promise.all(titles.map(async (deed) => (await deed()).request));
    const missing = operations.filter(
      ({ method, pattern }) =>
        method !== 'GET' && !tried.some((one) => one.method === method && pattern.test(one.path)),
    );
    expect(missing.map(({ name: one }) => one)).toEqual([]);
    expect(operations.filter(({ method }) => method !== 'GET').length).toBeGreaterThan(40);
  });

  it('tells staff alone of an internal comment', async () => {
    const path = await found('/comments');
    const response = await done(staff.token, { method: 'POST', path, body: { text: 'x', internal: true } });
    const ids = (await eventsOf(response)).map(({ id }) => id);
    expect(ids).toHaveLength(1);
    expect([await read(admin, response), await read(otherStaff, response)]).toEqual([[], []]);
    expect(await read(staff, response)).toEqual(ids);
  });

  it.each(['/v1/vulnerabilities', '/v1/testing_sessions', '/v1/audit_events', '/api/asset/v2/assets'])(
    'tells of a download of %s once, and of a page of it nothing',
    async (path) => {
      const page = await done(admin.token, { method: 'GET', path });
      expect(await eventsOf(page)).toEqual([]);
      const download = await done(admin.token, { method: 'GET', path }, { accept: 'text/csv' });
      const events = await eventsOf(download);
      expect(events.map(({ action }) => action)).toEqual([expect.stringMatching(/\.export$/)]);
      expect(await read(admin, download)).toEqual(events.map(({ id }) => id));
      expect([await read(stranger, download), await read(otherStaff, download)]).toEqual([[], []]);
    },
  );
});
