import { randomBytes } from 'node:crypto';
import fastify from 'fastify';
import { Type } from 'typebox';
import { beforeEach, describe, expect, it } from 'vitest';
import { operatorCaller } from '../../src/auth/callers.ts';
import { API_SCOPE } from '../../src/auth/scopes.ts';
import type { Transaction } from '../../src/db/database.ts';
import { lockIdempotencyKey, idempotencyId } from '../../src/domain/shared/idempotency-keys.ts';
import { handleErrors, registerArea } from '../../src/http/register-area.ts';
import { AREAS } from '../../src/http/areas.ts';
import { registerBodyParsers } from '../../src/http/json-bodies.ts';
import { operation, operationsOf } from '../../src/http/operation.ts';
import { type IdempotencyOptions, startRequestHash } from '../../src/http/idempotency.ts';
import { versionedResult } from '../../src/http/operation-result.ts';
import { deleteExpired } from '../../src/jobs/delete-expired.ts';
import { expectProblem } from '../harness/expect-problem.ts';
import { gate } from '../harness/gate.ts';
import { useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const DAY = 86_400_000;
let now = Date.UTC(2027, 2, 1);
let organization: { id: number; uid: string };
let admin: TestUser;
let assessment: { uid: string };

const server = await useSharedServer(() => now);
const fixtures = createFixtures(server);
beforeEach(async () => {
  organization = await fixtures.organization();
  admin = await fixtures.user({ organization: organization.uid, admin: true });
  assessment = await fixtures.assessment(organization.uid);
});

const newKey = () => randomBytes(8).toString('hex');
const createTag = (key: string | undefined, name: string, user = admin) =>
  server.request('POST', '/v1/assessment_tags', {
    token: user.token,
    body: { name, assessment_id: assessment.uid },
    headers: key === undefined ? {} : { 'idempotency-key': key },
  });
const assetTagsPath = (uid = organization.uid) => `/api/tagging/v1.0/organizations/${uid}/tags`;
const createAssetTags = (key: string, names: string[], path = assetTagsPath()) =>
  server.request('POST', path, {
    token: admin.token,
    body: { tags: names.map((name) => ({ name })) },
    headers: { 'idempotency-key': key },
  });
const storedResponses = () => server.context.db.read.selectFrom('idempotency_keys').selectAll().execute();
const storedResponsesOf = async ({ id }: TestUser) =>
  (await storedResponses()).filter((row) => row.user_id === id);
const tagsNamed = async (name: string) =>
  (
    await server.context.db.read
      .selectFrom('assessment_tags')
      .select('id')
      .where('organization_id', '=', organization.id)
      .where('name', '=', name)
      .execute()
  ).length;

describe('Idempotency-Key', () => {
  it('returns the first response byte for byte, and repeats nothing', async () => {
    const key = newKey();
    const first = await createTag(key, 'retest');
    expect([first.status, first.headers.get('idempotency-replayed')]).toEqual([201, null]);
    const events = (await fixtures.auditEvents()).length;
    for (let time = 0; time < 3; time += 1) {
      const repeated = await createTag(key, 'retest');
      expect([repeated.status, repeated.text]).toEqual([201, first.text]);
      expect(repeated.headers.get('idempotency-replayed')).toBe('true');
      expect(repeated.headers.get('etag')).toBe(first.headers.get('etag'));
      expect(repeated.headers.get('content-type')).toBe(first.headers.get('content-type'));
      expect(repeated.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    }
    expect((await fixtures.auditEvents()).length).toBe(events);
    expect(await tagsNamed('retest')).toBe(1);
    // A request without the key is a new one.
    expect((await createTag(undefined, 'retest')).status).toBe(409);
  });

  it('returns the headers of the first response, including those of operation 8', async () => {
    const key = newKey();
    const first = await createAssetTags(key, ['a', 'b']);
    const repeated = await createAssetTags(key, ['a', 'b']);
    expect([repeated.status, repeated.text]).toEqual([201, first.text]);
    for (const name of ['link', 'pagination-limit', 'pagination-total-count', 'pagination-total-pages'])
      expect([name, repeated.headers.get(name)]).toEqual([name, first.headers.get(name)]);
    expect(first.headers.get('pagination-total-count')).toBe('2');
    expect(repeated.headers.get('idempotency-replayed')).toBe('true');
  });

  it('is separate for each account, path and key', async () => {
    const key = newKey();
    await createTag(key, 'mine');
    const colleague = await fixtures.user({ organization: organization.uid, admin: true });
    const colleagueTag = await createTag(key, 'theirs', colleague);
    expect([colleagueTag.status, colleagueTag.headers.get('idempotency-replayed')]).toEqual([201, null]);
    expect((await createAssetTags(key, ['of another path'])).status).toBe(201);
    const otherTag = await createTag(newKey(), 'mine');
    expect([otherTag.status, otherTag.headers.get('idempotency-replayed')]).toEqual([409, null]);
  });

  it('reveals nothing to other organizations', async () => {
    const key = newKey();
    await createTag(key, 'secret');
    const otherOrganization = await fixtures.organization();
    const foreignAdmin = await fixtures.user({ organization: otherOrganization.uid, admin: true });
    const response = await createTag(key, 'secret', foreignAdmin);
    expect([response.status, response.headers.get('idempotency-replayed')]).toEqual([404, null]);
    expect(response.text).not.toContain(key);
  });

  it.each([
    ['body', '/v1/assessment_tags', (body: string) => ` ${body}`],
    ['query', '/v1/assessment_tags?x=1', (body: string) => body],
  ])('returns 422 if reused with another %s', async (_what, path, change) => {
    const key = newKey();
    const body = JSON.stringify({ name: 'first', assessment_id: assessment.uid });
    const request = { token: admin.token, raw: body, headers: { 'idempotency-key': key } };
    expect((await server.request('POST', '/v1/assessment_tags', request)).status).toBe(201);
    const changedResponse = await server.request('POST', path, { ...request, raw: change(body) });
    expectProblem(server, changedResponse, { area: 'v1', status: 422, kind: 'validation-failed' });
    expect(changedResponse.text).not.toContain(key);
    expect((await server.request('POST', '/v1/assessment_tags', request)).status).toBe(201);
  });

  it.each([
    ['', 400],
    ['x'.repeat(256), 400],
    ['two words', 400],
    ['tab\there', 400],
    ['caf\u00e9', 400],
    ['x'.repeat(255), 201],
    ['"quoted"', 201],
  ])('with the value %j returns %i', async (key, status) => {
    const response = await createTag(key, `tag ${newKey()}`);
    expect(response.status).toBe(status);
    if (status === 400) expectProblem(server, response, { area: 'v1', status, kind: 'invalid-request' });
  });

  it('does not store errors: the request runs again', async () => {
    const key = newKey();
    await createTag(undefined, 'taken');
    expect((await createTag(key, 'taken')).status).toBe(409);
    expect((await createTag(key, '')).status).toBe(422);
    expect(await storedResponsesOf(admin)).toEqual([]);
    const done = await createTag(key, 'free');
    expect([done.status, done.headers.get('idempotency-replayed')]).toEqual([201, null]);
  });

  it('is checked after other errors', async () => {
    const key = newKey();
    await createTag(key, 'tag');
    const send = (options: object) =>
      server.request('POST', '/v1/assessment_tags', { headers: { 'idempotency-key': key }, ...options });
    expect((await send({ raw: '{}' })).status).toBe(401);
    const narrowToken = await fixtures.token(admin.id, { scopes: ['tag_or'] });
    expect((await send({ token: narrowToken.token, raw: '{}' })).status).toBe(403);
    const text = { 'idempotency-key': key, 'content-type': 'text/plain' };
    expect((await send({ token: admin.token, raw: '{}', headers: text })).status).toBe(415);
    expect((await send({ token: admin.token, raw: '{' })).status).toBe(400);
  });

  it('is stored for 24 hours, then deleted', async () => {
    const { db } = server.context;
    const key = newKey();
    await createTag(key, 'old');
    now += DAY - 1;
    expect((await createTag(key, 'old')).headers.get('idempotency-replayed')).toBe('true');
    now += 1;
    expect((await createTag(key, 'old')).status).toBe(409);
    expect((await createTag(key, 'new')).headers.get('idempotency-replayed')).toBeNull();
    expect((await createTag(key, 'new')).headers.get('idempotency-replayed')).toBe('true');
    expect(await storedResponsesOf(admin)).toHaveLength(1);
    now += DAY;
    await deleteExpired(db, { sessionIdle: DAY, auditDays: null }, now);
    expect(await storedResponsesOf(admin)).toEqual([]);
  });

  it('is not in logs, database, metrics or errors', async () => {
    const key = `secret-key-${newKey()}`;
    await createTag(key, 'quiet');
    await createTag(key, 'quiet');
    const sameKeyResponse = await createTag(key, 'loud');
    const metrics = await server.request('GET', '/metrics');
    const outputs = [
      server.logs(),
      await storedResponses(),
      await fixtures.auditEvents(),
      metrics.text,
      sameKeyResponse.text,
    ];
    expect(JSON.stringify(outputs)).not.toContain(key);
  });

  it('is deleted with the account', async () => {
    const leaving = await fixtures.user({ organization: organization.uid, admin: true });
    await createTag(newKey(), 'by who leaves', leaving);
    expect(await storedResponsesOf(leaving)).toHaveLength(1);
    await server.context.db.write((tx) => tx.deleteFrom('users').where('id', '=', leaving.id).execute());
    expect(await storedResponsesOf(leaving)).toEqual([]);
  });

  it('is ignored by operations that do not support it', async () => {
    const { id } = await fixtures.vulnerability(assessment.uid);
    const headers = { 'idempotency-key': 'not one of these \u00e9' };
    const update = { token: admin.token, body: { status_id: 3 }, headers };
    const response = await server.request('PATCH', `/v1/vulnerabilities/${id}`, update);
    expect([response.status, response.headers.get('idempotency-replayed')]).toEqual([200, null]);
    expect(await storedResponsesOf(admin)).toEqual([]);
  });

  it('runs the request once for concurrent repeats', async () => {
    const key = newKey();
    const responses = await Promise.all(Array.from({ length: 12 }, () => createTag(key, 'once')));
    const done = responses.filter(({ status }) => status === 201);
    expect(done.length).toBeGreaterThan(0);
    expect(new Set(done.map(({ text }) => text)).size).toBe(1);
    expect(done.filter(({ headers }) => headers.get('idempotency-replayed') === null)).toHaveLength(1);
    for (const response of responses.filter(({ status }) => status !== 201)) {
      expectProblem(server, response, { area: 'v1', status: 409, kind: 'conflict' });
      expect(response.headers.get('retry-after')).toBe('1');
    }
    expect(await tagsNamed('once')).toBe(1);
  });

  it('stores large responses compressed, and returns them in full', async () => {
    const key = newKey();
    const names = Array.from({ length: 1_000 }, (_, index) => `${'large '.repeat(20)}${index}`);
    const first = await createAssetTags(key, names);
    const [row] = await storedResponsesOf(admin);
    expect(row).toMatchObject({ body_is_gzip: 1, status: 201 });
    expect(Buffer.byteLength(first.text)).toBeGreaterThan(150_000);
    expect(row?.body.length).toBeLessThan(60_000);
    const repeated = await createAssetTags(key, names);
    expect(repeated.text === first.text).toBe(true);
    expect(repeated.headers.get('idempotency-replayed')).toBe('true');
  });
});

describe('Operations with an Idempotency-Key', () => {
  const Body = Type.Object({
    id: Type.Integer(),
    secret: Type.String({ maxLength: 100 }),
    made_again: Type.String({ maxLength: 100 }),
  });

  /** An app with one operation and its idempotency options, for an account. */
  async function appWith(
    rule: true | IdempotencyOptions,
    transaction: (tx: Transaction) => Promise<void> = async () => undefined,
    digest?: string,
  ) {
    let runs = 0;
    const app = fastify();
    app.decorateRequest('rawBody', '');
    for (const name of ['caller', 'ifMatch', 'idempotentRequest', 'write', 'writeOnce'])
      app.decorateRequest(name, undefined);
    registerBodyParsers(app, server.context);
    app.addHook('onRequest', async (request) => {
      request.caller = { ...operatorCaller(request.id), kind: 'user', userId: admin.id };
    });
    handleErrors(app, AREAS.assessment, server.context);
    const declare = () =>
      operation({
        id: 'makeThing',
        number: 58,
        summary: 'Make a thing',
        description: 'Makes it.',
        method: 'POST',
        path: '/things',
        access: { scopes: API_SCOPE, schemes: 'bearer' },
        body: Type.Object({ name: Type.Optional(Type.String({ maxLength: 10 })) }),
        responses: { 201: { description: 'It.', schema: Body } },
        versioned: true,
        idempotency: rule,
        handler: (request) => {
          const options =
            digest === undefined
              ? {}
              : { hash: startRequestHash(request).update(digest).digest('base64url') };
          return request.writeOnce(async (tx) => {
            await transaction(tx);
            runs += 1;
            const body = { id: runs, secret: `secret ${runs}`, made_again: `first ${runs}` };
            return versionedResult(1, body, { location: `/things/${runs}` });
          }, options);
        },
      });
    registerArea(app, AREAS.assessment, [operationsOf('assessment', [declare])], server.context);
    await app.ready();
    const post = (key: string, payload: object = {}, url = '/api/assessment/things') =>
      app.inject({ method: 'POST', url, headers: { 'idempotency-key': key }, payload });
    return { post, close: () => app.close(), runs: () => runs };
  }

  it('return Location, ETag and Assay-Ignored again, and 400 in areas without 422', async () => {
    const app = await appWith(true);
    const first = await app.post('a', { unknown: 1 });
    const repeated = await app.post('a', { unknown: 1 });
    const { clientBaseUrl } = server.context.addresses;
    expect(first.headers).toMatchObject({
      location: `${clientBaseUrl}/api/assessment/things/1`,
      etag: expect.stringMatching(/^"1\./),
      'assay-ignored': 'unknown',
    });
    const { location, etag, 'assay-ignored': ignored } = first.headers;
    expect(repeated.headers).toMatchObject({ location, etag, 'assay-ignored': ignored });
    expect([repeated.statusCode, repeated.body]).toEqual([201, first.body]);
    expect((await app.post('a', { unknown: 2 })).statusCode).toBe(400);
    await app.close();
  });

  it('return 409 if the response has a secret, which is not stored', async () => {
    const app = await appWith({ omitted: ['secret'] });
    const first = await app.post('b');
    expect(first.json()).toMatchObject({ secret: 'secret 1' });
    const repeated = await app.post('b');
    expect([repeated.statusCode, repeated.headers['retry-after']]).toEqual([409, undefined]);
    expect(repeated.body).not.toContain('secret 1');
    expect(JSON.stringify(await storedResponsesOf(admin))).not.toContain('secret 1');
    await app.close();
  });

  it('recreate omitted fields', async () => {
    const app = await appWith({
      omitted: ['made_again'],
      recreate: async ({ id }, caller) => ({ made_again: `again ${String(id)} for ${caller.userId}` }),
    });
    const first = await app.post('c');
    expect(first.json()).toMatchObject({ made_again: 'first 1' });
    expect((await storedResponsesOf(admin))[0]?.body).not.toContain('first 1');
    const repeated = await app.post('c');
    expect(repeated.body).toBe(first.body.replace('first 1', `again 1 for ${admin.id}`));
    expect([repeated.statusCode, repeated.headers['idempotency-replayed']]).toEqual([201, 'true']);
    await app.close();
  });

  it('can compute the hash of the request themselves', async () => {
    const rule = { hashedByHandler: true } as const;
    const [app, otherApp] = [
      await appWith(rule, undefined, 'parts'),
      await appWith(rule, undefined, 'others'),
    ];
    const first = await app.post('d', { name: 'boundary 1' });
    const repeated = await app.post('d', { name: 'boundary 2' });
    expect([repeated.statusCode, repeated.body]).toEqual([201, first.body]);
    expect(repeated.headers['idempotency-replayed']).toBe('true');
    expect((await otherApp.post('d')).statusCode).toBe(400);
    expect(otherApp.runs()).toBe(0);
    await app.close();
    await otherApp.close();
  });

  it('return 409 while the first request runs, and run again if it fails', async () => {
    const started = gate();
    const end = gate();
    const app = await appWith(true, async () => {
      started.open();
      await end.opened;
      throw new Error('It fails after all.');
    });
    const first = app.post('e');
    await started.opened;
    const second = await app.post('e');
    expect([second.statusCode, second.headers['retry-after']]).toEqual([409, '1']);
    end.open();
    expect((await first).statusCode).toBe(500);
    expect((await app.post('e')).statusCode).toBe(500);
    await app.close();
  });

  it('return 409 while another instance runs the first request, whose lock ends with its transaction', async () => {
    const { db } = server.context;
    const app = await appWith(true);
    const id = idempotencyId({ userId: admin.id, method: 'POST', path: '/api/assessment/things', key: 'f' });
    if (db.engine === 'postgres') {
      await db.write(async (tx) => {
        expect(await lockIdempotencyKey(tx, id)).toBe(true);
        const rejected = await app.post('f');
        expect([rejected.statusCode, rejected.headers['retry-after']]).toEqual([409, '1']);
      });
      await expect(
        db.write(async (tx) => {
          await lockIdempotencyKey(tx, id);
          throw new Error('The instance dies.');
        }),
      ).rejects.toThrow('dies');
    }
    expect((await app.post('f')).statusCode).toBe(201);
    await app.close();
  });

  it('return the response of another instance that finished meanwhile', async () => {
    const [first, second] = [await appWith(true), await appWith(true)];
    // Each instance knows only its own requests, so the database decides.
    const responses = await Promise.all([
      first.post('g'),
      second.post('g'),
      first.post('g'),
      second.post('g'),
    ]);
    const done = responses.filter(({ statusCode }) => statusCode === 201);
    expect(done.filter(({ headers }) => headers['idempotency-replayed'] === undefined)).toHaveLength(1);
    expect(new Set(done.map(({ body }) => body)).size).toBe(1);
    expect(responses.every(({ statusCode }) => [201, 409].includes(statusCode))).toBe(true);
    await first.close();
    await second.close();
  });
});
