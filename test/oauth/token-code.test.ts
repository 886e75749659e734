import { decodeJwt, decodeProtectedHeader } from 'jose';
import * as oauth from 'oauth4webapi';
import { describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { banUser } from '../../src/domain/users/ban-user.ts';
import { engine, startSecondServer, startTestServer, useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { applicationsOf, basic, INSECURE, REDIRECT } from './applications.ts';

let now = Date.UTC(2027, 0, 1);
const server = await useSharedServer(() => now);
const apps = applicationsOf(server);
const fixtures = createFixtures(server);
await fixtures.organization('acmetokencode');
const user = await fixtures.user({ organization: 'acmetokencode' });
const client = await apps.client();
const confidential = await apps.client({ kind: 'confidential' });

const token = (fields: Record<string, string> | [string, string][], headers?: Record<string, string>) =>
  apps.post('/oauth/token', fields, headers);

describe('Authorization code grant', () => {
  it('RFC 6749, 4.1.4 and 5.1: returns an access token and a refresh token with lifetime and scope', async () => {
    const { status, headers, body } = await apps.redeem(client, await apps.code(client, user.id));
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('pragma')).toBe('no-cache');
    expect(headers.getSetCookie()).toEqual([]);
    expect(body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'api tag_lw tag_lr',
      refresh_token: expect.stringMatching(/^[0-9A-Za-z]{43}$/),
    });
    expect(await apps.isAccepted(body.access_token)).toBe(true);
  });

  it('RFC 9068, 2.1 and 2.2: issues a JWT with the required type, key and claims', async () => {
    const { access_token: jwt } = await apps.tokens(client, user.id);
    const { keys } = await server.context.keys.jwks();
    expect(decodeProtectedHeader(jwt)).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: keys[0]?.kid });
    expect(decodeJwt(jwt)).toEqual({
      iss: server.origin,
      aud: server.origin,
      sub: user.uid,
      client_id: client.id,
      iat: now / 1000,
      exp: now / 1000 + 3600,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      scope: 'api tag_lw tag_lr',
      org: 'acmetokencode',
      admin: false,
      staff: false,
    });
  });

  it('RFC 6749, 4.1.3: requires authentication from confidential clients', async () => {
    const { code, verifier } = await apps.code(confidential, user.id);
    const fields = {
      grant_type: 'authorization_code',
      code,
      code_verifier: verifier,
      redirect_uri: REDIRECT,
      client_id: confidential.id,
    };
    const rejected = await token(fields);
    expect([rejected.status, rejected.body.error]).toEqual([401, 'invalid_client']);
    expect((await token({ ...fields, client_secret: confidential.secret ?? '' })).status).toBe(200);
  });

  it('RFC 6749, 4.1.3: accepts a code only from its client', async () => {
    const grant = await apps.code(client, user.id);
    for (const otherClient of [confidential, await apps.client()]) {
      const { status, body } = await apps.redeem(otherClient, grant);
      expect([status, body.error]).toEqual([400, 'invalid_grant']);
    }
    expect((await apps.redeem(client, grant)).status).toBe(200);
  });

  it.each([
    ['another redirect URI', { redirect_uri: `${REDIRECT}/more` }],
    ['one in another case', { redirect_uri: REDIRECT.toUpperCase() }],
    ['none', { redirect_uri: '' }],
  ])('RFC 6749, 4.1.3: requires the redirect_uri of the request, and rejects %s', async (_case, fields) => {
    const grant = await apps.code(client, user.id);
    const { status, body } = await apps.redeem(client, grant, fields);
    expect([status, body.error]).toEqual([400, 'invalid_grant']);
  });

  it('RFC 6749, 4.1.3: requires no redirect_uri if the request had none', async () => {
    const grant = await apps.code(client, user.id, { redirectUri: null });
    expect((await apps.redeem(client, grant, { redirect_uri: '' })).status).toBe(200);
  });

  it('RFC 6749, 4.1.2: accepts a code for a minute', async () => {
    const grant = await apps.code(client, user.id);
    const late = await apps.code(client, user.id);
    now += 59_999;
    expect((await apps.redeem(client, grant)).status).toBe(200);
    now += 1;
    const { status, body } = await apps.redeem(client, late);
    expect([status, body.error]).toEqual([400, 'invalid_grant']);
  });

  it('RFC 6749, 4.1.2 and 10.5: revokes every token of a code that is reused', async () => {
    const grant = await apps.code(client, user.id);
    const { body: first } = await apps.redeem(client, grant);
    const { body: second } = await apps.refresh(client, first.refresh_token);
    const otherTokens = await apps.tokens(client, user.id);
    expect(await apps.isAccepted(first.access_token)).toBe(true);

    const repeated = await apps.redeem(client, grant);
    expect([repeated.status, repeated.body.error]).toEqual([400, 'invalid_grant']);
    expect(await apps.isAccepted(first.access_token)).toBe(false);
    expect(await apps.isAccepted(second.access_token)).toBe(false);
    expect((await apps.refresh(client, second.refresh_token)).body.error).toBe('invalid_grant');
    // Tokens of another authorization stay valid.
    expect(await apps.isAccepted(otherTokens.access_token)).toBe(true);

    const event = (await createFixtures(server).auditEvents()).findLast(
      ({ action }) => action === 'grant.revoke',
    );
    expect(event).toMatchObject({ object_type: 'grant', user_id: user.id, credential_id: client.id });
    expect(JSON.parse(event?.after ?? '')).toEqual({
      reason: 'code-reused',
      refresh_tokens: 2,
      access_tokens: 2,
    });
  });

  it('RFC 6749, 10.5: revokes the tokens of a code that is sent concurrently', async () => {
    const grant = await apps.code(client, user.id);
    const responses = await Promise.all(Array.from({ length: 6 }, () => apps.redeem(client, grant)));
    const won = responses.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect(responses.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(5);
    expect(await apps.isAccepted(won[0]?.body.access_token)).toBe(false);
    expect((await apps.refresh(client, won[0]?.body.refresh_token)).status).toBe(400);
  });

  it.each([
    ['another verifier', { code_verifier: 'a'.repeat(64) }],
    ['no verifier', { code_verifier: '' }],
    ['a verifier that is too short', { code_verifier: 'a'.repeat(42) }],
    ['a verifier with invalid characters', { code_verifier: `${'a'.repeat(63)}+` }],
  ])('RFC 7636, 4.6: rejects %s, and keeps the code valid for its client', async (_case, fields) => {
    const grant = await apps.code(client, user.id);
    const { status, body } = await apps.redeem(client, grant, fields);
    expect([status, body.error]).toEqual([400, 'invalid_grant']);
    expect((await apps.redeem(client, grant)).status).toBe(200);
  });

  it('RFC 7636, appendix B: accepts the verifier of the example', async () => {
    const codeChallenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
    const grant = await apps.code(client, user.id, { codeChallenge } as object);
    const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
    expect((await apps.redeem(client, { ...grant, verifier })).status).toBe(200);
  });

  it('rejects the code of a banned user', async () => {
    const banned = await fixtures.user({ organization: 'acmetokencode' });
    const grant = await apps.code(client, banned.id);
    await server.context.db.write((tx) => banUser(tx, cliChangeContext(now), banned.id));
    const { status, body } = await apps.redeem(client, grant);
    expect([status, body.error]).toEqual([400, 'invalid_grant']);
  });

  it('RFC 6749, 3.3: returns the scope if the account no longer has all that was allowed', async () => {
    const { db } = server.context;
    const admin = await createFixtures(server).user({ organization: 'acmetokencode', admin: true });
    const grant = await apps.code(client, admin.id, { scopes: ['api', 'tag_ow', 'tag_lw'] });
    await db.write((tx) => tx.updateTable('users').set({ admin: 0 }).where('id', '=', admin.id).execute());
    const { body } = await apps.redeem(client, grant);
    expect(body.scope).toBe('api tag_lw');
    expect(decodeJwt(body.access_token)).toMatchObject({ scope: 'api tag_lw', admin: false });
  });

  it('records the grant without code and tokens', async () => {
    const grant = await apps.code(client, user.id);
    const before = (await createFixtures(server).auditEvents()).length;
    const { body } = await apps.redeem(client, grant);
    const events = (await createFixtures(server).auditEvents()).slice(before);
    expect(events.map(({ action }) => action)).toEqual(['token.create', 'refresh-token.create']);
    const text = JSON.stringify(events) + JSON.stringify(server.logs());
    for (const secret of [grant.code, grant.verifier, body.access_token, body.refresh_token])
      expect(text).not.toContain(secret);
  });

  it('is compatible with a third-party client library', async () => {
    const as = await apps.discover();
    const { code, verifier } = await apps.code(confidential, user.id);
    const self = { client_id: confidential.id };
    const response = await oauth.authorizationCodeGrantRequest(
      as,
      self,
      oauth.ClientSecretBasic(confidential.secret ?? ''),
      oauth.validateAuthResponse(as, self, new URLSearchParams({ code, iss: server.origin })),
      REDIRECT,
      verifier,
      INSECURE,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(as, self, response);
    expect(await apps.isAccepted(tokens.access_token)).toBe(true);
  });
});

describe('Token endpoint', () => {
  it.each([
    ['no grant_type', {}, 'invalid_request'],
    ['an empty grant_type', { grant_type: '' }, 'invalid_request'],
    ['an unknown grant type', { grant_type: 'password' }, 'unsupported_grant_type'],
    ['the name of an Object property', { grant_type: 'constructor' }, 'unsupported_grant_type'],
    ['no code', { grant_type: 'authorization_code' }, 'invalid_request'],
    ['an unknown code', { grant_type: 'authorization_code', code: 'x' }, 'invalid_grant'],
    ['no refresh_token', { grant_type: 'refresh_token' }, 'invalid_request'],
    ['an unknown refresh_token', { grant_type: 'refresh_token', refresh_token: 'x' }, 'invalid_grant'],
    ['characters that no code has', { grant_type: 'authorization_code', code: 'a\0b' }, 'invalid_request'],
  ])('RFC 6749, 5.2: returns an error for %s', async (_case, fields, error) => {
    const { status, headers, body } = await token({ ...(fields as object), client_id: client.id });
    expect([status, body.error]).toEqual([400, error]);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('pragma')).toBe('no-cache');
    expect(Object.keys(body)).toEqual(['error', 'error_description']);
    // RFC 6749, 5.2: %x20-21 / %x23-5B / %x5D-7E
    expect(body.error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  });

  it('RFC 6749, 3.2: rejects a duplicate parameter and ignores an unknown one', async () => {
    const { code, verifier } = await apps.code(client, user.id);
    const fields: [string, string][] = [
      ['grant_type', 'authorization_code'],
      ['code', code],
      ['code_verifier', verifier],
      ['redirect_uri', REDIRECT],
      ['client_id', client.id],
    ];
    for (const pair of fields) {
      const { status, body } = await token([...fields, pair]);
      expect([status, body.error]).toEqual([400, 'invalid_request']);
    }
    const extra: [string, string][] = [
      ['shade', 'blue'],
      ['shade', 'red'],
      ['scope', ''],
    ];
    expect((await token([...fields, ...extra])).status).toBe(200);
  });

  it('RFC 6749, 3.2: returns 405 for methods other than POST', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const { status, headers, body } = await server.request(method, '/oauth/token');
      expect([status, body.error]).toEqual([405, 'invalid_request']);
      expect(headers.get('allow')).toBe('OPTIONS, POST');
    }
  });

  it('RFC 6749, 2.3.1: ignores the query', async () => {
    const query = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: confidential.id,
      client_secret: confidential.secret ?? '',
    });
    const { status, body } = await apps.post(`/oauth/token?${query}`, { grant_type: 'client_credentials' });
    expect([status, body.error]).toEqual([401, 'invalid_client']);
    expect(JSON.stringify(server.logs())).not.toContain(confidential.secret);
  });

  it.each([
    ['JSON', 400, '{"grant_type":"client_credentials"}', 'application/json'],
    ['no content type', 400, 'grant_type=x', ''],
    ['plain text', 400, 'grant_type=x', 'text/plain'],
    ['a body that is not form-encoded', 400, 'grant_type=%zz', 'application/x-www-form-urlencoded'],
    ['invalid UTF-8', 400, 'grant_type=%ff', 'application/x-www-form-urlencoded'],
    ['an empty body', 400, '', 'application/x-www-form-urlencoded'],
    ['an oversized body', 413, `code=${'a'.repeat(70_000)}`, 'application/x-www-form-urlencoded'],
  ])('RFC 6749, 5.2: returns an OAuth error for %s', async (_case, expected, raw, type) => {
    const { status, body } = await server.request('POST', '/oauth/token', {
      raw,
      headers: { 'content-type': type },
    });
    expect([status, body]).toEqual([
      expected,
      { error: 'invalid_request', error_description: expect.any(String) },
    ]);
  });

  it('accepts a content type with a charset', async () => {
    const { code, verifier } = await apps.code(client, user.id);
    const { status } = await token(
      {
        grant_type: 'authorization_code',
        code,
        code_verifier: verifier,
        redirect_uri: REDIRECT,
        client_id: client.id,
      },
      { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' },
    );
    expect(status).toBe(200);
  });

  it('allows browsers of every origin, without credentials', async () => {
    const preflight = await server.request('OPTIONS', '/oauth/token', {
      headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-methods')).toBe('POST');
    expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization, content-type');
    const response = await token({ grant_type: 'x', client_id: client.id });
    for (const { headers } of [preflight, response]) {
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    }
  });

  it.runIf(engine() === 'sqlite')('returns an OAuth error while the database is unavailable', async () => {
    const lonely = await startTestServer();
    try {
      await lonely.context.db.close();
      const { status, headers, body } = await applicationsOf(lonely).post('/oauth/token', {
        grant_type: 'client_credentials',
        client_id: 'x',
      });
      expect([status, body.error]).toEqual([503, 'temporarily_unavailable']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(headers.get('cache-control')).toBe('no-store');
    } finally {
      await lonely.close();
    }
  });

  it('returns an OAuth error for too many requests', async () => {
    const limited = await startSecondServer(server, { rateLimit: 1 });
    try {
      const post = () => applicationsOf(limited).post('/oauth/token', { grant_type: 'x', client_id: 'x' });
      expect((await post()).status).toBe(401);
      const { status, headers, body } = await post();
      expect([status, body.error]).toEqual([429, 'temporarily_unavailable']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(headers.get('access-control-allow-origin')).toBe('*');
    } finally {
      await limited.close();
    }
  });
});

describe('Client authentication', () => {
  const post = { grant_type: 'client_credentials' };

  it('RFC 6749, 2.3.1: accepts the secret in the header or the body', async () => {
    const script = await apps.client({ kind: 'confidential', userId: user.id });
    const secret = script.secret ?? '';
    expect((await token(post, { authorization: basic(script.id, secret) })).status).toBe(200);
    expect((await token({ ...post, client_id: script.id, client_secret: secret })).status).toBe(200);
    const lower = basic(script.id, secret).replace('Basic', 'bAsIC');
    expect((await token(post, { authorization: lower })).status).toBe(200);
    const both = { ...post, client_id: script.id };
    expect((await token(both, { authorization: basic(script.id, secret) })).status).toBe(200);
  });

  it('RFC 6749, 2.3.1: decodes the form-encoded id and secret of the header', async () => {
    const script = await apps.client({ kind: 'confidential', userId: user.id });
    const everyLetter = (text: string) =>
      [...text].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');
    const value = Buffer.from(`${everyLetter(script.id)}:${everyLetter(script.secret ?? '')}`);
    expect((await token(post, { authorization: `Basic ${value.toString('base64')}` })).status).toBe(200);
  });

  it('RFC 6749, 2.3: rejects several methods in one request', async () => {
    const authorization = basic(confidential.id, confidential.secret ?? '');
    for (const fields of [
      { client_id: confidential.id, client_secret: confidential.secret ?? '' },
      { client_id: client.id },
    ]) {
      const { status, body } = await token({ ...post, ...fields }, { authorization });
      expect([status, body.error]).toEqual([400, 'invalid_request']);
    }
  });

  it.each([
    ['a wrong secret', () => basic(confidential.id, 'wrong')],
    ['no secret', () => basic(confidential.id, '')],
    ['an unknown client', () => basic('nobody', 'wrong')],
    ['a secret for a public client', () => basic(client.id, 'wrong')],
    ['a header that is not base64', () => 'Basic ***'],
    ['a header without a colon', () => `Basic ${Buffer.from('nobody').toString('base64')}`],
    ['a header with a NUL character', () => `Basic ${Buffer.from('a%00:b').toString('base64')}`],
    ['another scheme', () => 'Bearer abc'],
  ])('RFC 6749, 5.2: returns 401 with the scheme for %s in the header', async (_case, authorization) => {
    const { status, headers, body } = await token(post, { authorization: authorization() });
    expect([status, body.error]).toEqual([401, 'invalid_client']);
    expect(headers.get('www-authenticate')).toMatch(/^Basic realm="/);
  });

  it.each([
    ['no credentials', () => ({})],
    ['an unknown client', () => ({ client_id: 'nobody' })],
    ['a confidential client without its secret', () => ({ client_id: confidential.id })],
    ['a wrong secret', () => ({ client_id: confidential.id, client_secret: 'wrong' })],
    ['a secret without a client', () => ({ client_secret: 'wrong' })],
  ])('RFC 6749, 5.2: returns 401 for %s in the body', async (_case, fields) => {
    const { status, body } = await token({ ...post, ...(fields() as object) });
    expect([status, body]).toEqual([
      401,
      { error: 'invalid_client', error_description: 'The client is unknown, or its authentication failed.' },
    ]);
  });

  it('records a wrong secret without its value', async () => {
    now += 60_000;
    const before = (await createFixtures(server).auditEvents()).length;
    await token(post, { authorization: basic(confidential.id, 'guess-4711') });
    const events = (await createFixtures(server).auditEvents()).slice(before);
    expect(events).toMatchObject([
      { action: 'client.refuse', object_type: 'client', object_id: confidential.id, address: '127.0.0.1' },
    ]);
    expect(JSON.stringify(events) + JSON.stringify(server.logs())).not.toContain('guess-4711');
  });
});
