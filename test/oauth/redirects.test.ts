import { describe, expect, it } from 'vitest';
import { authorizePath, CALLBACK, decide, PKCE, responseOf } from '../harness/authorization.ts';
import { useSharedServer } from '../harness/server.ts';
import { createFormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

const server = await useSharedServer();
const account = await createFixtures(server).account();
const visitor = createFormClient(server);
await visitor.signIn(account.email, account.password);

/** Whether a request with a redirect URI is answered there, for a client with these registered redirect URIs. */
async function isAnsweredAt(registered: string[], requested: string): Promise<boolean> {
  const { id } = await createFixtures(server).client({ redirectUris: registered });
  // Errors redirect to the client without a consent page.
  const response = await visitor.get(
    authorizePath({ response_type: 'code', client_id: id, redirect_uri: requested }),
  );
  if (response.status === 400) {
    expect(response.location).toBeUndefined();
    return false;
  }
  expect(response.headers.get('location')?.startsWith(requested)).toBe(true);
  return true;
}

describe('Redirect URI', () => {
  it.each([
    ['user information', 'https://app.example@evil.example/callback'],
    ['user information before its own host', 'https://evil.example@app.example/callback'],
    ['another host with the same prefix', 'https://app.example.evil.example/callback'],
    ['a subdomain', 'https://evil.app.example/callback'],
    ['a host in upper case', 'https://APP.example/callback'],
    ['a scheme in upper case', 'HTTPS://app.example/callback'],
    ['a path in upper case', 'https://app.example/Callback'],
    ['another scheme', 'http://app.example/callback'],
    ['a port', 'https://app.example:8443/callback'],
    ['the default port', 'https://app.example:443/callback'],
    ['a trailing slash', 'https://app.example/callback/'],
    ['a subpath', 'https://app.example/callback/more'],
    ['a parent path', 'https://app.example/'],
    ['a path traversal', 'https://app.example/callback/../callback'],
    ['an encoded path traversal', 'https://app.example/callback/%2e%2e/evil'],
    ['an encoded character', 'https://app.example/%63allback'],
    ['an encoded slash', 'https://app.example%2Fcallback'],
    ['a doubled slash', 'https://app.example//callback'],
    ['a backslash', 'https://app.example\\callback'],
    ['a backslash and another host', 'https://evil.example\\@app.example/callback'],
    ['an extra query', 'https://app.example/callback?next=https://evil.example'],
    ['an empty query', 'https://app.example/callback?'],
    ['a fragment', 'https://app.example/callback#fragment'],
    ['an empty fragment', 'https://app.example/callback#'],
    ['a path parameter', 'https://app.example/callback;x'],
    ['a leading space', ' https://app.example/callback'],
    ['a trailing line break', 'https://app.example/callback\n'],
    ['a NUL character', 'https://app.example/callback\0'],
    ['lookalike characters', 'https://app.ехample/callback'],
    ['an asterisk', 'https://*.example/callback'],
  ])('RFC 9700, 4.1.3: is rejected with %s', async (_title, requested) => {
    expect(await isAnsweredAt([CALLBACK], requested)).toBe(false);
  });

  it('RFC 9700, 4.1.3: is compared as a string', async () => {
    expect(await isAnsweredAt([CALLBACK], CALLBACK)).toBe(true);
    expect(await isAnsweredAt(['https://app.example/cb?a=1', CALLBACK], 'https://app.example/cb?a=1')).toBe(
      true,
    );
  });

  it.each([
    ['http://127.0.0.1/cb', 'http://127.0.0.1:51004/cb', true],
    ['http://127.0.0.1:8080/cb', 'http://127.0.0.1:51004/cb', true],
    ['http://127.0.0.1:8080/cb', 'http://127.0.0.1/cb', true],
    ['http://[::1]/cb', 'http://[::1]:51004/cb', true],
    ['http://localhost/cb?x=1', 'http://localhost:51004/cb?x=1', true],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:51004/cb/', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:51004/cb?x', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:51004@evil.example/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:99999/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.2:51004/cb', false],
    ['http://127.0.0.1/cb', 'http://127.1:51004/cb', false],
    ['http://127.0.0.1/cb', 'http://2130706433:51004/cb', false],
    ['http://127.0.0.1/cb', 'http://[::1]:51004/cb', false],
    ['http://127.0.0.1/cb', 'http://localhost:51004/cb', false],
    ['http://127.0.0.1/cb', 'https://127.0.0.1:51004/cb', false],
    ['http://localhost/cb', 'http://localhost.evil.example:51004/cb', false],
    ['https://localhost:8443/cb', 'https://localhost:9443/cb', false],
  ])('RFC 8252, 7.3: registered as %s, accepts %s: %s', async (registered, requested, isAccepted) => {
    expect(await isAnsweredAt([registered], requested)).toBe(isAccepted);
  });

  it.each([
    ['com.example.app:/callback', true],
    ['com.example.app:/Callback', false],
    ['com.example.app:/callback?x', false],
    ['com.example.app://callback', false],
  ])(
    'RFC 8252, 8.4: with a private-use scheme is compared exactly: %s: %s',
    async (requested, isAccepted) => {
      expect(await isAnsweredAt(['com.example.app:/callback'], requested)).toBe(isAccepted);
    },
  );

  it.each([
    ['3.1.2: must be absolute', '/callback', 'absolute'],
    ['3.1.2: must be absolute', 'app.example/callback', 'absolute'],
    ['3.1.2: must have no fragment', 'https://app.example/callback#x', 'fragment'],
    ['3.1.2: must have no empty fragment', 'https://app.example/callback#', 'fragment'],
    ['3.1.2.1: must use https', 'http://app.example/callback', 'https'],
    ['3.1: must not contain response parameters', 'https://app.example/callback?code=1', 'parameter'],
    ['3.1.2: must be a URI', 'https://app.example/call back', 'absolute'],
    ['3.1.2: must have only URI characters', 'https://app.example/caf\u00e9', 'characters'],
    ['3.1.2: must have only URI characters', 'https://b\u00fcro.example/callback', 'characters'],
    ['3.1.2: must have only URI characters', 'https://app.example/\x01', 'characters'],
    ['3.1.2: must have only URI characters', 'https://app.example/<callback>', 'characters'],
    ['3.1.2: must be absolute', 'https:app.example/callback', 'absolute'],
    ['3.1.2: must be absolute with a normalized host', 'https:///app.example/callback', 'absolute'],
    ['3.1.2: must not be a script', 'javascript:alert(1)', 'https'],
    ['3.1.2: must not be data', 'data:text/html,x', 'https'],
    ['3.1.2: must not have a password', 'https://user:pass@app.example/callback', 'user name'],
  ])('RFC 6749, %s: not %s', async (_title, uri, reason) => {
    await expect(createFixtures(server).client({ redirectUris: [CALLBACK, uri] })).rejects.toThrow(
      expect.objectContaining({
        kind: 'invalid',
        message: expect.stringContaining(reason),
        fieldErrors: [expect.objectContaining({ property: 'redirectUris.1', value: uri })],
      }),
    );
  });

  it('RFC 8252, 8.4: with a private-use scheme requires a dot in it', async () => {
    await expect(createFixtures(server).client({ redirectUris: ['myapp:/callback'] })).rejects.toThrow(
      /scheme/,
    );
  });
});

describe('Authorization pages', () => {
  const path = async (redirect = CALLBACK) => {
    const { id } = await createFixtures(server).client({ redirectUris: [redirect] });
    return authorizePath({ response_type: 'code', client_id: id, redirect_uri: redirect, ...PKCE });
  };

  it('RFC 9700, 4.16: cannot be framed', async () => {
    for (const page of [await visitor.get(await path()), await visitor.get('/oauth/authorize')]) {
      expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(page.headers.get('x-frame-options')).toBe('DENY');
    }
  });

  it('RFC 9700, 4.2.4: send no referrer, load no third-party content, and are not cached', async () => {
    const { headers, text } = await visitor.get(await path());
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    const loaded = [...text.matchAll(/<(?:link|script|img)[^>]+(?:href|src)="([^"]*)"/g)].map(
      ([, url]) => url,
    );
    expect(loaded.length).toBeGreaterThan(0);
    expect(loaded.filter((url) => !/^\/(?:assets|console\/files)\//.test(url ?? ''))).toEqual([]);
  });

  it.each([
    [CALLBACK, "form-action 'self' https://app.example;"],
    ['http://127.0.0.1:9000/cb', "form-action 'self' http://127.0.0.1:9000;"],
    // A policy can name neither an IPv6 address nor a host with an underscore.
    ['http://[::1]:9000/cb', "form-action 'self' http:;"],
    ['https://my_app.example/cb', "form-action 'self' https:;"],
    ['com.example.app:/callback', "form-action 'self' com.example.app:;"],
  ])('allow forms to redirect only to %s', async (redirect, directive) => {
    const { headers } = await visitor.get(await path(redirect));
    expect(headers.get('content-security-policy')).toContain(directive);
    const request = await path(redirect);
    const signIn = await createFormClient(server).open(request);
    expect(signIn.headers.get('content-security-policy')).toContain(directive);
    const leftOut = await createFormClient(server).open(
      request.replace(`&redirect_uri=${encodeURIComponent(redirect)}`, ''),
    );
    expect(leftOut.headers.get('content-security-policy')).toContain(directive);
  });

  it('RFC 9700, 4.12: redirect with 303, so that browsers do not resend the form', async () => {
    const response = await decide(visitor, await path(), 'allow');
    expect(response.status).toBe(303);
  });

  it('RFC 9700, 2.6: allow no scripts of other origins', async () => {
    const { headers } = await visitor.get(await path(), { origin: 'https://evil.example' });
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  it('RFC 9700, 4.7: reject decisions from other origins', async () => {
    const request = await path();
    await visitor.open(request);
    const forged = await visitor.post(request, { decision: 'allow' }, { origin: 'https://evil.example' });
    expect([forged.status, forged.location]).toEqual([403, undefined]);
  });

  it('RFC 9207, 2: return the issuer in every response (RFC 9700, 4.4)', async () => {
    const { iss } = responseOf(await decide(visitor, await path(), 'deny')).query;
    expect(iss).toBe(server.context.addresses.issuer);
    expect(iss).toMatch(/^https?:\/\/[^?#]+$/);
  });
});
