import { beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../harness/expect-problem.ts';
import { useSharedServer } from '../harness/server.ts';
import { INVALID_NAMES } from '../harness/invalid-values.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const START = Date.UTC(2026, 10, 21, 10, 30);

let now: number;
let organization: { id: number; uid: string };
let admin: TestUser;
let member: TestUser;
let group: { id: number };
let uid: string;

const server = await useSharedServer(() => now);
const fixtures = createFixtures(server);
beforeEach(async () => {
  now = START;
  organization = await fixtures.organization();
  admin = await fixtures.user({ organization: organization.uid, admin: true });
  member = await fixtures.user({ organization: organization.uid });
  group = await fixtures.group(organization.uid);
  uid = (await fixtures.assessment(organization.uid, undefined, group.id)).uid;
  await fixtures.access(uid, member.id);
  now = START + 60_000;
});

const update = (body: unknown, token = admin.token, headers: Record<string, string> = {}) =>
  server.request('PATCH', `/v1/assessments/${uid}`, { token, body, headers });
const get = async () => (await server.request('GET', `/v1/assessments/${uid}`, { token: admin.token })).body;
const events = async (action: string) =>
  (await fixtures.auditEvents()).filter(
    (event) => event.action === action && event.organization_id === organization.id,
  );
type Response = Awaited<ReturnType<typeof update>>;
const expectInvalid = (response: Response, property: string, message: unknown = expect.any(String)) => {
  const fieldErrors =
    response.body.failedValidation ?? response.body.failedValidations?.[0]?.failedValidation;
  expect([response.status, fieldErrors]).toEqual([422, [expect.objectContaining({ property, message })]]);
};
const expectForbidden = (response: Response) =>
  expectProblem(server, response, { area: 'v1', status: 403, kind: 'forbidden' });

describe('Operation 39: update an assessment', () => {
  it('updates the given fields and returns the assessment', async () => {
    const otherGroup = await fixtures.group(organization.uid);
    const before = await get();
    const body = {
      name: ' New name ',
      description: 'Text',
      type: 'mobile',
      state: 'paused',
      assessment_group_id: otherGroup.id,
      starts_on: '2026-12-01',
      ends_on: '2026-12-31',
    };
    const response = await update(body);
    const after = { ...before, ...body, name: 'New name', updated_at: '2026-11-21T10:31:00.000Z' };
    expect([response.status, response.body]).toEqual([200, after]);
    expect(response.headers.get('etag')).toMatch(/^"2\./);
    expect(await get()).toEqual(after);
    const [event] = await events('assessment.update');
    expect(JSON.parse(event?.before ?? '')).toEqual({
      name: before.name,
      description: '',
      type: 'web',
      state: 'active',
      group_id: group.id,
      starts_on: null,
      ends_on: null,
    });
    expect(JSON.parse(event?.after ?? '')).toEqual({
      name: 'New name',
      description: 'Text',
      type: 'mobile',
      state: 'paused',
      group_id: otherGroup.id,
      starts_on: '2026-12-01',
      ends_on: '2026-12-31',
    });
    // The search finds it by its new name.
    const list = await server.request('GET', '/v1/assessments?filter[search]=NEW%20N', {
      token: admin.token,
    });
    expect(list.body).toHaveLength(1);
  });

  it('resets fields with a default with null, and keeps the others', async () => {
    await update({
      description: 'x',
      type: 'api',
      state: 'paused',
      starts_on: '2026-12-01',
      ends_on: '2026-12-02',
    });
    const before = await get();
    const response = await update({
      name: null,
      description: null,
      type: null,
      state: null,
      assessment_group_id: null,
      starts_on: null,
      ends_on: null,
      tags: null,
      tag_list: null,
    });
    expect(response.body).toEqual({
      ...before,
      description: '',
      type: 'web',
      state: 'active',
      assessment_group_id: null,
      starts_on: null,
      ends_on: null,
    });
  });

  it.each([{}, { state: 'active' }, { tags: [] }, { uid: 'other', organization_uid: 'other' }])(
    'keeps the version and records no event with %j',
    async (body) => {
      const before = await get();
      const recorded = (await fixtures.auditEvents()).length;
      const response = await update(body);
      expect([response.status, response.body]).toEqual([200, before]);
      expect(response.headers.get('etag')).toMatch(/^"1\./);
      expect(await fixtures.auditEvents()).toHaveLength(recorded);
    },
  );

  it.each<[object, string]>([
    ...INVALID_NAMES.map((name) => [{ name }, 'name'] as [object, string]),
    [{ starts_on: '2026-02-30' }, 'starts_on'],
    [{ starts_on: '2026-12-02', ends_on: '2026-12-01' }, 'ends_on'],
    [{ tags: [987_654_321] }, 'tags.0'],
    [{ tag_list: ['ok', ' '] }, 'tag_list.1'],
    [{ assessment_group_id: 987_654_321 }, 'assessment_group_id'],
    [{ type: 'phone' }, 'type'],
  ])('returns 422 for %j', async (body, property) => {
    const before = await get();
    expectInvalid(await update(body), property);
    expect(await get()).toEqual(before);
  });

  it('compares a given date with the stored one', async () => {
    await update({ starts_on: '2026-12-10', ends_on: '2026-12-20' });
    expectInvalid(await update({ starts_on: '2026-12-21' }), 'starts_on', 'must not be after ends_on');
    expectInvalid(await update({ ends_on: '2026-12-09' }), 'ends_on', 'must not be before starts_on');
    expect((await update({ starts_on: '2026-12-20' })).status).toBe(200);
  });

  it('checks the version after access and before the tags', async () => {
    await update({ name: 'moved on' });
    const stale = { 'if-match': '"1.x"' };
    expectProblem(server, await update({ tags: [987_654_321] }, admin.token, stale), {
      area: 'v1',
      status: 412,
      kind: 'precondition-failed',
    });
    expectForbidden(await update({ name: 'x' }, member.token, stale));
    const outsider = await fixtures.user({ organization: organization.uid });
    expect((await update({ name: 'x' }, outsider.token, stale)).status).toBe(404);
    expect((await update({ name: 'x' }, admin.token, { 'if-match': 'W/"2.y"' })).status).toBe(200);
  });

  describe('tags', () => {
    it('replaces tags by id, name and object, which may be shared by assessments', async () => {
      const shared = await fixtures.assessmentTag(
        (await fixtures.assessment(organization.uid)).uid,
        'Shared',
      );
      const ownTag = await fixtures.assessmentTag(uid, 'own');
      expect((await update({ tags: [shared.id], tag_list: ['new'] })).body.tags).toEqual([
        { id: shared.id, name: 'Shared' },
        { id: expect.any(Number), name: 'new' },
      ]);
      expect((await update({ tag_list: [' sHARED', { id: 0, name: 'OWN' }] })).body.tag_ids).toEqual(
        [shared.id, ownTag.id].sort((a, b) => a - b),
      );
      const { tags } = await get();
      expect((await update({ tags })).body.tags).toEqual(tags);
      expect((await update({ tags: [] })).body.tags).toEqual([]);
    });

    it('returns 422 for tags of another organization', async () => {
      const foreignTag = await fixtures.assessmentTag(
        (await fixtures.assessment((await fixtures.organization()).uid)).uid,
      );
      expectInvalid(await update({ tags: [foreignTag.id] }), 'tags.0');
    });
  });

  it('ends running sessions only if the assessment is no longer active', async () => {
    const otherAssessment = await fixtures.assessment(organization.uid);
    const started = now - 3_600_000;
    await fixtures.testingSession(uid, admin.id, started, null);
    await fixtures.testingSession(otherAssessment.uid, admin.id, started, null);
    await update({ name: 'x' });
    const running = async () =>
      (
        await server.context.db.read
          .selectFrom('testing_sessions')
          .select('ended_at')
          .where('organization_id', '=', organization.id)
          .orderBy('id')
          .execute()
      ).map(({ ended_at }) => ended_at);
    expect(await running()).toEqual([null, null]);
    await update({ state: 'completed' });
    expect(await running()).toEqual([now, null]);
    expect(await events('testing-session.update')).toMatchObject([
      { before: '{"ended_at":null}', after: JSON.stringify({ ended_at: now }) },
    ]);
  });

  describe('Access', () => {
    it.each([
      ['assessment_operator', 200],
      ['rbac_group_admin', 200],
      ['assessment_creator', 403],
      ['assessment_member', 403],
      ['assessment_read_only', 403],
      ['infra_admin', 403],
    ] as const)('returns to members with the role %s in its group: %i', async (role, status) => {
      await fixtures.member(group.id, member.uid, role);
      expect((await update({ description: 'x' }, member.token)).status).toBe(status);
      if (status === 200) expectInvalid(await update({ tag_list: ['unknown'] }, member.token), 'tag_list.0');
    });

    it('returns 403 with access by name only', async () => {
      expectForbidden(await update({ description: 'x' }, member.token));
    });

    it('permits creators to change what they created, as long as they have the role', async () => {
      const creator = await fixtures.user({ organization: organization.uid });
      await fixtures.member(group.id, creator.uid, 'assessment_creator');
      const created = await server.request('POST', '/v1/assessments', {
        token: creator.token,
        body: { name: 'Own', assessment_group_id: group.id },
      });
      const rename = () =>
        server.request('PATCH', `/v1/assessments/${created.body.uid}`, {
          token: creator.token,
          body: { name: 'Renamed' },
        });
      expect((await rename()).status).toBe(200);
      expectForbidden(await update({ name: 'Renamed' }, creator.token));
      await fixtures.member(group.id, creator.uid, 'assessment_member');
      expectForbidden(await rename());
    });

    it('requires the role rbac_group_admin in the present and in the new group', async () => {
      await fixtures.member(group.id, member.uid, 'assessment_operator');
      const otherGroup = await fixtures.group(organization.uid);
      const move = (id: number | null = otherGroup.id) => update({ assessment_group_id: id }, member.token);
      expectInvalid(await move(), 'assessment_group_id');
      // The present group is accepted.
      expect((await move(group.id)).status).toBe(200);
      expectForbidden(await move(null));
      await fixtures.member(otherGroup.id, member.uid, 'rbac_group_admin');
      expectForbidden(await move());
      // The last rbac_group_admin keeps the role.
      const otherAdmin = await fixtures.user({ organization: organization.uid });
      for (const { id } of [group, otherGroup]) await fixtures.member(id, otherAdmin.uid, 'rbac_group_admin');
      await fixtures.member(group.id, member.uid, 'rbac_group_admin');
      await fixtures.member(otherGroup.id, member.uid, 'assessment_creator');
      expectForbidden(await move());
      await fixtures.member(otherGroup.id, member.uid, 'rbac_group_admin');
      expect((await move()).body.assessment_group_id).toBe(otherGroup.id);
      expect((await move(null)).body.assessment_group_id).toBe(null);
      expectForbidden(await move());
      const foreignGroup = await fixtures.group((await fixtures.organization()).uid);
      expectInvalid(await update({ assessment_group_id: foreignGroup.id }), 'assessment_group_id');
    });
  });
});
