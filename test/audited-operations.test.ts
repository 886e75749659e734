import { describe, expect, it } from 'vitest';
import { waitForImport, type FormPart, formOf, insertImport, uploadReport } from './harness/imports.ts';
import { operationsOf, type RoutedOperation } from './harness/operations.ts';
import { type RequestOptions, type TestResponse, useSharedServer } from './harness/server.ts';
import { type TestUser, createFixtures } from './harness/fixtures.ts';

/** The audit events of each operation that changes something, and who can read them (operation 60). */

interface Attempt {
  method: string;
  path: string;
  body?: unknown;
  form?: readonly FormPart[];
}

interface AuditedOperation {
  /** A request that succeeds. */
  request: Attempt;
  /** The actions of its events, in order. */
  actions: readonly string[];
  /** Requests that change nothing afterwards. Default: the same request. */
  unchanged?: readonly Attempt[];
  /** Requests that fail also for an admin, and a dry run. */
  rejected?: readonly Attempt[];
  /** Requests that fail for staff. */
  rejectedForStaff?: readonly Attempt[];
  dryRun?: Attempt;
  /** Whether staff calls the operation, because admins may not. */
  byStaff?: true;
  /** Users without access or of another organization who may call it too. */
  alsoFor?: readonly ('outsider' | 'otherTenant')[];
}

const server = await useSharedServer();
const operations = await operationsOf(server);
const fixtures = createFixtures(server);
const organization = await fixtures.organization();
const otherOrganization = await fixtures.organization();
const { uid: assessment } = await fixtures.assessment(organization.uid);
const admin = await fixtures.user({ organization: organization.uid, admin: true });
const member = await fixtures.user({ organization: organization.uid });
const outsider = await fixtures.user({ organization: organization.uid });
const otherTenant = await fixtures.user({ organization: otherOrganization.uid, admin: true });
const staff = await fixtures.user();
const otherStaff = await fixtures.user({ assignedTo: [otherOrganization.uid] });
await fixtures.access(assessment, member.id);

const REPORT: FormPart = ['file', '<?xml version="1.0"?><nmaprun></nmaprun>', 'a.xml'];
const TAGS = '/v1/vulnerability_tags';
const assetTags = () => `/api/tagging/v1.0/organizations/${organization.uid}/tags`;
const vulnerabilityPath = async (path = '') =>
  `/v1/vulnerabilities/${(await fixtures.vulnerability(assessment)).id}${path}`;
const asset = () => fixtures.asset({ organization: organization.uid });
const bodyOf = (attempt: Attempt) => done(admin.token, attempt).then(({ body }) => body);
let count = 0;
const name = () => `name ${(count += 1)}`;

/** Every operation that changes something, each on its own objects. */
const AUDITED_OPERATIONS: Record<string, () => Promise<AuditedOperation>> = {
  '1 delete a vulnerability tag': async () => ({
    request: { method: 'DELETE', path: `${TAGS}/${(await fixtures.vulnerabilityTag(organization.uid)).id}` },
    actions: ['vulnerability-tag.delete'],
    alsoFor: ['outsider'],
  }),
  '2 rename a vulnerability tag': async () => {
    const path = `${TAGS}/${(await fixtures.vulnerabilityTag(organization.uid)).id}`;
    return {
      request: { method: 'PUT', path, body: { name: name() } },
      actions: ['vulnerability-tag.rename'],
      rejected: [{ method: 'PUT', path, body: { name: '' } }],
      alsoFor: ['outsider'],
    };
  },
  '3 create an assessment tag': async () => ({
    request: {
      method: 'POST',
      path: '/v1/assessment_tags',
      body: { name: name(), assessment_id: assessment },
    },
    actions: ['assessment-tag.create'],
  }),
  '4 rename an assessment tag': async () => ({
    request: {
      method: 'PUT',
      path: `/v1/assessment_tags/${(await fixtures.assessmentTag(assessment)).id}`,
      body: { name: name() },
    },
    actions: ['assessment-tag.rename'],
  }),
  '5 update a vulnerability': async () => {
    const path = await vulnerabilityPath();
    return {
      request: { method: 'PATCH', path, body: { status_id: 5, tag_list: [name()] } },
      actions: ['vulnerability-tag.create', 'vulnerability.update'],
      rejected: [
        { method: 'PATCH', path, body: { status_id: 42, tag_list: [name()] } },
        { method: 'PATCH', path, body: { status_id: 5, tags: [987_654_321] } },
      ],
    };
  },
  '6 ban a user': async () => ({
    request: {
      method: 'DELETE',
      path: `/v1/users/${(await fixtures.user({ organization: organization.uid })).id}`,
    },
    actions: ['user.ban'],
    rejected: [{ method: 'DELETE', path: `/v1/users/${admin.id}` }],
  }),
  '6 ban who was invited': async () => ({
    request: {
      method: 'DELETE',
      path: `/v1/users/${(await fixtures.invited({ organization: organization.uid })).id}`,
    },
    actions: ['user.delete'],
  }),
  '8 create asset tags': async () => {
    const path = assetTags();
    const { uid } = await asset();
    return {
      request: { method: 'POST', path, body: { tags: [{ name: name(), entities: [{ uid }] }] } },
      actions: ['asset-tag.create'],
      rejected: [
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
    const { tags } = await bodyOf({ method: 'POST', path: assetTags(), body: { tags: [{ name: name() }] } });
    const body = { uids: [tags[0].uid], addEntities: [{ uid }] };
    return { request: { method: 'PATCH', path: assetTags(), body }, actions: ['asset-tag.attach'] };
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
    actions: ['asset.criticality'],
  }),
  '11 change a listing': async () => {
    const path = `/api/asset/v2/listings/${assessment}/assets`;
    const { uid: assetUid } = await asset();
    return {
      request: { method: 'PATCH', path, body: { add: [{ assetUid, scopeRules: [{ rule: 'all' }] }] } },
      actions: ['listing.update'],
      rejected: [{ method: 'PATCH', path, body: { add: [{ assetUid }], remove: [assetUid] } }],
    };
  },
  '13 remove members': async () => {
    const group = await fixtures.group(organization.uid);
    await fixtures.member(group.id, outsider.uid, 'assessment_member');
    const path = `/api/assessment/v1/assessment-groups/${group.id}/members/batchRemove`;
    return {
      request: { method: 'POST', path, body: { userUids: [outsider.uid, 'nobody'] } },
      actions: ['assessment-group.remove-members'],
    };
  },
  '18 report a vulnerability': async () => ({
    request: {
      method: 'POST',
      path: '/v1/vulnerabilities',
      body: { assessment_id: assessment, title: name(), severity: 'Low' },
    },
    actions: ['vulnerability.create'],
    unchanged: [],
    rejected: [
      {
        method: 'POST',
        path: '/v1/vulnerabilities',
        body: { assessment_id: assessment, title: name(), severity: 'Low', tag_list: [name()], tags: [987] },
      },
    ],
  }),
  '19 edit a vulnerability': async () => {
    const path = await vulnerabilityPath();
    return {
      request: { method: 'PUT', path, body: { title: name(), severity: 'Low', tag_list: [name()] } },
      actions: ['vulnerability-tag.create', 'vulnerability.update'],
      rejected: [
        {
          method: 'PUT',
          path,
          body: { title: name(), severity: 'Low', tag_list: [name()], assignee_id: otherTenant.id },
        },
      ],
    };
  },
  '20 delete a vulnerability': async () => ({
    request: { method: 'DELETE', path: await vulnerabilityPath() },
    actions: ['vulnerability.delete'],
  }),
  '21 attach files': async () => {
    const path = await vulnerabilityPath('/attachments');
    return {
      request: { method: 'POST', path, form: [['file', name(), 'a.txt'], REPORT] },
      actions: ['attachment.create', 'attachment.create'],
      unchanged: [],
      rejected: [{ method: 'POST', path, form: [['other', 'x']] }],
    };
  },
  '23 delete an attachment': async () => {
    const path = await vulnerabilityPath('/attachments');
    const [{ id }] = await bodyOf({ method: 'POST', path, form: [REPORT] });
    return { request: { method: 'DELETE', path: `${path}/${id}` }, actions: ['attachment.delete'] };
  },
  '25 comment': async () => {
    const path = await vulnerabilityPath('/comments');
    return {
      request: { method: 'POST', path, body: { text: name() } },
      actions: ['comment.create'],
      unchanged: [],
      rejected: [{ method: 'POST', path, body: { text: name(), internal: true } }],
    };
  },
  '26 edit a comment': async () => {
    const path = await vulnerabilityPath('/comments');
    const { id } = await bodyOf({ method: 'POST', path, body: { text: name() } });
    return {
      request: { method: 'PATCH', path: `${path}/${id}`, body: { text: name() } },
      actions: ['comment.update'],
    };
  },
  '26 remove a comment': async () => {
    const path = await vulnerabilityPath('/comments');
    const { id } = await bodyOf({ method: 'POST', path, body: { text: name() } });
    return { request: { method: 'DELETE', path: `${path}/${id}` }, actions: ['comment.delete'] };
  },
  '28 ask for a retest': async () => ({
    request: {
      method: 'POST',
      path: await vulnerabilityPath('/patch_verifications'),
      body: { message: name() },
    },
    actions: ['retest.create', 'vulnerability.update'],
  }),
  '29 decide a retest': async () => {
    const path = await vulnerabilityPath('/patch_verifications');
    const { id } = await bodyOf({ method: 'POST', path, body: { message: name() } });
    return {
      request: { method: 'PATCH', path: `${path}/${id}`, body: { status: 'cancelled' } },
      actions: ['retest.decide', 'vulnerability.update'],
      rejected: [{ method: 'PATCH', path: `${path}/${id}`, body: { status: 'verified' } }],
    };
  },
  '30 change many vulnerabilities': async () => {
    const path = '/v1/vulnerabilities/bulk_update';
    const ids = [
      (await fixtures.vulnerability(assessment)).id,
      (await fixtures.vulnerability(assessment)).id,
      // Has the status already: not changed.
      (await fixtures.vulnerability(assessment, { statusId: 4 })).id,
    ];
    const set = { status_id: 4 };
    return {
      request: { method: 'POST', path, body: { ids, set } },
      actions: ['vulnerability.update', 'vulnerability.update'],
      rejected: [
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
    actions: ['vulnerability-tag.create'],
    alsoFor: ['outsider', 'otherTenant'],
  }),
  '35 delete an assessment tag': async () => ({
    request: {
      method: 'DELETE',
      path: `/v1/assessment_tags/${(await fixtures.assessmentTag(assessment)).id}`,
    },
    actions: ['assessment-tag.delete'],
  }),
  '38 create an assessment': async () => ({
    request: { method: 'POST', path: '/v1/assessments', body: { name: name() } },
    // The creator has access.
    actions: ['assessment.create', 'assessment.grant'],
    unchanged: [],
    rejectedForStaff: [
      {
        method: 'POST',
        path: '/v1/assessments',
        body: {
          name: name(),
          uid: assessment,
          tag_list: [name()],
          organization_uid: organization.uid,
        },
      },
    ],
    alsoFor: ['otherTenant'],
  }),
  '39 change an assessment': async () => {
    const path = `/v1/assessments/${(await fixtures.assessment(organization.uid)).uid}`;
    return {
      request: { method: 'PATCH', path, body: { name: name(), tag_list: [name()] } },
      actions: ['assessment-tag.create', 'assessment.update'],
      rejected: [
        {
          method: 'PATCH',
          path,
          body: { tag_list: [name()], starts_on: '2026-02-01', ends_on: '2026-01-01' },
        },
      ],
    };
  },
  '39 complete an assessment while somebody tests': async () => {
    const { uid } = await fixtures.assessment(organization.uid);
    await fixtures.access(uid, member.id);
    await fixtures.testingSession(uid, member.id, Date.now() - 60_000, null);
    return {
      request: { method: 'PATCH', path: `/v1/assessments/${uid}`, body: { state: 'completed' } },
      actions: ['assessment.update', 'testing-session.update'],
    };
  },
  '40 give and take access': async () => {
    const { uid } = await fixtures.assessment(organization.uid);
    await fixtures.access(uid, member.id);
    const path = `/v1/assessments/${uid}/users`;
    return {
      request: { method: 'PATCH', path, body: { add: [outsider.id], remove: [member.id] } },
      actions: ['assessment.grant', 'assessment.revoke'],
      rejected: [{ method: 'PATCH', path, body: { add: [outsider.id, otherTenant.id] } }],
    };
  },
  '44 create a group': async () => ({
    request: { method: 'POST', path: '/v1/assessment_groups', body: { name: name() } },
    actions: ['assessment-group.create'],
    unchanged: [],
    alsoFor: ['otherTenant'],
  }),
  '45 change a group': async () => ({
    request: {
      method: 'PATCH',
      path: `/v1/assessment_groups/${(await fixtures.group(organization.uid)).id}`,
      body: { name: name() },
    },
    actions: ['assessment-group.update'],
  }),
  '46 delete a group': async () => ({
    request: {
      method: 'DELETE',
      path: `/v1/assessment_groups/${(await fixtures.group(organization.uid)).id}`,
    },
    actions: ['assessment-group.delete'],
  }),
  '47 add members': async () => {
    const group = await fixtures.group(organization.uid);
    const path = `/api/assessment/v1/assessment-groups/${group.id}/members/batchAdd`;
    const members = [
      { userUid: outsider.uid, role: 'assessment_member' },
      { userUid: 'nobody', role: 'assessment_member' },
    ];
    return {
      request: { method: 'POST', path, body: { members } },
      actions: ['assessment-group.add-members'],
    };
  },
  '49 start a testing session': async () => {
    const { uid } = await fixtures.assessment(organization.uid);
    return {
      request: { method: 'POST', path: `/v1/assessments/${uid}/testing_sessions`, body: {} },
      actions: ['testing-session.start'],
    };
  },
  '49 log a testing session': async () => {
    const path = `/v1/assessments/${assessment}/testing_sessions`;
    const times = { started_at: '2026-01-01T10:00:00Z', ended_at: '2026-01-01T11:00:00Z' };
    return {
      request: { method: 'POST', path, body: times },
      actions: ['testing-session.log'],
      unchanged: [],
      rejected: [{ method: 'POST', path, body: { ...times, tester_id: outsider.id } }],
    };
  },
  '50 correct a testing session': async () => ({
    request: {
      method: 'PATCH',
      path: `/v1/testing_sessions/${(await fixtures.testingSession(assessment, member.id, 1_000, 2_000)).id}`,
      body: { note: name() },
    },
    actions: ['testing-session.update'],
  }),
  '51 delete a testing session': async () => ({
    request: {
      method: 'DELETE',
      path: `/v1/testing_sessions/${(await fixtures.testingSession(assessment, member.id, 1_000, 2_000)).id}`,
    },
    actions: ['testing-session.delete'],
  }),
  '54 invite a user': async () => ({
    request: {
      method: 'POST',
      path: '/v1/users',
      body: { email: `${(count += 1)}@invited.example`, assessments: [assessment] },
    },
    actions: ['user.create', 'assessment.grant'],
    rejected: [
      {
        method: 'POST',
        path: '/v1/users',
        body: { email: `${(count += 1)}@invited.example`, assessments: ['none'] },
      },
    ],
  }),
  '56 change a user': async () => {
    const { id } = await fixtures.user({ organization: organization.uid });
    const path = `/v1/users/${id}`;
    return {
      request: { method: 'PUT', path, body: { name: name(), admin: true, assessments: [assessment] } },
      actions: ['user.rename', 'assessment.grant', 'user.set-role'],
      rejected: [{ method: 'PUT', path, body: { name: name(), assessments: ['none'] } }],
    };
  },
  '58 create a token': async () => ({
    request: { method: 'POST', path: '/v1/tokens', body: { name: name() } },
    actions: ['token.create'],
    unchanged: [],
    rejected: [{ method: 'POST', path: '/v1/tokens', body: { name: name(), scopes: ['asset_gw'] } }],
    alsoFor: ['outsider', 'otherTenant'],
  }),
  '59 revoke a token': async () => ({
    request: { method: 'DELETE', path: `/v1/tokens/${(await fixtures.token(admin.id)).id}` },
    actions: ['token.revoke'],
  }),
  '63 create an organization': async () => ({
    request: {
      method: 'POST',
      path: '/v1/organizations',
      body: { uid: `new${(count += 1)}`, name: name() },
    },
    actions: ['organization.create'],
    byStaff: true,
  }),
  '64 change an organization': async () => ({
    request: { method: 'PATCH', path: `/v1/organizations/${organization.uid}`, body: { name: name() } },
    actions: ['organization.update'],
  }),
  '65 start an import': async () => ({
    request: { method: 'POST', path: '/v1/imports', form: [REPORT] },
    actions: ['import.start', 'import.end'],
    unchanged: [],
    rejected: [{ method: 'POST', path: '/v1/imports', form: [['file', 'no report', 'a.xml']] }],
    alsoFor: ['otherTenant'],
  }),
  '69 cancel an import': async () => ({
    request: {
      method: 'POST',
      path: `/v1/imports/${await insertImport(server, { organizationId: organization.id })}/cancel`,
    },
    actions: ['import.cancel', 'import.end'],
  }),
  '72 rename an asset tag': async () => {
    const { tags } = await bodyOf({ method: 'POST', path: assetTags(), body: { tags: [{ name: name() }] } });
    return {
      request: { method: 'PUT', path: `${assetTags()}/${tags[0].uid}`, body: { name: name() } },
      actions: ['asset-tag.rename'],
    };
  },
  '73 delete asset tags': async () => {
    const body = { tags: [{ name: name() }, { name: name() }] };
    const { tags } = await bodyOf({ method: 'POST', path: assetTags(), body });
    const uids = tags.map(({ uid }: { uid: string }) => uid);
    return {
      request: { method: 'DELETE', path: assetTags(), body: { uids } },
      actions: ['asset-tag.delete', 'asset-tag.delete'],
      rejected: [{ method: 'DELETE', path: assetTags(), body: { uids: [...uids, 'abcabcabcab0'] } }],
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
      actions: ['asset.create', 'asset.create', 'listing.update'],
      rejected: [{ method: 'POST', path, body: [host(), { ...host(), location: 'no host' }] }],
    };
  },
  '77 change an asset': async () => ({
    request: {
      method: 'PATCH',
      path: `/api/asset/v2/assets/${(await asset()).uid}`,
      body: { description: name() },
    },
    actions: ['asset.update'],
  }),
  '78 delete an asset': async () => ({
    request: { method: 'DELETE', path: `/api/asset/v2/assets/${(await asset()).uid}` },
    actions: ['asset.delete'],
  }),
  '82 undo an import': async () => {
    const { body } = await uploadReport(server, admin.token, REPORT[1], { assessment_id: assessment });
    await waitForImport(server, admin.token, body.id);
    return {
      request: { method: 'POST', path: `/v1/imports/${body.id}/undo` },
      actions: ['import.undo'],
    };
  },
  '84 delete an assessment': async () => ({
    request: {
      method: 'DELETE',
      path: `/v1/assessments/${(await fixtures.assessment(organization.uid)).uid}`,
    },
    actions: ['assessment.delete'],
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
const eventsOf = (response: TestResponse) =>
  server.context.db.read
    .selectFrom('audit_events')
    .select(['id', 'action', 'organization_id', 'before', 'after'])
    .where('request_id', '=', requestIdOf(response))
    .orderBy('id')
    .execute();

/** Returns the ids of the events of a request that a user can read through operation 60. */
async function read({ token }: TestUser, response: TestResponse): Promise<unknown> {
  const path = `/v1/audit_events?filter[request_id]=${requestIdOf(response)}`;
  const { status, body } = await server.request('GET', path, { token });
  return status === 200 ? body.map(({ id }: { id: number }) => id).reverse() : status;
}

const parsed = (text: string | null) => (text === null ? null : (JSON.parse(text) as object));

describe('The audit log', () => {
  it.each(Object.keys(AUDITED_OPERATIONS))(
    'records %s, visible to the right users, and no failed or unchanged request',
    async (title) => {
      const {
        request,
        actions,
        unchanged,
        rejected = [],
        rejectedForStaff = [],
        dryRun,
        byStaff,
        alsoFor = [],
      } = await (AUDITED_OPERATIONS[title] as () => Promise<AuditedOperation>)();
      const { token } = byStaff === true ? staff : admin;
      const operation = operations.find(
        ({ method, pattern }) => method === request.method && pattern.test(request.path),
      ) as RoutedOperation;

      const unrecorded: [string, TestResponse][] = [['without a credential', await send(undefined, request)]];
      if (!alsoFor.includes('outsider'))
        unrecorded.push(['without access', await send(outsider.token, request)]);
      if (!alsoFor.includes('otherTenant'))
        unrecorded.push(['another tenant', await send(otherTenant.token, request)]);
      for (const attempt of rejected) unrecorded.push([JSON.stringify(attempt), await send(token, attempt)]);
      for (const attempt of rejectedForStaff)
        unrecorded.push([JSON.stringify(attempt), await send(staff.token, attempt)]);
      if (operation.versioned && ['PATCH', 'PUT', 'DELETE'].includes(request.method))
        unrecorded.push(['another version', await send(token, request, { 'if-match': '"987654321-x"' })]);
      for (const [cause, { status, text }] of unrecorded)
        expect([cause, status, text]).toEqual([cause, expect.toSatisfy((code: number) => code >= 400), text]);
      if (dryRun !== undefined) unrecorded.push(['a dry run', await done(token, dryRun)]);

      const key = { 'idempotency-key': `key-${(count += 1)}` };
      const response = await done(token, request, key);
      if (operation.idempotent) unrecorded.push(['the repeat', await send(token, request, key)]);
      for (const attempt of unchanged ?? [request])
        unrecorded.push(['once more', await send(token, attempt)]);
      for (const [cause, attempt] of unrecorded)
        expect([cause, await eventsOf(attempt)]).toEqual([cause, []]);

      // Events of the job of a request have its id too.
      await expect.poll(async () => (await eventsOf(response)).map(({ action }) => action)).toEqual(actions);
      const events = await eventsOf(response);
      for (const { action, before, after } of events) {
        const [old, current] = [parsed(before), parsed(after)];
        if (/\.(create|log|start)$/.test(action))
          expect([action, old, current]).toEqual([action, null, expect.any(Object)]);
        else if (action.endsWith('.delete'))
          expect([action, old, current]).toEqual([action, expect.any(Object), null]);
      }
      const ids = events.map(({ id }) => id);
      expect({
        admin: await read(admin, response),
        staff: await read(staff, response),
        otherStaff: await read(otherStaff, response),
        otherTenant: await read(otherTenant, response),
        member: await read(member, response),
        outsider: await read(outsider, response),
      }).toEqual({
        admin: byStaff === true ? [] : ids,
        staff: ids,
        otherStaff: [],
        otherTenant: [],
        member: 403,
        outsider: 403,
      });
    },
  );

  it('covers every operation that changes something', async () => {
    const titles = Object.values(AUDITED_OPERATIONS);
    const requests = await Promise.all(titles.map(async (build) => (await build()).request));
    const missing = operations.filter(
      ({ method, pattern }) =>
        method !== 'GET' &&
        !requests.some((request) => request.method === method && pattern.test(request.path)),
    );
    expect(missing.map(({ name: operation }) => operation)).toEqual([]);
    expect(operations.filter(({ method }) => method !== 'GET').length).toBeGreaterThan(40);
  });

  it('shows an internal comment to staff only', async () => {
    const path = await vulnerabilityPath('/comments');
    const response = await done(staff.token, { method: 'POST', path, body: { text: 'x', internal: true } });
    const ids = (await eventsOf(response)).map(({ id }) => id);
    expect(ids).toHaveLength(1);
    expect([await read(admin, response), await read(otherStaff, response)]).toEqual([[], []]);
    expect(await read(staff, response)).toEqual(ids);
  });

  it.each(['/v1/vulnerabilities', '/v1/testing_sessions', '/v1/audit_events', '/api/asset/v2/assets'])(
    'records a download of %s once, and no pages',
    async (path) => {
      const page = await done(admin.token, { method: 'GET', path });
      expect(await eventsOf(page)).toEqual([]);
      const download = await done(admin.token, { method: 'GET', path }, { accept: 'text/csv' });
      const events = await eventsOf(download);
      expect(events.map(({ action }) => action)).toEqual([expect.stringMatching(/\.export$/)]);
      expect(await read(admin, download)).toEqual(events.map(({ id }) => id));
      expect([await read(otherTenant, download), await read(otherStaff, download)]).toEqual([[], []]);
    },
  );
});
