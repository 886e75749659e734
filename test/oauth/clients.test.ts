import { CompiledQuery } from 'kysely';
import { describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { hashSecret } from '../../src/auth/secrets.ts';
import { signAccessToken, storeAccessToken } from '../../src/domain/tokens/access-tokens.ts';
import {
  clientById,
  deleteOAuthClient,
  listOAuthClients,
  renewClientSecret,
  setImplicit,
} from '../../src/domain/tokens/oauth-clients.ts';
import { isRegisteredRedirect } from '../../src/domain/tokens/redirect-uris.ts';
import { authorizePath, CALLBACK, decide, PKCE, responseOf } from '../harness/authorization.ts';
import { engine, useSharedServer } from '../harness/server.ts';
import { createFormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

const now = Date.UTC(2026, 10, 1);
const server = await useSharedServer(() => now);
await createFixtures(server).organization('acmeclients');

const read = () => server.context.db.read;
/** The last change; denied attempts may be written after it. */
const lastEvent = async () =>
  (await createFixtures(server).auditEvents()).findLast(({ denied_key }) => denied_key === null);

describe('OAuth client', () => {
  it('RFC 6749, 2.2 and 2.3.1: has an id, and if confidential a secret, stored as a hash', async () => {
    const fixtures = createFixtures(server);
    const open = await fixtures.client();
    expect(open).toEqual({ id: expect.stringMatching(/^[0-9A-Za-z]{20}$/), secret: null });
    const closed = await fixtures.client({ kind: 'confidential' });
    expect(closed.secret).toMatch(/^[0-9A-Za-z]{43}$/);
    expect((await clientById(read(), closed.id))?.secretHash).toBe(hashSecret(closed.secret ?? ''));
    expect(await lastEvent()).toMatchObject({
      action: 'client.create',
      object_type: 'client',
      object_id: closed.id,
      user_id: null,
    });
    expect(JSON.stringify(await fixtures.auditEvents())).not.toContain(closed.secret);
  });

  it.each([
    ['a public client with an account', { userId: 1 }, 'userId'],
    ['neither a redirect URI nor an account', { redirectUris: [] }, 'redirectUris'],
    ['too many redirect URIs', { redirectUris: Array.from({ length: 21 }, () => CALLBACK) }, 'redirectUris'],
    ['no name', { name: ' ' }, 'name'],
    ['an unknown scope', { scopes: ['api', 'admin'] }, 'scopes'],
    ['no scope', { scopes: [] }, 'scopes'],
  ])('is rejected: %s', async (_title, input, property) => {
    await expect(createFixtures(server).client(input)).rejects.toThrow(
      expect.objectContaining({ kind: 'invalid', fieldErrors: [expect.objectContaining({ property })] }),
    );
  });

  it('RFC 9700, 2.3: is limited to its registered scopes', async () => {
    const fixtures = createFixtures(server);
    const account = await fixtures.account({ organization: 'acmeclients', admin: true });
    const { id, secret } = await fixtures.client({
      kind: 'confidential',
      scopes: ['api', 'tag_or'],
      userId: account.id,
    });
    const visitor = createFormClient(server);
    await visitor.signIn(account.email, account.password);
    const path = (scope: string) =>
      authorizePath({ response_type: 'code', client_id: id, redirect_uri: CALLBACK, ...PKCE, scope });
    const allowed = await decide(visitor, path('api tag_ow tag_or'), 'allow');
    expect(responseOf(allowed).query).toHaveProperty('code');
    const [stored] = await read()
      .selectFrom('authorization_codes')
      .select('scopes')
      .where('client_id', '=', id)
      .execute();
    expect(stored?.scopes).toBe('api tag_or');
    expect(responseOf(await visitor.get(path('tag_ow'))).query).toMatchObject({ error: 'invalid_scope' });

    const requestToken = (scope: Record<string, string>) =>
      server.request('POST', '/oauth/token', {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        raw: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: id,
          client_secret: secret ?? '',
          ...scope,
        }).toString(),
      });
    expect((await requestToken({})).body.scope).toBe('api tag_or');
    expect((await requestToken({ scope: 'api tag_ow' })).body.scope).toBe('api');
    expect((await requestToken({ scope: 'tag_ow' })).body.error).toBe('invalid_scope');
    // `api` covers `api_read`.
    expect((await requestToken({ scope: 'api_read' })).body.scope).toBe('api_read');
  });

  it('that is limited to api_read gets it without a request for it, and never api', async () => {
    const fixtures = createFixtures(server);
    const account = await fixtures.account({ organization: 'acmeclients', admin: true });
    const { id, secret } = await fixtures.client({
      kind: 'confidential',
      scopes: ['api_read', 'tag_or'],
      userId: account.id,
    });
    const credentials = { client_id: id, client_secret: secret ?? '' };
    const requestToken = (fields: Record<string, string>) =>
      server.request('POST', '/oauth/token', {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        raw: new URLSearchParams({
          grant_type: 'client_credentials',
          ...credentials,
          ...fields,
        }).toString(),
      });
    expect((await requestToken({})).body.scope).toBe('api_read tag_or');
    expect((await requestToken({ scope: 'api' })).body.error).toBe('invalid_scope');
    const visitor = createFormClient(server);
    await visitor.signIn(account.email, account.password);
    const path = authorizePath({ response_type: 'code', client_id: id, redirect_uri: CALLBACK, ...PKCE });
    expect(responseOf(await decide(visitor, path, 'allow')).query).toHaveProperty('code');
    const [stored] = await read()
      .selectFrom('authorization_codes')
      .select('scopes')
      .where('client_id', '=', id)
      .execute();
    expect(stored?.scopes).toBe('api_read tag_or');
  });

  it('gets a new secret, which replaces the old one', async () => {
    const { id, secret } = await createFixtures(server).client({ kind: 'confidential' });
    const { db } = server.context;
    const renewed = await db.write((tx) => renewClientSecret(tx, cliChangeContext(now), id));
    expect(renewed).not.toBe(secret);
    expect((await clientById(read(), id))?.secretHash).toBe(hashSecret(renewed));
    expect(await lastEvent()).toMatchObject({ action: 'client.renew-secret', object_id: id, after: null });
    const authenticates = async (client_secret: string) => {
      const form = new URLSearchParams({ client_id: id, client_secret, token: 'none' }).toString();
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      return (await server.request('POST', '/oauth/introspect', { headers, raw: form })).status === 200;
    };
    expect(await authenticates(secret ?? '')).toBe(false);
    expect(await authenticates(renewed)).toBe(true);
    // The old secret is rejected even after a server has cached it.
    const next = await db.write((tx) => renewClientSecret(tx, cliChangeContext(now), id));
    expect(await authenticates(renewed)).toBe(false);
    expect(await authenticates(next)).toBe(true);
    const open = await createFixtures(server).client();
    await expect(
      db.write((tx) => renewClientSecret(tx, cliChangeContext(now), open.id)),
    ).rejects.toMatchObject({
      kind: 'invalid',
    });
  });

  it('enables and disables the implicit flow, and records only changes', async () => {
    const { id } = await createFixtures(server).client();
    const set = (implicit: boolean) =>
      server.context.db.write((tx) => setImplicit(tx, cliChangeContext(now), id, implicit));
    await set(true);
    expect(await clientById(read(), id)).toMatchObject({ implicit: true });
    const event = await lastEvent();
    expect(event).toMatchObject({
      action: 'client.update',
      object_id: id,
      before: '{"implicit":false}',
      after: '{"implicit":true}',
    });
    await set(true);
    expect(await lastEvent()).toEqual(event);
  });

  it('is deleted with its access tokens, refresh tokens, codes and consents', async () => {
    const fixtures = createFixtures(server);
    const account = await fixtures.account({ organization: 'acmeclients', admin: true });
    const visitor = createFormClient(server);
    await visitor.signIn(account.email, account.password);
    const { id } = await fixtures.client({ implicit: true });
    const request = { client_id: id, redirect_uri: CALLBACK, scope: 'tag_ow' };
    const path = authorizePath({ response_type: 'token', ...request });
    const { fragment } = responseOf(await decide(visitor, path, 'allow'));
    const { query } = responseOf(
      await visitor.get(authorizePath({ response_type: 'code', ...request, ...PKCE })),
    );
    expect(query).toHaveProperty('code');
    const call = () =>
      server.request('PATCH', '/api/tagging/v1.0/organizations/acme/tags', {
        token: fragment['access_token'],
        body: { uids: [] },
      });
    expect((await call()).status).not.toBe(401);

    const { db } = server.context;
    await db.write((tx) => deleteOAuthClient(tx, cliChangeContext(now), id));
    expect((await call()).status).toBe(401);
    for (const table of ['authorization_codes', 'oauth_consents', 'refresh_tokens'] as const) {
      const rows = await db.read.selectFrom(table).select('client_id').where('client_id', '=', id).execute();
      expect([table, rows]).toEqual([table, []]);
    }
    expect((await visitor.get(path)).status).toBe(400);
    expect(await lastEvent()).toMatchObject({
      action: 'client.delete',
      object_id: id,
      before: JSON.stringify({
        name: JSON.parse(
          (await fixtures.auditEvents()).find((event) => event.object_id === id)?.after ?? '{}',
        ).name,
        kind: 'public',
        redirect_uris: [CALLBACK],
        implicit: true,
        scopes: null,
        user: null,
      }),
      after: '{"tokens":1}',
    });
    await expect(db.write((tx) => deleteOAuthClient(tx, cliChangeContext(now), id))).rejects.toMatchObject({
      kind: 'not-found',
    });
  });

  it.runIf(engine() === 'postgres')('is deleted together with a token that is being stored', async () => {
    const { db, keys } = server.context;
    const user = await createFixtures(server).user({ organization: 'acmeclients' });
    const { id } = await createFixtures(server).client({ kind: 'confidential', userId: user.id });
    const grant = { userId: user.id, clientId: id, grantId: null, scopes: ['api'] } as const;
    const signed = await signAccessToken(db.read, keys, grant, 60_000, now);
    const locked = CompiledQuery.raw(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    let deletion: Promise<void> | undefined;
    await db.write(async (tx) => {
      await storeAccessToken(tx, cliChangeContext(now), signed);
      let done = false;
      deletion = db.write((other) => deleteOAuthClient(other, cliChangeContext(now), id));
      void deletion.then(() => (done = true));
      await expect.poll(async () => done || (await db.read.executeQuery(locked)).rows.length > 0).toBe(true);
    });
    await deletion;
    const client = await read()
      .selectFrom('tokens')
      .select('id')
      .where('client_id', '=', id)
      .where('revoked_at', 'is', null)
      .execute();
    expect(client).toEqual([]);
  });
});

describe('Client of the API documentation', () => {
  const docs = async () => {
    const client = await clientById(read(), 'assay-docs');
    if (client === undefined) throw new Error('It is not there.');
    return client;
  };

  it('is part of every deployment', async () => {
    const [commandLineClient, ofConsole, ofDescription] = await listOAuthClients(read());
    expect(commandLineClient).toMatchObject({
      id: 'assay-cli',
      kind: 'public',
      implicit: false,
      redirectUris: ['http://127.0.0.1/callback'],
    });
    expect(ofConsole).toMatchObject({
      id: 'assay-console',
      kind: 'public',
      implicit: false,
      redirectUris: ['/signed-in'],
    });
    expect(ofDescription).toMatchObject({
      id: 'assay-docs',
      kind: 'public',
      implicit: true,
      redirectUris: ['/docs/oauth2-redirect.html'],
    });
  });

  it.each([
    ['https://assay.example', 'https://assay.example/docs/oauth2-redirect.html', true],
    // The URL as browsers normalize it.
    ['https://Assay.Example:443', 'https://assay.example/docs/oauth2-redirect.html', true],
    ['https://Assay.Example:443', 'https://assay.example:8443/docs/oauth2-redirect.html', false],
    ['https://assay.example/team', 'https://assay.example/team/docs/oauth2-redirect.html', true],
    ['https://assay.example/team', 'https://assay.example/docs/oauth2-redirect.html', false],
    ['https://assay.example', 'https://evil.example/docs/oauth2-redirect.html', false],
    ['https://assay.example', 'http://assay.example/docs/oauth2-redirect.html', false],
    ['https://assay.example', 'http://127.0.0.1:8080/docs/oauth2-redirect.html', false],
    ['https://assay.example', '/docs/oauth2-redirect.html', false],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:9000/docs/oauth2-redirect.html', false],
    ['http://127.0.0.1:8080', 'http://localhost/docs/oauth2-redirect.html', false],
    ['http://localhost/team', 'http://127.0.0.1/team/docs/oauth2-redirect.html', true],
    ['http://localhost/team', 'http://127.0.0.1/docs/oauth2-redirect.html', false],
    ['http://127.0.0.1:8080', 'http://localhost:8080/docs/oauth2-redirect.html', true],
    ['http://127.0.0.1:8080', 'http://[::1]:8080/docs/oauth2-redirect.html', false],
    ['http://localhost:8080', 'http://127.0.0.1:8080/docs/oauth2-redirect.html', true],
    ['http://[::1]:8080', 'http://[::1]:8080/docs/oauth2-redirect.html', true],
    ['http://[::1]:8080', 'http://localhost:8080/docs/oauth2-redirect.html', false],
    ['http://127.0.0.1:8080', 'http://evil.example:8080/docs/oauth2-redirect.html', false],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080@evil.example/docs/oauth2-redirect.html', false],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/docs/oauth2-redirect.html?x', false],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/docs/../docs/oauth2-redirect.html', false],
    ['http://127.0.0.1:8080', 'https://127.0.0.1:8080/docs/oauth2-redirect.html', false],
  ])(
    'RFC 9700, 4.1.3: of the deployment at %s accepts the redirect URI %s: %s',
    async (base, uri, isAccepted) => {
      expect(isRegisteredRedirect(await docs(), uri, base)).toBe(isAccepted);
    },
  );
});
