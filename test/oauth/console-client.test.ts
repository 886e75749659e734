import { describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { banUser } from '../../src/domain/users/ban-user.ts';
import { authorizePath, CALLBACK, PKCE, VERIFIER } from '../harness/authorization.ts';
import { useSharedServer } from '../harness/server.ts';
import { createFormClient, type FormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { applicationsOf } from './applications.ts';

const CLIENT = 'assay-console';

const server = await useSharedServer();
const apps = applicationsOf(server);

/** A new user who is signed in, in the given number of browsers. */
async function signedIn(browsers = 1) {
  const account = await createFixtures(server).account({
    organization: (await createFixtures(server).organization()).uid,
  });
  const visitors = Array.from({ length: browsers }, () => createFormClient(server));
  for (const visitor of visitors) await visitor.signIn(account.email, account.password);
  const [visitor] = visitors as [FormClient];
  return { account, visitor, visitors };
}

const redirect = () => `${server.origin}/signed-in`;
const authorizationPath = (change: Record<string, string | undefined> = {}) =>
  authorizePath({
    response_type: 'code',
    client_id: CLIENT,
    redirect_uri: redirect(),
    state: 'abc',
    ...PKCE,
    ...change,
  });

const redeem = (code: string, verifier = VERIFIER) =>
  apps.post('/oauth/token', {
    grant_type: 'authorization_code',
    client_id: CLIENT,
    redirect_uri: redirect(),
    code,
    code_verifier: verifier,
  });

/** Obtains a token as the console does when its page loads. */
async function tokenOf(visitor: FormClient): Promise<string> {
  const { location } = await visitor.get(authorizationPath());
  const { status, body } = await redeem(new URL(location ?? '').searchParams.get('code') ?? '');
  expect(status).toBe(200);
  return body.access_token as string;
}

/** Submits the sign-out form of the console's account menu. */
async function signOut(visitor: FormClient) {
  const { text } = await visitor.get('/');
  const token = /<meta name="form-token" content="([^"]+)"/.exec(text)?.[1] ?? '';
  expect(token).not.toBe('');
  return visitor.post('/sign-out', { _csrf: token });
}

const isRefused = async (token: string) =>
  (await server.request('GET', '/v1/users/whoami', { token })).status === 401;

describe('Console as an OAuth client', () => {
  it.each(['http://127.0.0.1:9/signed-in', 'http://localhost:9/signed-in', 'http://localhost/signed-in'])(
    'gets no code at another port of this machine: %s',
    async (redirect_uri) => {
      const { visitor } = await signedIn();
      const { status, location, text } = await visitor.get(authorizationPath({ redirect_uri }));
      expect([status, location]).toEqual([400, undefined]);
      expect(text).toContain(`Open it at ${server.origin}`);
    },
  );

  it('has both names of a deployment on this machine as an address', async () => {
    const { visitor } = await signedIn();
    const redirect_uri = redirect().replace('127.0.0.1', 'localhost');
    const { location } = await visitor.get(authorizationPath({ redirect_uri }));
    expect(location?.startsWith(`${redirect_uri}?code=`)).toBe(true);
  });

  it('gets a code without a consent page, and for it an access token without a refresh token', async () => {
    const { account, visitor } = await signedIn();
    const { status, location } = await visitor.get(authorizationPath());
    expect(status).toBe(303);
    const response = new URL(location ?? '');
    expect(response.origin + response.pathname).toBe(redirect());
    expect(response.searchParams.get('state')).toBe('abc');
    const { body } = await redeem(response.searchParams.get('code') ?? '');
    expect(body).not.toHaveProperty('refresh_token');
    const whoami = await server.request('GET', '/v1/users/whoami', { token: body.access_token });
    expect(whoami.body).toMatchObject({ email: account.email });
    // The console has the scopes of its user.
    expect(whoami.body.scopes).toContain('api');
  });

  it('has an empty page as redirect URI', async () => {
    const { status, text } = await createFormClient(server).get('/signed-in?code=x');
    expect({ status, text }).toEqual({ status: 204, text: '' });
  });

  it('gets no token without the code verifier, nor twice for a code', async () => {
    const { visitor } = await signedIn();
    const code =
      new URL((await visitor.get(authorizationPath())).location ?? '').searchParams.get('code') ?? '';
    expect((await redeem(code, 'x'.repeat(43))).body).toMatchObject({ error: 'invalid_grant' });
    const next =
      new URL((await visitor.get(authorizationPath())).location ?? '').searchParams.get('code') ?? '';
    expect((await redeem(next)).status).toBe(200);
    expect((await redeem(next)).body).toMatchObject({ error: 'invalid_grant' });
  });

  it('is rejected without PKCE, with another flow and with another redirect URI', async () => {
    const { visitor } = await signedIn();
    const authorize = async (change: Record<string, string | undefined>) =>
      visitor.get(authorizationPath(change));
    const plain = await authorize({ code_challenge: undefined, code_challenge_method: undefined });
    expect(new URL(plain.location ?? '').searchParams.get('error')).toBe('invalid_request');
    expect(plain.location).not.toContain('code=');
    for (const response_type of ['token', 'id_token']) {
      const { location = '' } = await authorize({ response_type });
      expect(location).not.toContain('access_token');
    }
    for (const redirect_uri of [
      CALLBACK,
      'https://elsewhere.example/signed-in',
      `${server.origin}/signed-in/more`,
      `${server.origin}/account`,
      `${server.origin}.elsewhere.example/signed-in`,
    ]) {
      const { status, location } = await authorize({ redirect_uri });
      expect({ redirect_uri, status, location }).toEqual({ redirect_uri, status: 400, location: undefined });
    }
  });

  it('has a redirect URI that other clients cannot use', async () => {
    const { visitor } = await signedIn();
    const { id } = await createFixtures(server).client();
    const { status, location } = await visitor.get(authorizationPath({ client_id: id }));
    expect({ status, location }).toEqual({ status: 400, location: undefined });
  });

  it('redirects anonymous users to the sign-in without a code', async () => {
    const { location } = await createFormClient(server).get(authorizationPath());
    expect(new URL(location ?? '').pathname).toBe('/sign-in');
  });
});

describe('Console token', () => {
  it('is revoked when its session signs out', async () => {
    const { visitor } = await signedIn();
    const token = await tokenOf(visitor);
    expect(await isRefused(token)).toBe(false);
    const { status, location } = await signOut(visitor);
    expect(status).toBe(303);
    expect(new URL(location ?? '').pathname).toBe('/sign-in');
    expect(await isRefused(token)).toBe(true);
    expect(new URL((await visitor.get(authorizationPath())).location ?? '').pathname).toBe('/sign-in');
  });

  it('is not issued for a code of an ended session', async () => {
    const { visitor } = await signedIn();
    const code =
      new URL((await visitor.get(authorizationPath())).location ?? '').searchParams.get('code') ?? '';
    await signOut(visitor);
    expect((await redeem(code)).body).toMatchObject({ error: 'invalid_grant' });
  });

  it('is revoked with the others of its session when its code is reused', async () => {
    const { visitor } = await signedIn();
    const first = await tokenOf(visitor);
    const code =
      new URL((await visitor.get(authorizationPath())).location ?? '').searchParams.get('code') ?? '';
    expect((await redeem(code)).status).toBe(200);
    expect((await redeem(code)).body).toMatchObject({ error: 'invalid_grant' });
    expect(await isRefused(first)).toBe(true);
  });

  it('is recorded through its session, whose id is the credential of its changes', async () => {
    const { account, visitor } = await signedIn();
    const token = await tokenOf(visitor);
    await tokenOf(visitor);
    const body = { name: 'Made in the console' };
    expect((await server.request('POST', '/v1/tokens', { token, body })).status).toBe(201);
    const events = (await createFixtures(server).auditEvents()).filter(
      ({ user_id }) => user_id === account.id,
    );
    expect(events.map(({ action }) => action)).toEqual(['session.start', 'token.create']);
    expect(events[1]?.credential_id).toBe(events[0]?.object_id);
  });

  it('is not revoked by a sign-out form without a CSRF token', async () => {
    const { visitor } = await signedIn();
    const token = await tokenOf(visitor);
    expect((await visitor.post('/sign-out', {})).status).toBe(403);
    expect((await visitor.post('/sign-out', { _csrf: 'made up' })).status).toBe(403);
    expect(await isRefused(token)).toBe(false);
  });

  it('is revoked with another session of the same user, and reissued in a session that continues', async () => {
    const { visitors } = await signedIn(2);
    const [firstVisitor, secondVisitor] = visitors as [FormClient, FormClient];
    const token = await tokenOf(secondVisitor);
    await signOut(firstVisitor);
    expect(await isRefused(token)).toBe(true);
    expect(await isRefused(await tokenOf(secondVisitor))).toBe(false);
  });

  it('is revoked when its user is banned, who gets no other', async () => {
    const { account, visitor } = await signedIn();
    const token = await tokenOf(visitor);
    await server.context.db.write((tx) => banUser(tx, cliChangeContext(server.context.clock()), account.id));
    expect(await isRefused(token)).toBe(true);
    expect(new URL((await visitor.get(authorizationPath())).location ?? '').pathname).toBe('/sign-in');
  });
});

describe('Console page', () => {
  it('redirects anonymous users to the sign-in, and back', async () => {
    const { status, location } = await createFormClient(server).get(
      '/vulnerabilities?severity=%5B%22High%22%5D',
    );
    expect(status).toBe(303);
    const to = new URL(location ?? '');
    expect(to.pathname).toBe('/sign-in');
    expect(to.searchParams.get('to')).toBe('/vulnerabilities?severity=%5B%22High%22%5D');
  });

  it('is not cached, not framed, and runs only its own script', async () => {
    const { visitor } = await signedIn();
    const { headers, text } = await visitor.get('/');
    expect(headers.get('cache-control')).toBe('no-store');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|data:|https?:/);
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=/);
  });

  it('serves immutable assets, compressed or not, and no other files', async () => {
    const { visitor } = await signedIn();
    const { text } = await visitor.get('/');
    const script = /src="(\/console\/files\/[^"]+\.js)"/.exec(text)?.[1] ?? '';
    const style = /href="(\/console\/files\/[^"]+\.css)"/.exec(text)?.[1] ?? '';
    for (const [path, type] of [
      [script, 'text/javascript'],
      [style, 'text/css'],
    ] as const) {
      const plain = await server.request('GET', path, { headers: { 'accept-encoding': 'identity' } });
      expect(plain.status).toBe(200);
      expect(plain.headers.get('content-type')).toContain(type);
      expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(plain.headers.get('x-content-type-options')).toBe('nosniff');
      expect(plain.headers.get('vary')).toContain('accept-encoding');
      expect(plain.headers.get('content-encoding')).toBeNull();
      const compressed = await server.request('GET', path, { headers: { 'accept-encoding': 'br' } });
      expect(compressed.headers.get('content-encoding')).toBe('br');
      expect(compressed.text).toBe(plain.text);
    }
    for (const path of [
      '/console/files/none.js',
      '/console/files/..%2findex.html',
      `${script}.br`,
      '/console/files/',
      '/console/index.html',
    ]) {
      const { status } = await server.request('GET', path);
      expect({ path, status }).toEqual({ path, status: 404 });
    }
  });
});
