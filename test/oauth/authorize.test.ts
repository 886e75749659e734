import { describe, expect, it } from 'vitest';
import { hashSecret } from '../../src/auth/secrets.ts';
import { authorizePath, CALLBACK, CHALLENGE, decide, PKCE, responseOf } from '../harness/authorization.ts';
import { startTestServer, useSharedServer } from '../harness/server.ts';
import { createFormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

const server = await useSharedServer();
const fixtures = createFixtures(server);
await fixtures.organization('acmeauthorize');
const account = await fixtures.account({ organization: 'acmeauthorize' });
const visitor = createFormClient(server);
await visitor.signIn(account.email, account.password);
const client = (await fixtures.client()).id;

const valid = () => ({
  response_type: 'code',
  client_id: client,
  redirect_uri: CALLBACK,
  scope: 'tag_lw',
  state: 'abc',
  ...PKCE,
});
const issuer = () => server.context.addresses.issuer;

describe('Authorization code flow', () => {
  it('RFC 6749, 4.1.2: responds at the redirect URI with a code and the exact state', async () => {
    const state = 'a+b c&d=e#f/é"\\%20';
    const path = authorizePath({ ...valid(), state });
    const response = responseOf(await decide(visitor, path, 'allow'));
    expect(response.address).toBe(CALLBACK);
    expect(response.fragment).toEqual({});
    expect(response.query).toEqual({
      code: expect.stringMatching(/^[0-9A-Za-z]{43}$/),
      state,
      iss: issuer(),
    });
  });

  it('RFC 6749, 4.1.2 and 10.5: stores the code as a hash with client, redirect URI and challenge for a minute', async () => {
    const { query } = responseOf(await visitor.get(authorizePath(valid())));
    const rows = await server.context.db.read.selectFrom('authorization_codes').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(query['code']);
    const row = rows.find(({ code_hash }) => code_hash === hashSecret(query['code'] ?? ''));
    expect(row).toMatchObject({
      client_id: client,
      user_id: account.id,
      redirect_uri: CALLBACK,
      scopes: 'tag_lw',
      code_challenge: CHALLENGE,
      used_at: null,
    });
    expect(Number(row?.expires_at)).toBeLessThanOrEqual(Date.now() + 60_000);
    const events = await createFixtures(server).auditEvents();
    expect(events.at(-1)).toMatchObject({
      action: 'grant.create',
      object_id: row?.grant_id,
      user_id: account.id,
    });
    expect(JSON.stringify(events)).not.toContain(query['code']);
  });

  it('RFC 6749, 4.1.1: omits state from the response if the request has none', async () => {
    const { query } = responseOf(await visitor.get(authorizePath({ ...valid(), state: undefined })));
    expect(Object.keys(query).sort()).toEqual(['code', 'iss']);
  });

  it('RFC 6749, 3.1: treats a parameter without a value as absent', async () => {
    const path = authorizePath({ ...valid(), state: '', scope: '' });
    const page = await visitor.open(path);
    expect(page.text).toContain('<code>api</code>');
    const { query } = responseOf(await visitor.submit(page, { decision: 'deny' }, path));
    expect(Object.keys(query).sort()).toEqual(['error', 'error_description', 'iss']);
  });

  it('RFC 6749, 3.1: ignores unknown and unused parameters', async () => {
    const parameters = { nonce: 'n', resource: ['https://a.example', 'https://b.example'], prompt: 'none' };
    const { query } = responseOf(await visitor.get(authorizePath({ ...valid(), ...parameters })));
    expect(query).toMatchObject({ code: expect.any(String) });
  });

  it.each(['response_type', 'scope', 'state', 'code_challenge', 'code_challenge_method'] as const)(
    'RFC 6749, 3.1: rejects a duplicate %s',
    async (name) => {
      const request = valid();
      const path = authorizePath({ ...request, [name]: [request[name], request[name]] });
      const { address, query } = responseOf(await visitor.get(path));
      expect(address).toBe(CALLBACK);
      expect(query).toEqual({
        error: 'invalid_request',
        error_description: `${name} is in the request more than once`,
        ...(name === 'state' ? {} : { state: 'abc' }),
        iss: issuer(),
      });
    },
  );

  it.each([
    ['4.1.2.1: without response_type', { response_type: undefined }, 'invalid_request'],
    ['3.1.1: with an unknown response_type', { response_type: 'id_token' }, 'unsupported_response_type'],
    ['3.1.1: with two response types', { response_type: 'code code' }, 'unsupported_response_type'],
    ['4.1.2.1: with an unknown scope', { scope: 'tag_lw everything' }, 'invalid_scope'],
    ['3.3: with a malformed scope', { scope: 'tag_lw "tag_lr"' }, 'invalid_scope'],
    ['4.1.2.1: with scopes that the account may not have', { scope: 'tag_gw' }, 'invalid_scope'],
  ])('RFC 6749, %s: returns the error at the redirect URI', async (_title, change, error) => {
    const { address, query, fragment } = responseOf(
      await visitor.get(authorizePath({ ...valid(), ...change })),
    );
    expect(address).toBe(CALLBACK);
    expect(fragment).toEqual({});
    expect(query).toEqual({
      error,
      // RFC 6749, 4.1.2.1: printable ASCII without quotes and backslashes.
      error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/),
      state: 'abc',
      iss: issuer(),
    });
  });

  it('RFC 6749, 4.1.2.1: returns access_denied when the user denies, and grants nothing', async () => {
    const denying = createFormClient(server);
    const otherAccount = await createFixtures(server).account({ organization: 'acmeauthorize' });
    await denying.signIn(otherAccount.email, otherAccount.password);
    const { query } = responseOf(await decide(denying, authorizePath(valid()), 'deny'));
    expect(query).toEqual({
      error: 'access_denied',
      error_description: 'the user denied the request',
      state: 'abc',
      iss: issuer(),
    });
    const codes = await server.context.db.read
      .selectFrom('authorization_codes')
      .select('code_hash')
      .where('user_id', '=', otherAccount.id)
      .execute();
    expect(codes).toEqual([]);
  });

  it('RFC 6749, 3.1.2: keeps the query of a redirect URI', async () => {
    const redirect = 'https://app.example/cb?tenant=a%2Fb&x';
    const { id } = await createFixtures(server).client({ redirectUris: [redirect] });
    const path = authorizePath({ ...valid(), client_id: id, redirect_uri: redirect });
    const { headers } = await decide(visitor, path, 'allow');
    expect(headers.get('location')).toMatch(
      /^https:\/\/app\.example\/cb\?tenant=a%2Fb&x&code=\w+&state=abc&/,
    );
  });

  it('RFC 6749, 3.1.2.3: uses the only registered redirect URI by default', async () => {
    const { id } = await createFixtures(server).client();
    const path = authorizePath({ ...valid(), client_id: id, redirect_uri: undefined });
    const { address } = responseOf(await decide(visitor, path, 'allow'));
    expect(address).toBe(CALLBACK);
    const row = await server.context.db.read
      .selectFrom('authorization_codes')
      .select('redirect_uri')
      .where('client_id', '=', id)
      .executeTakeFirstOrThrow();
    expect(row.redirect_uri).toBeNull();
  });

  it('RFC 6749, 4.1.1: supports confidential clients', async () => {
    const { id } = await createFixtures(server).client({ kind: 'confidential' });
    const { query } = responseOf(
      await decide(visitor, authorizePath({ ...valid(), client_id: id }), 'allow'),
    );
    expect(query).toMatchObject({ code: expect.any(String) });
  });
});

describe('PKCE', () => {
  const error = async (change: Record<string, string | undefined>, id = client) => {
    const path = authorizePath({ ...valid(), client_id: id, ...change });
    const { query } = responseOf(await visitor.get(path));
    expect(query['code']).toBeUndefined();
    return [query['error'], query['error_description']];
  };
  const UNSUPPORTED = 'transform algorithm not supported: code_challenge_method must be S256';

  it('RFC 7636, 4.4.1 and RFC 9700, 2.1.1: is required from every client, including confidential ones', async () => {
    const confidential = await createFixtures(server).client({ kind: 'confidential' });
    const withoutChallenge = { code_challenge: undefined, code_challenge_method: undefined };
    for (const id of [client, confidential.id])
      expect(await error(withoutChallenge, id)).toEqual(['invalid_request', 'code challenge required']);
    expect(await error({ code_challenge: undefined })).toEqual([
      'invalid_request',
      'code challenge required',
    ]);
  });

  it('RFC 7636, 4.3: rejects a challenge without a method, which means plain', async () => {
    expect(await error({ code_challenge_method: undefined })).toEqual(['invalid_request', UNSUPPORTED]);
  });

  it.each(['plain', 's256', 'S512'])('RFC 7636, 4.4.1: rejects the method %s', async (method) => {
    expect(await error({ code_challenge_method: method })).toEqual(['invalid_request', UNSUPPORTED]);
  });

  it.each([CHALLENGE.slice(1), `${CHALLENGE}A`, `${CHALLENGE.slice(1)}=`, `${CHALLENGE.slice(1)}+`])(
    'RFC 7636, 4.2: rejects %s, which is no SHA-256 challenge',
    async (challenge) => {
      expect((await error({ code_challenge: challenge }))[0]).toBe('invalid_request');
    },
  );
});

describe('Requests with an invalid client or redirect URI', () => {
  it.each([
    ['without client_id', { client_id: undefined }],
    ['with an unknown client_id', { client_id: 'nobody' }],
    ['with a duplicate client_id', { client_id: ['one', 'two'] }],
    ['with a client_id with a NUL character', { client_id: 'no\0body' }],
    ['with a client_id that is too long', { client_id: 'x'.repeat(3_000) }],
    ['with a duplicate redirect_uri', { redirect_uri: [CALLBACK, CALLBACK] }],
    ['with a redirect_uri that is not registered', { redirect_uri: 'https://evil.example/callback' }],
    ['with a relative redirect_uri', { redirect_uri: '/callback' }],
    ['with a script as redirect_uri', { redirect_uri: 'javascript:alert(1)' }],
  ])('RFC 6749, 4.1.2.1: %s show an error to the user and do not redirect', async (_title, change) => {
    for (const response_type of ['code', 'token']) {
      for (const browser of [visitor, createFormClient(server)]) {
        const path = authorizePath({ ...valid(), response_type, ...change });
        const page = await browser.get(path);
        expect([page.status, page.location]).toEqual([400, undefined]);
        expect(page.text).toContain('This application cannot sign you in');
        expect(page.text).not.toContain('evil.example');
        expect((await browser.post(path, { decision: 'allow' })).location).toBeUndefined();
      }
    }
  });

  it.each([
    ['3.1.2.3: several are registered', [CALLBACK, 'https://app.example/other']],
    ['3.1.2.3: the only one is part of a URI', ['docs']],
    ['3.1.2.4: none is registered', []],
  ])('RFC 6749, %s: require redirect_uri', async (_title, redirectUris) => {
    const id =
      redirectUris[0] === 'docs'
        ? 'assay-docs'
        : (await fixtures.client({ redirectUris, kind: 'confidential', userId: account.id })).id;
    const page = await visitor.get(authorizePath({ ...valid(), client_id: id, redirect_uri: undefined }));
    expect([page.status, page.location]).toEqual([400, undefined]);
  });
});

describe('Anonymous browsers', () => {
  it('are redirected to the sign-in page, and from there to the response', async () => {
    const browser = createFormClient(server);
    const otherAccount = await createFixtures(server).account({ organization: 'acmeauthorize' });
    const path = authorizePath(valid());
    const redirect = await browser.get(path);
    expect(redirect.status).toBe(303);
    expect(new URL(redirect.location ?? '').pathname).toBe('/sign-in');
    const page = await browser.open(path);
    const signedIn = await browser.submit(
      page,
      { email: otherAccount.email, password: otherAccount.password },
      '/sign-in',
    );
    expect(signedIn.location).toBe(server.origin + path);
    const { query } = responseOf(await decide(browser, path, 'allow'));
    expect(query).toMatchObject({ code: expect.any(String), state: 'abc' });
  });

  it('RFC 9700, 4.11.2: are not redirected to the client before the sign-in, even with an error', async () => {
    for (const change of [{ scope: 'nonsense' }, { response_type: 'nonsense' }, { code_challenge: 'x' }]) {
      const { location } = await createFormClient(server).get(authorizePath({ ...valid(), ...change }));
      expect(location?.startsWith(`${server.origin}/sign-in?`)).toBe(true);
    }
  });

  it('include those before the second factor', async () => {
    const browser = createFormClient(server);
    const otherAccount = await createFixtures(server).account({ organization: 'acmeauthorize' });
    await browser.signIn(otherAccount.email, otherAccount.password);
    await server.context.db.write((tx) =>
      tx.updateTable('sessions').set({ state: 'pending' }).where('user_id', '=', otherAccount.id).execute(),
    );
    const { location } = await browser.get(authorizePath(valid()));
    expect(location?.startsWith(`${server.origin}/sign-in`)).toBe(true);
  });

  it('cannot consent', async () => {
    const browser = createFormClient(server);
    const page = await browser.open('/sign-in');
    const csrf = /name="_csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    const response = await browser.post(authorizePath(valid()), { decision: 'allow', _csrf: csrf });
    expect(response.status).toBe(303);
    expect(response.location?.startsWith(`${server.origin}/sign-in`)).toBe(true);
  });
});

describe('Server failures', () => {
  it('RFC 6749, 4.1.2.1: are returned to the client as server_error or temporarily_unavailable', async () => {
    const ownServer = await startTestServer();
    const ownFixtures = createFixtures(ownServer);
    const otherAccount = await ownFixtures.account();
    const { id } = await ownFixtures.client();
    const browser = createFormClient(ownServer);
    await browser.signIn(otherAccount.email, otherAccount.password);
    const page = await browser.open(authorizePath({ ...valid(), client_id: id }));
    await ownServer.context.db.write((tx) => tx.schema.dropTable('authorization_codes').execute());
    const response = await browser.submit(
      page,
      { decision: 'allow' },
      new URL(page.url).pathname + new URL(page.url).search,
    );
    expect(responseOf(response).query).toEqual({
      error: 'server_error',
      error_description: 'the server failed',
      state: 'abc',
      iss: ownServer.context.addresses.issuer,
    });
    expect(ownServer.logs()).toContainEqual(expect.objectContaining({ msg: 'authorization failed' }));
    await ownServer.close();
  });
});
