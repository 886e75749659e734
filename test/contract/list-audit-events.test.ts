import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import type { Row } from '../../src/db/schema.ts';
import { renameUser } from '../../src/domain/users/users.ts';
import { useOwnServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

let organization: { id: number; uid: string };
let admin: TestUser;
let user: TestUser;
let staff: TestUser;
let now = Date.UTC(2026, 10, 21, 10, 30);
const server = await useOwnServer({}, () => now);
const fixtures = createFixtures(server);
beforeAll(async () => {
  staff = await fixtures.user();
});
beforeEach(async () => {
  organization = await fixtures.organization();
  admin = await fixtures.user({ organization: organization.uid, admin: true });
  user = await fixtures.user({ organization: organization.uid, name: 'Ada' });
});

const read = (token: string, query = '', headers = {}) =>
  server.request('GET', `/v1/audit_events${query}`, { token, headers });
const rename = (id: number, name: string) =>
  server.context.db.write((tx) => renameUser(tx, cliChangeContext(now), id, name));
const idsOf = async (token: string, query = '') =>
  ((await read(token, query)).body as { id: number }[]).map(({ id }) => id);

/** Inserts an event. @returns its id */
async function event(values: {
  organization_id: number | null;
  actor_kind?: Row<'audit_events'>['actor_kind'];
  object_type?: string;
}): Promise<number> {
  const { id } = await server.context.db.write((tx) =>
    tx
      .insertInto('audit_events')
      .values({
        at: now,
        action: 'comment.create',
        object_type: 'comment',
        object_id: '7',
        actor_kind: 'user',
        request_id: 'r',
        ...values,
      })
      .returning('id')
      .executeTakeFirstOrThrow(),
  );
  return id;
}

describe('Operation 60: list audit events', () => {
  it('returns actor, object, address and request of an event', async () => {
    const { uid } = await fixtures.assessment(organization.uid);
    const created = await server.request('POST', '/v1/assessment_tags', {
      token: admin.token,
      body: { name: 'internal', assessment_id: uid },
    });
    const requestId = created.headers.get('x-request-id');
    const { body } = await read(admin.token, `?filter[request_id]=${requestId}`);
    expect(body).toEqual([
      {
        id: expect.any(Number),
        at: new Date(now).toISOString(),
        action: 'assessment-tag.create',
        object_type: 'assessment-tag',
        object_id: String(created.body.id),
        organization_uid: organization.uid,
        actor: { kind: 'user', user_id: admin.id, email: admin.email },
        credential_id: expect.any(String),
        address: '127.0.0.1',
        request_id: requestId,
        before: null,
        after: expect.objectContaining({ name: 'internal' }),
      },
    ]);
  });

  it('returns the newest events first, by cursor only', async () => {
    for (const name of ['Bea', 'Cleo', 'Dora']) {
      now += 1;
      await rename(user.id, name);
    }
    const query = `?filter[object_id]=${user.id}&filter[action][]=user.rename&page[size]=2`;
    const first = await read(admin.token, `${query}&page[number]=7`);
    expect(first.body.map(({ after }: any) => after.name)).toEqual(['Dora', 'Cleo']);
    expect(first.headers.get('x-pagination')).toBeNull();
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const second = await server.request('GET', next.slice(server.origin.length), { token: admin.token });
    expect(second.body.map(({ before, after }: any) => [before.name, after.name])).toEqual([['Ada', 'Bea']]);
    expect(second.headers.get('link')).toBeNull();
  });

  it('returns events of their organization to admins, of visible organizations to staff, and none to others', async () => {
    const otherOrganization = await fixtures.organization();
    const assigned = await fixtures.user({ assignedTo: [organization.uid] });
    const [ownEvent, foreign, ofNone] = [
      await event({ organization_id: organization.id }),
      await event({ organization_id: otherOrganization.id }),
      await event({ organization_id: null }),
    ];
    const anonymous = await event({ organization_id: organization.id, actor_kind: 'stranger' });
    const internal = await event({ organization_id: organization.id, object_type: 'internal-comment' });
    const all = [ownEvent, foreign, ofNone, anonymous, internal];
    const visibleTo = async (token: string) => {
      const ids = await idsOf(token, '?page[size]=200');
      return all.filter((id) => ids.includes(id));
    };
    expect((await read(user.token)).status).toBe(403);
    expect(await visibleTo(admin.token)).toEqual([ownEvent]);
    expect(await visibleTo(assigned.token)).toEqual([ownEvent, internal]);
    expect(await visibleTo(staff.token)).toEqual(all);
    expect(await idsOf(admin.token, `?filter[organization_uid][]=${otherOrganization.uid}`)).toEqual([]);
    expect(await idsOf(staff.token, `?filter[organization_uid][]=${otherOrganization.uid}`)).toContain(
      foreign,
    );
  });

  it('filters by time, with an inclusive start and an exclusive end', async () => {
    const from = now + 1_000;
    const names = ['Bea', 'Cleo', 'Dora'];
    for (const [index, name] of names.entries()) {
      now = from + index;
      await rename(user.id, name);
    }
    const between = async (since: number, until: number) => {
      const [sinceText, untilText] = [since, until].map((at) => new Date(at).toISOString());
      const query = `?filter[since]=${sinceText}&filter[until]=${untilText}&filter[user_id]=${user.id}`;
      const { body } = await read(admin.token, query.replace(/&filter.user_id.*/, ''));
      return body.map(({ after }: any) => after.name);
    };
    expect(await between(from + 1, from + 2)).toEqual(['Cleo']);
    expect(await between(from, from + 3)).toEqual(['Dora', 'Cleo', 'Bea']);
  });

  it('exports from oldest to newest, and records the export', async () => {
    now += 1;
    await rename(user.id, 'Bea');
    const path = `?filter[object_id]=${user.id}`;
    const ndjson = await read(admin.token, path, { accept: 'application/x-ndjson' });
    expect(ndjson.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    const lines = ndjson.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { action: string });
    const { body } = await read(admin.token, path);
    expect(lines).toEqual(body.toReversed());
    expect(lines.map(({ action }) => action)).toEqual(['user.create', 'user.rename']);

    const csv = await read(admin.token, path, { accept: 'text/csv' });
    const [header, first] = csv.text.split('\r\n');
    expect(header).toBe(
      'id,at,action,object_type,object_id,organization_uid,actor,credential_id,address,request_id,before,after',
    );
    expect(first).toContain(`"{""kind"":""command_line"",""user_id"":null,""email"":null}"`);
    const exports = (await fixtures.auditEvents()).filter(
      ({ action, user_id }) => action === 'event.export' && user_id === admin.id,
    );
    expect(exports.map(({ after }) => JSON.parse(after ?? ''))).toEqual([
      { type: 'application/x-ndjson', filters: { objectId: [String(user.id)] } },
      { type: 'text/csv', filters: { objectId: [String(user.id)] } },
    ]);
  });

  it.each(['filter[user_id]=me', 'filter[since]=yesterday', 'filter[object_id]=1&filter[object_id]=2'])(
    'returns 400 for %s',
    async (query) => {
      expect((await read(admin.token, `?${query}`)).status).toBe(400);
    },
  );

  it('returns no events for unknown actions, types, objects and users', async () => {
    for (const query of [
      'filter[action][]=none',
      'filter[object_type]=none',
      'filter[object_id]=%00',
      'filter[user_id]=9007199254740993',
    ])
      expect(await idsOf(admin.token, `?${query}`)).toEqual([]);
  });
});
