import { decodeJwt } from 'jose';
import * as oauth from 'oauth4webapi';
import { describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { banUser } from '../../src/domain/users/ban-user.ts';
import { useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { applicationsOf, INSECURE, type TestClient } from './applications.ts';

const INACTIVE = { active: false };

let now = Date.UTC(2027, 0, 1);
const server = await useSharedServer(() => now);
const apps = applicationsOf(server);
const fixtures = createFixtures(server);
for (const uid of ['acmeintrospection', 'umbraintrospection']) await fixtures.organization(uid);
const user = await fixtures.user({ organization: 'acmeintrospection' });
const app = await apps.client({ kind: 'confidential' });
const clientOf = (account: { id: number }) => apps.client({ kind: 'confidential', userId: account.id });
/** Clients of an admin of the user's organization, of an admin of another one, of staff, and of the user. */
const admins = await clientOf(await fixtures.user({ organization: 'acmeintrospection', admin: true }));
const foreignAdmins = await clientOf(
  await fixtures.user({ organization: 'umbraintrospection', admin: true }),
);
const staffs = await clientOf(await fixtures.user());
const users = await clientOf(user);

const introspect = async (from: TestClient, token: string, fields: Record<string, string> = {}) => {
  const { status, body } = await apps.postAs(from, '/oauth/introspect', { token, ...fields });
  if (status !== 200) throw new Error(`The answer is ${status}.`);
  return body;
};

describe('Introspection endpoint', () => {
  it("RFC 7662, 2.2: describes a client's own access token", async () => {
    const { access_token: token } = await apps.tokens(app, user.id);
    const claims = decodeJwt(token);
    expect(await introspect(app, token)).toEqual({
      active: true,
      scope: 'api tag_lw tag_lr',
      client_id: app.id,
      username: user.email,
      token_type: 'Bearer',
      exp: claims.exp,
      iat: claims.iat,
      sub: user.uid,
      aud: server.origin,
      iss: server.origin,
      jti: claims.jti,
    });
  });

  it("RFC 7662, 2.2: describes a client's own refresh token", async () => {
    const { refresh_token: token } = await apps.tokens(app, user.id);
    expect(await introspect(app, token)).toEqual({
      active: true,
      scope: 'api tag_lw tag_lr',
      client_id: app.id,
      username: user.email,
      exp: now / 1000 + 30 * 86_400,
      iat: now / 1000,
      sub: user.uid,
      iss: server.origin,
      jti: expect.any(String),
    });
  });

  it("RFC 7662, 2.2: describes a personal access token to an admin's client", async () => {
    const { token } = await createFixtures(server).token(user.id, {
      scopes: ['api'],
      allowedAddresses: ['10.0.0.0/8'],
    });
    expect(await introspect(admins, token)).toEqual({
      active: true,
      scope: 'api',
      username: user.email,
      token_type: 'Bearer',
      iat: now / 1000,
      sub: user.uid,
      aud: server.origin,
      iss: server.origin,
      jti: expect.any(String),
      allowed_addresses: ['10.0.0.0/8'],
    });
  });

  it('RFC 7662, 2.1: treats token_type_hint as a hint', async () => {
    const { access_token: token } = await apps.tokens(app, user.id);
    for (const hint of ['refresh_token', 'access_token', 'something_else'])
      expect(await introspect(app, token, { token_type_hint: hint })).toMatchObject({ active: true });
  });

  it('RFC 7662, 2.2: describes tokens of others only to clients of their admins', async () => {
    const { access_token: jwt, refresh_token: refreshToken } = await apps.tokens(app, user.id);
    const { token: created } = await createFixtures(server).token(user.id, {
      kind: 'jwt',
      expiresAt: now + 60_000,
    });
    for (const token of [jwt, refreshToken, created, user.token]) {
      for (const client of [admins, staffs])
        expect(await introspect(client, token)).toMatchObject({ active: true, sub: user.uid });
      for (const client of [foreignAdmins, users]) expect(await introspect(client, token)).toEqual(INACTIVE);
    }
    for (const token of [created, user.token]) expect(await introspect(app, token)).toEqual(INACTIVE);
  });

  it('describes tokens of staff only to clients of staff', async () => {
    const staff = await createFixtures(server).user();
    expect(await introspect(admins, staff.token)).toEqual(INACTIVE);
    expect(await introspect(staffs, staff.token)).toMatchObject({ active: true });
  });

  it('RFC 7662, 2.2: returns only active: false for unknown tokens', async () => {
    const { access_token: token } = await apps.tokens(app, user.id);
    for (const unknown of [
      'unknown',
      'a.b.c',
      `${token}x`,
      `${token.split('.').slice(0, 2).join('.')}.`,
      user.token.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x')),
    ])
      expect(await introspect(staffs, unknown)).toEqual(INACTIVE);
  });

  it('RFC 7662, 4: considers every reason for which a token has ended', async () => {
    const revoked = await apps.tokens(app, user.id);
    await apps.postAs(app, '/oauth/revoke', { token: revoked.refresh_token });
    for (const token of [revoked.access_token, revoked.refresh_token])
      expect(await introspect(app, token)).toEqual(INACTIVE);

    const used = await apps.tokens(app, user.id);
    await apps.refresh(app, used.refresh_token);
    expect(await introspect(app, used.refresh_token)).toEqual(INACTIVE);
    expect(await introspect(app, used.access_token)).toMatchObject({ active: true });

    const otherUser = await fixtures.user({ organization: 'acmeintrospection' });
    const banned = await apps.tokens(app, otherUser.id);
    await server.context.db.write((tx) => banUser(tx, cliChangeContext(now), otherUser.id));
    for (const token of [banned.access_token, banned.refresh_token, otherUser.token])
      expect(await introspect(app, token)).toEqual(INACTIVE);
    expect(await introspect(staffs, otherUser.token)).toEqual(INACTIVE);

    const lateTokens = await apps.tokens(app, user.id);
    now += 3_600_000;
    expect(await introspect(app, lateTokens.access_token)).toEqual(INACTIVE);
    expect(await introspect(app, lateTokens.refresh_token)).toMatchObject({ active: true });
    now += 30 * 86_400_000;
    expect(await introspect(app, lateTokens.refresh_token)).toEqual(INACTIVE);
  });

  it('returns the scopes that the account has now', async () => {
    const { db } = server.context;
    const admin = await createFixtures(server).user({ organization: 'acmeintrospection', admin: true });
    const { access_token: token } = await apps.tokens(app, admin.id, { scopes: ['api', 'tag_ow'] });
    expect(await introspect(app, token)).toMatchObject({ scope: 'api tag_ow' });
    await db.write((tx) => tx.updateTable('users').set({ admin: 0 }).where('id', '=', admin.id).execute());
    expect(await introspect(app, token)).toMatchObject({ scope: 'api' });
  });

  it('describes no tokens of others to a client of a banned account', async () => {
    const admin = await createFixtures(server).user({ organization: 'acmeintrospection', admin: true });
    const client = await apps.client({ kind: 'confidential', userId: admin.id });
    const { access_token: ownToken } = await apps.tokens(client, user.id);
    expect(await introspect(client, user.token)).toMatchObject({ active: true });
    await server.context.db.write((tx) => banUser(tx, cliChangeContext(now), admin.id));
    expect(await introspect(client, user.token)).toEqual(INACTIVE);
    expect(await introspect(client, ownToken)).toMatchObject({ active: true });
  });

  it('RFC 7662, 2.1: requires an authenticated confidential client', async () => {
    const browser = await apps.client();
    const { access_token: token } = await apps.tokens(browser, user.id);
    const attempts = [
      await apps.postAs(browser, '/oauth/introspect', { token }),
      await apps.post('/oauth/introspect', { token, client_id: app.id }),
      await apps.post('/oauth/introspect', { token, client_id: app.id, client_secret: 'wrong' }),
      await apps.post('/oauth/introspect', { token }),
      await apps.post('/oauth/introspect', { token }, { authorization: `Bearer ${user.token}` }),
    ];
    for (const { status, headers, body } of attempts) {
      expect([status, body.error]).toEqual([401, 'invalid_client']);
      expect(headers.get('www-authenticate')).toMatch(/^Basic /);
    }
  });

  it('RFC 7662, 2.1: accepts only POST with a token', async () => {
    const { status, headers } = await server.request('GET', `/oauth/introspect?token=${user.token}`);
    expect([status, headers.get('allow')]).toEqual([405, 'POST']);
    const missing = await apps.postAs(app, '/oauth/introspect', {});
    expect([missing.status, missing.body.error]).toEqual([400, 'invalid_request']);
    expect(missing.headers.get('access-control-allow-origin')).toBeNull();
    expect(JSON.stringify(server.logs())).not.toContain(user.token);
  });

  it('is compatible with a third-party client library', async () => {
    const as = await apps.discover();
    const { access_token: token } = await apps.tokens(app, user.id);
    const self = { client_id: app.id };
    const proof = oauth.ClientSecretPost(app.secret ?? '');
    const response = await oauth.introspectionRequest(as, self, proof, token, INSECURE);
    expect(await oauth.processIntrospectionResponse(as, self, response)).toMatchObject({
      active: true,
      sub: user.uid,
    });
  });
});
