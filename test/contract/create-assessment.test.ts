import { beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../harness/expect-problem.ts';
import { useSharedServer } from '../harness/server.ts';
import { INVALID_NAMES } from '../harness/invalid-values.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const START = Date.UTC(2026, 10, 21, 10, 30);

let organization: { id: number; uid: string };
let admin: TestUser;
let member: TestUser;
let group: { id: number };

const server = await useSharedServer(() => START);
const fixtures = createFixtures(server);
beforeEach(async () => {
  organization = await fixtures.organization();
  admin = await fixtures.user({ organization: organization.uid, admin: true });
  member = await fixtures.user({ organization: organization.uid });
  group = await fixtures.group(organization.uid);
});

const create = (body: unknown, token = admin.token, headers: Record<string, string> = {}) =>
  server.request('POST', '/v1/assessments', { token, body, headers });
const events = async (action: string) =>
  (await fixtures.auditEvents()).filter(
    (event) => event.action === action && event.organization_id === organization.id,
  );
type Response = Awaited<ReturnType<typeof create>>;
const expectInvalid = (response: Response, property: string, message: unknown = expect.any(String)) => {
  const fieldErrors =
    response.body.failedValidation ?? response.body.failedValidations?.[0]?.failedValidation;
  expect([response.status, fieldErrors]).toEqual([422, [expect.objectContaining({ property, message })]]);
};
const expectForbidden = (response: Response) =>
  expectProblem(server, response, { area: 'v1', status: 403, kind: 'forbidden' });

describe('Operation 38: create an assessment', () => {
  it('returns 201 with the assessment, its Location and its ETag', async () => {
    const response = await create({
      name: ' Partner API ',
      uid: 'made',
      description: '**Scope**',
      type: 'api',
      state: 'pending',
      assessment_group_id: group.id,
      starts_on: '2026-12-01',
      ends_on: '2026-12-01',
      tag_list: ['new', { id: 1, name: ' NEW' }, 'other'],
    });
    expect(response.status).toBe(201);
    const { uid } = response.body;
    expect(uid).toMatch(/^made-[0-9a-z]{4}$/);
    expect(response.headers.get('location')).toBe(
      `${server.context.addresses.clientBaseUrl}/v1/assessments/${uid}`,
    );
    expect(response.headers.get('etag')).toMatch(/^"1\./);
    expect(response.body).toMatchObject({
      uid,
      name: 'Partner API',
      description: '**Scope**',
      type: 'api',
      state: 'pending',
      assessment_group_id: group.id,
      organization_uid: organization.uid,
      tags: [
        { id: expect.any(Number), name: 'new' },
        { id: expect.any(Number), name: 'other' },
      ],
      starts_on: '2026-12-01',
      ends_on: '2026-12-01',
      created_at: '2026-11-21T10:30:00.000Z',
    });
    expect(response.body.tag_ids).toEqual(response.body.tags.map(({ id }: { id: number }) => id));
    const read = await server.request('GET', `/v1/assessments/${uid}`, { token: admin.token });
    expect(read.body).toEqual(response.body);
    const [event] = await events('assessment.create');
    expect(event).toMatchObject({ object_id: uid, user_id: admin.id, before: null });
    expect(JSON.parse(event?.after ?? '')).toEqual({
      uid,
      name: 'Partner API',
      description: '**Scope**',
      type: 'api',
      state: 'pending',
      drafts: 'off',
      group_id: group.id,
      starts_on: '2026-12-01',
      ends_on: '2026-12-01',
      tags: response.body.tag_ids,
    });
    expect(await events('assessment-tag.create')).toHaveLength(2);
  });

  it('applies defaults to absent and null properties', async () => {
    const nulls = { uid: null, description: null, type: null, state: null, assessment_group_id: null };
    const moreNulls = { starts_on: null, ends_on: null, tag_list: null, organization_uid: null };
    for (const body of [{ name: 'x' }, { name: 'x', ...nulls, ...moreNulls }]) {
      const created = await create(body);
      expect([created.status, created.body]).toEqual([
        201,
        expect.objectContaining({
          uid: expect.stringMatching(/^[0-9a-z]{10}$/),
          description: '',
          type: 'web',
          state: 'active',
          drafts: 'off',
          assessment_group_id: null,
          starts_on: null,
          ends_on: null,
          tags: [],
        }),
      ]);
    }
  });

  it.each<[object, string]>([
    [{}, 'name'],
    [{ name: null }, 'name'],
    ...INVALID_NAMES.map((name) => [{ name }, 'name'] as [object, string]),
    [{ uid: 'UPPER' }, 'uid'],
    [{ uid: 'a b' }, 'uid'],
    [{ uid: '' }, 'uid'],
    [{ uid: 'ends-open\n' }, 'uid'],
    [{ type: 'phone' }, 'type'],
    [{ state: 'open' }, 'state'],
    [{ description: 'x'.repeat(65_537) }, 'description'],
    [{ description: 'nul\0' }, 'description'],
    [{ starts_on: '2026-02-29' }, 'starts_on'],
    [{ ends_on: 'soon' }, 'ends_on'],
    [{ starts_on: '2026-12-02', ends_on: '2026-12-01' }, 'ends_on'],
    [{ tag_list: ['ok', ''] }, 'tag_list.1'],
    [{ assessment_group_id: 987_654_321 }, 'assessment_group_id'],
    [{ organization_uid: 'nosuchorganization' }, 'organization_uid'],
  ])('returns 422 for %j', async (body, property) => {
    expectInvalid(await create(property === 'name' ? body : { name: 'x', ...body }), property);
    expect(await events('assessment.create')).toEqual([]);
  });

  it('names ends_on if it is before starts_on', async () => {
    const response = await create({ name: 'x', starts_on: '2026-12-02', ends_on: '2026-12-01' });
    expectInvalid(response, 'ends_on', 'must not be before starts_on');
  });

  it('returns 409 to staff of all organizations for a uid of any of them, who get the others unchanged', async () => {
    const { token } = await fixtures.user();
    const createAs = (uid: string) => create({ name: 'x', uid, organization_uid: organization.uid }, token);
    const ownAssessment = await fixtures.assessment(organization.uid);
    const foreignAssessment = await fixtures.assessment((await fixtures.organization()).uid);
    for (const { uid } of [ownAssessment, foreignAssessment]) {
      const response = await createAs(uid);
      const failedValidation = [{ property: 'uid', message: 'is already taken', value: uid }];
      expectProblem(server, response, { area: 'v1', status: 409, kind: 'conflict', failedValidation });
      expect(response.body.detail).toBe(`An assessment with the uid ${uid} already exists.`);
    }
    const free = `free-${organization.uid}`;
    expect((await createAs(free)).body.uid).toBe(free);
  });

  it('appends random characters to the uid for everybody else, even if it is free', async () => {
    const assigned = await fixtures.user({ assignedTo: [organization.uid] });
    await fixtures.access((await fixtures.assessment(organization.uid)).uid, member.id);
    await fixtures.member(group.id, member.uid, 'assessment_creator');
    const ownAssessment = await fixtures.assessment(organization.uid);
    const foreignAssessment = await fixtures.assessment((await fixtures.organization()).uid);
    const inGroup = { assessment_group_id: group.id };
    for (const [{ token }, body] of [
      [admin, {}],
      [member, inGroup],
      [assigned, { organization_uid: organization.uid }],
    ] as const) {
      for (const uid of [ownAssessment.uid, foreignAssessment.uid, `free-${organization.uid}`]) {
        const response = await create({ name: 'x', uid, ...body }, token);
        expect([response.status, response.body.uid]).toEqual([
          201,
          expect.stringMatching(new RegExp(`^${uid}-[0-9a-z]{4}$`)),
        ]);
      }
    }
  });

  it('cuts a long uid, so that it has at most 50 characters', async () => {
    const { body } = await create({ name: 'x', uid: 'a'.repeat(50) });
    expect(body.uid).toMatch(/^a{45}-[0-9a-z]{4}$/);
  });

  it('creates once per idempotency key', async () => {
    const send = () => create({ name: 'once' }, admin.token, { 'idempotency-key': `k-${organization.uid}` });
    const [first, second] = [await send(), await send()];
    expect([second.status, second.body]).toEqual([201, first.body]);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect(await events('assessment.create')).toHaveLength(1);
  });

  describe('Access', () => {
    it('requires an organization from staff, and rejects other organizations for assigned staff and admins', async () => {
      const staff = await fixtures.user();
      const assigned = await fixtures.user({ assignedTo: [organization.uid] });
      const otherOrganization = await fixtures.organization();
      expectInvalid(await create({ name: 'x' }, staff.token), 'organization_uid', 'is required');
      for (const { token } of [staff, assigned, admin]) {
        const created = await create({ name: 'x', organization_uid: organization.uid }, token);
        expect([created.status, created.body.organization_uid]).toEqual([201, organization.uid]);
      }
      for (const { token } of [assigned, admin])
        expectInvalid(
          await create({ name: 'x', organization_uid: otherOrganization.uid }, token),
          'organization_uid',
        );
    });

    it('returns 403 to users who are not admins and name no group', async () => {
      expectForbidden(await create({ name: 'x' }, member.token));
      // Checked before the tags of the body.
      expectForbidden(await create({ name: 'x', tag_list: ['none'] }, member.token));
    });

    it.each([
      ['assessment_creator', 201],
      ['rbac_group_admin', 201],
      ['assessment_operator', 403],
      ['assessment_member', 403],
      ['assessment_read_only', 403],
      ['infra_admin', 403],
    ] as const)('returns to a member of the group with the role %s: %i', async (role, status) => {
      await fixtures.member(group.id, member.uid, role);
      const created = await create({ name: 'x', assessment_group_id: group.id }, member.token);
      expect(created.status).toBe(status);
      if (status === 403) return;
      // The creator gets access, which increments the version of the user.
      const read = await server.request('GET', `/v1/assessments/${created.body.uid}`, {
        token: member.token,
      });
      expect(read.body).toEqual(created.body);
      const { version } = await server.context.db.read
        .selectFrom('users')
        .select('version')
        .where('id', '=', member.id)
        .executeTakeFirstOrThrow();
      expect(version).toBe(2);
      expect(await events('assessment.grant')).toHaveLength(1);
      // Only admins may create tags.
      const withKnownTag = await create({ name: 'y', tag_list: ['known'] });
      const tagged = (tag_list: unknown[]) =>
        create({ name: 'z', assessment_group_id: group.id, tag_list }, member.token);
      expect((await tagged([' KNOWN'])).body.tag_ids).toEqual(withKnownTag.body.tag_ids);
      expectInvalid(await tagged(['known', 'unknown']), 'tag_list.1');
    });

    it('returns the same 422 for groups of others and unknown groups', async () => {
      const otherGroup = await fixtures.group((await fixtures.organization()).uid);
      const bodies = [];
      for (const id of [group.id, otherGroup.id, 987_654_321]) {
        const response = await create({ name: 'x', assessment_group_id: id }, member.token);
        expectInvalid(response, 'assessment_group_id');
        bodies.push(response.text.replace(`"value":"${id}"`, '').replace(/"instance":"[^"]*"/, ''));
      }
      expect(new Set(bodies).size).toBe(1);
      expectInvalid(await create({ name: 'x', assessment_group_id: otherGroup.id }), 'assessment_group_id');
    });
  });
});
