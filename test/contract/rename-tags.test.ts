import { beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../harness/expect-problem.ts';
import { useSharedServer } from '../harness/server.ts';
import { INVALID_NAMES, INVALID_IDS } from '../harness/invalid-values.ts';
import { columnsOfRequest, type TestUser, createFixtures } from '../harness/fixtures.ts';

const NOW = Date.UTC(2026, 10, 21, 10, 30);
const UNKNOWN_ID = 999_999_999;
const forbidden = { area: 'v1', status: 403, kind: 'forbidden' } as const;
const notFound = { area: 'v1', status: 404, kind: 'not-found' } as const;

let organization: { id: number; uid: string };
let assessment: { id: number; uid: string };
let admin: TestUser;
/** A user of the organization without access to the assessment. */
let user: TestUser;

const server = await useSharedServer(() => NOW);
const fixtures = createFixtures(server);
beforeEach(async () => {
  organization = await fixtures.organization();
  assessment = await fixtures.assessment(organization.uid);
  admin = await fixtures.user({ organization: organization.uid, admin: true });
  user = await fixtures.user({ organization: organization.uid });
});

/** A kind of tags, whose callers may rename the tags of their organization. */
interface TagKind {
  name: 'assessment' | 'vulnerability';
  caller: () => TestUser;
  create: (name?: string) => Promise<{ id: number }>;
  createElsewhere: (name: string) => Promise<{ id: number }>;
}

const operationsOn = ({ name: kind, caller }: TagKind) => ({
  rename: (id: number | string, body: unknown, token = caller().token) =>
    server.request('PUT', `/v1/${kind}_tags/${id}`, { token, body }),
  nameOf: async (id: number) => {
    const tags = server.context.db.read.selectFrom(`${kind}_tags`).select('name').where('id', '=', id);
    return (await tags.executeTakeFirstOrThrow()).name;
  },
  renames: async (id: number) =>
    (await fixtures.auditEvents()).filter(
      (event) => event.action === `${kind}-tag.rename` && event.object_id === String(id),
    ),
});

const ASSESSMENT_TAGS: TagKind = {
  name: 'assessment',
  caller: () => admin,
  create: (name) => fixtures.assessmentTag(assessment.uid, name),
  createElsewhere: async (name) =>
    fixtures.assessmentTag((await fixtures.assessment((await fixtures.organization()).uid)).uid, name),
};
const VULNERABILITY_TAGS: TagKind = {
  name: 'vulnerability',
  caller: () => user,
  create: (name) => fixtures.vulnerabilityTag(organization.uid, name),
  createElsewhere: async (name) => fixtures.vulnerabilityTag((await fixtures.organization()).uid, name),
};

describe.each([ASSESSMENT_TAGS, VULNERABILITY_TAGS])('Operations 2 and 4: rename a tag ($name)', (kind) => {
  const { create, createElsewhere } = kind;
  const { rename, nameOf, renames } = operationsOn(kind);

  it.each(INVALID_IDS)('returns 404 for the malformed id %s', async (id) => {
    expectProblem(server, await rename(id, { name: 'x' }), notFound);
  });

  it.each(INVALID_NAMES)('returns 422 for the name %j before it looks up the tag', async (name) => {
    const tag = await create('Old');
    for (const id of [tag.id, UNKNOWN_ID, 'abc']) {
      expectProblem(server, await rename(id, { name }), {
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
    }
    expect(await nameOf(tag.id)).toBe('Old');
  });

  it('returns 422 without a name', async () => {
    expectProblem(server, await rename((await create()).id, {}), {
      area: 'v1',
      status: 422,
      kind: 'validation-failed',
      failedValidation: [{ property: 'name', message: 'is required' }],
    });
  });

  it.each([[1], [null], [true], [['x']], [{}]])(
    'returns 400 for the name %j, which is not a string',
    async (name) => {
      expectProblem(server, await rename((await create()).id, { name }), {
        area: 'v1',
        status: 400,
        kind: 'invalid-request',
        failedValidation: [{ property: 'name', message: 'must be text', value: JSON.stringify(name) }],
      });
    },
  );

  it.each([['Taken'], ['tAKEN'], [' taken  ']])(
    'returns 409 for %j if another tag is named "Taken"',
    async (name) => {
      await create('Taken');
      const tag = await create('Old');
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
    await createElsewhere('theirs');
    const tag = await create('Own');
    for (const name of ['oWN', 'oWN', 'theirs']) {
      const response = await rename(tag.id, { name });
      expect([response.status, response.body.name]).toEqual([200, name]);
    }
    expect(await renames(tag.id)).toHaveLength(2);
  });

  it('renames one tag when concurrent requests use the same name, and returns 409 to the others', async () => {
    for (const newName of ['first', 'second', 'third']) {
      const tags = [];
      for (let i = 0; i < 12; i += 1) tags.push(await create());
      const responses = await Promise.all(tags.map(({ id }) => rename(id, { name: newName })));
      const statuses = responses.map(({ status }) => status).sort();
      expect(statuses).toEqual([200, ...Array.from({ length: 11 }, () => 409)]);
    }
  });

  it('records both names in the audit log', async () => {
    const tag = await create('Old');
    const response = await rename(tag.id, { name: 'New' });
    expect(await renames(tag.id)).toEqual([
      {
        ...columnsOfRequest(kind.caller(), response),
        at: NOW,
        action: `${kind.name}-tag.rename`,
        object_type: `${kind.name}-tag`,
        object_id: String(tag.id),
        organization_id: organization.id,
        before: '{"name":"Old"}',
        after: '{"name":"New"}',
      },
    ]);
  });
});

describe('Operation 4: update an assessment tag name', () => {
  const { rename, nameOf } = operationsOn(ASSESSMENT_TAGS);

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
    for (const { token } of [member, user])
      expectProblem(server, await rename(tag.id, { name: 'New' }, token), forbidden);
    expect(await nameOf(tag.id)).toBe('Old');
  });

  it('returns 404 for tags of other organizations and unknown tags', async () => {
    const tag = await ASSESSMENT_TAGS.createElsewhere('Theirs');
    for (const { token } of [admin, user])
      for (const id of [tag.id, UNKNOWN_ID])
        expectProblem(server, await rename(id, { name: 'x' }, token), notFound);
    expect(await nameOf(tag.id)).toBe('Theirs');
  });
});

describe('Operation 2: update a vulnerability tag', () => {
  const { rename, nameOf } = operationsOn(VULNERABILITY_TAGS);

  it('returns 200 with the tag and its new, trimmed name', async () => {
    const tag = await fixtures.vulnerabilityTag(organization.uid, 'Old');
    const response = await rename(tag.id, { name: '  New name ', color: 'ignored' });
    expect(response.body).toEqual({
      id: tag.id,
      name: 'New name',
      editable: true,
      organization_profile_id: organization.id,
    });
    expect(response.status).toBe(200);
    expect(await nameOf(tag.id)).toBe('New name');
  });

  it.each([
    ['one character', 'x'],
    ['255 characters', 'x'.repeat(255)],
    ['255 characters and outer whitespace', ` ${'x'.repeat(255)} `],
    ['255 characters outside the basic multilingual plane', '🏷'.repeat(255)],
    ['characters that are special in SQL', `'; drop table users; -- % _ \\ "`],
  ])('accepts a name of %s', async (_what, name) => {
    const tag = await fixtures.vulnerabilityTag(organization.uid);
    const response = await rename(tag.id, { name });
    expect([response.status, response.body.name]).toEqual([200, name.trim()]);
  });

  it('allows users of the organization and staff', async () => {
    for (const caller of [user, admin, await fixtures.user()]) {
      const tag = await fixtures.vulnerabilityTag(organization.uid);
      expect((await rename(tag.id, { name: `by ${caller.id}` }, caller.token)).status).toBe(200);
    }
  });

  it('returns 404 for tags of other organizations and unknown tags', async () => {
    const otherOrganization = (await fixtures.organization()).uid;
    const tags = [
      await fixtures.vulnerabilityTag(otherOrganization),
      await fixtures.vulnerabilityTag(otherOrganization, 'fixed', false),
    ];
    for (const id of [...tags.map((tag) => tag.id), UNKNOWN_ID])
      expectProblem(server, await rename(id, { name: 'x' }), notFound);
  });

  it('validates the name before it looks up the tag', async () => {
    expect((await rename('abc', { name: '' })).status).toBe(422);
  });

  it('returns 403 for a tag that is not editable, whatever the name', async () => {
    await fixtures.vulnerabilityTag(organization.uid, 'taken');
    const tag = await fixtures.vulnerabilityTag(organization.uid, 'fixed', false);
    const staff = await fixtures.user();
    for (const { token } of [user, staff])
      for (const name of ['New', 'fixed', 'taken'])
        expectProblem(server, await rename(tag.id, { name }, token), forbidden);
    expect(await nameOf(tag.id)).toBe('fixed');
  });
});
