import { beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../harness/expect-problem.ts';
import { useSharedServer } from '../harness/server.ts';
import { INVALID_NAMES } from '../harness/invalid-values.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

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

const create = (body: unknown, token = admin.token) =>
  server.request('POST', '/v1/assessment_tags', { token, body });
const bodyOf = (name: string) => ({ name, assessment_id: assessment.uid });
const tagsOf = (assessmentId: number) =>
  server.context.db.read
    .selectFrom('assessment_taggings')
    .innerJoin('assessment_tags', 'assessment_tags.id', 'assessment_taggings.tag_id')
    .select(['assessment_tags.id', 'assessment_tags.name'])
    .where('assessment_id', '=', assessmentId)
    .execute();

describe('Operation 3: create an assessment tag', () => {
  it('returns 201 with the tag and adds it to the assessment', async () => {
    const response = await create({ ...bodyOf(' Q4 '), id: 7 });
    expect(response.body).toEqual({ id: expect.any(Number), name: 'Q4' });
    expect(response.status).toBe(201);
    expect(await tagsOf(assessment.id)).toEqual([response.body]);
  });

  it('allows staff', async () => {
    expect((await create(bodyOf('by staff'), (await fixtures.user()).token)).status).toBe(201);
  });

  it('returns 403 to users with access to the assessment who are not admins', async () => {
    const member = await fixtures.user({ organization: organization.uid });
    await fixtures.access(assessment.uid, member.id);
    const response = await create(bodyOf('x'), member.token);
    expectProblem(server, response, { area: 'v1', status: 403, kind: 'forbidden' });
    expect(await tagsOf(assessment.id)).toEqual([]);
  });

  it('returns 404 to users without access and to admins of other organizations', async () => {
    const outsider = await fixtures.user({ organization: organization.uid });
    const foreignAdmin = await fixtures.user({
      organization: (await fixtures.organization()).uid,
      admin: true,
    });
    for (const { token } of [outsider, foreignAdmin]) {
      const response = await create(bodyOf('x'), token);
      expectProblem(server, response, { area: 'v1', status: 404, kind: 'not-found' });
    }
    expect(await tagsOf(assessment.id)).toEqual([]);
  });

  it.each([[''], ['none'], ['UPPER'], ['a b'], ["'"], ['x'.repeat(51)], ['1']])(
    'returns 404 for the unknown assessment %j',
    async (uid) => {
      const response = await create({ name: 'x', assessment_id: uid });
      expectProblem(server, response, { area: 'v1', status: 404, kind: 'not-found' });
    },
  );

  it.each(INVALID_NAMES)('returns 422 for the name %j', async (name) => {
    expectProblem(server, await create(bodyOf(name)), {
      area: 'v1',
      status: 422,
      kind: 'validation-failed',
      failedValidation: [
        {
          property: 'name',
          message: expect.stringMatching(/^must /),
          value: name.slice(0, 100).toWellFormed(),
        },
      ],
    });
  });

  it('returns 422 with every missing property before it looks up the assessment', async () => {
    expectProblem(server, await create({}), {
      area: 'v1',
      status: 422,
      kind: 'validation-failed',
      failedValidation: [
        { property: 'name', message: 'is required' },
        { property: 'assessment_id', message: 'is required' },
      ],
    });
    expect((await create({ name: ' ', assessment_id: 'none' })).status).toBe(422);
  });

  it.each([['a\0b'], ['x'.repeat(2_049)]])('returns 422 for the malformed assessment_id %j', async (uid) => {
    expectProblem(server, await create({ name: 'x', assessment_id: uid }), {
      area: 'v1',
      status: 422,
      kind: 'validation-failed',
      failedValidation: [
        {
          property: 'assessment_id',
          message: expect.stringMatching(/^must /),
          value: uid.slice(0, 100),
        },
      ],
    });
  });

  it.each([
    ['name', { name: 1, assessment_id: 'x' }],
    ['assessment_id', { name: 'x', assessment_id: 1 }],
    ['assessment_id', { name: 'x', assessment_id: null }],
  ])('returns 400 if %s is not a string', async (property, body) => {
    expectProblem(server, await create(body), {
      area: 'v1',
      status: 400,
      kind: 'invalid-request',
      failedValidation: [
        {
          property,
          message: 'must be text',
          value: JSON.stringify(body[property as 'name']),
        },
      ],
    });
  });

  it('returns 409 for an existing name of the organization, regardless of case and assessment', async () => {
    await fixtures.assessmentTag(assessment.uid, 'Taken');
    const otherAssessment = await fixtures.assessment(organization.uid);
    for (const [name, uid] of [
      ['Taken', assessment.uid],
      [' tAKEN', otherAssessment.uid],
    ] as const) {
      expectProblem(server, await create({ name, assessment_id: uid }), {
        area: 'v1',
        status: 409,
        kind: 'conflict',
        failedValidation: [{ property: 'name', message: 'already exists', value: name.trim() }],
      });
    }
    expect(await tagsOf(otherAssessment.id)).toEqual([]);
  });

  it('accepts a name that another organization uses', async () => {
    const foreignAssessment = await fixtures.assessment((await fixtures.organization()).uid);
    await fixtures.assessmentTag(foreignAssessment.uid, 'Shared');
    expect((await create(bodyOf('Shared'))).status).toBe(201);
  });

  it('creates one tag when concurrent requests use the same name, and returns 409 to the others', async () => {
    const responses = await Promise.all(Array.from({ length: 6 }, () => create(bodyOf('wanted'))));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    expect(await tagsOf(assessment.id)).toHaveLength(1);
  });

  it('records the tag and its assessment in the audit log', async () => {
    const response = await create(bodyOf('Logged'));
    const events = (await fixtures.auditEvents()).filter(
      (event) => event.organization_id === organization.id,
    );
    expect(events.at(-1)).toEqual({
      id: expect.any(Number),
      at: NOW,
      action: 'assessment-tag.create',
      object_type: 'assessment-tag',
      object_id: String(response.body.id),
      organization_id: organization.id,
      actor_kind: 'user',
      user_id: admin.id,
      credential_id: expect.any(String),
      address: '127.0.0.1',
      request_id: response.headers.get('x-request-id'),
      before: null,
      after: JSON.stringify({ name: 'Logged', assessment: assessment.uid }),
      count: 1,
      denied_key: null,
      internal: 0,
    });
  });
});
