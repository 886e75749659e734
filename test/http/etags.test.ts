import fastify from 'fastify';
import { Type } from 'typebox';
import { beforeEach, describe, expect, it } from 'vitest';
import { allowOperator, registerArea } from '../../src/http/register-area.ts';
import { AREAS } from '../../src/http/areas.ts';
import { registerOpenApi } from '../../src/http/openapi/openapi.ts';
import { operation, operationsOf } from '../../src/http/operation.ts';
import { parseIfMatch } from '../../src/http/etags.ts';
import { versionedResult } from '../../src/http/operation-result.ts';
import { API_SCOPE } from '../../src/auth/scopes.ts';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { renewInvitation } from '../../src/domain/users/invitations.ts';
import { renameUser } from '../../src/domain/users/users.ts';
import { revokeAssessmentAccess } from '../../src/domain/assessments/assessment-access.ts';
import { setPassword } from '../../src/domain/sign-in/passwords.ts';
import { useSharedServer } from '../harness/server.ts';
import { expectProblem } from '../harness/expect-problem.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';
import { isLinear } from '../harness/growth.ts';

let organization: { id: number; uid: string };
let admin: TestUser;
let user: TestUser;
let assessment: { uid: string; id: number };

const server = await useSharedServer();
const fixtures = createFixtures(server);
beforeEach(async () => {
  organization = await fixtures.organization();
  admin = await fixtures.user({ organization: organization.uid, admin: true });
  user = await fixtures.user({ organization: organization.uid });
  assessment = await fixtures.assessment(organization.uid);
});

interface Attempt {
  method: string;
  path: string;
  body?: unknown;
  /** A body that changes nothing on the same object. */
  unchanged?: unknown;
  /** A body that changes it again. */
  other?: unknown;
  table: 'vulnerability_tags' | 'assessment_tags' | 'vulnerabilities' | 'users';
  id: number;
}

/** The operations of the specification that change one object, each with a new object. */
const ATTEMPTS: Record<string, () => Promise<Attempt>> = {
  '1 delete a vulnerability tag': async () => {
    const { id } = await fixtures.vulnerabilityTag(organization.uid);
    return { method: 'DELETE', path: `/v1/vulnerability_tags/${id}`, table: 'vulnerability_tags', id };
  },
  '2 rename a vulnerability tag': async () => {
    const { id } = await fixtures.vulnerabilityTag(organization.uid, 'before');
    return {
      method: 'PUT',
      path: `/v1/vulnerability_tags/${id}`,
      body: { name: 'after' },
      unchanged: { name: 'after' },
      other: { name: 'once more' },
      table: 'vulnerability_tags',
      id,
    };
  },
  '4 rename an assessment tag': async () => {
    const { id } = await fixtures.assessmentTag(assessment.uid, 'before');
    return {
      method: 'PUT',
      path: `/v1/assessment_tags/${id}`,
      body: { name: 'after' },
      unchanged: { name: 'after' },
      other: { name: 'once more' },
      table: 'assessment_tags',
      id,
    };
  },
  '5 update a vulnerability': async () => {
    const { id } = await fixtures.vulnerability(assessment.uid);
    return {
      method: 'PATCH',
      path: `/v1/vulnerabilities/${id}`,
      body: { status_id: 2, tag_list: ['one'] },
      unchanged: { tag_list: ['one'] },
      other: { tag_list: ['two'] },
      table: 'vulnerabilities',
      id,
    };
  },
  '6 ban a user': async () => {
    const { id } = await fixtures.user({ organization: organization.uid });
    return { method: 'DELETE', path: `/v1/users/${id}`, table: 'users', id };
  },
};
const names = Object.keys(ATTEMPTS);
const WITH_BODY = ['2 rename a vulnerability tag', '4 rename an assessment tag', '5 update a vulnerability'];
const attempt = (name: string) => (ATTEMPTS[name] as () => Promise<Attempt>)();

const send = ({ method, path }: Attempt, body: unknown, ifMatch?: string) =>
  server.request(method, path, {
    token: admin.token,
    body,
    headers: ifMatch === undefined ? {} : { 'if-match': ifMatch },
  });
const versionOf = async ({ table, id }: Pick<Attempt, 'table' | 'id'>) =>
  (
    await server.context.db.read
      .selectFrom(table)
      .select('version')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  ).version;

describe('If-Match', () => {
  it.each(names)('%s: returns 412 in shape B for a stale version, and changes nothing', async (name) => {
    const attempted = await attempt(name);
    const events = (await fixtures.auditEvents()).length;
    for (const stale of ['"2.x"', 'W/"7.abc"', '"1"', 'garbage', '""', '']) {
      const rejected = await send(attempted, attempted.body, stale);
      expectProblem(server, rejected, { area: 'v1', status: 412, kind: 'precondition-failed' });
      expect(rejected.headers.get('etag')).toBeNull();
    }
    expect(await versionOf(attempted)).toBe(1);
    expect((await fixtures.auditEvents()).length).toBe(events);
  });

  it.each(names)('%s: accepts a list with the current version, weak or strong', async (name) => {
    for (const validator of ['"1.anything"', 'W/"1.x-gzip"', '"9.a", W/"1.b" ,"3.c"', '*', undefined]) {
      const attempted = await attempt(name);
      // Names must be unique.
      const body =
        name.startsWith('2') || name.startsWith('4') ? { name: `after ${validator}` } : attempted.body;
      const { status } = await send(attempted, body, validator);
      expect([validator, status]).toEqual([validator, status < 300 ? status : 'refused']);
    }
  });

  it.each(WITH_BODY)('%s: accepts the ETag of the previous response once', async (name) => {
    const attempted = await attempt(name);
    const first = await send(attempted, attempted.body);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"2\.[\w-]{22}"$/);
    const unchangedResponse = await send(attempted, attempted.unchanged, etag);
    expect([unchangedResponse.status, unchangedResponse.headers.get('etag')]).toEqual([200, etag]);
    const next = await send(attempted, attempted.other, etag);
    expect(next.headers.get('etag')).toMatch(/^"3\./);
    expect((await send(attempted, attempted.body, etag)).status).toBe(412);
    expect(await versionOf(attempted)).toBe(3);
  });

  it('is checked after 404 and 403 and before database constraints', async () => {
    const foreignAdmin = await fixtures.user({
      organization: (await fixtures.organization()).uid,
      admin: true,
    });
    const headers = { 'if-match': '"7.x"' };
    for (const name of names) {
      const attempted = await attempt(name);
      const { method, path, body } = attempted;
      for (const value of ['"7.x"', '*', 'garbage'])
        expect(
          (
            await server.request(method, path, {
              token: foreignAdmin.token,
              body,
              headers: { 'if-match': value },
            })
          ).status,
        ).toBe(404);
    }
    const tag = await fixtures.assessmentTag(assessment.uid, 'not yours to rename');
    const path = `/v1/assessment_tags/${tag.id}`;
    const notAdmin = await server.request('PUT', path, { token: user.token, body: { name: 'x' }, headers });
    expect(notAdmin.status).toBe(403);
    const fixed = await fixtures.vulnerabilityTag(organization.uid, 'fixed', false);
    const onFixed = { token: user.token, headers };
    expect((await server.request('DELETE', `/v1/vulnerability_tags/${fixed.id}`, onFixed)).status).toBe(403);
    const itself = await server.request('DELETE', `/v1/users/${admin.id}`, { token: admin.token, headers });
    expect(itself.status).toBe(403);
    await fixtures.vulnerabilityTag(organization.uid, 'taken');
    const { id } = await fixtures.vulnerabilityTag(organization.uid, 'other');
    const conflicting = { token: user.token, body: { name: 'taken' } };
    const clash = `/v1/vulnerability_tags/${id}`;
    expect((await server.request('PUT', clash, { ...conflicting, headers })).status).toBe(412);
    expect((await server.request('PUT', clash, conflicting)).status).toBe(409);
    const attempted = await attempt('5 update a vulnerability');
    expect((await send(attempted, { tags: [987_654_321] }, '"7.x"')).status).toBe(412);
    expect((await send(attempted, { status_id: 99 }, '"7.x"')).status).toBe(422);
  });

  it('accepts one of concurrent updates of the same version', async () => {
    const attempted = await attempt('5 update a vulnerability');
    const statuses = await Promise.all(
      Array.from(
        { length: 8 },
        async (_, index) => (await send(attempted, { tag_list: [`tag ${index}`] }, '"1.x"')).status,
      ),
    );
    expect(statuses.toSorted()).toEqual([200, ...Array.from({ length: 7 }, () => 412)]);
    expect(await versionOf(attempted)).toBe(2);
  });
});

describe('ETag', () => {
  it('is returned for the tag of operation 3 and the user of operation 6', async () => {
    const body = { name: 'new', assessment_id: assessment.uid };
    const created = await server.request('POST', '/v1/assessment_tags', { token: admin.token, body });
    expect([created.status, created.headers.get('location')]).toEqual([201, null]);
    expect(created.headers.get('etag')).toMatch(/^"1\.[\w-]{22}"$/);
    const banned = await server.request('DELETE', `/v1/users/${user.id}`, { token: admin.token });
    expect(banned.headers.get('etag')).toMatch(/^"2\./);
    const repeated = await server.request('DELETE', `/v1/users/${user.id}`, {
      token: admin.token,
      headers: { 'if-match': banned.headers.get('etag') ?? '' },
    });
    expect([repeated.status, repeated.text]).toEqual([200, banned.text]);
  });

  it('is not returned for several objects', async () => {
    const tags = `/api/tagging/v1.0/organizations/${organization.uid}/tags`;
    const createdTags = await server.request('POST', tags, {
      token: admin.token,
      body: { tags: [{ name: 'a' }] },
    });
    const hours = await server.request('GET', `/v1/assessments/${assessment.uid}/testing_hours`, {
      token: admin.token,
    });
    for (const { headers } of [createdTags, hours])
      expect([headers.get('etag'), headers.get('location')]).toEqual([null, null]);
  });

  it('keeps the version of a vulnerability when one of its tags is deleted', async () => {
    const attempted = await attempt('5 update a vulnerability');
    const { body } = await send(attempted, attempted.body);
    await server.request('DELETE', `/v1/vulnerability_tags/${body.tags[0].id}`, { token: admin.token });
    expect(await versionOf(attempted)).toBe(2);
  });

  it("changes with a user's name, access and invitation, but not with passwords and tokens", async () => {
    const { db } = server.context;
    const invited = await fixtures.invited({ organization: organization.uid });
    const userRow = { table: 'users', id: invited.id } as const;
    const changeContext = cliChangeContext(Date.now());
    await db.write((tx) => renewInvitation(tx, changeContext, invited.id));
    expect(await versionOf(userRow)).toBe(2);
    await db.write((tx) => renameUser(tx, changeContext, invited.id, 'Ada'));
    await fixtures.access(assessment.uid, invited.id);
    expect(await versionOf(userRow)).toBe(4);
    const target = { ...assessment, organizationId: organization.id };
    await fixtures.access(assessment.uid, invited.id);
    await db.write((tx) => revokeAssessmentAccess(tx, changeContext, target, invited.id));
    await db.write((tx) => revokeAssessmentAccess(tx, changeContext, target, invited.id));
    expect(await versionOf(userRow)).toBe(5);
    await fixtures.token(invited.id);
    await db.write((tx) => setPassword(tx, changeContext, invited.id, 'hash'));
    expect(await versionOf(userRow)).toBe(5);
  });
});

describe('If-None-Match', () => {
  /** An operation whose representation depends on `as`, which stands for the caller. */
  const declare = () =>
    operation({
      id: 'readThing',
      number: 16,
      summary: 'Read a thing',
      description: 'Reads it.',
      method: 'GET',
      path: '/things/:as',
      access: { scopes: API_SCOPE, schemes: 'all' },
      params: Type.Object({ as: Type.String({ maxLength: 10 }) }),
      responses: {
        200: { description: 'It.', schema: Type.Object({ seen: Type.String({ maxLength: 10 }) }) },
      },
      versioned: true,
      handler: async ({ params }) => versionedResult(3, { seen: params.as }),
    });

  it('returns 304 without a body if version and digest match', async () => {
    const app = fastify();
    for (const name of ['caller', 'ifMatch', 'idempotentRequest', 'write'])
      app.decorateRequest(name, undefined);
    allowOperator(app);
    registerArea(app, AREAS.v1, [operationsOf('v1', [declare])], server.context);
    const read = (as: string, ifNoneMatch?: string) =>
      app.inject({
        url: `/v1/things/${as}`,
        headers: ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch },
      });
    const complete = await read('admin');
    const etag = String(complete.headers.etag);
    expect([complete.statusCode, complete.body]).toEqual([200, '{"seen":"admin"}']);
    expect(etag).toMatch(/^"3\.[\w-]{22}"$/);
    expect(complete.headers).toMatchObject({
      'cache-control': 'private, no-cache',
      'content-type': 'application/json; charset=utf-8',
      'content-length': '16',
    });
    for (const ifNoneMatch of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const response = await read('admin', ifNoneMatch);
      expect([ifNoneMatch, response.statusCode, response.body]).toEqual([ifNoneMatch, 304, '']);
      expect(response.headers).toMatchObject({ etag, 'cache-control': 'private, no-cache' });
      expect(response.headers['content-length']).toBeUndefined();
    }
    // The version matches, but not the representation.
    for (const ifNoneMatch of ['"3.other"', '"3"', etag.slice(1), `${etag}x`, ''])
      expect([ifNoneMatch, (await read('admin', ifNoneMatch)).statusCode]).toEqual([ifNoneMatch, 200]);
    const otherRead = await read('client', etag);
    expect([otherRead.statusCode, otherRead.headers.etag === etag]).toEqual([200, false]);
    const head = await app.inject({ method: 'HEAD', url: '/v1/things/admin' });
    expect([head.statusCode, head.headers.etag, head.body]).toEqual([200, etag, '']);
    await app.close();
  });

  it('is described with its 304 and `x-companion`', async () => {
    const app = fastify();
    for (const name of ['caller', 'ifMatch', 'idempotentRequest', 'write'])
      app.decorateRequest(name, undefined);
    await registerOpenApi(app, server.context);
    registerArea(app, AREAS.v1, [operationsOf('v1', [declare])], server.context);
    await app.ready();
    const described = JSON.parse(JSON.stringify(app.swagger())).paths['/v1/things/{as}'].get;
    expect(described).toMatchObject({
      'x-companion': true,
      responses: { 200: { headers: { ETag: {} } }, 304: { headers: { ETag: {} } } },
    });
    expect(described.responses['304']).not.toHaveProperty('content');
    expect(described.parameters.map(({ name }: { name: string }) => name)).toEqual(['as', 'If-None-Match']);
    const { paths } = (await server.request('GET', '/openapi.json')).body;
    expect(paths['/v1/vulnerabilities/{id}'].patch).not.toHaveProperty('x-companion');
    await app.close();
  });
});

describe('parseIfMatch', () => {
  it.each([
    [undefined, undefined],
    ['*', '*'],
    [' * ', '*'],
    ['"1.a"', [1]],
    ['W/"12.a", "3.b"', [12, 3]],
    ['"1.a" "2.b"', []],
    ['"1.a", 2', []],
    ['w/"1.a"', []],
    ['"01.a"', []],
    ['"-1.a"', []],
    ['"1e3.a"', []],
    ['"99999999999999999.a"', []],
    ['*, "1.a"', []],
  ])('parses %j as %j', (header, versions) => {
    const parsed = parseIfMatch(header);
    expect(parsed instanceof Set ? [...parsed] : parsed).toEqual(versions);
  });

  it('returns no version for an oversized header in linear time', () => {
    expect(parseIfMatch(`${'"1.a",'.repeat(3_000)}"2.b"`)).toEqual(new Set());
    for (const text of [',', ' ', ' ,', '"', 'W/"', '"a",']) {
      const headerOf = (length: number) => `"1.a"${text.repeat(length / text.length)}x`;
      expect(isLinear(parseIfMatch, headerOf, 8_000)).toBe(true);
    }
  });
});
