import { decodeJwt } from 'jose';
import * as oauth from 'oauth4webapi';
import { beforeAll, describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { buildApp } from '../../src/app.ts';
import { openContext } from '../../src/context.ts';
import { createTokenBatcher, signAccessToken } from '../../src/domain/tokens/access-tokens.ts';
import { banUser } from '../../src/domain/users/ban-user.ts';
import { syncProviderGroups } from '../../src/domain/sign-in/sync-provider-groups.ts';
import type { IdentityProvider } from '../../src/domain/sign-in/identity-providers.ts';
import { deleteOAuthClient, renewClientSecret } from '../../src/domain/tokens/oauth-clients.ts';
import { useOwnServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { applicationsOf, basic, INSECURE, type TestClient } from './applications.ts';

let account: { id: number; uid: string };
let script: TestClient;
const server = await useOwnServer({ accessTokenLifetime: 600_000 });
const apps = applicationsOf(server);
beforeAll(async () => {
  await createFixtures(server).organization('acme');
  account = await createFixtures(server).user({ organization: 'acme' });
  script = await apps.client({ kind: 'confidential', userId: account.id, redirectUris: [] });
});

describe('Client credentials grant', () => {
  it("RFC 6749, 4.4.3: issues an access token of the client's account without a refresh token", async () => {
    const { status, headers, body } = await apps.clientCredentials(script);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('pragma')).toBe('no-cache');
    expect(body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 600,
      scope: 'api tag_lw tag_lr asset_client_lw asset_lr',
    });
    expect(decodeJwt(body.access_token)).toMatchObject({
      sub: account.uid,
      client_id: script.id,
      org: 'acme',
      scope: body.scope,
    });
    expect(await apps.isAccepted(body.access_token)).toBe(true);
  });

  it('RFC 6749, 3.3: grants the requested scopes that the account may have', async () => {
    const { body } = await apps.clientCredentials(script, { scope: 'tag_lr tag_gw api' });
    expect(body.scope).toBe('api tag_lr');
    expect(decodeJwt(body.access_token)).toMatchObject({ scope: 'api tag_lr' });
  });

  it('grants the scope api_read if it is requested, and it only reads', async () => {
    const { body } = await apps.clientCredentials(script, { scope: 'api_read' });
    expect(body.scope).toBe('api_read');
    const token = body.access_token as string;
    expect((await server.request('GET', '/v1/users/whoami', { token })).body.scopes).toEqual(['api_read']);
    const created = await server.request('POST', '/v1/tokens', { token, body: { name: 'more' } });
    expect(created.status).toBe(403);
  });

  it.each([
    ['a malformed scope', 'api everything'],
    ['only scopes that the account may not have', 'tag_gw'],
  ])('RFC 6749, 5.2: rejects %s', async (_case, scope) => {
    const { status, body } = await apps.clientCredentials(script, { scope });
    expect([status, body.error]).toEqual([400, 'invalid_scope']);
  });

  it('RFC 6749, 4.4: rejects public clients', async () => {
    const { status, body } = await apps.clientCredentials(await apps.client());
    expect([status, body.error]).toEqual([400, 'unauthorized_client']);
  });

  it('RFC 6749, 5.2: rejects clients without an account', async () => {
    const { status, body } = await apps.clientCredentials(await apps.client({ kind: 'confidential' }));
    expect([status, body.error]).toEqual([400, 'unauthorized_client']);
  });

  it('ends with its tokens when the account is banned', async () => {
    const banned = await createFixtures(server).user({ organization: 'acme' });
    const client = await apps.client({ kind: 'confidential', userId: banned.id });
    const { body: before } = await apps.clientCredentials(client);
    expect(await apps.isAccepted(before.access_token)).toBe(true);
    await server.context.db.write((tx) => banUser(tx, cliChangeContext(Date.now()), banned.id));
    expect(await apps.isAccepted(before.access_token)).toBe(false);
    const { status, body } = await apps.clientCredentials(client);
    expect([status, body.error]).toEqual([400, 'unauthorized_client']);
  });

  it('stores tokens of concurrent requests together, and rejects one individually', async () => {
    const { db, keys } = server.context;
    const banned = await createFixtures(server).user({ organization: 'acme' });
    const doomed = await apps.client({ kind: 'confidential', userId: account.id });
    const grants = [
      { userId: account.id, clientId: script.id },
      { userId: banned.id, clientId: script.id },
      { userId: account.id, clientId: doomed.id },
      { userId: account.id, clientId: script.id },
    ];
    const tokens = await Promise.all(
      grants.map((grant) =>
        signAccessToken(db.read, keys, { ...grant, grantId: null, scopes: ['api'] }, 60_000, Date.now()),
      ),
    );
    await db.write((tx) => banUser(tx, cliChangeContext(Date.now()), banned.id));
    await db.write((tx) => deleteOAuthClient(tx, cliChangeContext(Date.now()), doomed.id));

    const store = createTokenBatcher(db);
    const before = db.statistics().transactions;
    const results = await Promise.allSettled(
      tokens.map((signed, index) => {
        const { actor, now } = cliChangeContext(Date.now());
        return store({ actor: { ...actor, requestId: `request-${index}` }, now }, signed);
      }),
    );
    expect(results).toEqual([
      { status: 'fulfilled', value: undefined },
      { status: 'rejected', reason: expect.objectContaining({ kind: 'not-found' }) },
      { status: 'rejected', reason: expect.objectContaining({ kind: 'not-found' }) },
      { status: 'fulfilled', value: undefined },
    ]);
    expect(db.statistics().transactions - before).toBe(1);
    const ids = tokens.map(({ id }) => id);
    const rows = await db.read.selectFrom('tokens').select('id').where('id', 'in', ids).execute();
    expect(rows.map(({ id }) => id).toSorted()).toEqual([ids[0] ?? '', ids[3] ?? ''].toSorted());
    const events = (await createFixtures(server).auditEvents()).filter(({ object_id }) =>
      ids.includes(object_id ?? ''),
    );
    expect(events.map(({ object_id, request_id }) => [object_id, request_id])).toEqual([
      [ids[0], 'request-0'],
      [ids[3], 'request-3'],
    ]);
  });

  it('issues distinct tokens for concurrent requests, each with an audit event', async () => {
    const responses = await Promise.all(Array.from({ length: 40 }, () => apps.clientCredentials(script)));
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    const ids = new Set(responses.map(({ body }) => decodeJwt(body.access_token).jti));
    expect(ids.size).toBe(40);
    const events = (await createFixtures(server).auditEvents()).filter(({ object_id }) =>
      ids.has(object_id ?? ''),
    );
    expect(events).toHaveLength(40);
    expect(new Set(events.map(({ request_id }) => request_id)).size).toBe(40);
  });

  it.each([
    [
      'a deleted client',
      401,
      'invalid_client',
      ({ id }: TestClient) =>
        server.context.db.write((tx) => deleteOAuthClient(tx, cliChangeContext(Date.now()), id)),
    ],
    [
      'a banned account',
      400,
      'unauthorized_client',
      (_client: TestClient, userId: number) =>
        server.context.db.write((tx) => banUser(tx, cliChangeContext(Date.now()), userId)),
    ],
    [
      'a replaced secret',
      401,
      'invalid_client',
      ({ id }: TestClient) =>
        server.context.db.write((tx) => renewClientSecret(tx, cliChangeContext(Date.now()), id)),
    ],
  ])('rejects %s from the next request, on other instances too', async (_what, status, error, end) => {
    const user = await createFixtures(server).user({ organization: 'acme' });
    const client = await apps.client({ kind: 'confidential', userId: user.id });
    const otherServer = await secondInstance();
    const here = async () => {
      const response = await apps.clientCredentials(client);
      return [response.status, response.body.error];
    };
    try {
      // Twice, so that both cache it.
      for (const attempt of [here, () => otherServer.ask(client), here, () => otherServer.ask(client)])
        expect(await attempt()).toEqual([200, undefined]);
      await end(client, user.id);
      expect(await otherServer.ask(client)).toEqual([status, error]);
      expect(await here()).toEqual([status, error]);
    } finally {
      await otherServer.close();
    }
  });

  it("grants the scopes of the account's current role, on other instances too", async () => {
    const user = await createFixtures(server).user({ organization: 'acme', admin: true });
    await createFixtures(server).user({ organization: 'acme', admin: true });
    const client = await apps.client({ kind: 'confidential', userId: user.id });
    const otherServer = await secondInstance();
    const provider: IdentityProvider = {
      issuer: 'https://id.example',
      clientId: 'assay',
      encryptedSecret: null,
      groupsClaim: 'groups',
      adminGroup: 'admins',
      ssoOnly: false,
      trustEmail: false,
      organizationId: await organizationOf(user.id),
      organization: 'acme',
      organizationName: 'Acme',
    };
    try {
      expect(await otherServer.ask(client, 'tag_ow')).toEqual([200, undefined]);
      await server.context.db.write((tx) =>
        syncProviderGroups(tx, cliChangeContext(Date.now()), provider, { id: user.id, admin: true }, []),
      );
      expect(await otherServer.ask(client, 'tag_ow')).toEqual([400, 'invalid_scope']);
    } finally {
      await otherServer.close();
    }
  });

  it('records the token with the client', async () => {
    const { body } = await apps.clientCredentials(script);
    const { jti } = decodeJwt(body.access_token);
    const event = (await createFixtures(server).auditEvents()).find(({ object_id }) => object_id === jti);
    expect(event).toMatchObject({
      action: 'token.create',
      user_id: account.id,
      credential_id: script.id,
      address: '127.0.0.1',
    });
    expect(JSON.parse(event?.after ?? '')).toMatchObject({ client: script.id, kind: 'jwt' });
  });

  it('is compatible with a third-party client library', async () => {
    const as = await apps.discover();
    const self = { client_id: script.id };
    const secret = script.secret ?? '';
    for (const proof of [oauth.ClientSecretBasic(secret), oauth.ClientSecretPost(secret)]) {
      const parameters = { scope: 'api' };
      const response = await oauth.clientCredentialsGrantRequest(as, self, proof, parameters, INSECURE);
      const { access_token: token, scope } = await oauth.processClientCredentialsResponse(as, self, response);
      expect(scope).toBe('api');
      expect(await apps.isAccepted(token)).toBe(true);
    }
    const wrong = await oauth.clientCredentialsGrantRequest(
      as,
      self,
      oauth.ClientSecretBasic('wrong'),
      {},
      INSECURE,
    );
    await expect(oauth.processClientCredentialsResponse(as, self, wrong)).rejects.toThrow();
  });

  it('RFC 9068, 4: issues tokens that a third-party resource server accepts', async () => {
    const as = await apps.discover();
    const { body } = await apps.clientCredentials(script);
    const request = new Request(server.origin, { headers: { authorization: `Bearer ${body.access_token}` } });
    const claims = await oauth.validateJwtAccessToken(as, request, server.origin, INSECURE);
    expect(claims).toMatchObject({ sub: account.uid, client_id: script.id });
  });
});

async function organizationOf(userId: number): Promise<number> {
  const { organization_id: id } = await server.context.db.read
    .selectFrom('users')
    .select('organization_id')
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();
  return id ?? 0;
}

/** Another process with the same database and data folder. */
async function secondInstance() {
  const context = await openContext(server.context.config, { write: () => undefined });
  const app = await buildApp(context);
  return {
    async ask({ id, secret }: TestClient, scope?: string): Promise<[status: number, error: unknown]> {
      const response = await app.inject({
        method: 'POST',
        url: '/oauth/token',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          authorization: basic(id, secret ?? ''),
        },
        payload: new URLSearchParams({
          grant_type: 'client_credentials',
          ...(scope && { scope }),
        }).toString(),
      });
      return [response.statusCode, response.json<{ error?: string }>().error];
    },
    async close() {
      await app.close();
      await context.db.close();
    },
  };
}
