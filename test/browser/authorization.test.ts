import * as oauth from 'oauth4webapi';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { DOCS_CLIENT } from '../../src/domain/tokens/oauth-clients.ts';
import {
  type CallbackServer,
  REGISTERED_REDIRECT_URI,
  startCallbackServer,
} from '../harness/oauth-callback-server.ts';
import { describeInBrowser, signIn, useBrowser } from '../harness/browser.ts';
import { startSecondServer, startTestServer, type TestServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

let server: TestServer;
let application: CallbackServer;
beforeAll(async () => {
  server = await startTestServer();
  application = await startCallbackServer();
});
afterAll(async () => {
  await application.close();
  await server.close();
});

/** Creates an admin, and an application that asks them for access. */
async function createApplication() {
  const fixtures = createFixtures(server);
  const organization = await fixtures.organization();
  const account = await fixtures.account({ organization: organization.uid, admin: true });
  const client = await fixtures.client({
    name: 'Release <b>checker</b>',
    redirectUris: [REGISTERED_REDIRECT_URI],
    implicit: true,
  });
  return { organization, account, client };
}

describeInBrowser('Authorization request', () => {
  const open = useBrowser();

  it('shows the application and its scopes, and asks a program of the machine each time; without JavaScript', async () => {
    const { account, client } = await createApplication();
    const page = await open(server.origin, { javaScriptEnabled: false, otherOrigins: [application.origin] });
    const request = new URL('/oauth/authorize', server.origin);
    request.search = new URLSearchParams({
      response_type: 'token',
      client_id: client.id,
      redirect_uri: application.redirectUri,
      scope: 'tag_ow tag_or',
      state: 'a & b = c',
    }).toString();
    await page.goto(request.href);
    await signIn(page, account);
    await page.getByText('Release <b>checker</b>').first().waitFor();
    expect(await page.getByText(account.email).count()).toBeGreaterThan(0);
    expect(await page.locator('ul.bullets code').allTextContents()).toEqual(['tag_ow', 'tag_or']);
    await page.getByRole('button', { name: 'Allow' }).click();
    const response = new URLSearchParams((await application.redirectIn(page)).hash.slice(1));
    expect(Object.fromEntries(response)).toMatchObject({
      token_type: 'Bearer',
      state: 'a & b = c',
      iss: server.context.addresses.issuer,
    });

    await page.goto(request.href);
    await page.getByText('you are asked each time').waitFor();
    await page.getByRole('button', { name: 'Allow' }).click();
    const fragment = new URLSearchParams((await application.redirectIn(page)).hash.slice(1));
    expect(fragment.get('access_token')).toMatch(/^ey/);

    await page.goto(`${server.origin}/account/applications`);
    await page.getByRole('button', { name: /^Remove access/ }).click();
    await page.getByText('No application has access').waitFor();
    await page.goto(request.href);
    await page.getByRole('button', { name: 'Allow' }).waitFor();
  });

  it('returns access_denied to the application after a denial', async () => {
    const { account, client } = await createApplication();
    const page = await open(server.origin, { otherOrigins: [application.origin] });
    const request = new URLSearchParams({
      response_type: 'token',
      client_id: client.id,
      redirect_uri: application.redirectUri,
      state: 'denied',
    });
    await page.goto(`/oauth/authorize?${request}`);
    await signIn(page, account);
    await page.getByRole('button', { name: 'Deny' }).click();
    const response = new URLSearchParams((await application.redirectIn(page)).hash.slice(1));
    expect(response.get('error')).toBe('access_denied');
    expect(response.get('state')).toBe('denied');
    expect(response.has('access_token')).toBe(false);
  });

  it('works with oauth4webapi: code with PKCE, a call, refresh, revocation', async () => {
    const { organization, account, client } = await createApplication();
    const insecure = { [oauth.allowInsecureRequests]: true };
    const issuer = new URL(server.context.addresses.issuer);
    const metadata = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
    );
    const app = { client_id: client.id };
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const request = new URL(metadata.authorization_endpoint ?? '');
    request.search = new URLSearchParams({
      response_type: 'code',
      client_id: client.id,
      redirect_uri: application.redirectUri,
      scope: 'tag_ow',
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }).toString();

    const page = await open(server.origin, { otherOrigins: [application.origin] });
    await page.goto(request.href);
    await signIn(page, account);
    await page.getByRole('button', { name: 'Allow' }).click();
    const parameters = oauth.validateAuthResponse(metadata, app, await application.redirectIn(page), state);

    const tokens = await oauth.processAuthorizationCodeResponse(
      metadata,
      app,
      await oauth.authorizationCodeGrantRequest(
        metadata,
        app,
        oauth.None(),
        parameters,
        application.redirectUri,
        verifier,
        insecure,
      ),
    );
    const create = (token: string, name: string) =>
      oauth.protectedResourceRequest(
        token,
        'POST',
        new URL(`/api/tagging/v1.0/organizations/${organization.uid}/tags`, server.origin),
        new Headers({ 'content-type': 'application/json' }),
        JSON.stringify({ tags: [{ name }] }),
        insecure,
      );
    expect((await create(tokens.access_token, 'first')).status).toBe(201);

    const refreshed = await oauth.processRefreshTokenResponse(
      metadata,
      app,
      await oauth.refreshTokenGrantRequest(metadata, app, oauth.None(), tokens.refresh_token ?? '', insecure),
    );
    expect((await create(refreshed.access_token, 'second')).status).toBe(201);

    await oauth.processRevocationResponse(
      await oauth.revocationRequest(metadata, app, oauth.None(), refreshed.access_token, insecure),
    );
    await expect(create(refreshed.access_token, 'third')).rejects.toMatchObject({ status: 401 });
  });

  it('of the API reference: Authorize and "Try it out" work', async () => {
    const { organization, account } = await createApplication();
    // Swagger UI renders every operation at each step: few of them keep the test short.
    const reference = await startSecondServer(server, { areas: ['tagging'] });
    onTestFinished(reference.close);
    const page = await open(reference.origin);
    await page.goto('/docs');
    await page.getByRole('button', { name: 'Authorize' }).first().click();
    const dialog = page.locator('.auth-container', { hasText: 'implicit' });
    await dialog.getByText('tag_ow', { exact: true }).click();
    expect(await dialog.getByLabel('client_id').inputValue()).toBe(DOCS_CLIENT);
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      dialog.getByRole('button', { name: 'Apply given OAuth2 credentials' }).click(),
    ]);
    await signIn(popup, account);
    await Promise.all([popup.waitForEvent('close'), popup.getByRole('button', { name: 'Allow' }).click()]);
    await dialog.getByText('Authorized').first().waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();

    const operation = page.locator('.opblock-post', {
      hasText: '/api/tagging/v1.0/organizations/{orgUid}/tags',
    });
    await operation.locator('.opblock-summary-control').click();
    await operation.getByRole('button', { name: 'Try it out' }).click();
    await operation.getByPlaceholder('orgUid').fill(organization.uid);
    await operation.locator('textarea').fill(JSON.stringify({ tags: [{ name: 'from the page' }] }));
    await operation.getByRole('button', { name: 'Execute' }).click();
    const status = operation.locator('.live-responses-table .response .response-col_status');
    await status.waitFor();
    expect((await status.textContent())?.trim()).toBe('201');
  });
});
