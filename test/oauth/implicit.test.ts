import { createLocalJWKSet, jwtVerify } from 'jose';
import { afterAll, describe, expect, it } from 'vitest';
import { authorizePath, CALLBACK, decide, PKCE, responseOf } from '../harness/authorization.ts';
import { startSecondServer, useSharedServer } from '../harness/server.ts';
import { createFormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

let now = Date.UTC(2026, 10, 1);
const server = await startSecondServer(await useSharedServer(() => now), { accessTokenLifetime: 600_000 });
const fixtures = createFixtures(server);
await fixtures.organization('acmeimplicit');
const account = await fixtures.account({ organization: 'acmeimplicit', admin: true });
const visitor = createFormClient(server);
await visitor.signIn(account.email, account.password);
const client = (await fixtures.client({ implicit: true })).id;
afterAll(() => server.close());

const valid = () => ({
  response_type: 'token',
  client_id: client,
  redirect_uri: CALLBACK,
  scope: 'tag_ow tag_gw',
  state: 'a b&c',
});
const issuer = () => server.context.addresses.issuer;
const createTag = (token: string | undefined, name: string) =>
  server.request('POST', '/api/tagging/v1.0/organizations/acmeimplicit/tags', {
    token,
    body: { tags: [{ name }] },
  });

describe('Implicit flow', () => {
  it('RFC 6749, 4.2.2: responds in the fragment with a token for operation 8 until it expires', async () => {
    const { address, query, fragment } = responseOf(await decide(visitor, authorizePath(valid()), 'allow'));
    expect(address).toBe(CALLBACK);
    expect(query).toEqual({});
    // Neither a refresh token (RFC 6749, 4.2.2) nor a code.
    expect(fragment).toEqual({
      access_token: expect.stringMatching(/^ey[\w-]+\.[\w-]+\.[\w-]+$/),
      token_type: 'Bearer',
      expires_in: '600',
      // RFC 6749, 4.2.2: required if it differs from the request.
      scope: 'tag_ow',
      state: 'a b&c',
      iss: issuer(),
    });
    expect((await createTag(fragment['access_token'], 'from a browser')).status).toBe(201);
    now += 600_000;
    expect((await createTag(fragment['access_token'], 'too late')).status).toBe(401);
  });

  it('RFC 9068, 2.2: issues a JWT of the deployment for its user and client', async () => {
    const { fragment } = responseOf(await visitor.get(authorizePath(valid())));
    const jwks = (await server.request('GET', '/.well-known/jwks.json')).body;
    const { payload, protectedHeader } = await jwtVerify(
      fragment['access_token'] ?? '',
      createLocalJWKSet(jwks),
      { issuer: issuer(), typ: 'at+jwt', currentDate: new Date(now) },
    );
    expect(protectedHeader).toMatchObject({ alg: 'ES256', kid: jwks.keys[0].kid });
    expect(payload).toMatchObject({
      sub: account.uid,
      client_id: client,
      scope: 'tag_ow',
      org: 'acmeimplicit',
      admin: true,
      staff: false,
      iat: Math.floor(now / 1000),
      exp: Math.floor(now / 1000) + 600,
      jti: expect.any(String),
    });
    const row = await server.context.db.read
      .selectFrom('tokens')
      .selectAll()
      .where('id', '=', payload.jti ?? '')
      .executeTakeFirst();
    expect(row).toMatchObject({
      kind: 'jwt',
      user_id: account.id,
      scopes: 'tag_ow',
      created_at: now,
      expires_at: now + 600_000,
      client_id: client,
      grant_id: expect.any(String),
      secret_hash: null,
    });
    const events = await createFixtures(server).auditEvents();
    expect(events.at(-1)).toMatchObject({
      action: 'token.create',
      object_id: payload.jti,
      user_id: account.id,
      at: now,
    });
    expect(JSON.stringify(events)).not.toContain(fragment['access_token']);
  });

  it('RFC 6749, 3.3: grants every scope of the account by default', async () => {
    const path = authorizePath({ ...valid(), scope: undefined });
    const { fragment } = responseOf(await decide(visitor, path, 'allow'));
    expect(fragment['scope']).toBe(
      'api tag_ow tag_or tag_lw tag_lr asset_client_ow asset_client_lw asset_or asset_lr',
    );
  });

  it.each([
    ['4.2.2.1: an unknown scope', { scope: 'nonsense' }, 'invalid_scope'],
    ['4.2.2.1: only scopes that the account may not have', { scope: 'tag_gw asset_gw' }, 'invalid_scope'],
    ['4.2.2.1: a duplicate parameter', { scope: ['tag_ow', 'tag_or'] }, 'invalid_request'],
    ['3.1: a duplicate token in response_type', { response_type: ['token', 'token'] }, 'invalid_request'],
    ['3.1.1: token with another response type', { response_type: 'code token' }, 'unsupported_response_type'],
  ])('RFC 6749, %s returns an error in the fragment', async (_title, change, error) => {
    const { address, query, fragment } = responseOf(
      await visitor.get(authorizePath({ ...valid(), ...change })),
    );
    expect(address).toBe(CALLBACK);
    expect(query).toEqual({});
    expect(fragment).toEqual({
      error,
      error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/),
      state: 'a b&c',
      iss: issuer(),
    });
  });

  it('RFC 6749, 4.2.2.1: returns a denial in the fragment', async () => {
    const { id } = await createFixtures(server).client({ implicit: true });
    const { fragment } = responseOf(
      await decide(visitor, authorizePath({ ...valid(), client_id: id }), 'deny'),
    );
    expect(fragment).toMatchObject({ error: 'access_denied', state: 'a b&c', iss: issuer() });
  });

  it('RFC 6749, 4.2.2.1: returns unauthorized_client if it is disabled for the client', async () => {
    const { id } = await createFixtures(server).client();
    const { fragment } = responseOf(await visitor.get(authorizePath({ ...valid(), client_id: id })));
    expect(fragment).toMatchObject({ error: 'unauthorized_client', state: 'a b&c' });
  });

  it('RFC 6749, 4.2.2.1: returns unsupported_response_type if it is disabled for the deployment, which keeps the code flow', async () => {
    const ownServer = await startSecondServer(server, { implicitFlow: false });
    const otherAccount = await fixtures.account();
    const { id } = await fixtures.client({ implicit: true });
    const browser = createFormClient(ownServer);
    await browser.signIn(otherAccount.email, otherAccount.password);
    const request = { ...valid(), client_id: id };
    const { fragment } = responseOf(await browser.get(authorizePath(request)));
    expect(fragment).toMatchObject({ error: 'unsupported_response_type', state: 'a b&c' });
    const path = authorizePath({ ...request, response_type: 'code', ...PKCE });
    expect(responseOf(await decide(browser, path, 'allow')).query).toHaveProperty('code');
    await ownServer.close();
  });

  it('grants nothing to a user who is banned meanwhile, and revokes their tokens', async () => {
    const otherAccount = await fixtures.account({ organization: 'acmeimplicit' });
    const browser = createFormClient(server);
    await browser.signIn(otherAccount.email, otherAccount.password);
    const path = authorizePath({ ...valid(), scope: 'tag_lw' });
    const { fragment } = responseOf(await decide(browser, path, 'allow'));
    await server.context.db.write((tx) =>
      tx.updateTable('users').set({ banned_at: now }).where('id', '=', otherAccount.id).execute(),
    );
    expect((await browser.get(path)).location?.startsWith(`${server.origin}/sign-in`)).toBe(true);
    expect((await createTag(fragment['access_token'], 'banned')).status).toBe(401);
  });
});
