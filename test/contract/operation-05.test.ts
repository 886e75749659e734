import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../harness/problems.ts';
import { type TestServer, useSharedServer } from '../harness/server.ts';
import { BAD_NAMES, IMPOSSIBLE_IDS } from '../harness/v1.ts';
import { type TestUser, worldOf } from '../harness/world.ts';

const START = Date.UTC(2026, 10, 21, 10, 30);

let now: number;
let server: TestServer;
let world: ReturnType<typeof worldOf>;
let organization: { id: number; uid: string };
let assessment: { id: number; uid: string };
let member: TestUser;
let vulnerability: { id: number };

beforeAll(async () => {
  server = await useSharedServer(() => now);
  world = worldOf(server);
});
afterAll(() => server.close());
beforeEach(async () => {
  now = START;
  await world.together(async (made) => {
    organization = await made.organization();
    assessment = await made.assessment(organization.uid);
    member = await made.user({ organization: organization.uid });
    await made.access(assessment.uid, member.id);
    vulnerability = await made.vulnerability(assessment.uid);
  });
  now = START + 60_000;
});

const update = (body: unknown, { id = vulnerability.id as number | string, token = member.token } = {}) =>
  server.request('PATCH', `/v1/vulnerabilities/${id}`, { token, body });
/** The vulnerability as it is, read by changing nothing. */
const current = async () => (await update({})).body;
const tagIds = (body: { tags: { id: number }[] }) => body.tags.map((tag) => tag.id);
const tag = (name: string, editable = true) => world.vulnerabilityTag(organization.uid, name, editable);
async function attach(id: number, files: readonly File[]) {
  const form = new FormData();
  for (const file of files) form.append('file', file);
  const body = new Response(form);
  const response = await server.request('POST', `/v1/vulnerabilities/${id}/attachments`, {
    token: member.token,
    headers: { 'content-type': body.headers.get('content-type') ?? '' },
    bytes: Buffer.from(await body.arrayBuffer()),
  });
  expect(response.status).toBe(201);
}
const events = async (action: string) =>
  (await world.auditEvents()).filter(
    (event) => event.action === action && event.organization_id === organization.id,
  );
const expectInvalid = (response: Awaited<ReturnType<typeof update>>, where: object) =>
  expectProblem(server, response, { area: 'v1', status: 422, kind: 'validation-failed', ...where });

describe('Operation 5: update a vulnerability', () => {
  it.each([
    ['a misspelt property', { status: 'Fixed' }, 'status'],
    ['several', { status: 5, 'tag-names': [], note: null }, 'status, tag-names, note'],
    [
      'ten of many',
      Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`p${n}`, n])),
      'p0, p1, p2, p3, p4, p5, p6, p7, p8, p9',
    ],
    ['names that are tokens alone', { 'a b': 1, 'x\r\nSet-Cookie': 1, é: 1, '': 1, ok: 1 }, 'ok'],
    ['names that are short', { ['x'.repeat(65)]: 1, ['y'.repeat(64)]: 1 }, 'y'.repeat(64)],
    ['nothing, of a body without a name that can be told', { 'a b': 1 }, null],
    ['nothing, of an empty body', {}, null],
    ['nothing, beside a known property', { status_id: 2, status: 'Fixed' }, null],
  ])('tells of what it ignored: %s', async (_what, body, ignored) => {
    const response = await update(body);
    expect([response.status, response.headers.get('assay-ignored')]).toEqual([200, ignored]);
  });

  it('answers 200 with every field, tags and attachments ordered by id', async () => {
    now = START;
    const first = await tag('first');
    const second = await tag('second', false);
    const { id } = await world.vulnerability(assessment.uid, {
      title: 'SQL injection',
      description: 'In "q".\n',
      severity: 'Critical',
      statusId: 2,
      cvssScore: 9.8,
      tagIds: [second.id],
    });
    await attach(id, [
      new File(['x'.repeat(2_048)], 'b.png', { type: 'image/png' }),
      new File([], 'a.txt', { type: 'text/plain' }),
    ]);
    now = START + 60_000;
    const response = await update({ status_id: 5, tags: [second.id, first.id] }, { id });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const shown = { organization_profile_id: organization.id };
    const created_at = '2026-11-21T10:30:00.000Z';
    expect(response.body).toEqual({
      id,
      title: 'SQL injection',
      description: 'In "q".\n',
      severity: 'Critical',
      status: 'Fixed',
      cvss_score: 9.8,
      created_at,
      updated_at: '2026-11-21T10:31:00.000Z',
      tags: [
        { id: first.id, name: 'first', editable: true, ...shown },
        { id: second.id, name: 'second', editable: false, ...shown },
      ],
      attachments: [
        {
          id: expect.any(Number),
          filename: 'b.png',
          content_type: 'image/png',
          file_size: 2_048,
          created_at,
        },
        { id: expect.any(Number), filename: 'a.txt', content_type: 'text/plain', file_size: 0, created_at },
      ],
    });
    const [one, other] = response.body.attachments;
    expect(one.id).toBeLessThan(other.id);
  });

  it('shows what is empty as empty', async () => {
    expect(await current()).toMatchObject({ description: '', cvss_score: null, tags: [], attachments: [] });
  });

  describe('status', () => {
    it.each([
      [1, 'Pending Review'],
      [2, 'Pending Fix'],
      [3, 'Fix In Progress'],
      [4, 'Pending Verification'],
      [5, 'Fixed'],
      [6, 'Accepted Risk'],
      [7, 'Not Valid'],
      [8, 'Duplicate'],
      [9, 'Out Of Scope'],
    ])('%i is %s, and may follow on any other', async (status_id, status) => {
      for (const before of [1, 9, 5]) {
        await update({ status_id: before });
        expect((await update({ status_id })).body.status).toBe(status);
        expect((await current()).status).toBe(status);
      }
    });

    it.each([0, 10, -1, 1.5, 1e300, 9_007_199_254_740_993])('422 for %d', async (status_id) => {
      expectInvalid(await update({ status_id }), {
        failedValidation: [
          {
            property: 'status_id',
            message: expect.stringMatching(/^(must|is not) /),
            value: JSON.stringify(status_id),
          },
        ],
      });
      expect((await current()).status).toBe('Pending Review');
    });
  });

  describe('tags', () => {
    it('replaces the set by ids', async () => {
      const [one, two, three] = [await tag('one'), await tag('two'), await tag('three')];
      expect(tagIds((await update({ tags: [two.id, one.id, two.id] })).body)).toEqual([one.id, two.id]);
      expect(tagIds((await update({ tags: [three.id, two.id] })).body)).toEqual([two.id, three.id]);
      expect(tagIds(await current())).toEqual([two.id, three.id]);
    });

    it('replaces the set by names, compared without regard to case and outer space, and creates new ones', async () => {
      const known = await tag('Known');
      await update({ tags: [(await tag('dropped')).id] });
      const { body } = await update({ tag_list: [' kNOWN', ' New One ', 'new one'] });
      expect(body.tags).toEqual([
        { id: known.id, name: 'Known', editable: true, organization_profile_id: organization.id },
        {
          id: expect.any(Number),
          name: 'New One',
          editable: true,
          organization_profile_id: organization.id,
        },
      ]);
      expect((await current()).tags).toEqual(body.tags);
    });

    it('takes the union of both lists', async () => {
      const [one, two] = [await tag('one'), await tag('two')];
      const { body } = await update({ tags: [one.id], tag_list: ['ONE', 'two', 'three'] });
      expect(tagIds(body)).toEqual([one.id, two.id, expect.any(Number)]);
      expect(tagIds((await update({ tags: [two.id], tag_list: [] })).body)).toEqual([two.id]);
    });

    it.each([[{ tags: [] }], [{ tag_list: [] }], [{ tags: [], tag_list: [] }]])(
      'clears the set with %j',
      async (body) => {
        await update({ tag_list: ['one', 'two'] });
        expect((await update(body)).body.tags).toEqual([]);
        expect((await current()).tags).toEqual([]);
      },
    );

    it('keeps the set when neither list is given', async () => {
      const one = await tag('one');
      await update({ tags: [one.id] });
      expect(tagIds((await update({ status_id: 2 })).body)).toEqual([one.id]);
    });

    it('puts on and takes off tags that are not editable', async () => {
      const fixed = await tag('fixed', false);
      expect(tagIds((await update({ tag_list: ['Fixed'] })).body)).toEqual([fixed.id]);
      expect((await update({ tags: [] })).body.tags).toEqual([]);
    });

    it('422 for unknown ids and ids of another organization, and changes nothing', async () => {
      const one = await tag('one');
      const theirs = await world.vulnerabilityTag((await world.organization()).uid);
      await update({ tags: [one.id] });
      const before = await current();
      now += 1_000;
      const response = await update({
        status_id: 5,
        tags: [one.id, 999_999_999, theirs.id, 0],
        tag_list: ['new'],
      });
      const fault = (index: number, value: number) => ({
        index,
        failedValidation: [
          {
            property: `tags.${index}`,
            message: 'is not the id of a vulnerability tag of the organization',
            value: String(value),
          },
        ],
      });
      expectInvalid(response, {
        failedValidations: [fault(1, 999_999_999), fault(2, theirs.id), fault(3, 0)],
      });
      expect(await current()).toEqual(before);
      expect((await events('vulnerability-tag.create')).map((event) => event.object_id)).toEqual([
        String(one.id),
      ]);
    });

    it.each([1.5, 1e300, 9_007_199_254_740_993])('422 for the id %d', async (id) => {
      expectInvalid(await update({ tags: [id] }), {
        failedValidations: [
          {
            index: 0,
            failedValidation: [
              { property: 'tags.0', message: expect.stringMatching(/^must be /), value: JSON.stringify(id) },
            ],
          },
        ],
      });
    });

    it.each(BAD_NAMES)('422 for the name %j', async (name) => {
      expectInvalid(await update({ tag_list: ['good', name] }), {
        failedValidations: [
          {
            index: 1,
            failedValidation: [
              {
                property: 'tag_list.1',
                message: expect.stringMatching(/^must /),
                value: name.slice(0, 100).toWellFormed(),
              },
            ],
          },
        ],
      });
      expect((await current()).tags).toEqual([]);
    });

    it('takes a thousand names at once', async () => {
      const names = Array.from({ length: 1_000 }, (_, index) => `tag ${index}`);
      const { status, body } = await update({ tag_list: names });
      expect([status, body.tags.length]).toEqual([200, 1_000]);
      expect((await current()).tags).toEqual(body.tags);
    });

    it.each([
      ['tags', Array.from({ length: 1_001 }, () => 1)],
      ['tag_list', Array.from({ length: 1_001 }, () => 'x')],
    ])('413 for more than a thousand %s', async (list, items) => {
      expectProblem(server, await update({ [list]: items }), {
        area: 'v1',
        status: 413,
        kind: 'batch-too-large',
        maxBatchSize: 1_000,
        batchSize: 1_001,
      });
    });
  });

  it.each([
    ['status_id', '5'],
    ['status_id', null],
    ['tags', '1'],
    ['tags', null],
    ['tags', {}],
    ['tag_list', 'x'],
    ['tag_list', null],
  ])('400 for %s of the wrong type: %j', async (property, value) => {
    expectProblem(server, await update({ [property]: value }), {
      area: 'v1',
      status: 400,
      kind: 'invalid-request',
      failedValidation: [
        {
          property,
          message: expect.stringMatching(/^must be /),
          value: typeof value === 'string' ? value : JSON.stringify(value),
        },
      ],
    });
  });

  it.each([
    ['tags', '1'],
    ['tags', null],
    ['tag_list', 1],
  ])('400 for an item of %s of the wrong type: %j', async (property, value) => {
    expectProblem(server, await update({ [property]: [value] }), {
      area: 'v1',
      status: 400,
      kind: 'invalid-request',
      failedValidations: [
        {
          index: 0,
          failedValidation: [
            {
              property: `${property}.0`,
              message: expect.stringMatching(/^must be /),
              value: typeof value === 'string' ? value : JSON.stringify(value),
            },
          ],
        },
      ],
    });
  });

  describe('what changes nothing', () => {
    it.each([
      ['an empty body', {}],
      ['unknown properties', { title: 'Another', severity: 'Low', updated_at: 0 }],
      ['the status that it has', { status_id: 2 }],
      ['the tags that it has', { tag_list: ['B', 'A'] }],
    ])('%s: 200, no new time, no audit event', async (_what, body) => {
      await update({ status_id: 2, tag_list: ['a', 'b'] });
      const before = await current();
      const eventsBefore = (await world.auditEvents()).length;
      now += 60_000;
      const response = await update(body);
      expect([response.status, response.body]).toEqual([200, before]);
      expect(before.updated_at).toBe('2026-11-21T10:31:00.000Z');
      expect(await world.auditEvents()).toHaveLength(eventsBefore);
    });
  });

  describe('who', () => {
    it('a user with access, an admin of the organization and staff may', async () => {
      const admin = await world.user({ organization: organization.uid, admin: true });
      for (const { token } of [member, admin, await world.user()]) {
        const { status, body } = await update({ status_id: 2, tag_list: [token.slice(-9)] }, { token });
        expect([status, body.tags.length]).toEqual([200, 1]);
      }
    });

    it('404 to everyone else, and for an unknown vulnerability', async () => {
      const other = (await world.organization()).uid;
      const outsider = await world.user({ organization: organization.uid });
      const elsewhere = await world.assessment(organization.uid);
      await world.access(elsewhere.uid, outsider.id);
      const stranger = await world.user({ organization: other, admin: true });
      for (const { token } of [outsider, stranger]) {
        const response = await update({ status_id: 5, tags: [999_999_999], tag_list: ['x'] }, { token });
        expectProblem(server, response, { area: 'v1', status: 404, kind: 'not-found' });
      }
      expectProblem(server, await update({}, { id: 999_999_999 }), {
        area: 'v1',
        status: 404,
        kind: 'not-found',
      });
      expect(await current()).toMatchObject({ status: 'Pending Review', tags: [] });
    });

    it.each(IMPOSSIBLE_IDS)('404 for an id that cannot be one: %s', async (id) => {
      expectProblem(server, await update({}, { id }), { area: 'v1', status: 404, kind: 'not-found' });
    });
  });

  describe('the audit log', () => {
    it('has both sides of what differs, and each tag that was created', async () => {
      const one = await tag('one');
      await update({ tags: [one.id] });
      const response = await update({ status_id: 5, tag_list: ['New'] });
      const [created] = response.body.tags;
      const rest = {
        id: expect.any(Number),
        at: now,
        organization_id: organization.id,
        actor_kind: 'user',
        user_id: member.id,
        count: 1,
        refusal: null,
        credential_id: expect.any(String),
        address: '127.0.0.1',
        request_id: response.headers.get('x-request-id'),
      };
      expect((await events('vulnerability-tag.create')).at(-1)).toEqual({
        ...rest,
        action: 'vulnerability-tag.create',
        object_type: 'vulnerability-tag',
        object_id: String(created.id),
        before: null,
        after: '{"name":"New","editable":true}',
      });
      expect((await events('vulnerability.update')).at(-1)).toEqual({
        ...rest,
        action: 'vulnerability.update',
        object_type: 'vulnerability',
        object_id: String(vulnerability.id),
        before: JSON.stringify({ status_id: 1, tags: [one.id] }),
        after: JSON.stringify({ status_id: 5, tags: [created.id] }),
      });
    });

    it('leaves out what stays', async () => {
      await update({ status_id: 2, tag_list: [] });
      expect((await events('vulnerability.update')).at(-1)).toMatchObject({
        before: '{"status_id":1}',
        after: '{"status_id":2}',
      });
    });
  });

  describe('at the same time', () => {
    it('sets of tags are not mixed', async () => {
      const ids = [];
      for (let i = 0; i < 10; i += 1) ids.push((await tag(`tag ${i}`)).id);
      const responses = await Promise.all(ids.map((id) => update({ tags: [id] })));
      expect(responses.map(({ body }) => tagIds(body))).toEqual(ids.map((id) => [id]));
      const last = tagIds(await current());
      expect(last).toHaveLength(1);
      const log = await events('vulnerability.update');
      expect(JSON.parse(log.at(-1)?.after ?? '').tags).toEqual(last);
      const sides = log.map(({ before, after }) => [JSON.parse(before ?? ''), JSON.parse(after ?? '')]);
      sides.slice(1).forEach(([before], index) => expect(before).toEqual(sides[index]?.[1]));
    });

    it('a name that many use for the first time becomes one tag', async () => {
      const others = [];
      for (let i = 0; i < 8; i += 1) others.push(await world.vulnerability(assessment.uid));
      const responses = await Promise.all(
        others.map(({ id }, index) =>
          update({ tag_list: index % 2 === 0 ? ['one', 'two'] : ['Two', 'One'] }, { id }),
        ),
      );
      expect(responses.map(({ status }) => status)).toEqual(others.map(() => 200));
      expect(new Set(responses.map(({ body }) => JSON.stringify(tagIds(body)))).size).toBe(1);
      expect(await events('vulnerability-tag.create')).toHaveLength(2);
    });

    it('a tag that is deleted is either taken or refused', async () => {
      for (let round = 0; round < 5; round += 1) {
        const { id } = await tag(`round ${round}`);
        const [updated, deleted] = await Promise.all([
          update({ tags: [id] }),
          server.request('DELETE', `/v1/vulnerability_tags/${id}`, { token: member.token }),
        ]);
        expect(deleted.status).toBe(204);
        expect([200, 422]).toContain(updated.status);
        expect((await current()).tags).toEqual([]);
      }
    });
  });
});
