import { beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../harness/expect-problem.ts';
import { useSharedServer } from '../harness/server.ts';
import { INVALID_IDS } from '../harness/invalid-values.ts';
import { columnsOfRequest, type TestUser, createFixtures } from '../harness/fixtures.ts';

const NOW = Date.UTC(2026, 10, 21, 10, 30);

let organization: { id: number; uid: string };
let admin: TestUser;
let assessment: { id: number; uid: string };

const server = await useSharedServer(() => NOW);
const fixtures = createFixtures(server);
beforeEach(async () => {
  organization = await fixtures.organization();
  admin = await fixtures.user({ organization: organization.uid, admin: true });
  assessment = await fixtures.assessment(organization.uid);
});

const remove = (id: number | string, token = admin.token, headers: Record<string, string> = {}) =>
  server.request('DELETE', `/v1/assessment_tags/${id}`, { token, headers });
const exists = async (id: number) =>
  (await server.context.db.read.selectFrom('assessment_tags').select('id').where('id', '=', id).execute())
    .length === 1;
const taggings = async (id: number) =>
  (
    await server.context.db.read
      .selectFrom('assessment_taggings')
      .select('tag_id')
      .where('tag_id', '=', id)
      .execute()
  ).length;

describe('Operation 35: delete an assessment tag', () => {
  it('returns 204 and removes the tag from its assessment, then 404', async () => {
    const tag = await fixtures.assessmentTag(assessment.uid);
    const remaining = await fixtures.assessmentTag(assessment.uid);
    expect(await taggings(tag.id)).toBe(1);
    const response = await remove(tag.id);
    expect([response.status, response.text]).toEqual([204, '']);
    expect([await exists(tag.id), await taggings(tag.id), await taggings(remaining.id)]).toEqual([
      false,
      0,
      1,
    ]);
    expectProblem(server, await remove(tag.id), { area: 'v1', status: 404, kind: 'not-found' });
  });

  it('allows staff', async () => {
    const tag = await fixtures.assessmentTag(assessment.uid);
    expect((await remove(tag.id, (await fixtures.user()).token)).status).toBe(204);
  });

  it('returns 403 to users of the organization who are not admins, regardless of If-Match', async () => {
    const tag = await fixtures.assessmentTag(assessment.uid);
    const member = await fixtures.user({ organization: organization.uid });
    await fixtures.access(assessment.uid, member.id);
    for (const headers of [{}, { 'if-match': '"7."' }]) {
      const response = await remove(tag.id, member.token, headers);
      expectProblem(server, response, { area: 'v1', status: 403, kind: 'forbidden' });
    }
    expect(await exists(tag.id)).toBe(true);
  });

  it('returns 404 for tags of other organizations and unknown tags, regardless of If-Match', async () => {
    const foreignAssessment = await fixtures.assessment((await fixtures.organization()).uid);
    const tag = await fixtures.assessmentTag(foreignAssessment.uid);
    const member = await fixtures.user({ organization: organization.uid });
    const assigned = await fixtures.user({ assignedTo: [organization.uid] });
    for (const { token } of [admin, member, assigned]) {
      for (const id of [tag.id, 999_999_999]) {
        const response = await remove(id, token, { 'if-match': '"7."' });
        expectProblem(server, response, { area: 'v1', status: 404, kind: 'not-found' });
      }
    }
    expect(await exists(tag.id)).toBe(true);
  });

  it.each(INVALID_IDS)('returns 404 for the malformed id %s', async (id) => {
    expectProblem(server, await remove(id), { area: 'v1', status: 404, kind: 'not-found' });
  });

  it('returns 412 for a stale version, and deletes the current one', async () => {
    const created = await server.request('POST', '/v1/assessment_tags', {
      token: admin.token,
      body: { name: 'old', assessment_id: assessment.uid },
    });
    const { id } = created.body;
    const renamed = await server.request('PUT', `/v1/assessment_tags/${id}`, {
      token: admin.token,
      body: { name: 'new' },
    });
    const stale = await remove(id, admin.token, { 'if-match': created.headers.get('etag') ?? '' });
    expectProblem(server, stale, { area: 'v1', status: 412, kind: 'precondition-failed' });
    expect(await exists(id)).toBe(true);
    expect((await remove(id, admin.token, { 'if-match': renamed.headers.get('etag') ?? '' })).status).toBe(
      204,
    );
  });

  it('records the previous values in the audit log', async () => {
    const tag = await fixtures.assessmentTag(assessment.uid, 'Old');
    const response = await remove(tag.id);
    const events = (await fixtures.auditEvents()).filter((event) => event.action === 'assessment-tag.delete');
    expect(events.filter((event) => event.object_id === String(tag.id))).toEqual([
      {
        ...columnsOfRequest(admin, response),
        at: NOW,
        action: 'assessment-tag.delete',
        object_type: 'assessment-tag',
        object_id: String(tag.id),
        organization_id: organization.id,
        before: '{"name":"Old","assessments":1}',
        after: null,
      },
    ]);
  });
});
