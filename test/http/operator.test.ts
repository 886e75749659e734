import { Readable } from 'node:stream';
import fastify from 'fastify';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openOperations } from '../../src/app.ts';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { renameAssessmentTag } from '../../src/domain/assessments/assessment-tags.ts';
import { allowOperator } from '../../src/http/register-area.ts';
import { formOf } from '../harness/imports.ts';
import { startSecondServer, useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

const server = await startSecondServer(await useSharedServer(), { rateLimit: 1 });
const fixtures = createFixtures(server);
const operations = await openOperations(server.context);
afterAll(async () => {
  await operations.close();
  await server.close();
});

describe('Operations in process', () => {
  it('may upload for longer than a credential is trusted without a check', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const organization = await fixtures.organization();
    const vulnerability = await fixtures.vulnerability((await fixtures.assessment(organization.uid)).uid);
    const { headers, bytes } = formOf([['file', 'content', 'a.txt']]);
    async function* slowly() {
      yield bytes?.subarray(0, 100);
      await new Promise((resolve) => setImmediate(resolve));
      vi.advanceTimersByTime(15_000);
      yield bytes?.subarray(100);
    }
    const { statusCode } = await operations.request({
      method: 'POST',
      url: `/v1/vulnerabilities/${vulnerability.id}/attachments`,
      headers: headers ?? {},
      payload: Readable.from(slowly()),
    });
    expect(statusCode).toBe(201);
  });

  it('access every organization without a token or rate limit', async () => {
    for (const uid of ['one', 'two']) {
      await fixtures.organization(uid);
      const { uid: assessment_id } = await fixtures.assessment(uid);
      const { id } = await fixtures.group(uid);
      const asset = await fixtures.asset({ organization: uid, writableBy: 'client' });
      await fixtures.list(assessment_id, asset.uid);
      const member = await fixtures.user({ organization: uid });
      const tags = `/api/tagging/v1.0/organizations/${uid}/tags`;
      const newTags = [{ name: 'by command', entities: [{ uid: asset.uid }] }];
      const criticality = { organizationUid: uid, criticality: 'high', assetUids: [asset.uid] };
      const responses = [
        await operations.request({
          method: 'POST',
          url: '/v1/assessment_tags',
          payload: { name: 'by command', assessment_id },
          headers: { 'idempotency-key': 'of no account' },
        }),
        await operations.request({ url: `/v1/assessments/${assessment_id}/testing_hours` }),
        await operations.request({ method: 'DELETE', url: `/v1/users/${member.id}` }),
        await operations.request({ method: 'POST', url: tags, payload: { tags: newTags } }),
        await operations.request({
          method: 'POST',
          url: '/api/asset/v2/bulk/assets/criticality:update',
          payload: criticality,
        }),
        await operations.request({ url: `/api/assessment/v1/assessment-groups/${id}/members` }),
        await operations.request({ url: `/api/streaming/v1/${uid}/assets/${asset.uid}/ports` }),
      ];
      expect(responses.map(({ statusCode }) => statusCode)).toEqual([201, 200, 200, 201, 200, 200, 200]);
      expect(responses[2]?.json()).toMatchObject({ banned: true, admin: false });
      expect(responses[4]?.json()).toEqual({ updatedCount: 1 });
      expect(responses[0]?.headers).not.toHaveProperty('ratelimit');
    }
  });

  it('are recorded as the command line without an account', async () => {
    await fixtures.organization('audited');
    const { uid: assessment_id } = await fixtures.assessment('audited');
    const response = await operations.request({
      method: 'POST',
      url: '/v1/assessment_tags',
      payload: { name: 'told', assessment_id },
    });
    const events = await fixtures.auditEvents();
    expect(events.find((event) => event.request_id === response.headers['x-request-id'])).toMatchObject({
      action: 'assessment-tag.create',
      actor_kind: 'command_line',
      user_id: null,
      credential_id: null,
      address: null,
    });
  });

  it('return errors as a server does', async () => {
    const missing = await operations.request({ url: '/v1/assessments/none/testing_hours' });
    expect([missing.statusCode, missing.headers['content-type']]).toEqual([
      404,
      'application/problem+json; charset=utf-8',
    ]);
    const unknown = await operations.request({ url: '/v1/nothing' });
    expect([unknown.statusCode, unknown.json().type]).toEqual([
      404,
      `${server.context.addresses.errorTypeBase}/v1/not-found`,
    ]);
    expect((await operations.request({ method: 'POST', url: '/v1/users/1' })).statusCode).toBe(405);
    const bad = await operations.request({ method: 'POST', url: '/v1/assessment_tags', payload: {} });
    expect(bad.statusCode).toBe(422);
  });

  it('expose no pages, metrics or the app', async () => {
    for (const url of ['/metrics', '/account', '/oauth/authorize', '/openapi.json'])
      expect([url, (await operations.request({ url })).statusCode]).toEqual([url, 404]);
    expect(Object.keys(operations)).toEqual(['request', 'startImports', 'close']);
  });

  it('change nothing on a server in the same process', async () => {
    const headers = { 'x-operator': 'true', authorization: 'command_line' };
    expect((await server.request('GET', '/v1/assessments/none/testing_hours', { headers })).status).toBe(401);
  });
});

describe('An app with allowOperator', () => {
  it('rejects requests once it listens', async () => {
    const app = fastify();
    app.decorateRequest('caller', null);
    allowOperator(app);
    app.get('/', { config: { operation: 'x', access: 'open' } }, async ({ caller }) => caller?.kind);
    expect((await app.inject('/')).body).toBe('command_line');
    const origin = await app.listen({ host: '127.0.0.1', port: 0 });
    expect((await fetch(origin)).status).toBe(500);
    expect((await app.inject('/')).statusCode).toBe(500);
    await app.close();
  });
});

describe('operatorAttribution', () => {
  it('passes the access checks of rules', async () => {
    await fixtures.organization('acted');
    const { uid } = await fixtures.assessment('acted');
    const tag = await fixtures.assessmentTag(uid, 'before');
    const renamed = await server.context.db.write((tx) =>
      renameAssessmentTag(tx, cliChangeContext(Date.now()), tag.id, 'after'),
    );
    expect(renamed).toEqual({ id: tag.id, name: 'after', version: 2 });
  });
});
