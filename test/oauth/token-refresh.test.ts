import { decodeJwt } from 'jose';
import * as oauth from 'oauth4webapi';
import { afterAll, describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { banUser } from '../../src/domain/users/ban-user.ts';
import { revokeGrant } from '../../src/domain/tokens/grants.ts';
import { refreshTokenBySecret } from '../../src/domain/tokens/refresh-tokens.ts';
import { startSecondServer, useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { applicationsOf, INSECURE, type TestClient } from './applications.ts';

const DAY = 86_400_000;

let now = Date.UTC(2027, 0, 1);
const server = await startSecondServer(await useSharedServer(() => now), { grantLifetime: 90 * DAY });
const apps = applicationsOf(server);
await createFixtures(server).organization('acmerefresh');
const user = await createFixtures(server).user({ organization: 'acmerefresh' });
const client = await apps.client();
const confidential = await apps.client({ kind: 'confidential' });
afterAll(() => server.close());

async function expectInvalid(from: TestClient, token: string, error = 'invalid_grant'): Promise<void> {
  const { status, body } = await apps.refresh(from, token);
  expect([status, body.error]).toEqual([400, error]);
}

describe('Refresh token grant', () => {
  it('RFC 6749, 6: issues a new access token and a new refresh token', async () => {
    const first = await apps.tokens(client, user.id);
    const { status, headers, body } = await apps.refresh(client, first.refresh_token);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('pragma')).toBe('no-cache');
    expect(body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'api tag_lw tag_lr',
      refresh_token: expect.stringMatching(/^[0-9A-Za-z]{43}$/),
    });
    expect(body.refresh_token).not.toBe(first.refresh_token);
    expect(await apps.isAccepted(body.access_token)).toBe(true);
    // The previous access token stays valid until it expires.
    expect(await apps.isAccepted(first.access_token)).toBe(true);
  });

  it('RFC 6749, 6: accepts a narrower scope, which does not narrow the next refresh', async () => {
    const { refresh_token: token } = await apps.tokens(client, user.id);
    const { body: less } = await apps.refresh(client, token, { scope: 'tag_lr api' });
    expect(less.scope).toBe('api tag_lr');
    expect(decodeJwt(less.access_token)).toMatchObject({ scope: 'api tag_lr' });
    const { body: full } = await apps.refresh(client, less.refresh_token);
    expect(full.scope).toBe('api tag_lw tag_lr');
  });

  it('RFC 6749, 6: accepts api_read, which api covers, as a narrower scope', async () => {
    const { refresh_token: token } = await apps.tokens(client, user.id);
    const { body: less } = await apps.refresh(client, token, { scope: 'api_read' });
    expect(less.scope).toBe('api_read');
    const { body: full } = await apps.refresh(client, less.refresh_token);
    expect(full.scope).toBe('api tag_lw tag_lr');
  });

  it.each([
    ['a wider scope', 'api asset_lr'],
    ['a malformed scope', 'api everything'],
  ])('RFC 6749, 6: rejects %s, and keeps the token valid', async (_case, scope) => {
    const { refresh_token: token } = await apps.tokens(client, user.id);
    const { status, body } = await apps.refresh(client, token, { scope });
    expect([status, body.error]).toEqual([400, 'invalid_scope']);
    expect((await apps.refresh(client, token)).status).toBe(200);
  });

  it('RFC 6749, 6 and 10.4: accepts a refresh token only from its client, which must authenticate', async () => {
    const { refresh_token: token } = await apps.tokens(confidential, user.id);
    await expectInvalid(client, token);
    const { status, body } = await apps.post('/oauth/token', {
      grant_type: 'refresh_token',
      refresh_token: token,
      client_id: confidential.id,
    });
    expect([status, body.error]).toEqual([401, 'invalid_client']);
    expect((await apps.refresh(confidential, token)).status).toBe(200);
  });

  it('RFC 9700, 4.14.2: revokes the grant when a used token is sent again', async () => {
    const first = await apps.tokens(client, user.id);
    const { body: second } = await apps.refresh(client, first.refresh_token);
    const { body: third } = await apps.refresh(client, second.refresh_token);
    await expectInvalid(client, first.refresh_token);
    for (const { access_token: token } of [first, second, third])
      expect(await apps.isAccepted(token)).toBe(false);
    await expectInvalid(client, third.refresh_token);

    const events = (await createFixtures(server).auditEvents()).filter(
      ({ action }) => action === 'grant.revoke',
    );
    expect(events).toHaveLength(1);
    expect(JSON.parse(events[0]?.after ?? '')).toEqual({
      reason: 'refresh-token-reused',
      refresh_tokens: 3,
      access_tokens: 3,
    });
  });

  it('RFC 9700, 4.14.2: revokes the tokens when a token is used concurrently', async () => {
    const { refresh_token: token } = await apps.tokens(client, user.id);
    const responses = await Promise.all(Array.from({ length: 6 }, () => apps.refresh(client, token)));
    const won = responses.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect(responses.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(5);
    expect(await apps.isAccepted(won[0]?.body.access_token)).toBe(false);
    await expectInvalid(client, won[0]?.body.refresh_token);
  });

  it('leaves no token when the grant is revoked during the refresh', async () => {
    const { db } = server.context;
    for (let round = 0; round < 10; round += 1) {
      const { refresh_token: token } = await apps.tokens(client, user.id);
      const grant = await refreshTokenBySecret(db.read, token);
      if (grant === undefined) throw new Error('The refresh token is not stored.');
      const [{ body }] = await Promise.all([
        apps.refresh(client, token),
        db.write((tx) => revokeGrant(tx, cliChangeContext(now), grant, 'revoked-by-client')),
      ]);
      if (body.access_token === undefined) continue;
      expect(await apps.isAccepted(body.access_token)).toBe(false);
      await expectInvalid(client, body.refresh_token);
    }
  });

  it('RFC 9700, 4.14.2: expires without use, and each use renews it', async () => {
    const { refresh_token: unused } = await apps.tokens(client, user.id);
    const { refresh_token: first } = await apps.tokens(client, user.id);
    now += 30 * DAY - 1;
    const { body } = await apps.refresh(client, first);
    expect(body.refresh_token).toBeDefined();
    now += 1;
    await expectInvalid(client, unused);
    expect((await apps.refresh(client, body.refresh_token)).status).toBe(200);
  });

  it('ends with its grant despite use', async () => {
    let { refresh_token: token } = await apps.tokens(client, user.id);
    for (let month = 0; month < 3; month += 1) {
      now += 29 * DAY;
      ({ refresh_token: token } = (await apps.refresh(client, token)).body);
      expect(token).toBeDefined();
    }
    now += 3 * DAY;
    await expectInvalid(client, token);
  });

  it('rejects a client of a banned user', async () => {
    const banned = await createFixtures(server).user({ organization: 'acmerefresh' });
    const { refresh_token: token } = await apps.tokens(client, banned.id);
    await server.context.db.write((tx) => banUser(tx, cliChangeContext(now), banned.id));
    await expectInvalid(client, token);
  });

  it('records the refresh without tokens', async () => {
    const { refresh_token: token } = await apps.tokens(client, user.id);
    const before = (await createFixtures(server).auditEvents()).length;
    const { body } = await apps.refresh(client, token);
    const events = (await createFixtures(server).auditEvents()).slice(before);
    expect(events.map(({ action }) => action)).toEqual(['token.create', 'refresh-token.rotate']);
    const text = JSON.stringify(events) + JSON.stringify(server.logs());
    for (const secret of [token, body.access_token, body.refresh_token]) expect(text).not.toContain(secret);
  });

  it('is compatible with a third-party client library', async () => {
    const as = await apps.discover();
    const { refresh_token: token } = await apps.tokens(confidential, user.id);
    const self = { client_id: confidential.id };
    const proof = oauth.ClientSecretPost(confidential.secret ?? '');
    const response = await oauth.refreshTokenGrantRequest(as, self, proof, token, INSECURE);
    const tokens = await oauth.processRefreshTokenResponse(as, self, response);
    expect(await apps.isAccepted(tokens.access_token)).toBe(true);

    const repeated = await oauth.refreshTokenGrantRequest(as, self, proof, token, INSECURE);
    await expect(oauth.processRefreshTokenResponse(as, self, repeated)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });
});
