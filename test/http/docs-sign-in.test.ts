import { describe, expect, it } from 'vitest';
import { ALL_SCOPES } from '../../src/auth/scopes.ts';
import { authorizePath, decide, PKCE, responseOf, VERIFIER } from '../harness/authorization.ts';
import { useSharedServer } from '../harness/server.ts';
import { createFormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

const server = await useSharedServer();

describe('Documentation sign-in', () => {
  it('offers every scope at this server in both flows', async () => {
    const { body } = await server.request('GET', '/docs/json');
    const { implicit, authorizationCode } = body.components.securitySchemes.oauth2.flows;
    for (const { authorizationUrl, scopes } of [implicit, authorizationCode]) {
      expect(authorizationUrl).toBe(`${server.origin}/oauth/authorize`);
      expect(Object.keys(scopes).sort()).toEqual([...ALL_SCOPES].sort());
    }
    expect(authorizationCode.tokenUrl).toBe(`${server.origin}/oauth/token`);
  });

  it('authorizes as assay-docs, with a redirect page of its own', async () => {
    const { text: page } = await server.request('GET', '/docs');
    const scripts = [...page.matchAll(/<script src="([^"]+)"/g)].map(([, path]) => path ?? '');
    const { text: initializer } = await server.request('GET', '/docs/static/swagger-initializer.js');
    expect(initializer).toMatch(/initOAuth\(\{"clientId":"assay-docs"/);
    // The script that sets the address must run after the initializer.
    const last = await server.request('GET', scripts.at(-1) ?? '');
    expect(last.text).toContain("'/oauth2-redirect.html'");
    expect(scripts.at(-2)).toMatch(/swagger-initializer\.js$/);
  });

  it('serves a redirect page without inline scripts and styles, under the same policy', async () => {
    const { status, headers, text } = await server.request('GET', '/docs/oauth2-redirect.html');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toBe(
      (await server.request('GET', '/docs')).headers.get('content-security-policy'),
    );
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(text).not.toMatch(/<style|style=|<script>|\son[a-z]+=|https?:/);
    const [, script = ''] = /<script src="([^"]+)"/.exec(text) ?? [];
    const source = await server.request('GET', `/docs/${script}`);
    expect([source.status, source.text.includes('window.opener')]).toEqual([200, true]);
  });

  it('grants an admin who selects every scope those that an admin may have', async () => {
    const fixtures = createFixtures(server);
    await fixtures.organization('acmedocs');
    const account = await fixtures.account({ organization: 'acmedocs', admin: true });
    const visitor = createFormClient(server);
    await visitor.signIn(account.email, account.password);
    const redirect_uri = `${server.origin}/docs/oauth2-redirect.html`;
    const path = authorizePath({
      response_type: 'token',
      client_id: 'assay-docs',
      redirect_uri,
      scope: ALL_SCOPES.join(' '),
    });
    const { address, fragment } = responseOf(await decide(visitor, path, 'allow'));
    expect(address).toBe(redirect_uri);
    expect(fragment['scope']).toBe(
      'api api_read tag_ow tag_or tag_lw tag_lr asset_client_ow asset_client_lw asset_or asset_lr',
    );
  });

  it('supports the authorization code flow with PKCE', async () => {
    const fixtures = createFixtures(server);
    const { uid } = await fixtures.organization();
    const account = await fixtures.account({ organization: uid, admin: true });
    const assessment = await fixtures.assessment(uid);
    const visitor = createFormClient(server);
    await visitor.signIn(account.email, account.password);
    const redirect_uri = `${server.origin}/docs/oauth2-redirect.html`;
    const path = authorizePath({
      response_type: 'code',
      client_id: 'assay-docs',
      redirect_uri,
      scope: 'api',
      ...PKCE,
    });
    const { query } = responseOf(await decide(visitor, path, 'allow'));
    // The page sends an empty secret.
    const form = {
      grant_type: 'authorization_code',
      code: query['code'] ?? '',
      client_id: 'assay-docs',
      client_secret: '',
      redirect_uri,
      code_verifier: VERIFIER,
    };
    const { body } = await server.request('POST', '/oauth/token', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      raw: new URLSearchParams(form).toString(),
    });
    const hours = await server.request('GET', `/v1/assessments/${assessment.uid}/testing_hours`, {
      token: body.access_token,
    });
    expect([body.scope, hours.status]).toEqual(['api', 200]);
  });
});
