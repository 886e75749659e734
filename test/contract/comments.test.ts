import { beforeEach, describe, expect, it } from 'vitest';
import { useSharedServer } from '../harness/server.ts';
import { INVALID_IDS } from '../harness/invalid-values.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const START = Date.UTC(2026, 10, 21, 10, 30);

let now = START;
let organization: { id: number; uid: string };
let member: TestUser;
let otherUser: TestUser;
let admin: TestUser;
let outsider: TestUser;
let vulnerability: { id: number };

const server = await useSharedServer(() => now);
const fixtures = createFixtures(server);
const staff = await fixtures.user();
beforeEach(async () => {
  now = START;
  await fixtures.together(async (batch) => {
    organization = await batch.organization();
    const assessment = await batch.assessment(organization.uid);
    member = await batch.user({ organization: organization.uid });
    otherUser = await batch.user({ organization: organization.uid });
    admin = await batch.user({ organization: organization.uid, admin: true });
    outsider = await batch.user({ organization: organization.uid });
    await batch.access(assessment.uid, member.id);
    await batch.access(assessment.uid, otherUser.id);
    vulnerability = await batch.vulnerability(assessment.uid);
  });
  now = START + 60_000;
});

const path = (id: number | string = '', vulnerabilityId: number | string = vulnerability.id) =>
  `/v1/vulnerabilities/${vulnerabilityId}/comments${id === '' ? '' : `/${id}`}`;
const comment = (body: unknown, { token } = member, headers: Record<string, string> = {}) =>
  server.request('POST', path(), { token, body, headers });
const list = async ({ token } = member) => (await server.request('GET', path(), { token })).body;
const events = async () =>
  (await fixtures.auditEvents()).filter(
    (event) => /comment/.test(event.action) && event.organization_id === organization.id,
  );
const updatedAt = async () => {
  const { body } = await server.request('PATCH', `/v1/vulnerabilities/${vulnerability.id}`, {
    token: member.token,
    body: {},
  });
  return body.updated_at;
};

describe('Operation 25: comment on a vulnerability', () => {
  it('returns 201 with the comment, lists it in operation 24 and records it', async () => {
    const text = 'It *works*\n| a | b |\n|---|---|\n <b>no</b> \u{1f600} ';
    const response = await comment({ text });
    const user = { id: member.id, name: null, email: member.email };
    const expected = {
      id: expect.any(Number),
      text,
      internal: false,
      created_at: '2026-11-21T10:31:00.000Z',
      updated_at: '2026-11-21T10:31:00.000Z',
      user,
      by_staff: false,
      body: text,
      User: user,
    };
    expect([response.status, response.body]).toEqual([201, expected]);
    expect(response.headers.get('etag')).toMatch(/^"1\./);
    expect(response.headers.get('location')).toBeNull();
    expect(await list()).toEqual([response.body]);
    expect(await updatedAt()).toBe('2026-11-21T10:31:00.000Z');
    const [event] = await events();
    expect(event).toMatchObject({
      action: 'comment.create',
      object_type: 'comment',
      object_id: String(response.body.id),
      user_id: member.id,
      before: null,
      after: JSON.stringify({ vulnerability: vulnerability.id, text, internal: false }),
    });
  });

  it('does not increment the version of the vulnerability', async () => {
    const version = async () =>
      (
        await server.request('PATCH', `/v1/vulnerabilities/${vulnerability.id}`, {
          token: member.token,
          body: {},
        })
      ).headers
        .get('etag')
        ?.split('.', 1)[0];
    const before = await version();
    await comment({ text: 'x' });
    expect(await version()).toBe(before);
  });

  it('creates once per idempotency key', async () => {
    const key = { 'idempotency-key': 'one' };
    const first = await comment({ text: 'once' }, member, key);
    const repeated = await comment({ text: 'once' }, member, key);
    expect([repeated.status, repeated.text]).toEqual([201, first.text]);
    expect(repeated.headers.get('idempotency-replayed')).toBe('true');
    expect(await list()).toHaveLength(1);
  });

  it.each([
    ['no text', {}],
    ['an empty text', { text: '' }],
    ['null', { text: null }],
    ['a text that is too long', { text: 'x'.repeat(65_537) }],
    ['half of a surrogate pair', { text: 'x\ud800' }],
  ])('returns 422 for %s', async (_what, body) => {
    expect(await comment(body)).toMatchObject({
      status: 422,
      body: { failedValidation: [{ property: 'text' }] },
    });
    expect(await list()).toEqual([]);
  });

  it('accepts 65,536 characters', async () => {
    expect((await comment({ text: 'é'.repeat(65_536) })).status).toBe(201);
  });

  it.each(INVALID_IDS)('returns 404 for the id %s', async (id) => {
    const { token } = member;
    const post = await server.request('POST', path('', id), { token, body: { text: 'x' } });
    const get = await server.request('GET', path('', id), { token });
    expect([post.status, get.status]).toEqual([404, 404]);
  });

  it('returns 404 without access to the vulnerability, as do operations 24 and 26', async () => {
    const { body } = await comment({ text: 'x' });
    const { token } = outsider;
    const responses = await Promise.all([
      comment({ text: 'y' }, outsider),
      server.request('GET', path(), { token }),
      server.request('PATCH', path(body.id), { token, body: { text: 'y' } }),
      server.request('DELETE', path(body.id), { token }),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  });

  it('shows internal comments to staff only', async () => {
    for (const user of [member, admin])
      expect((await comment({ text: 'x', internal: true }, user)).status).toBe(403);
    const hidden = await comment({ text: 'between us', internal: true }, staff);
    expect([hidden.status, hidden.body.internal]).toEqual([201, true]);
    await comment({ text: 'for all', internal: false }, staff);
    const texts = (comments: { text: string }[]) => comments.map(({ text }) => text);
    expect(texts(await list(staff))).toEqual(['between us', 'for all']);
    for (const user of [member, admin]) {
      expect(texts(await list(user))).toEqual(['for all']);
      const { token } = user;
      const change = await server.request('PATCH', path(hidden.body.id), { token, body: { text: 'x' } });
      const removal = await server.request('DELETE', path(hidden.body.id), { token });
      expect([change.status, removal.status]).toEqual([404, 404]);
    }
    const [event] = await events();
    expect([event?.action, event?.object_type]).toEqual(['internal-comment.create', 'internal-comment']);
  });

  it('updates the time of the vulnerability only for comments that clients can see', async () => {
    const before = await updatedAt();
    now += 1_000;
    const { body: hidden } = await comment({ text: 'between us', internal: true }, staff);
    const edit = (body: object) => server.request('PATCH', path(hidden.id), { token: staff.token, body });
    await edit({ text: 'still between us' });
    expect(await updatedAt()).toBe(before);
    for (const internal of [false, true]) {
      now += 1_000;
      await edit({ internal });
      expect(await updatedAt()).toBe(new Date(now).toISOString());
    }
    const after = await updatedAt();
    now += 1_000;
    await server.request('DELETE', path(hidden.id), { token: staff.token });
    expect(await updatedAt()).toBe(after);
  });
});

describe('Operation 26: edit a comment', () => {
  const edit = (id: number, body: unknown, { token } = member, headers: Record<string, string> = {}) =>
    server.request('PATCH', path(id), { token, body, headers });

  it('changes the text, for its author only', async () => {
    const { body: created } = await comment({ text: 'old' });
    now += 60_000;
    const response = await edit(created.id, { text: 'new' });
    expect(response.body).toEqual({
      ...created,
      text: 'new',
      body: 'new',
      updated_at: '2026-11-21T10:32:00.000Z',
    });
    expect(response.headers.get('etag')).toMatch(/^"2\./);
    expect(await updatedAt()).toBe('2026-11-21T10:32:00.000Z');
    for (const user of [otherUser, admin, staff])
      expect((await edit(created.id, { text: 'x' }, user)).status).toBe(403);
    expect(await list()).toEqual([response.body]);
    const [, event] = await events();
    expect(event).toMatchObject({
      action: 'comment.update',
      before: '{"text":"old"}',
      after: '{"text":"new"}',
    });
  });

  it('changes nothing if the values are the same', async () => {
    const { body: created } = await comment({ text: 'same' });
    now += 60_000;
    for (const body of [{}, { text: 'same' }, { text: null, internal: false }]) {
      const response = await edit(created.id, body);
      expect([response.status, response.body]).toEqual([200, created]);
    }
    expect(await events()).toHaveLength(1);
  });

  it('supports If-Match', async () => {
    const created = await comment({ text: 'old' });
    const tag = created.headers.get('etag') ?? '';
    expect((await edit(created.body.id, { text: 'new' }, member, { 'if-match': tag })).status).toBe(200);
    expect((await edit(created.body.id, { text: 'newer' }, member, { 'if-match': tag })).status).toBe(412);
    expect((await edit(created.body.id, { text: 'x' }, otherUser, { 'if-match': tag })).status).toBe(403);
    const { token } = member;
    const removal = await server.request('DELETE', path(created.body.id), {
      token,
      headers: { 'if-match': tag },
    });
    expect(removal.status).toBe(412);
  });

  it('makes comments internal and public again, for staff who wrote them', async () => {
    const { body: created } = await comment({ text: 'mine' }, staff);
    expect((await edit(created.id, { internal: true }, staff)).body.internal).toBe(true);
    expect(await list()).toEqual([]);
    const timeline = async ({ token }: TestUser) =>
      (await server.request('GET', `/v1/vulnerabilities/${vulnerability.id}/timeline`, { token })).body.map(
        ({ kind }: { kind: string }) => kind,
      );
    expect(await timeline(member)).toEqual(['created']);
    expect(await timeline(staff)).toEqual(['created', 'comment']);
    expect((await edit(created.id, { internal: null }, staff)).body.internal).toBe(true);
    await edit(created.id, { internal: false }, staff);
    expect(await list()).toHaveLength(1);
    expect(await timeline(member)).toEqual(['created', 'comment']);
    const { body: ownComment } = await comment({ text: 'x' });
    expect((await edit(ownComment.id, { internal: true })).status).toBe(403);
  });

  it('deletes comments, for their author, admins and staff', async () => {
    for (const user of [member, admin, staff]) {
      const { body } = await comment({ text: 'gone' });
      const { token } = otherUser;
      expect((await server.request('DELETE', path(body.id), { token })).status).toBe(403);
      const removal = await server.request('DELETE', path(body.id), { token: user.token });
      expect([removal.status, removal.text]).toEqual([204, '']);
      expect((await server.request('DELETE', path(body.id), { token: user.token })).status).toBe(404);
    }
    expect(await list()).toEqual([]);
    expect((await events()).at(-1)).toMatchObject({
      action: 'comment.delete',
      before: JSON.stringify({ vulnerability: vulnerability.id, text: 'gone', internal: false }),
      after: null,
    });
  });

  it('returns 404 under the id of another vulnerability', async () => {
    const { body } = await comment({ text: 'x' });
    const otherVulnerability = await fixtures.vulnerability(
      (await fixtures.assessment(organization.uid)).uid,
    );
    const { token } = admin;
    const response = await server.request('DELETE', path(body.id, otherVulnerability.id), { token });
    expect(response.status).toBe(404);
    expect(await list()).toHaveLength(1);
  });
});
