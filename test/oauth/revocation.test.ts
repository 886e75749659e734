import * as oauth from 'oauth4webapi';
import { describe, expect, it } from 'vitest';
import { useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { applicationsOf, INSECURE, type TestClient } from './applications.ts';

let now = Date.UTC(2027, 0, 1);
const server = await useSharedServer(() => now);
const apps = applicationsOf(server);
await createFixtures(server).organization('acmerevocation');
const user = await createFixtures(server).user({ organization: 'acmerevocation' });
const client = await apps.client();
const confidential = await apps.client({ kind: 'confidential', userId: user.id });

const revoke = (from: TestClient, token: string, fields: Record<string, string> = {}) =>
  apps.postAs(from, '/oauth/revoke', { token, ...fields });

describe('Revocation endpoint', () => {
  it('RFC 7009, 2.1: revokes an access token immediately and keeps its refresh token', async () => {
    const { access_token: token, refresh_token: refreshToken } = await apps.tokens(client, user.id);
    expect(await apps.isAccepted(token)).toBe(true);
    const { status, text } = await revoke(client, token);
    expect([status, text]).toEqual([200, '']);
    expect(await apps.isAccepted(token)).toBe(false);
    expect((await apps.refresh(client, refreshToken)).status).toBe(200);
  });

  it('RFC 7009, 2.1: revokes a refresh token with the access tokens of its grant', async () => {
    const first = await apps.tokens(client, user.id);
    const { body: second } = await apps.refresh(client, first.refresh_token);
    const otherTokens = await apps.tokens(client, user.id);
    expect((await revoke(client, second.refresh_token)).status).toBe(200);
    for (const token of [first.access_token, second.access_token])
      expect(await apps.isAccepted(token)).toBe(false);
    expect((await apps.refresh(client, second.refresh_token)).body.error).toBe('invalid_grant');
    expect(await apps.isAccepted(otherTokens.access_token)).toBe(true);
  });

  it('RFC 7009, 2.1: treats token_type_hint as a hint', async () => {
    for (const hint of ['refresh_token', 'access_token', 'something_else']) {
      const { access_token: token, refresh_token: refreshToken } = await apps.tokens(client, user.id);
      expect((await revoke(client, token, { token_type_hint: hint })).status).toBe(200);
      expect(await apps.isAccepted(token)).toBe(false);
      expect((await revoke(client, refreshToken, { token_type_hint: hint })).status).toBe(200);
      expect((await apps.refresh(client, refreshToken)).status).toBe(400);
    }
  });

  it('RFC 7009, 2.2: returns 200 for unknown and revoked tokens', async () => {
    const { access_token: token, refresh_token: refreshToken } = await apps.tokens(client, user.id);
    for (const revoked of ['unknown', 'un.known.token', token, token, refreshToken, refreshToken])
      expect((await revoke(client, revoked)).status).toBe(200);
    const { access_token: late } = await apps.tokens(client, user.id);
    now += 3_600_000;
    expect((await revoke(client, late)).status).toBe(200);
  });

  it('RFC 7009, 2.1: rejects a token of another client, valid or not', async () => {
    const tokens = await apps.tokens(client, user.id);
    const ended = await apps.tokens(client, user.id);
    await revoke(client, ended.access_token);
    await revoke(client, ended.refresh_token);
    for (const token of [...Object.values(pick(tokens)), ...Object.values(pick(ended))]) {
      const { status, body } = await revoke(confidential, token);
      expect([status, body]).toEqual([
        400,
        { error: 'invalid_grant', error_description: 'The token was issued to another client.' },
      ]);
    }
    expect(await apps.isAccepted(tokens.access_token)).toBe(true);
    expect((await apps.refresh(client, tokens.refresh_token)).status).toBe(200);
  });

  it('does not revoke tokens without a client', async () => {
    expect((await revoke(confidential, user.token)).status).toBe(200);
    expect(await apps.isAccepted(user.token)).toBe(true);
    const { token } = await createFixtures(server).token(user.id, { kind: 'jwt', expiresAt: now + 60_000 });
    expect((await revoke(confidential, token)).status).toBe(400);
    expect(await apps.isAccepted(token)).toBe(true);
  });

  it('RFC 7009, 2.1: requires authentication from confidential clients', async () => {
    const { body } = await apps.clientCredentials(confidential);
    const { status, headers } = await apps.post('/oauth/revoke', {
      token: body.access_token,
      client_id: confidential.id,
    });
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toMatch(/^Basic /);
    expect(await apps.isAccepted(body.access_token)).toBe(true);
  });

  it('RFC 7009, 2.2.1: returns errors like the token endpoint', async () => {
    const missing = await apps.post('/oauth/revoke', { client_id: client.id });
    expect([missing.status, missing.body.error]).toEqual([400, 'invalid_request']);
    const twice = await apps.post('/oauth/revoke', [
      ['client_id', client.id],
      ['token', 'a'],
      ['token', 'b'],
    ]);
    expect([twice.status, twice.body.error]).toEqual([400, 'invalid_request']);
    const get = await server.request('GET', '/oauth/revoke?token=a');
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'OPTIONS, POST']);
    for (const { headers } of [missing, twice, get]) {
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('access-control-allow-origin')).toBe('*');
    }
  });

  it('records the revocation without the token', async () => {
    const { access_token: token, refresh_token: refreshToken } = await apps.tokens(client, user.id);
    const before = (await createFixtures(server).auditEvents()).length;
    await revoke(client, token);
    await revoke(client, refreshToken);
    await revoke(client, refreshToken);
    const events = (await createFixtures(server).auditEvents()).slice(before);
    expect(events).toMatchObject([
      { action: 'token.revoke', user_id: user.id, credential_id: client.id },
      { action: 'grant.revoke', user_id: user.id, credential_id: client.id },
    ]);
    expect(JSON.parse(events[1]?.after ?? '')).toMatchObject({ reason: 'revoked-by-client' });
    expect(JSON.stringify(events)).not.toContain(refreshToken);
  });

  it('is compatible with a third-party client library', async () => {
    const as = await apps.discover();
    const { access_token: token } = await apps.tokens(confidential, user.id);
    const proof = oauth.ClientSecretBasic(confidential.secret ?? '');
    const self = { client_id: confidential.id };
    const response = await oauth.revocationRequest(as, self, proof, token, INSECURE);
    await oauth.processRevocationResponse(response);
    expect(await apps.isAccepted(token)).toBe(false);
  });
});

const pick = ({ access_token, refresh_token }: { access_token: string; refresh_token: string }) => ({
  access_token,
  refresh_token,
});
