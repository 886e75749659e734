import { describe, expect, it } from 'vitest';
import { ACCESS_ROLES, GROUP_ROLES, type Role, ROLES } from '../src/auth/roles.ts';
import { createFixtures, type TestUser } from './harness/fixtures.ts';
import { type FormPart, formOf, insertImport } from './harness/imports.ts';
import { recordAssetDetections } from '../src/domain/imports/apply-assets.ts';
import { operationsOf, type RoutedOperation } from './harness/operations.ts';
import { type RequestOptions, useSharedServer } from './harness/server.ts';

/**
 * Every operation with what each role may do with it (docs/roles.md). An operation without a row fails the last test.
 */

/** What requests refer to. Everything was made by an admin. */
interface Estate {
  organization: { id: number; uid: string };
  admin: TestUser;
  colleague: TestUser;
  group: number;
  /** In the group. */
  assessment: string;
  assessmentId: number;
  /** In the listing of the assessment. */
  asset: string;
  host: string;
  /** A host of a vulnerability of the assessment, and one that an import of it saw; both outside the listing. */
  found: string;
  imported: string;
  assetTag: string;
  assessmentTag: number;
  vulnerability: number;
  /** Whether roles matter to the actor: not to admins and staff. */
  isOrdinary: boolean;
}

interface Attempt {
  method: string;
  path: string;
  body?: unknown;
  form?: readonly FormPart[];
}

interface Row {
  send(estate: Estate, actor: TestUser): Attempt | Promise<Attempt>;
  /** The roles whose users get a 2xx. */
  permits: readonly Role[];
  /** What others get; 403 unless told. */
  denied?: number;
  /** What `infra_admin` gets, if it is not permitted and differs from `denied`. */
  infra?: number;
  /** What users get whose role is by name, if the operation is about the group. */
  byName?: number;
  /** What users without a role get; 404 unless told. */
  none?: number;
  /** What admins of the organization and staff get; a 2xx unless told. */
  admin?: number;
  staff?: number;
}

const ALL = ROLES;
const SEES_FINDINGS = ROLES.filter((role) => role !== 'infra_admin');
const COMMENTS = SEES_FINDINGS.filter((role) => role !== 'assessment_read_only');
const MEMBERS = COMMENTS.filter((role) => role !== 'assessment_developer');
const WRITES_ASSETS: Role[] = [...MEMBERS, 'infra_admin'];
const NOBODY: Role[] = [];

const NMAP = '<?xml version="1.0"?><nmaprun scanner="nmap"></nmaprun>';
const CSV = 'title,severity\nImported,Low\n';

let now = Date.now();
// Each step has a time of its own: who had tested before a retest was requested is a matter of order.
const server = await useSharedServer(() => (now += 10));
const fixtures = createFixtures(server);

const write = server.context.db.write.bind(server.context.db);

const newVulnerability = async (e: Estate): Promise<string> =>
  `/v1/vulnerabilities/${(await fixtures.vulnerability(e.assessment)).id}`;

async function ask(e: Estate, attempt: Attempt, by: TestUser = e.admin) {
  const { method, path, body, form } = attempt;
  const options: RequestOptions = form === undefined ? { body } : formOf(form);
  return server.request(method, path, { token: by.token, ...options });
}

/** Makes something as an admin, and then the actor its author. */
async function authored(
  e: Estate,
  actor: TestUser,
  table: 'comments' | 'attachments' | 'retests',
  attempt: Attempt,
): Promise<number> {
  const { body } = await ask(e, attempt);
  const { id } = Array.isArray(body) ? body[0] : body;
  await write((tx) => tx.updateTable(table).set({ user_id: actor.id }).where('id', '=', id).execute());
  return id;
}

const comment = (path: string): Attempt => ({
  method: 'POST',
  path: `${path}/comments`,
  body: { text: 'Text' },
});
const attachment = (path: string): Attempt => ({
  method: 'POST',
  path: `${path}/attachments`,
  form: [['file', 'evidence', 'evidence.txt']],
});
const retest = (path: string): Attempt => ({
  method: 'POST',
  path: `${path}/patch_verifications`,
  body: { message: 'Fixed.' },
});

/** The path of a requested retest, before which the actor tested. */
async function retestAfterSession(e: Estate, actor: TestUser): Promise<string> {
  const path = await newVulnerability(e);
  const start = now - 3_600_000;
  await fixtures.testingSession(e.assessment, actor.id, start, start + 600_000);
  const { body } = await ask(e, retest(path));
  return `${path}/patch_verifications/${body.id}`;
}

async function newSession(e: Estate, actor: TestUser, isRunning: boolean): Promise<string> {
  await write((tx) => tx.deleteFrom('testing_sessions').where('tester_id', '=', actor.id).execute());
  const start = now - 3_600_000;
  const { id } = await fixtures.testingSession(
    e.assessment,
    actor.id,
    start,
    isRunning ? null : start + 600_000,
  );
  return `/v1/testing_sessions/${id}`;
}

const newImport = (e: Estate, actor: TestUser, state: 'queued' | 'succeeded'): Promise<number> =>
  insertImport(server, {
    organizationId: e.organization.id,
    assessmentId: e.assessmentId,
    createdBy: actor.id,
    state,
    ...(state === 'succeeded' ? { finishedAt: 2 } : {}),
  });

/** Adds an import of the assessment that saw an asset. */
async function sawAsset(e: Estate, uid: string): Promise<void> {
  const importId = await newImport(e, e.admin, 'succeeded');
  await write(async (tx) => {
    const { id } = await tx
      .selectFrom('assets')
      .select('id')
      .where('uid', '=', uid)
      .executeTakeFirstOrThrow();
    const job = {
      id: importId,
      organizationId: e.organization.id,
      assessment: { id: e.assessmentId },
      options: {},
    };
    await recordAssetDetections(tx, job, [{ id, firstSeenAt: 1, seenAt: 1 }]);
  });
}

const newAsset = async (e: Estate): Promise<string> => {
  const { uid } = await fixtures.asset({ organization: e.organization.uid });
  await fixtures.list(e.assessment, uid);
  return uid;
};

const newTag = async (e: Estate): Promise<string> =>
  String((await fixtures.vulnerabilityTag(e.organization.uid)).id);

const newMember = async (e: Estate): Promise<string> => {
  const { uid } = await fixtures.user({ organization: e.organization.uid });
  await fixtures.member(e.group, uid, 'assessment_member');
  return uid;
};

const newAssetTag = async (e: Estate): Promise<string> => {
  const { body } = await ask(e, {
    method: 'POST',
    path: `/api/tagging/v1.0/organizations/${e.organization.uid}/tags`,
    body: { tags: [{ name: `tag ${now}`, entities: [{ uid: e.asset }] }] },
  });
  return body.tags[0].uid;
};

const tagging = (e: Estate) => `/api/tagging/v1.0/organizations/${e.organization.uid}/tags`;
const members = (e: Estate) => `/api/assessment/v1/assessment-groups/${e.group}/members`;
const assetPorts = (e: Estate, host = e.host) =>
  `/api/streaming/v1/${e.organization.uid}/assets/${host}/ports`;

/** A GET that every role which sees findings may send; others get a 404. */
const findings = (path: (e: Estate) => string): Row => ({
  send: (e) => ({ method: 'GET', path: path(e) }),
  permits: SEES_FINDINGS,
  denied: 404,
});
/** A GET that every role may send. */
const reads = (path: (e: Estate) => string): Row => ({
  send: (e) => ({ method: 'GET', path: path(e) }),
  permits: ALL,
});
/** A GET that everyone may send, if only to see nothing. */
const anyone = (path: (e: Estate, actor: TestUser) => string): Row => ({
  send: (e, actor) => ({ method: 'GET', path: path(e, actor) }),
  permits: ALL,
  none: 200,
});
/** What admins and staff alone may do, whatever their roles. */
const adminsOnly = (send: Row['send'], none = 404, infra = 403): Row => ({
  send,
  permits: NOBODY,
  none,
  infra,
});

const TABLE: Record<string, Row> = {
  deleteVulnerabilityTag: {
    send: async (e) => ({ method: 'DELETE', path: `/v1/vulnerability_tags/${await newTag(e)}` }),
    permits: MEMBERS,
    none: 204,
  },
  updateVulnerabilityTag: {
    send: async (e) => ({
      method: 'PUT',
      path: `/v1/vulnerability_tags/${await newTag(e)}`,
      body: { name: `renamed ${now}` },
    }),
    permits: MEMBERS,
    none: 200,
  },
  createVulnerabilityTag: {
    send: (e) => ({
      method: 'POST',
      path: '/v1/vulnerability_tags',
      body: { name: `new ${now}`, organization_profile_id: e.organization.id },
    }),
    permits: MEMBERS,
    none: 201,
  },
  listVulnerabilityTags: anyone(() => '/v1/vulnerability_tags'),
  createAssessmentTag: adminsOnly((e) => ({
    method: 'POST',
    path: '/v1/assessment_tags',
    body: { name: `new ${now}`, assessment_id: e.assessment },
  })),
  updateAssessmentTag: adminsOnly(
    (e) => ({
      method: 'PUT',
      path: `/v1/assessment_tags/${e.assessmentTag}`,
      body: { name: `renamed ${now}` },
    }),
    403,
  ),
  deleteAssessmentTag: adminsOnly(async (e) => {
    const { id } = await fixtures.assessmentTag(e.assessment);
    return { method: 'DELETE', path: `/v1/assessment_tags/${id}` };
  }, 403),
  listAssessmentTags: anyone(() => '/v1/assessment_tags'),

  listVulnerabilities: anyone(() => '/v1/vulnerabilities'),
  summarizeVulnerabilities: anyone(() => '/v1/vulnerabilities/summary'),
  listVulnerabilityStatuses: anyone(() => '/v1/vulnerability_statuses'),
  getVulnerability: findings((e) => `/v1/vulnerabilities/${e.vulnerability}`),
  listTimeline: findings((e) => `/v1/vulnerabilities/${e.vulnerability}/timeline`),
  listComments: findings((e) => `/v1/vulnerabilities/${e.vulnerability}/comments`),
  listRetests: findings((e) => `/v1/vulnerabilities/${e.vulnerability}/patch_verifications`),
  downloadAttachment: {
    send: async (e) => {
      const { body } = await ask(e, attachment(`/v1/vulnerabilities/${e.vulnerability}`));
      return { method: 'GET', path: `/v1/vulnerabilities/${e.vulnerability}/attachments/${body[0].id}` };
    },
    permits: SEES_FINDINGS,
    denied: 404,
  },
  'updateVulnerability: an open status': {
    send: async (e) => ({ method: 'PATCH', path: await newVulnerability(e), body: { status_id: 3 } }),
    permits: COMMENTS,
    infra: 404,
  },
  'updateVulnerability: to Fixed': {
    send: async (e) => ({ method: 'PATCH', path: await newVulnerability(e), body: { status_id: 5 } }),
    permits: MEMBERS,
    infra: 404,
  },
  'updateVulnerability: reopened': {
    send: async (e) => {
      const { id } = await fixtures.vulnerability(e.assessment, { statusId: 5 });
      return { method: 'PATCH', path: `/v1/vulnerabilities/${id}`, body: { status_id: 2 } };
    },
    permits: MEMBERS,
    infra: 404,
  },
  'updateVulnerability: dismissed': {
    send: async (e) => ({ method: 'PATCH', path: await newVulnerability(e), body: { status_id: 7 } }),
    permits: MEMBERS,
    infra: 404,
  },
  'updateVulnerability: tags': {
    send: async (e) => ({ method: 'PATCH', path: await newVulnerability(e), body: { tag_list: ['new'] } }),
    permits: MEMBERS,
    infra: 404,
  },
  'updateVulnerability: nothing': {
    send: async (e) => ({ method: 'PATCH', path: await newVulnerability(e), body: {} }),
    permits: COMMENTS,
    infra: 404,
  },
  createVulnerability: {
    send: (e) => ({
      method: 'POST',
      path: '/v1/vulnerabilities',
      body: { assessment_id: e.assessment, title: 'New', severity: 'Low' },
    }),
    permits: MEMBERS,
  },
  replaceVulnerability: {
    send: async (e) => ({
      method: 'PUT',
      path: await newVulnerability(e),
      body: { title: 'New', severity: 'Low' },
    }),
    permits: MEMBERS,
    infra: 404,
  },
  deleteVulnerability: adminsOnly(
    async (e) => ({ method: 'DELETE', path: await newVulnerability(e) }),
    404,
    404,
  ),
  uploadAttachments: {
    send: async (e) => attachment(await newVulnerability(e)),
    permits: COMMENTS,
    infra: 404,
  },
  'deleteAttachment: their own': {
    send: async (e, actor) => {
      const path = await newVulnerability(e);
      const id = await authored(e, actor, 'attachments', attachment(path));
      return { method: 'DELETE', path: `${path}/attachments/${id}` };
    },
    permits: COMMENTS,
    infra: 404,
  },
  'deleteAttachment: of others': adminsOnly(
    async (e) => {
      const path = await newVulnerability(e);
      const { body } = await ask(e, attachment(path));
      return { method: 'DELETE', path: `${path}/attachments/${body[0].id}` };
    },
    404,
    404,
  ),
  createComment: { send: async (e) => comment(await newVulnerability(e)), permits: COMMENTS, infra: 404 },
  'updateComment: their own': {
    send: async (e, actor) => {
      const path = await newVulnerability(e);
      const id = await authored(e, actor, 'comments', comment(path));
      return { method: 'PATCH', path: `${path}/comments/${id}`, body: { text: 'Other' } };
    },
    permits: COMMENTS,
    infra: 404,
  },
  'updateComment: of others': {
    send: async (e) => {
      const path = await newVulnerability(e);
      const id = await authored(e, e.colleague, 'comments', comment(path));
      return { method: 'PATCH', path: `${path}/comments/${id}`, body: { text: 'Other' } };
    },
    permits: NOBODY,
    infra: 404,
    admin: 403,
    staff: 403,
  },
  'deleteComment: their own': {
    send: async (e, actor) => {
      const path = await newVulnerability(e);
      const id = await authored(e, actor, 'comments', comment(path));
      return { method: 'DELETE', path: `${path}/comments/${id}` };
    },
    permits: COMMENTS,
    infra: 404,
  },
  'deleteComment: of others': adminsOnly(
    async (e) => {
      const path = await newVulnerability(e);
      const id = await authored(e, e.colleague, 'comments', comment(path));
      return { method: 'DELETE', path: `${path}/comments/${id}` };
    },
    404,
    404,
  ),
  requestRetest: { send: async (e) => retest(await newVulnerability(e)), permits: COMMENTS, infra: 404 },
  'decideRetest: as a tester': {
    send: async (e, actor) => ({
      method: 'PATCH',
      path: await retestAfterSession(e, actor),
      body: { status: 'failed' },
    }),
    permits: MEMBERS,
    infra: 404,
  },
  'decideRetest: cancels their own': {
    send: async (e, actor) => {
      const path = await newVulnerability(e);
      const id = await authored(e, actor, 'retests', retest(path));
      return { method: 'PATCH', path: `${path}/patch_verifications/${id}`, body: { status: 'cancelled' } };
    },
    permits: COMMENTS,
    infra: 404,
  },
  'bulkUpdateVulnerabilities: an open status': {
    send: (e) => bulk(e, { set: { status_id: 3 } }),
    permits: COMMENTS,
    infra: 422,
    none: 422,
  },
  'bulkUpdateVulnerabilities: assignee and due date': {
    send: (e) => bulk(e, { set: { assignee_id: e.admin.id, due_on: '2030-01-01' } }),
    permits: COMMENTS,
    infra: 422,
    none: 422,
  },
  'bulkUpdateVulnerabilities: to Fixed': {
    send: (e) => bulk(e, { set: { status_id: 5 } }),
    permits: MEMBERS,
    infra: 422,
    none: 422,
  },
  'bulkUpdateVulnerabilities: severity': {
    send: (e) => bulk(e, { set: { severity: 'Critical' } }),
    permits: MEMBERS,
    infra: 422,
    none: 422,
  },
  'bulkUpdateVulnerabilities: tags': {
    send: (e) => bulk(e, { set: { add_tags: ['new'] } }),
    permits: MEMBERS,
    infra: 422,
    none: 422,
  },
  'bulkUpdateVulnerabilities: a dry run': {
    send: (e) => bulk(e, { set: { severity: 'Critical' }, dry_run: true }),
    permits: MEMBERS,
    infra: 422,
    none: 422,
  },
  // A filter matches what one sees: a role that sees nothing changes nothing.
  'bulkUpdateVulnerabilities: by a filter': {
    send: async (e) => {
      const { ids } = (await bulk(e, {})).body as { ids: number[] };
      return {
        method: 'POST',
        path: '/v1/vulnerabilities/bulk_update',
        body: { filter: { id: ids }, set: { severity: 'Critical' } },
      };
    },
    permits: [...MEMBERS, 'infra_admin'],
    none: 200,
  },

  listAssessments: anyone(() => '/v1/assessments'),
  getAssessment: reads((e) => `/v1/assessments/${e.assessment}`),
  createAssessment: {
    send: (e) => ({
      method: 'POST',
      path: '/v1/assessments',
      body: { name: 'New', assessment_group_id: e.group, organization_uid: e.organization.uid },
    }),
    permits: ['assessment_creator', 'rbac_group_admin'],
    byName: 422,
    none: 422,
  },
  updateAssessment: {
    send: (e) => ({
      method: 'PATCH',
      path: `/v1/assessments/${e.assessment}`,
      body: { description: `${now}` },
    }),
    permits: ['assessment_operator', 'rbac_group_admin'],
  },
  'updateAssessment: that they created': {
    send: async (e, actor) => {
      const { uid } = await fixtures.assessment(e.organization.uid, undefined, e.group);
      await write((tx) =>
        tx.updateTable('assessments').set({ created_by: actor.id }).where('uid', '=', uid).execute(),
      );
      return { method: 'PATCH', path: `/v1/assessments/${uid}`, body: { description: 'Other' } };
    },
    permits: ['assessment_creator', 'assessment_operator', 'rbac_group_admin'],
    byName: 404,
  },
  'updateAssessment: out of its group': {
    send: async (e) => {
      const { uid } = await fixtures.assessment(e.organization.uid, undefined, e.group);
      return { method: 'PATCH', path: `/v1/assessments/${uid}`, body: { assessment_group_id: null } };
    },
    permits: ['rbac_group_admin'],
    byName: 404,
  },
  deleteAssessment: {
    ...adminsOnly(async (e) => {
      const { uid } = await fixtures.assessment(e.organization.uid, undefined, e.group);
      return { method: 'DELETE', path: `/v1/assessments/${uid}` };
    }),
    byName: 404,
  },
  listAssessmentUsers: adminsOnly((e) => ({ method: 'GET', path: `/v1/assessments/${e.assessment}/users` })),
  updateAssessmentUsers: adminsOnly((e) => ({
    method: 'PATCH',
    path: `/v1/assessments/${e.assessment}/users`,
    body: { add: [e.colleague.id] },
  })),
  getTestingHours: findings((e) => `/v1/assessments/${e.assessment}/testing_hours`),
  listAssessmentTestingSessions: findings((e) => `/v1/assessments/${e.assessment}/testing_sessions`),
  listTestingSessions: anyone(() => '/v1/testing_sessions'),
  createTestingSession: {
    send: async (e, actor) => {
      await write((tx) => tx.deleteFrom('testing_sessions').where('tester_id', '=', actor.id).execute());
      return { method: 'POST', path: `/v1/assessments/${e.assessment}/testing_sessions`, body: {} };
    },
    permits: MEMBERS,
  },
  'updateTestingSession: stops their clock': {
    send: async (e, actor) => ({
      method: 'PATCH',
      path: await newSession(e, actor, true),
      body: { ended_at: new Date(now).toISOString() },
    }),
    permits: SEES_FINDINGS,
    denied: 404,
  },
  'updateTestingSession: corrects their own': {
    send: async (e, actor) => ({
      method: 'PATCH',
      path: await newSession(e, actor, false),
      body: { note: 'Corrected' },
    }),
    permits: MEMBERS,
    infra: 404,
  },
  'updateTestingSession: of others': adminsOnly(
    async (e) => ({
      method: 'PATCH',
      path: await newSession(e, e.colleague, false),
      body: { note: 'Corrected' },
    }),
    404,
    404,
  ),
  'deleteTestingSession: their own': {
    send: async (e, actor) => ({ method: 'DELETE', path: await newSession(e, actor, false) }),
    permits: MEMBERS,
    infra: 404,
  },
  'deleteTestingSession: of others': adminsOnly(
    async (e) => ({ method: 'DELETE', path: await newSession(e, e.colleague, false) }),
    404,
    404,
  ),

  listAssessmentGroups: anyone(() => '/v1/assessment_groups'),
  getAssessmentGroup: { ...reads((e) => `/v1/assessment_groups/${e.group}`), byName: 404 },
  createAssessmentGroup: adminsOnly(
    (e) => ({
      method: 'POST',
      path: '/v1/assessment_groups',
      body: { name: 'New', organization_uid: e.organization.uid },
    }),
    403,
  ),
  updateAssessmentGroup: {
    ...adminsOnly((e) => ({
      method: 'PATCH',
      path: `/v1/assessment_groups/${e.group}`,
      body: { name: 'Renamed' },
    })),
    byName: 404,
  },
  deleteAssessmentGroup: {
    ...adminsOnly(async (e) => {
      const { id } = await fixtures.group(e.organization.uid);
      return { method: 'DELETE', path: `/v1/assessment_groups/${id}` };
    }),
    denied: 404,
    infra: 404,
  },
  listGroupMembers: {
    send: (e) => ({ method: 'GET', path: members(e) }),
    permits: ALL,
    byName: 403,
    none: 403,
  },
  removeGroupMembers: {
    send: async (e) => ({
      method: 'POST',
      path: `${members(e)}/batchRemove`,
      body: { userUids: [await newMember(e)] },
    }),
    permits: ['rbac_group_admin', 'infra_admin'],
    none: 403,
  },
  addGroupMembers: {
    send: async (e) => ({
      method: 'POST',
      path: `${members(e)}/batchAdd`,
      body: { members: [{ userUid: e.colleague.uid, role: 'assessment_operator' }] },
    }),
    permits: ['rbac_group_admin'],
    none: 403,
  },

  whoAmI: anyone(() => '/v1/users/whoami'),
  getUser: anyone((_e, actor) => `/v1/users/${actor.id}`),
  'getUser: another': {
    send: (e) => ({ method: 'GET', path: `/v1/users/${e.colleague.id}` }),
    permits: NOBODY,
    denied: 404,
  },
  listUsers: {
    send: () => ({ method: 'GET', path: '/v1/users' }),
    permits: ['rbac_group_admin'],
    none: 403,
  },
  inviteUser: adminsOnly(
    (e) => ({
      method: 'POST',
      path: '/v1/users',
      body: { email: `new${now}@example.com`, organization_uid: e.organization.uid },
    }),
    403,
  ),
  updateUser: adminsOnly(
    (e) => ({ method: 'PUT', path: `/v1/users/${e.colleague.id}`, body: { name: 'Renamed' } }),
    403,
  ),
  banUser: adminsOnly(async (e) => {
    const { id } = await fixtures.user({ organization: e.organization.uid });
    return { method: 'DELETE', path: `/v1/users/${id}` };
  }, 403),
  listTokens: anyone(() => '/v1/tokens'),
  createToken: {
    send: () => ({ method: 'POST', path: '/v1/tokens', body: { name: 'New' } }),
    permits: ALL,
    none: 201,
  },
  revokeToken: {
    send: async (_e, actor) => ({
      method: 'DELETE',
      path: `/v1/tokens/${(await fixtures.token(actor.id)).id}`,
    }),
    permits: ALL,
    none: 204,
  },
  listAuditEvents: adminsOnly(() => ({ method: 'GET', path: '/v1/audit_events' }), 403),
  listOrganizations: anyone(() => '/v1/organizations'),
  getOrganization: anyone((e) => `/v1/organizations/${e.organization.uid}`),
  createOrganization: {
    send: () => ({ method: 'POST', path: '/v1/organizations', body: { uid: `new${now}`, name: 'New' } }),
    permits: NOBODY,
    none: 403,
    admin: 403,
  },
  updateOrganization: adminsOnly(
    (e) => ({ method: 'PATCH', path: `/v1/organizations/${e.organization.uid}`, body: { name: 'Renamed' } }),
    403,
  ),

  'startImport: findings': {
    send: (e) => ({
      method: 'POST',
      path: '/v1/imports',
      form: [
        ['assessment_id', e.assessment],
        ['dry_run', 'true'],
        ['file', CSV, 'report.csv'],
      ],
    }),
    permits: MEMBERS,
    none: 422,
  },
  'startImport: hosts': {
    send: (e) => ({
      method: 'POST',
      path: '/v1/imports',
      form: [
        ['assessment_id', e.assessment],
        ['dry_run', 'true'],
        ['file', NMAP, 'report.xml'],
      ],
    }),
    permits: WRITES_ASSETS,
    none: 422,
  },
  listImports: anyone(() => '/v1/imports'),
  getImport: {
    send: async (e) => ({ method: 'GET', path: `/v1/imports/${await newImport(e, e.colleague, 'queued')}` }),
    permits: ALL,
  },
  followImport: {
    send: async (e) => ({
      method: 'GET',
      path: `/v1/imports/${await newImport(e, e.colleague, 'succeeded')}/events`,
    }),
    permits: ALL,
  },
  'cancelImport: their own': {
    send: async (e, actor) => ({
      method: 'POST',
      path: `/v1/imports/${await newImport(e, actor, 'queued')}/cancel`,
    }),
    permits: WRITES_ASSETS,
  },
  'cancelImport: of others': adminsOnly(async (e) => ({
    method: 'POST',
    path: `/v1/imports/${await newImport(e, e.colleague, 'queued')}/cancel`,
  })),
  'undoImport: their own': {
    send: async (e, actor) => ({
      method: 'POST',
      path: `/v1/imports/${await newImport(e, actor, 'succeeded')}/undo`,
    }),
    permits: WRITES_ASSETS,
  },
  'undoImport: of others': adminsOnly(async (e) => ({
    method: 'POST',
    path: `/v1/imports/${await newImport(e, e.colleague, 'succeeded')}/undo`,
  })),

  createAssetTags: {
    send: (e) => ({
      method: 'POST',
      path: tagging(e),
      body: { tags: [{ name: `new ${now}`, entities: [{ uid: e.asset }] }] },
    }),
    permits: WRITES_ASSETS,
  },
  'createAssetTags: without assets': {
    send: (e) => ({ method: 'POST', path: tagging(e), body: { tags: [{ name: `new ${now}` }] } }),
    permits: WRITES_ASSETS,
  },
  changeAssetTaggings: {
    send: (e) => ({
      method: 'PATCH',
      path: tagging(e),
      body: { uids: [e.assetTag], addEntities: [{ uid: e.asset }] },
    }),
    permits: WRITES_ASSETS,
    none: 422,
  },
  'changeAssetTaggings: of an asset through a finding': {
    send: (e) => attach(e, e.found),
    permits: NOBODY,
    infra: 422,
    none: 422,
  },
  'changeAssetTaggings: of an asset through an import': {
    send: (e) => attach(e, e.imported),
    permits: NOBODY,
    none: 422,
  },
  'createAssetTags: of an asset through a finding': {
    send: (e) => createTag(e, e.found),
    permits: NOBODY,
    infra: 422,
  },
  'createAssetTags: of an asset through an import': {
    send: (e) => createTag(e, e.imported),
    permits: NOBODY,
  },
  listAssetTags: reads(tagging),
  getAssetTag: reads((e) => `${tagging(e)}/${e.assetTag}`),
  renameAssetTag: {
    send: (e) => ({ method: 'PUT', path: `${tagging(e)}/${e.assetTag}`, body: { name: `renamed ${now}` } }),
    permits: WRITES_ASSETS,
  },
  deleteAssetTags: {
    send: async (e) => ({ method: 'DELETE', path: tagging(e), body: { uids: [await newAssetTag(e)] } }),
    permits: WRITES_ASSETS,
  },
  updateAssetCriticality: {
    // Assets that one cannot write are not counted.
    send: (e) => ({
      method: 'POST',
      path: '/api/asset/v2/bulk/assets/criticality:update',
      body: { organizationUid: e.organization.uid, criticality: 'high', assetUids: [e.asset] },
    }),
    permits: ALL,
    none: 422,
  },
  changeListingAssets: {
    send: (e) => ({
      method: 'PATCH',
      path: `/api/asset/v2/listings/${e.assessment}/assets`,
      body: { add: [{ assetUid: e.asset, scopeRules: [{ rule: `${now}` }] }] },
    }),
    permits: WRITES_ASSETS,
  },
  listListingAssets: reads((e) => `/api/asset/v2/listings/${e.assessment}/assets`),
  createAssets: {
    send: (e) => ({
      method: 'POST',
      path: '/api/asset/v2/assets',
      body: {
        organizationUid: e.organization.uid,
        assetType: 'webapp',
        location: `https://new-${now}.example/`,
        listingUid: e.assessment,
      },
    }),
    permits: WRITES_ASSETS,
    none: 422,
  },
  listAssets: anyone(() => '/api/asset/v2/assets'),
  getAsset: reads((e) => `/api/asset/v2/assets/${e.asset}`),
  'getAsset: through a finding': findings((e) => `/api/asset/v2/assets/${e.found}`),
  'getAsset: through an import': reads((e) => `/api/asset/v2/assets/${e.imported}`),
  'updateAsset: through a finding': {
    send: (e) => describeAsset(e.found),
    permits: NOBODY,
    infra: 404,
  },
  'updateAsset: through an import': { send: (e) => describeAsset(e.imported), permits: NOBODY },
  updateAsset: {
    send: async (e) => ({
      method: 'PATCH',
      path: `/api/asset/v2/assets/${await newAsset(e)}`,
      body: { criticality: 'low' },
    }),
    permits: WRITES_ASSETS,
  },
  deleteAsset: {
    // Needs a scope for organizations or for all, which other users cannot hold.
    send: async (e) => ({
      method: 'DELETE',
      path: `/api/asset/v2/assets/${(await fixtures.asset({ organization: e.organization.uid })).uid}`,
    }),
    permits: NOBODY,
    none: 403,
  },
  listPorts: reads(assetPorts),
  'listPorts: through a finding': findings((e) => assetPorts(e, e.found)),
  'listPorts: through an import': reads((e) => assetPorts(e, e.imported)),
  listPortHistory: reads((e) => `${assetPorts(e)}/history`),
  'listPortHistory: through a finding': findings((e) => `${assetPorts(e, e.found)}/history`),
  'listPortHistory: through an import': reads((e) => `${assetPorts(e, e.imported)}/history`),
  listOrganizationPorts: anyone((e) => `/api/streaming/v1/${e.organization.uid}/assets/ports`),

  // Last, as it gives the actor a role elsewhere.
  'replaceVulnerability: into another assessment, seen by name': {
    send: async (e, actor) => {
      const { uid } = await fixtures.assessment(e.organization.uid);
      if (e.isOrdinary) await fixtures.access(uid, actor.id);
      const { id } = await fixtures.vulnerability(uid);
      return {
        method: 'PUT',
        path: `/v1/vulnerabilities/${id}`,
        body: { title: 'New', severity: 'Low', assessment_id: e.assessment },
      };
    },
    permits: MEMBERS,
  },
};

const attach = (e: Estate, uid: string): Attempt => ({
  method: 'PATCH',
  path: tagging(e),
  body: { uids: [e.assetTag], addEntities: [{ uid }] },
});

const createTag = (e: Estate, uid: string): Attempt => ({
  method: 'POST',
  path: tagging(e),
  body: { tags: [{ name: `new ${now}`, entities: [{ uid }] }] },
});

const describeAsset = (uid: string): Attempt => ({
  method: 'PATCH',
  path: `/api/asset/v2/assets/${uid}`,
  body: { description: `${now}` },
});

async function bulk(e: Estate, change: object): Promise<Attempt> {
  const ids = [
    (await fixtures.vulnerability(e.assessment)).id,
    (await fixtures.vulnerability(e.assessment)).id,
  ];
  return { method: 'POST', path: '/v1/vulnerabilities/bulk_update', body: { ids, ...change } };
}

type Actor = { name: string } & (
  { role: Role; via: 'group' | 'name' } | { role?: undefined; kind: 'none' | 'admin' | 'staff' }
);

const ACTORS: Actor[] = [
  ...GROUP_ROLES.map((role) => ({ name: `${role} by group`, role, via: 'group' as const })),
  ...ACCESS_ROLES.map((role) => ({ name: `${role} by name`, role, via: 'name' as const })),
  { name: 'a user without a role', kind: 'none' },
  { name: 'an admin', kind: 'admin' },
  { name: 'staff', kind: 'staff' },
];

async function makeEstate(actor: Actor): Promise<[Estate, TestUser]> {
  const kind = actor.role === undefined ? actor.kind : 'role';
  const made = await fixtures.together(async (batch) => {
    const organization = await batch.organization();
    const inOrganization = { organization: organization.uid };
    const admin = await batch.user({ ...inOrganization, admin: true });
    const colleague = await batch.user(inOrganization);
    const group = await batch.group(organization.uid);
    const { uid: assessment, id: assessmentId } = await batch.assessment(
      organization.uid,
      undefined,
      group.id,
    );
    const host = await batch.asset({ ...inOrganization, type: 'host' });
    const asset = await batch.asset(inOrganization);
    for (const { uid } of [host, asset]) await batch.list(assessment, uid);
    const [foundHost, importedHost] = [
      await batch.asset({ ...inOrganization, type: 'host' }),
      await batch.asset({ ...inOrganization, type: 'host' }),
    ];
    const user = await batch.user(
      kind === 'staff' ? {} : { ...inOrganization, ...(kind === 'admin' ? { admin: true } : {}) },
    );
    // Keeps the group an admin when others leave.
    await batch.member(group.id, admin.uid, 'rbac_group_admin');
    if (actor.role !== undefined && actor.via === 'group')
      await batch.member(group.id, user.uid, actor.role as (typeof GROUP_ROLES)[number]);
    if (actor.role !== undefined && actor.via === 'name') await batch.access(assessment, user.id);
    const estate: Omit<Estate, 'assetTag'> = {
      organization,
      admin,
      colleague,
      group: group.id,
      assessment,
      assessmentId,
      asset: asset.uid,
      host: host.uid,
      found: foundHost.uid,
      imported: importedHost.uid,
      assessmentTag: (await batch.assessmentTag(assessment)).id,
      vulnerability: (await batch.vulnerability(assessment, { assetUids: [foundHost.uid] })).id,
      isOrdinary: kind === 'role' || kind === 'none',
    };
    return { estate, user };
  });
  if (actor.role !== undefined && actor.via === 'name')
    await write((tx) =>
      tx
        .updateTable('assessment_access')
        .set({ role: actor.role as (typeof ACCESS_ROLES)[number] })
        .where('user_id', '=', made.user.id)
        .execute(),
    );
  const estate = { ...made.estate, assetTag: '' };
  estate.assetTag = await newAssetTag(estate);
  await sawAsset(estate, estate.imported);
  return [estate, made.user];
}

const SUCCESS = '2xx';

function expectedStatus(row: Row, actor: Actor): number | string {
  if (actor.role === undefined) {
    const { none = 404, admin = SUCCESS, staff = SUCCESS } = row;
    const status = { none, admin, staff }[actor.kind];
    return typeof status === 'number' && status < 300 ? SUCCESS : status;
  }
  if (actor.via === 'name' && row.byName !== undefined) return row.byName;
  if (row.permits.includes(actor.role)) return SUCCESS;
  const { denied = 403, infra = denied } = row;
  return actor.role === 'infra_admin' ? infra : denied;
}

/**
 * What lists and counts show of an assessment that lists two assets, with one vulnerability on one of them and on a
 * third, a draft on one of them and on another, and one that an import saw.
 */
async function seen(e: Estate, user: TestUser) {
  const tag = await fixtures.vulnerabilityTag(e.organization.uid);
  const { uid: hidden } = await fixtures.asset({ organization: e.organization.uid });
  for (const draft of [false, true])
    await fixtures.vulnerability(e.assessment, {
      assetUids: [e.asset, draft ? hidden : e.found],
      tagIds: [tag.id],
      draft,
    });
  await ask(e, { method: 'DELETE', path: `/v1/vulnerabilities/${e.vulnerability}` });
  await newSession(e, e.colleague, false);
  await newImport(e, e.colleague, 'succeeded');
  const get = async (path: string) => (await ask(e, { method: 'GET', path }, user)).body;
  const inOrganization = `filter[organization_uid][]=${e.organization.uid}`;
  const rows = async (path: string): Promise<any[]> => get(`${path}?${inOrganization}`);
  const [assessment] = await rows('/v1/assessments');
  const assets: any[] = await get(`/api/asset/v2/assets?organizationUid[]=${e.organization.uid}`);
  const tags = await rows('/v1/vulnerability_tags');
  const { by_phase: phases } = await get(`/v1/vulnerabilities/summary?${inOrganization}`);
  return {
    vulnerabilities: (await rows('/v1/vulnerabilities')).length,
    summarized: phases.new,
    taggedVulnerabilities: tags.find(({ id }: { id: number }) => id === tag.id).count,
    assessmentCounts: assessment && [
      assessment.vulnerability_count,
      assessment.open_vulnerability_count,
      assessment.asset_count,
    ],
    assets: assets.length,
    vulnerabilitiesOfAssets: assets.reduce((sum, { vulnerabilityCount }) => sum + vulnerabilityCount, 0),
    sessions: (await rows('/v1/testing_sessions')).length,
    imports: (await rows('/v1/imports')).length,
  };
}

const SEEN_BY_NOBODY = {
  vulnerabilities: 0,
  summarized: 0,
  taggedVulnerabilities: 0,
  assessmentCounts: undefined,
  assets: 0,
  vulnerabilitiesOfAssets: 0,
  sessions: 0,
  imports: 0,
};
const SEEN_BY_INFRA_ADMIN = { ...SEEN_BY_NOBODY, assessmentCounts: [0, 0, 2], assets: 3, imports: 2 };
const SEEN_BY_OTHERS = {
  ...SEEN_BY_INFRA_ADMIN,
  vulnerabilities: 1,
  summarized: 1,
  taggedVulnerabilities: 1,
  assessmentCounts: [1, 1, 2],
  assets: 4,
  vulnerabilitiesOfAssets: 2,
  sessions: 1,
};

/** Every asset of the organization. */
const SEEN_BY_ADMIN = { ...SEEN_BY_OTHERS, assets: 5 };

// An asset counts no drafts as open vulnerabilities.
const SEEN_BY_STAFF = {
  ...SEEN_BY_ADMIN,
  vulnerabilities: 2,
  summarized: 2,
  taggedVulnerabilities: 2,
  assessmentCounts: [2, 2, 2],
};

function expectedToBeSeen(actor: Actor): typeof SEEN_BY_OTHERS | typeof SEEN_BY_NOBODY {
  if (actor.role === 'infra_admin') return SEEN_BY_INFRA_ADMIN;
  if (actor.role !== undefined) return SEEN_BY_OTHERS;
  return { none: SEEN_BY_NOBODY, admin: SEEN_BY_ADMIN, staff: SEEN_BY_STAFF }[actor.kind];
}

describe.each(ACTORS)('$name', (actor) => {
  it('sees in lists and counts what the role reads', async () => {
    const [estate, user] = await makeEstate(actor);
    expect(await seen(estate, user)).toEqual(expectedToBeSeen(actor));
  });

  it('learns what the role permits from a vulnerability and an assessment', async () => {
    const [estate, user] = await makeEstate(actor);
    const vulnerability = (await retestAfterSession(estate, user)).split('/patch', 1)[0] as string;
    const get = async (path: string) => (await ask(estate, { method: 'GET', path }, user)).body;
    const permits = (roles: readonly Role[]) =>
      actor.role === undefined ? actor.kind !== 'none' : roles.includes(actor.role);
    const isAdmin = permits([]);
    expect((await get(vulnerability)).may).toEqual(
      permits(SEES_FINDINGS)
        ? {
            edit: permits(MEMBERS),
            triage: permits(MEMBERS),
            dismiss: permits(MEMBERS),
            comment: permits(COMMENTS),
            decide_retest: permits(MEMBERS),
            delete: isAdmin,
          }
        : undefined,
    );
    const path = `/v1/assessments/${estate.assessment}`;
    expect((await get(path)).permissions).toBe(undefined);
    expect((await get(`${path}?include_permissions=true`)).permissions).toEqual(
      permits(ALL)
        ? {
            read_vulnerabilities: permits(SEES_FINDINGS),
            comment: permits(COMMENTS),
            report: permits(MEMBERS),
            triage: permits(MEMBERS),
            dismiss: permits(MEMBERS),
            write_assets: permits(WRITES_ASSETS),
            edit: permits(['assessment_operator', 'rbac_group_admin']),
          }
        : undefined,
    );
    const listed: any[] = await get('/v1/assessments?include_permissions=true');
    expect(listed.every(({ permissions }) => permissions !== undefined)).toBe(true);
  });

  it('may do what the table says, and a refusal changes nothing', async () => {
    const [estate, user] = await makeEstate(actor);
    const statuses: Record<string, number | string> = {};
    const changed: string[] = [];
    for (const [name, row] of Object.entries(TABLE)) {
      const response = await ask(estate, await row.send(estate, user), user);
      statuses[name] = response.status < 300 ? SUCCESS : response.status;
      if (response.status < 300) continue;
      const events = await server.context.db.read
        .selectFrom('audit_events')
        .select('action')
        .where('request_id', '=', response.headers.get('x-request-id'))
        .where('denied_key', 'is', null)
        .execute();
      if (events.length > 0) changed.push(name);
    }
    expect(statuses).toEqual(
      Object.fromEntries(Object.entries(TABLE).map(([name, row]) => [name, expectedStatus(row, actor)])),
    );
    expect(changed).toEqual([]);
  });

  it('finds a draft in no operation, unless they are staff', async () => {
    const [estate, user] = await makeEstate(actor);
    const isStaff = actor.role === undefined && actor.kind === 'staff';
    const statuses: Record<string, number | string> = {};
    const expected: typeof statuses = {};
    for (const [name, row] of Object.entries(TABLE)) {
      const attempt = await row.send(estate, user);
      const { ids } = (attempt.body ?? {}) as { ids?: readonly number[] };
      const inPath = Number(/^\/v1\/vulnerabilities\/(\d+)/.exec(attempt.path)?.[1] ?? 0);
      const id = inPath || (name.startsWith('bulkUpdate') ? ids?.[0] : undefined);
      if (id === undefined) continue;
      await write((tx) => tx.updateTable('vulnerabilities').set({ draft: 1 }).where('id', '=', id).execute());
      const { status } = await ask(estate, attempt, user);
      statuses[name] = status < 300 ? SUCCESS : status;
      expected[name] = isStaff ? expectedStatus(row, actor) : inPath > 0 ? 404 : 422;
      await write((tx) => tx.updateTable('vulnerabilities').set({ draft: 0 }).where('id', '=', id).execute());
    }
    expect(statuses).toEqual(expected);
    expect(Object.keys(statuses).length).toBeGreaterThan(15);
  });
});

it('An import by others does not tell infra_admin how many findings it skipped, or an undo of it kept', async () => {
  const actor = ACTORS.find(({ role }) => role === 'infra_admin') as Actor;
  const [estate, user] = await makeEstate(actor);
  const id = await newImport(estate, estate.colleague, 'succeeded');
  const progress = {
    bytesRead: 1,
    bytesTotal: 1,
    hosts: 1,
    ports: 0,
    findings: 3,
    skipped: 2,
    secondsLeft: null,
  };
  await write((tx) =>
    tx
      .updateTable('imports')
      .set({
        progress: JSON.stringify(progress),
        skips: JSON.stringify([{ reason: 'below minimum severity', count: 2 }]),
        undone: JSON.stringify({ at: 3, findings: 0, assets: 1, statuses: 0, kept: 1 }),
      })
      .where('id', '=', id)
      .execute(),
  );
  const shown = async (by: TestUser) => {
    const { body } = await ask(estate, { method: 'GET', path: `/v1/imports/${id}` }, by);
    return [
      body.progress.hosts,
      body.progress.findings,
      body.progress.skipped,
      body.skips.length,
      body.undone.kept,
    ];
  };
  expect(await shown(estate.admin)).toEqual([1, 3, 2, 1, 1]);
  expect(await shown(user)).toEqual([1, 0, 0, 0, 0]);
});

it('The table has every operation', async () => {
  const operations: RoutedOperation[] = await operationsOf(server);
  const names = new Set(Object.keys(TABLE).map((name) => name.split(':', 1)[0]));
  expect(operations.flatMap(({ name }) => (names.has(name) ? [] : [name]))).toEqual([]);
  expect([...names].filter((name) => !operations.some((operation) => operation.name === name))).toEqual([]);
});
