import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../harness/problems.ts';
import { type TestServer, useSharedServer } from '../harness/server.ts';
import { BAD_NAMES, IMPOSSIBLE_IDS } from '../harness/v1.ts';
import { type TestUser, worldOf } from '../harness/world.ts';

const NOW = Date.UTC(2026, 10, 21, 10, 30);

let server: TestServer;
let world: ReturnType<typeof worldOf>;
let organization: { id: number; uid: string };
let user: TestUser;

beforeAll(async () => {
  server = await useSharedServer(() => NOW);
  world = worldOf(server);
});
afterAll(() => server.close());
beforeEach(async () => {
  organization = await world.organization();
  user = await world.user({ organization: organization.uid });
});

const rename = (id: number | string, body: unknown, token = user.token) =>
  server.request('PUT', `/v1/vulnerability_tags/${id}`, { token, body });
const nameOf = async (id: number) =>
  (
    await server.context.db.read
      .selectFrom('vulnerability_tags')
      .select('name')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  ).name;
const renames = async (id: number) =>
  (await world.auditEvents()).filter(
    (event) => event.action === 'vulnerability-tag.rename' && event.object_id === String(id),
  );

describe('Operation 2: update a vulnerability tag', () => {
  it('answers 200 with the tag and its new name, without outer space', async () => {
    const tag = await world.vulnerabilityTag(organization.uid, 'Old');
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
    ['255 characters with space around', ` ${'x'.repeat(255)} `],
    ['255 characters beyond the basic plane', '🏷'.repeat(255)],
    ['what SQL could trip over', `'; drop table users; -- % _ \\ "`],
  ])('takes a name of %s', async (_what, name) => {
    const tag = await world.vulnerabilityTag(organization.uid);
    const response = await rename(tag.id, { name });
    expect([response.status, response.body.name]).toEqual([200, name.trim()]);
  });

  it('is for any user of the organization, and for staff', async () => {
    const admin = await world.user({ organization: organization.uid, admin: true });
    for (const who of [user, admin, await world.user()]) {
      const tag = await world.vulnerabilityTag(organization.uid);
      expect((await rename(tag.id, { name: `by ${who.id}` }, who.token)).status).toBe(200);
    }
  });

  it.each(BAD_NAMES)('422 for the name %j', async (name) => {
    const tag = await world.vulnerabilityTag(organization.uid, 'Old');
    expectProblem(server, await rename(tag.id, { name }), {
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
    expect(await nameOf(tag.id)).toBe('Old');
  });

  it('422 without a name', async () => {
    const tag = await world.vulnerabilityTag(organization.uid);
    expectProblem(server, await rename(tag.id, {}), {
      area: 'v1',
      status: 422,
      kind: 'validation-failed',
      failedValidation: [{ property: 'name', message: 'is required' }],
    });
  });

  it.each([[1], [null], [true], [['x']], [{}]])('400 for the name %j, which is no string', async (name) => {
    const tag = await world.vulnerabilityTag(organization.uid);
    expectProblem(server, await rename(tag.id, { name }), {
      area: 'v1',
      status: 400,
      kind: 'invalid-request',
      failedValidation: [{ property: 'name', message: 'must be text', value: JSON.stringify(name) }],
    });
  });

  it('404 for a tag of another organization and for an unknown one', async () => {
    const other = (await world.organization()).uid;
    const tags = [await world.vulnerabilityTag(other), await world.vulnerabilityTag(other, 'fixed', false)];
    for (const id of [...tags.map((tag) => tag.id), 999_999_999]) {
      expectProblem(server, await rename(id, { name: 'x' }), { area: 'v1', status: 404, kind: 'not-found' });
    }
  });

  it.each(IMPOSSIBLE_IDS)('404 for an id that cannot be one: %s', async (id) => {
    expectProblem(server, await rename(id, { name: 'x' }), { area: 'v1', status: 404, kind: 'not-found' });
  });

  it('tells of a bad name before it looks for the tag', async () => {
    expect((await rename('abc', { name: '' })).status).toBe(422);
  });

  it('403 for a tag that is not editable, whatever the name', async () => {
    await world.vulnerabilityTag(organization.uid, 'taken');
    const tag = await world.vulnerabilityTag(organization.uid, 'fixed', false);
    const staff = await world.user();
    for (const { token } of [user, staff]) {
      for (const name of ['New', 'fixed', 'taken']) {
        const response = await rename(tag.id, { name }, token);
        expectProblem(server, response, { area: 'v1', status: 403, kind: 'forbidden' });
      }
    }
    expect(await nameOf(tag.id)).toBe('fixed');
  });

  it.each([['Taken'], ['tAKEN'], [' taken  ']])('409 for %j when another tag has "Taken"', async (name) => {
    await world.vulnerabilityTag(organization.uid, 'Taken');
    const tag = await world.vulnerabilityTag(organization.uid, 'Old');
    expectProblem(server, await rename(tag.id, { name }), {
      area: 'v1',
      status: 409,
      kind: 'conflict',
      failedValidation: [{ property: 'name', message: 'exists already', value: name.trim() }],
    });
    expect(await nameOf(tag.id)).toBe('Old');
    expect(await renames(tag.id)).toEqual([]);
  });

  it('finds no conflict with its own name in any case, nor with a name of another organization', async () => {
    await world.vulnerabilityTag((await world.organization()).uid, 'theirs');
    const tag = await world.vulnerabilityTag(organization.uid, 'Own');
    for (const name of ['oWN', 'oWN', 'theirs']) {
      const response = await rename(tag.id, { name });
      expect([response.status, response.body.name]).toEqual([200, name]);
    }
    expect(await renames(tag.id)).toHaveLength(2);
  });

  it('gives a name to one of those who want it at once, and 409 to the others', async () => {
    for (const wanted of ['first', 'second', 'third']) {
      const tags = [];
      for (let i = 0; i < 12; i += 1) tags.push(await world.vulnerabilityTag(organization.uid));
      const responses = await Promise.all(tags.map(({ id }) => rename(id, { name: wanted })));
      const statuses = responses.map(({ status }) => status).sort();
      expect(statuses).toEqual([200, ...Array.from({ length: 11 }, () => 409)]);
    }
  });

  it('writes both names to the audit log', async () => {
    const tag = await world.vulnerabilityTag(organization.uid, 'Old');
    const response = await rename(tag.id, { name: 'New' });
    expect(await renames(tag.id)).toEqual([
      {
        id: expect.any(Number),
        at: NOW,
        action: 'vulnerability-tag.rename',
        object_type: 'vulnerability-tag',
        object_id: String(tag.id),
        organization_id: organization.id,
        actor_kind: 'user',
        user_id: user.id,
        count: 1,
        refusal: null,
        credential_id: expect.any(String),
        address: '127.0.0.1',
        request_id: response.headers.get('x-request-id'),
        before: '{"name":"Old"}',
        after: '{"name":"New"}',
      },
    ]);
  });
});
