import { beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../harness/expect-problem.ts';
import { useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

let organization: string;
let admin: TestUser;
let member: TestUser;
let uid: string;

const server = await useSharedServer();
const fixtures = createFixtures(server);
beforeEach(async () => {
  organization = (await fixtures.organization()).uid;
  admin = await fixtures.user({ organization, admin: true });
  member = await fixtures.user({ organization });
  uid = (await fixtures.assessment(organization)).uid;
  await fixtures.access(uid, member.id);
});

const remove = (token = admin.token, headers: Record<string, string> = {}) =>
  server.request('DELETE', `/v1/assessments/${uid}`, { token, headers });
const get = () => server.request('GET', `/v1/assessments/${uid}`, { token: admin.token });

describe('Operation 84: delete an assessment', () => {
  it('returns 204 and deletes its tags, accesses and listed assets, but not what they refer to', async () => {
    const tag = await fixtures.assessmentTag(uid);
    const asset = await fixtures.asset({ organization });
    await fixtures.list(uid, asset.uid);
    const { status, text } = await remove();
    expect([status, text]).toEqual([204, '']);
    expect((await get()).status).toBe(404);
    const assets = await server.context.db.read
      .selectFrom('assets')
      .select('uid')
      .where('uid', '=', asset.uid)
      .execute();
    expect(assets).toHaveLength(1);
    const event = (await fixtures.auditEvents()).findLast(({ action }) => action === 'assessment.delete');
    expect([event?.object_id, event?.after]).toEqual([uid, null]);
    expect(JSON.parse(event?.before ?? '')).toEqual({
      uid,
      name: `Assessment ${uid}`,
      description: '',
      type: 'web',
      state: 'active',
      drafts: 'off',
      group_id: null,
      starts_on: null,
      ends_on: null,
      tags: [tag.id],
    });
    expect((await remove()).status).toBe(404);
  });

  it('updates the counters of the organization, its group and its tags', async () => {
    const group = await fixtures.group(organization);
    const { uid: grouped } = await fixtures.assessment(organization, undefined, group.id);
    const tag = await fixtures.assessmentTag(grouped);
    const { token } = admin;
    const counts = async () => {
      const organizationResponse = await server.request('GET', `/v1/organizations/${organization}`, {
        token,
      });
      const groups = await server.request('GET', `/v1/assessment_groups/${group.id}`, { token });
      const tags = await server.request('GET', '/v1/assessment_tags', { token });
      const tagged = tags.body.find(({ id }: { id: number }) => id === tag.id);
      return [organizationResponse.body.assessment_count, groups.body.assessment_count, tagged?.count];
    };
    expect(await counts()).toEqual([2, 1, 1]);
    expect((await server.request('DELETE', `/v1/assessments/${grouped}`, { token })).status).toBe(204);
    expect(await counts()).toEqual([1, 0, 0]);
  });

  it('returns 409 while it has a vulnerability, open or closed, or a testing session', async () => {
    const used = await fixtures.assessment(organization);
    await fixtures.vulnerability(uid, { statusId: 5 });
    await fixtures.testingSession(used.uid, admin.id, 0, 1);
    for (const assessmentUid of [uid, used.uid]) {
      const response = await server.request('DELETE', `/v1/assessments/${assessmentUid}`, {
        token: admin.token,
      });
      expectProblem(server, response, { area: 'v1', status: 409, kind: 'conflict' });
    }
    expect((await get()).status).toBe(200);
  });

  it('returns 412 for a stale version before 409', async () => {
    await fixtures.vulnerability(uid);
    expectProblem(server, await remove(admin.token, { 'if-match': '"9.x"' }), {
      area: 'v1',
      status: 412,
      kind: 'precondition-failed',
    });
  });

  it('allows admins and staff, and returns 403 to users with access, 404 to others', async () => {
    expectProblem(server, await remove(member.token), { area: 'v1', status: 403, kind: 'forbidden' });
    const outsider = await fixtures.user({ organization });
    const foreignAdmin = await fixtures.user({
      organization: (await fixtures.organization()).uid,
      admin: true,
    });
    for (const { token } of [outsider, foreignAdmin]) expect((await remove(token)).status).toBe(404);
    expect((await remove((await fixtures.user()).token)).status).toBe(204);
  });

  it('serializes with the creation of a vulnerability in the assessment', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { uid: deletedUid } = await fixtures.assessment(organization);
      const [removed, created] = await Promise.allSettled([
        server.request('DELETE', `/v1/assessments/${deletedUid}`, { token: admin.token }),
        fixtures.vulnerability(deletedUid),
      ]);
      const status = removed.status === 'fulfilled' ? removed.value.status : 0;
      expect([status, created.status]).toEqual(status === 204 ? [204, 'rejected'] : [409, 'fulfilled']);
    }
  });
});
