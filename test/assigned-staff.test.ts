import { describe, expect, it } from 'vitest';
import { cliChangeContext } from '../src/auth/callers.ts';
import { assignStaff } from '../src/domain/users/staff-organizations.ts';
import { applicationsOf } from './oauth/applications.ts';
import { useSharedServer } from './harness/server.ts';
import { createFixtures } from './harness/fixtures.ts';

const server = await useSharedServer();
const fixtures = createFixtures(server);
for (const uid of ['mine', 'other']) await fixtures.organization(uid);
/** Staff assigned to `mine`. */
const staff = await fixtures.user({ assignedTo: ['mine'] });

const as = (method: string, path: string, body?: unknown, token = staff.token) =>
  server.request(method, path, { token, body });

/** Creates one of each object that the operations use in an organization. */
async function estate(organization: string) {
  const member = await fixtures.user({ organization });
  const admin = await fixtures.user({ organization, admin: true });
  const group = await fixtures.group(organization);
  for (const { uid } of [member, admin]) await fixtures.member(group.id, uid, 'assessment_member');
  const assessment = await fixtures.assessment(organization, undefined, group.id);
  const asset = await fixtures.asset({ organization, type: 'host' });
  await fixtures.list(assessment.uid, asset.uid);
  const vulnerability = await fixtures.vulnerability(assessment.uid);
  const tags = [await fixtures.vulnerabilityTag(organization), await fixtures.vulnerabilityTag(organization)];
  const assessmentTag = await fixtures.assessmentTag(assessment.uid);
  return { organization, member, admin, group, assessment, asset, vulnerability, tags, assessmentTag };
}

type Estate = Awaited<ReturnType<typeof estate>>;

/** The operations, ordered so that none deletes what a later one needs. */
const operations = (
  { organization, member, admin, group, assessment, asset, vulnerability, tags, assessmentTag }: Estate,
  assetTag: string,
): [method: string, path: string, body?: unknown][] => [
  ['DELETE', `/v1/vulnerability_tags/${tags[0]?.id}`],
  ['PUT', `/v1/vulnerability_tags/${tags[1]?.id}`, { name: `renamed ${assetTag}` }],
  ['POST', '/v1/assessment_tags', { name: `new ${assetTag}`, assessment_id: assessment.uid }],
  ['PUT', `/v1/assessment_tags/${assessmentTag.id}`, { name: `renamed ${assetTag}` }],
  ['PATCH', `/v1/vulnerabilities/${vulnerability.id}`, { status_id: 5 }],
  ['GET', `/v1/assessments/${assessment.uid}/testing_hours`],
  ['POST', `/api/tagging/v1.0/organizations/${organization}/tags`, { tags: [{ name: `new ${assetTag}` }] }],
  [
    'PATCH',
    `/api/tagging/v1.0/organizations/${organization}/tags`,
    { uids: [assetTag], addEntities: [{ uid: asset.uid }] },
  ],
  [
    'POST',
    '/api/asset/v2/bulk/assets/criticality:update',
    { organizationUid: organization, criticality: 'high', assetUids: [asset.uid] },
  ],
  ['PATCH', `/api/asset/v2/listings/${assessment.uid}/assets`, { add: [{ assetUid: asset.uid }] }],
  ['GET', `/api/assessment/v1/assessment-groups/${group.id}/members`],
  ['GET', `/api/streaming/v1/${organization}/assets/${asset.uid}/ports`],
  ['POST', `/api/assessment/v1/assessment-groups/${group.id}/members/batchRemove`, { userUids: [admin.uid] }],
  ['DELETE', `/v1/users/${member.id}`],
];

async function assetTagOf(organization: string): Promise<string> {
  const { token } = await fixtures.user();
  const path = `/api/tagging/v1.0/organizations/${organization}/tags`;
  const name = `tag of ${organization} ${token.slice(-6)}`;
  return (await as('POST', path, { tags: [{ name }] }, token)).body.tags[0].uid;
}

const rejected = async (estateToProbe: Estate, token = staff.token) => {
  const refusals: string[] = [];
  const tag = await assetTagOf(estateToProbe.organization);
  for (const [method, path, body] of operations(estateToProbe, tag)) {
    const { status } = await as(method, path, body, token);
    if (status >= 300) refusals.push(`${method} ${path}`);
  }
  return refusals;
};

describe('Assigned staff', () => {
  it('act as staff in their organizations', async () => {
    const assignedEstate = await estate('mine');
    expect(await rejected(assignedEstate)).toEqual([]);
  });

  it('have no access to others', async () => {
    const otherEstate = await estate('other');
    expect((await rejected(otherEstate)).length).toBe(14);
  });

  it('cannot have global scopes', async () => {
    const { token } = await fixtures.token(staff.id, { kind: 'jwt' });
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
      scope: string;
    };
    expect(claims.scope).toBe(
      'api tag_ow tag_or tag_lw tag_lr asset_or asset_lr asset_boss_ow asset_boss_lw',
    );
    await expect(fixtures.token(staff.id, { scopes: ['tag_gw'] })).rejects.toThrow(
      /is not allowed for this account/,
    );
  });

  it('are restricted from the moment they are assigned, including their existing tokens', async () => {
    await fixtures.organization('third');
    const newUser = await fixtures.user();
    const [before, after] = [await estate('other'), await estate('other')];
    expect(await rejected(before, newUser.token)).toEqual([]);
    const { db, clock } = server.context;
    await db.write((tx) => assignStaff(tx, cliChangeContext(clock()), newUser.id, ['mine', 'third']));
    expect((await rejected(after, newUser.token)).length).toBe(14);
    expect(await rejected(await estate('third'), newUser.token)).toEqual([]);
    const global = await as(
      'POST',
      '/api/asset/v2/bulk/assets/criticality:update',
      { organizationUid: 'other', criticality: 'high', assetUids: [after.asset.uid] },
      newUser.token,
    );
    expect(global.status).toBe(422);
    await db.write((tx) => assignStaff(tx, cliChangeContext(clock()), newUser.id, []));
    expect(await rejected(after, newUser.token)).toEqual([]);
    const assigned = (await fixtures.auditEvents()).filter(({ action }) => action === 'user.assign');
    expect(assigned.map((event) => [event.before, event.after])).toEqual([
      ['{"assigned_to":[]}', '{"assigned_to":["mine","third"]}'],
      ['{"assigned_to":["mine","third"]}', '{"assigned_to":[]}'],
    ]);
  });

  it('can see the tags of a group that contains one of their organizations, and no assets of its others', async () => {
    await fixtures.organizationGroup('both', ['mine', 'other']);
    await fixtures.organizationGroup('foreign', ['other']);
    const ownAsset = await fixtures.asset({ organization: 'mine' });
    const otherAsset = await fixtures.asset({ organization: 'other' });
    const create = (group: string, asset: string) =>
      as('POST', `/api/tagging/v1.0/organizations/${group}/tags`, {
        tags: [{ name: `on ${asset}`, entities: [{ uid: asset }] }],
      });
    expect((await create('both', ownAsset.uid)).status).toBe(201);
    expect((await create('both', otherAsset.uid)).status).toBe(422);
    expect((await create('foreign', ownAsset.uid)).status).toBe(404);
  });

  it('cannot ban staff, whom they cannot see, or themselves', async () => {
    const colleague = await fixtures.user();
    expect((await as('DELETE', `/v1/users/${colleague.id}`)).status).toBe(404);
    expect((await as('DELETE', `/v1/users/${staff.id}`)).status).toBe(403);
  });

  it('cannot see users of other organizations', async () => {
    await fixtures.organization('second');
    const doublyAssigned = await fixtures.user({ assignedTo: ['mine', 'second'] });
    const group = await fixtures.group('mine');
    const colleague = await fixtures.user();
    const [second, otherUid] = [
      await fixtures.user({ organization: 'second' }),
      await fixtures.user({ organization: 'other' }),
    ];
    const { body } = await as(
      'POST',
      `/api/assessment/v1/assessment-groups/${group.id}/members/batchRemove`,
      { userUids: [second.uid, otherUid.uid, colleague.uid] },
      doublyAssigned.token,
    );
    expect(body.results.map(({ errorCode }: { errorCode: string }) => errorCode)).toEqual([
      'user_not_in_org',
      'user_not_found',
      'user_not_found',
    ]);
  });

  it('can introspect tokens of their organizations only', async () => {
    const apps = applicationsOf(server);
    const client = await apps.client({ kind: 'confidential', userId: staff.id });
    const active = async (token: string) =>
      (await apps.postAs(client, '/oauth/introspect', { token })).body.active;
    expect(await active((await fixtures.user({ organization: 'mine' })).token)).toBe(true);
    expect(await active((await fixtures.user({ organization: 'other' })).token)).toBe(false);
    expect(await active((await fixtures.user()).token)).toBe(false);
  });

  it('must be staff: client users cannot be assigned', async () => {
    const client = await fixtures.user({ organization: 'mine' });
    const { db, clock } = server.context;
    await expect(
      db.write((tx) => assignStaff(tx, cliChangeContext(clock()), client.id, ['other'])),
    ).rejects.toThrow(/platform staff/);
    await expect(fixtures.user({ organization: 'mine', assignedTo: ['other'] })).rejects.toThrow(
      /platform staff/,
    );
  });
});
