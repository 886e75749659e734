import * as oauth from 'oauth4webapi';
import { describe, expect, it } from 'vitest';
import { SCOPES } from '../../src/auth/scopes.ts';
import { loadConfig } from '../../src/config/config.ts';
import { startSecondServer, useOwnServer, type TestServer } from '../harness/server.ts';
import { applicationsOf } from './applications.ts';

const PATH = '/.well-known/oauth-authorization-server';

const server = await useOwnServer();

async function withServer(
  overrides: Parameters<typeof startSecondServer>[1],
  check: (started: TestServer) => Promise<void>,
): Promise<void> {
  const started = await startSecondServer(server, overrides);
  try {
    await check(started);
  } finally {
    await started.close();
  }
}

describe('Authorization server metadata', () => {
  it('RFC 8414, 2 and 3.2: contains the URLs of the deployment, which are served', async () => {
    const { status, headers, body } = await server.request('GET', PATH);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(headers.get('cache-control')).toBe('public, max-age=300');
    expect(headers.get('access-control-allow-origin')).toBe('*');
    const { origin } = server;
    expect(body).toEqual({
      issuer: origin,
      authorization_endpoint: `${origin}/oauth/authorize`,
      token_endpoint: `${origin}/oauth/token`,
      revocation_endpoint: `${origin}/oauth/revoke`,
      introspection_endpoint: `${origin}/oauth/introspect`,
      jwks_uri: `${origin}/.well-known/jwks.json`,
      scopes_supported: Object.keys(SCOPES),
      response_types_supported: ['code', 'token'],
      response_modes_supported: ['query', 'fragment'],
      grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials', 'implicit'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      service_documentation: `${origin}/docs`,
    });
    expect(body.scopes_supported).toHaveLength(16);
  });

  it('RFC 8414, 2: omits disabled features', () =>
    withServer({ implicitFlow: false }, async (started) => {
      const { body } = await started.request('GET', PATH);
      expect(body.response_types_supported).toEqual(['code']);
      expect(body.response_modes_supported).toEqual(['query']);
      expect(body.grant_types_supported).not.toContain('implicit');
    }));

  it('RFC 8414, 3.3: is found by a third-party client library under the issuer', async () => {
    const as = await applicationsOf(server).discover();
    expect(as.issuer).toBe(server.origin);
    const jwks = await server.request('GET', new URL(as.jwks_uri ?? '').pathname);
    expect(jwks.body.keys).toHaveLength(1);
    expect(jwks.headers.get('access-control-allow-origin')).toBe('*');
  });

  it("RFC 8414, 3.1: is served under the well-known path followed by the issuer's path", () =>
    withServer(
      {
        issuer: 'https://id.example/assay/eu',
        clientBaseUrl: 'https://app.example',
        authUrl: 'https://login.example/authorize',
      },
      async (started) => {
        const { status, body } = await started.request('GET', `${PATH}/assay/eu`);
        expect(status).toBe(200);
        expect(body).toMatchObject({
          issuer: 'https://id.example/assay/eu',
          authorization_endpoint: 'https://login.example/authorize',
          token_endpoint: 'https://app.example/oauth/token',
          jwks_uri: 'https://app.example/.well-known/jwks.json',
        });
        for (const otherPath of ['assay', 'assay/eu/more', 'eu'])
          expect((await started.request('GET', `${PATH}/${otherPath}`)).status).toBe(404);

        const issuer = new URL('https://id.example/assay/eu');
        const fetched = await oauth.discoveryRequest(issuer, {
          algorithm: 'oauth2',
          [oauth.customFetch]: (url) => fetch(started.origin + new URL(url).pathname),
        });
        expect((await oauth.processDiscoveryResponse(issuer, fetched)).issuer).toBe(issuer.href);
      },
    ));

  it('is served at no other path or method', async () => {
    expect((await server.request('GET', `${PATH}/acme`)).status).toBe(404);
    const { status, headers } = await server.request('POST', PATH);
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it.each([
    ['RFC 8414, 2', 'ASSAY_ISSUER', 'https://assay.example/?tenant=1'],
    ['RFC 8414, 2', 'ASSAY_ISSUER', 'https://assay.example/#tenant'],
    ['RFC 8414, 2', 'ASSAY_CLIENT_BASE_URL', 'https://assay.example?'],
    ['RFC 6749, 3.1', 'ASSAY_AUTH_URL', 'https://assay.example/oauth/authorize#here'],
    ['RFC 3986, 3.2.1', 'ASSAY_ISSUER', 'https://user:pass@assay.example'],
  ])('%s: %s rejects %s', (_section, name, value) => {
    expect(() => loadConfig({}, { [name]: value })).toThrow(new RegExp(`^${name} `));
  });

  it.each([
    ['https://assay.example?', 'query'],
    ['https://assay.example/#a', 'fragment'],
  ])('the error of %s names the %s', (value, part) => {
    expect(() => loadConfig({}, { ASSAY_ISSUER: value })).toThrow(`ASSAY_ISSUER must not have a ${part}.`);
  });
});
