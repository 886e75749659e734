import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../harness/problems.ts';
import { type TestServer, useSharedServer } from '../harness/server.ts';
import { IMPOSSIBLE_IDS } from '../harness/v1.ts';
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

const remove = (id: number | string, token = user.token) =>
  server.request('DELETE', `/v1/vulnerability_tags/${id}`, { token });
const expectMissing = async (id: number | string, token = user.token) =>
  expectProblem(server, await remove(id, token), { area: 'v1', status: 404, kind: 'not-found' });
const exists = async (id: number) =>
  (await server.context.db.read.selectFrom('vulnerability_tags').select('id').where('id', '=', id).execute())
    .length === 1;

describe('Operation 1: delete a vulnerability tag', () => {
  it('answers 204 without a body; after that the tag is not there', async () => {
    const tag = await world.vulnerabilityTag(organization.uid);
    const response = await remove(tag.id);
    expect([response.status, response.text]).toEqual([204, '']);
    expect(response.headers.get('content-type')).toBeNull();
    await expectMissing(tag.id);
  });

  it('takes the tag off every vulnerability, and leaves the other tags', async () => {
    const assessment = await world.assessment(organization.uid);
    const gone = await world.vulnerabilityTag(organization.uid);
    const kept = await world.vulnerabilityTag(organization.uid);
    const first = await world.vulnerability(assessment.uid, { tagIds: [gone.id, kept.id] });
    const second = await world.vulnerability(assessment.uid, { tagIds: [gone.id] });
    expect((await remove(gone.id)).status).toBe(204);
    const staff = await world.user();
    for (const [vulnerability, ids] of [
      [first, [kept.id]],
      [second, []],
    ] as const) {
      const { body } = await server.request('PATCH', `/v1/vulnerabilities/${vulnerability.id}`, {
        token: staff.token,
        body: {},
      });
      expect(body.tags.map((tag: { id: number }) => tag.id)).toEqual(ids);
    }
  });

  it('is for any user of the organization, and for staff', async () => {
    for (const who of [
      user,
      await world.user({ organization: organization.uid, admin: true }),
      await world.user(),
    ]) {
      const tag = await world.vulnerabilityTag(organization.uid);
      expect((await remove(tag.id, who.token)).status).toBe(204);
    }
  });

  it('404 for a tag of another organization, fixed or not, which stays', async () => {
    const other = (await world.organization()).uid;
    for (const editable of [true, false]) {
      const tag = await world.vulnerabilityTag(other, 'theirs' + editable, editable);
      await expectMissing(tag.id);
      expect(await exists(tag.id)).toBe(true);
    }
  });

  it('404 for an unknown id', () => expectMissing(999_999_999));

  it.each(IMPOSSIBLE_IDS)('404 for an id that cannot be one: %s', (id) => expectMissing(id));

  it('403 for a tag that is not editable, which stays', async () => {
    const tag = await world.vulnerabilityTag(organization.uid, 'fixed', false);
    const staff = await world.user();
    for (const { token } of [user, staff]) {
      expectProblem(server, await remove(tag.id, token), { area: 'v1', status: 403, kind: 'forbidden' });
    }
    expect(await exists(tag.id)).toBe(true);
  });

  it('writes to the audit log what was deleted, once', async () => {
    const assessment = await world.assessment(organization.uid);
    const tag = await world.vulnerabilityTag(organization.uid, 'Old');
    await world.vulnerability(assessment.uid, { tagIds: [tag.id] });
    const response = await remove(tag.id);
    await remove(tag.id);
    const events = (await world.auditEvents()).filter((event) => event.action === 'vulnerability-tag.delete');
    expect(events.filter((event) => event.object_id === String(tag.id))).toEqual([
      {
        id: expect.any(Number),
        at: NOW,
        action: 'vulnerability-tag.delete',
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
        before: JSON.stringify({ name: 'Old', editable: true, vulnerabilities: 1 }),
        after: null,
      },
    ]);
  });

  it('answers one 204 and otherwise 404 to those who delete the same tag at once', async () => {
    const tag = await world.vulnerabilityTag(organization.uid);
    const statuses = await Promise.all(Array.from({ length: 5 }, async () => (await remove(tag.id)).status));
    expect(statuses.sort()).toEqual([204, 404, 404, 404, 404]);
  });
});
