import { decodeJwt } from 'jose';
import * as oauth from 'oauth4webapi';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLine } from '../../src/auth/callers.ts';
import { banUser } from '../../src/domain/bans.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { worldOf } from '../harness/world.ts';
import { applicationsOf, INSECURE, type TestClient } from './applications.ts';

let server: TestServer;
let apps: ReturnType<typeof applicationsOf>;
let account: { id: number; uid: string };
let script: TestClient;
beforeAll(async () => {
  server = await startTestServer({ accessTokenLifetime: 600_000 });
  apps = applicationsOf(server);
  await worldOf(server).organization('acme');
  account = await worldOf(server).user({ organization: 'acme' });
  script = await apps.client({ kind: 'confidential', userId: account.id, redirectUris: [] });
});
afterAll(() => server.close());

describe('The client credentials grant', () => {
  it('RFC 6749, 4.4.3: gives an access token of the client’s account, and no refresh token', async () => {
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
    expect(await apps.opens(body.access_token)).toBe(true);
  });

  it('RFC 6749, 3.3: gives the scope that is asked for, as far as the account may hold it', async () => {
    const { body } = await apps.clientCredentials(script, { scope: 'tag_lr tag_gw api' });
    expect(body.scope).toBe('api tag_lr');
    expect(decodeJwt(body.access_token)).toMatchObject({ scope: 'api tag_lr' });
  });

  it.each([
    ['what is no scope', 'api everything'],
    ['what the account may not hold', 'tag_gw'],
  ])('RFC 6749, 5.2: refuses %s', async (_case, scope) => {
    const { status, body } = await apps.clientCredentials(script, { scope });
    expect([status, body.error]).toEqual([400, 'invalid_scope']);
  });

  it('RFC 6749, 4.4: is for confidential clients only', async () => {
    const { status, body } = await apps.clientCredentials(await apps.client());
    expect([status, body.error]).toEqual([400, 'unauthorized_client']);
  });

  it('RFC 6749, 5.2: is for clients that have an account', async () => {
    const { status, body } = await apps.clientCredentials(await apps.client({ kind: 'confidential' }));
    expect([status, body.error]).toEqual([400, 'unauthorized_client']);
  });

  it('ends with a ban of the account, and so do its tokens', async () => {
    const banned = await worldOf(server).user({ organization: 'acme' });
    const client = await apps.client({ kind: 'confidential', userId: banned.id });
    const { body: before } = await apps.clientCredentials(client);
    expect(await apps.opens(before.access_token)).toBe(true);
    await server.context.db.write((tx) => banUser(tx, commandLine(), banned.id, Date.now()));
    expect(await apps.opens(before.access_token)).toBe(false);
    const { status, body } = await apps.clientCredentials(client);
    expect([status, body.error]).toEqual([400, 'unauthorized_client']);
  });

  it('is in the audit log, with the client', async () => {
    const { body } = await apps.clientCredentials(script);
    const { jti } = decodeJwt(body.access_token);
    const event = (await worldOf(server).auditEvents()).find(({ object_id }) => object_id === jti);
    expect(event).toMatchObject({
      action: 'token.create',
      user_id: account.id,
      credential_id: script.id,
      address: '127.0.0.1',
    });
    expect(JSON.parse(event?.after ?? '')).toMatchObject({ client: script.id, kind: 'jwt' });
  });

  it('works for a client library that others wrote', async () => {
    const as = await apps.discover();
    const self = { client_id: script.id };
    const secret = script.secret ?? '';
    for (const proof of [oauth.ClientSecretBasic(secret), oauth.ClientSecretPost(secret)]) {
      const parameters = { scope: 'api' };
      const response = await oauth.clientCredentialsGrantRequest(as, self, proof, parameters, INSECURE);
      const { access_token: token, scope } = await oauth.processClientCredentialsResponse(as, self, response);
      expect(scope).toBe('api');
      expect(await apps.opens(token)).toBe(true);
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

  it('RFC 9068, 4: is a token that a resource server which others wrote accepts', async () => {
    const as = await apps.discover();
    const { body } = await apps.clientCredentials(script);
    const request = new Request(server.origin, { headers: { authorization: `Bearer ${body.access_token}` } });
    const claims = await oauth.validateJwtAccessToken(as, request, server.origin, INSECURE);
    expect(claims).toMatchObject({ sub: account.uid, client_id: script.id });
  });
});
