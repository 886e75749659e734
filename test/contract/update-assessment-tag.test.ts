import { beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../harness/expect-problem.ts';
import { useSharedServer } from '../harness/server.ts';
import { INVALID_NAMES, INVALID_IDS } from '../harness/invalid-values.ts';
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

const rename = (id: number | string, body: unknown, token = admin.token) =>
  server.request('PUT', `/v1/assessment_tags/${id}`, { token, body });
const nameOf = async (id: number) =>
  (
    await server.context.db.read
      .selectFrom('assessment_tags')
      .select('name')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  ).name;
const renames = async (id: number) =>
  (await fixtures.auditEvents()).filter(
    (event) => event.action === 'assessment-tag.rename' && event.object_id === String(id),
  );

describe('Operation 4: update an assessment tag name', () => {
  it('returns 200 with the tag and its new, trimmed name', async () => {
    const tag = await fixtures.assessmentTag(assessment.uid, 'Old');
    const response = await rename(tag.id, { name: '  New name ', id: 7 });
    expect(response.body).toEqual({ id: tag.id, name: 'New name' });
    expect(response.status).toBe(200);
    expect(await nameOf(tag.id)).toBe('New name');
  });

  it('allows staff', async () => {
    const tag = await fixtures.assessmentTag(assessment.uid);
    expect((await rename(tag.id, { name: 'by staff' }, (await fixtures.user()).token)).status).toBe(200);
  });

  it('returns 403 to users of the organization who are not admins', async () => {
    const tag = await fixtures.assessmentTag(assessment.uid, 'Old');
    const member = await fixtures.user({ organization: organization.uid });
    await fixtures.access(assessment.uid, member.id);
    const outsider = await fixtures.user({ organization: organization.uid });
    for (const { token } of [member, outsider]) {
      const response = await rename(tag.id, { name: 'New' }, token);
      expectProblem(server, response, { area: 'v1', status: 403, kind: 'forbidden' });
    }
    expect(await nameOf(tag.id)).toBe('Old');
  });

  it('returns 404 for tags of other organizations and unknown tags', async () => {
    const theirs = await fixtures.assessment((await fixtures.organization()).uid);
    const tag = await fixtures.assessmentTag(theirs.uid, 'Theirs');
    const member = await fixtures.user({ organization: organization.uid });
    for (const { token } of [admin, member]) {
      for (const id of [tag.id, 999_999_999]) {
        const response = await rename(id, { name: 'x' }, token);
        expectProblem(server, response, { area: 'v1', status: 404, kind: 'not-found' });
      }
    }
    expect(await nameOf(tag.id)).toBe('Theirs');
  });

  it.each(INVALID_IDS)('returns 404 for the malformed id %s', async (id) => {
    expectProblem(server, await rename(id, { name: 'x' }), { area: 'v1', status: 404, kind: 'not-found' });
  });

  it.each(INVALID_NAMES)('returns 422 for the name %j before it looks up the tag', async (name) => {
    expectProblem(server, await rename(999_999_999, { name }), {
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

  it('returns 422 without a name', async () => {
    const tag = await fixtures.assessmentTag(assessment.uid);
    expectProblem(server, await rename(tag.id, {}), {
      area: 'v1',
      status: 422,
      kind: 'validation-failed',
      failedValidation: [{ property: 'name', message: 'is required' }],
    });
  });

  it.each([[1], [null], [['x']]])('returns 400 for the name %j, which is not a string', async (name) => {
    const tag = await fixtures.assessmentTag(assessment.uid);
    expectProblem(server, await rename(tag.id, { name }), {
      area: 'v1',
      status: 400,
      kind: 'invalid-request',
      failedValidation: [{ property: 'name', message: 'must be text', value: JSON.stringify(name) }],
    });
  });

  it.each([['Taken'], ['tAKEN'], [' taken  ']])(
    'returns 409 for %j if another tag is named "Taken"',
    async (name) => {
      await fixtures.assessmentTag(assessment.uid, 'Taken');
      const tag = await fixtures.assessmentTag(assessment.uid, 'Old');
      expectProblem(server, await rename(tag.id, { name }), {
        area: 'v1',
        status: 409,
        kind: 'conflict',
        failedValidation: [{ property: 'name', message: 'already exists', value: name.trim() }],
      });
      expect(await nameOf(tag.id)).toBe('Old');
      expect(await renames(tag.id)).toEqual([]);
    },
  );

  it('accepts its own name in any case and a name of another organization', async () => {
    const theirs = await fixtures.assessment((await fixtures.organization()).uid);
    await fixtures.assessmentTag(theirs.uid, 'theirs');
    const tag = await fixtures.assessmentTag(assessment.uid, 'Own');
    for (const name of ['oWN', 'oWN', 'theirs']) {
      const response = await rename(tag.id, { name });
      expect([response.status, response.body.name]).toEqual([200, name]);
    }
    expect(await renames(tag.id)).toHaveLength(2);
  });

  it('renames one tag when concurrent requests use the same name, and returns 409 to the others', async () => {
    for (const newName of ['first', 'second', 'third']) {
      const tags = [];
      for (let i = 0; i < 12; i += 1) tags.push(await fixtures.assessmentTag(assessment.uid));
      const responses = await Promise.all(tags.map(({ id }) => rename(id, { name: newName })));
      const statuses = responses.map(({ status }) => status).sort();
      expect(statuses).toEqual([200, ...Array.from({ length: 11 }, () => 409)]);
    }
  });

  it('records both names in the audit log', async () => {
    const tag = await fixtures.assessmentTag(assessment.uid, 'Old');
    const response = await rename(tag.id, { name: 'New' });
    expect(await renames(tag.id)).toEqual([
      {
        id: expect.any(Number),
        at: NOW,
        action: 'assessment-tag.rename',
        object_type: 'assessment-tag',
        object_id: String(tag.id),
        organization_id: organization.id,
        actor_kind: 'user',
        user_id: admin.id,
        count: 1,
        denied_key: null,
        credential_id: expect.any(String),
        address: '127.0.0.1',
        request_id: response.headers.get('x-request-id'),
        before: '{"name":"Old"}',
        after: '{"name":"New"}',
      },
    ]);
  });
});
