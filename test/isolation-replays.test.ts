import { describe, expect, it } from 'vitest';
import { cliChangeContext } from '../src/auth/callers.ts';
import type { Transaction } from '../src/db/database.ts';
import { removeGroupMembers } from '../src/domain/assessments/remove-group-members.ts';
import { assignStaff } from '../src/domain/users/staff-organizations.ts';
import { updateUser } from '../src/domain/users/update-user.ts';
import { createFixtures, type TestUser } from './harness/fixtures.ts';
import { type FormPart, formOf } from './harness/imports.ts';
import { operationsOf } from './harness/operations.ts';
import { useSharedServer } from './harness/server.ts';

interface Estate {
  organization: { id: number; uid: string };
  assessment: string;
  vulnerability: number;
  asset: string;
  group: number;
  colleague: TestUser;
}

type Attempt = { path: string } & ({ body: unknown } | { form: readonly FormPart[] });

const CSV = 'title,severity\nReplayed,Low\n';

/** A request of each operation that has an idempotency key. */
const OPERATIONS: Record<string, (estate: Estate) => Attempt> = {
  createAssessmentTag: ({ assessment }) => ({
    path: '/v1/assessment_tags',
    body: { name: 'replayed', assessment_id: assessment },
  }),
  createAssetTags: ({ organization, asset }) => ({
    path: `/api/tagging/v1.0/organizations/${organization.uid}/tags`,
    body: { tags: [{ name: 'replayed', entities: [{ uid: asset }] }] },
  }),
  createVulnerability: ({ assessment, asset }) => ({
    path: '/v1/vulnerabilities',
    body: { assessment_id: assessment, title: 'Replayed', severity: 'Low', asset_uids: [asset] },
  }),
  uploadAttachments: ({ vulnerability }) => ({
    path: `/v1/vulnerabilities/${vulnerability}/attachments`,
    form: [['file', 'evidence', 'evidence.txt']],
  }),
  createComment: ({ vulnerability }) => ({
    path: `/v1/vulnerabilities/${vulnerability}/comments`,
    body: { text: 'Replayed' },
  }),
  requestRetest: ({ vulnerability }) => ({
    path: `/v1/vulnerabilities/${vulnerability}/patch_verifications`,
    body: { message: 'Replayed' },
  }),
  bulkUpdateVulnerabilities: ({ vulnerability }) => ({
    path: '/v1/vulnerabilities/bulk_update',
    body: { ids: [vulnerability], set: { severity: 'Low' } },
  }),
  createVulnerabilityTag: ({ organization }) => ({
    path: '/v1/vulnerability_tags',
    body: { name: 'replayed', organization_profile_id: organization.id },
  }),
  createAssessment: ({ organization, group }) => ({
    path: '/v1/assessments',
    body: { name: 'Replayed', organization_uid: organization.uid, assessment_group_id: group },
  }),
  createAssessmentGroup: ({ organization }) => ({
    path: '/v1/assessment_groups',
    body: { name: 'Replayed', organization_uid: organization.uid },
  }),
  addGroupMembers: ({ group, colleague }) => ({
    path: `/api/assessment/v1/assessment-groups/${group}/members/batchAdd`,
    body: { members: [{ userUid: colleague.uid, role: 'assessment_member' }] },
  }),
  createTestingSession: ({ assessment }) => ({
    path: `/v1/assessments/${assessment}/testing_sessions`,
    body: {},
  }),
  inviteUser: ({ organization }) => ({
    path: '/v1/users',
    body: { email: `invited@${organization.uid}.example`, organization_uid: organization.uid, admin: true },
  }),
  startImport: ({ assessment }) => ({
    path: '/v1/imports',
    form: [
      ['format', 'csv'],
      ['assessment_id', assessment],
      ['file', CSV, 'report.csv'],
    ],
  }),
  createAssets: ({ organization, assessment }) => ({
    path: '/api/asset/v2/assets',
    body: {
      organizationUid: organization.uid,
      assetType: 'webapp',
      name: 'Replayed',
      location: `https://replayed.${organization.uid}.example/`,
      listingUid: assessment,
    },
  }),
};

/** Operations whose right no account can lose, or that are about the caller's own account. */
const WITHOUT_ROW = ['createOrganization', 'createToken'];

const server = await useSharedServer();
const fixtures = createFixtures(server);

async function estate(): Promise<Estate> {
  return fixtures.together(async (batch) => {
    const organization = await batch.organization();
    const group = await batch.group(organization.uid);
    // Keeps the group an admin when others leave.
    const owner = await batch.user({ organization: organization.uid, admin: true });
    await batch.member(group.id, owner.uid, 'rbac_group_admin');
    const { uid: assessment } = await batch.assessment(organization.uid, undefined, group.id);
    const asset = await batch.asset({ organization: organization.uid });
    await batch.list(assessment, asset.uid);
    return {
      organization,
      assessment,
      vulnerability: (await batch.vulnerability(assessment)).id,
      asset: asset.uid,
      group: group.id,
      colleague: await batch.user({ organization: organization.uid }),
    };
  });
}

const change = (unit: (tx: Transaction, by: ReturnType<typeof cliChangeContext>) => Promise<unknown>) =>
  server.context.db.write((tx) => unit(tx, cliChangeContext(server.context.clock())));

interface Loss {
  gain(estate: Estate): Promise<TestUser>;
  lose(estate: Estate, user: TestUser): Promise<unknown>;
  /** The operations that need the right; absent for all. */
  only?: readonly string[];
}

/** The cases by the right that is lost. */
const LOSSES: Record<string, Loss> = {
  'staff lose the organization': {
    gain: ({ organization }) => fixtures.user({ assignedTo: [organization.uid] }),
    lose: async (_estate, user) => {
      const { uid } = await fixtures.organization();
      await change((tx, by) => assignStaff(tx, by, user.id, [uid]));
    },
  },
  'an admin becomes an ordinary user': {
    gain: ({ organization }) => fixtures.user({ organization: organization.uid, admin: true }),
    lose: (_estate, user) => change((tx, by) => updateUser(tx, by, user.id, { admin: false })),
    // Every user of the organization can create tags.
    only: Object.keys(OPERATIONS).filter((name) => name !== 'createVulnerabilityTag'),
  },
  'a user loses the assessment': {
    gain: async ({ organization, assessment }) => {
      const user = await fixtures.user({ organization: organization.uid });
      await fixtures.access(assessment, user.id);
      return user;
    },
    lose: (_estate, user) => change((tx, by) => updateUser(tx, by, user.id, { assessments: [] })),
    only: [
      'createVulnerability',
      'uploadAttachments',
      'createComment',
      'requestRetest',
      'bulkUpdateVulnerabilities',
      'createTestingSession',
      'startImport',
    ],
  },
  'a member leaves the group': {
    gain: async ({ organization, group }) => {
      const user = await fixtures.user({ organization: organization.uid });
      await fixtures.member(group, user.uid, 'rbac_group_admin');
      return user;
    },
    lose: ({ group }, user) => change((tx, by) => removeGroupMembers(tx, by, group, [user.uid])),
    only: ['createAssessment', 'addGroupMembers'],
  },
};

function send(attempt: Attempt, { token }: TestUser, key?: string) {
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
  return server.request('POST', attempt.path, {
    token,
    ...('form' in attempt ? formOf(attempt.form, headers) : { body: attempt.body, headers }),
  });
}

describe.each(Object.entries(LOSSES))(
  'After %s, a replay',
  (_name, { gain, lose, only = Object.keys(OPERATIONS) }) => {
    it.each(only)('of %s gets what a first request gets', async (name) => {
      const ownEstate = await estate();
      const user = await gain(ownEstate);
      const attempt = (OPERATIONS[name] as (typeof OPERATIONS)[string])(ownEstate);
      const first = await send(attempt, user, 'key');
      expect([first.status, first.text]).toEqual([expect.toSatisfy((status) => status < 300), first.text]);
      const replay = await send(attempt, user, 'key');
      expect([replay.status, replay.headers.get('idempotency-replayed')]).toEqual([first.status, 'true']);

      await lose(ownEstate, user);
      const rejected = await send(attempt, user, 'key');
      const newAttempt = await send(attempt, user);
      expect([403, 404, 422]).toContain(rejected.status);
      expect(rejected.headers.get('idempotency-replayed')).toBeNull();
      expect([rejected.status, rejected.body.detail]).toEqual([newAttempt.status, newAttempt.body.detail]);
    });
  },
);

it('With another token of the account, a replay gets what that token gets', async () => {
  const ownEstate = await estate();
  const user = await fixtures.user({ organization: ownEstate.organization.uid, admin: true });
  const attempt = (OPERATIONS['createAssets'] as (typeof OPERATIONS)[string])(ownEstate);
  const { body: created } = await send(attempt, user, 'key');
  await change((tx) =>
    tx.updateTable('assets').set({ writable_by: 'boss' }).where('uid', '=', created.uid).execute(),
  );
  const narrowToken = await fixtures.token(user.id, { scopes: ['asset_client_ow'] });
  const rejected = await send(attempt, { ...user, token: narrowToken.token }, 'key');
  const newAttempt = await send(attempt, { ...user, token: narrowToken.token });
  expect([rejected.status, rejected.body.detail]).toEqual([409, newAttempt.body.detail]);
  expect((await send(attempt, user, 'key')).status).toBe(201);
  const events = (await fixtures.auditEvents()).filter(
    ({ action, user_id }) => action === 'location.refuse' && user_id === user.id,
  );
  expect(events).toHaveLength(2);
});

it('covers every operation with an idempotency key', async () => {
  const operations = await operationsOf(server);
  const names = operations.filter(({ idempotent }) => idempotent).map(({ name }) => name);
  expect([...Object.keys(OPERATIONS), ...WITHOUT_ROW].sort()).toEqual(names.sort());
});
