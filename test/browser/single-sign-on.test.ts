import { afterAll, beforeAll, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { setIdentityProvider } from '../../src/domain/sign-in/identity-providers.ts';
import { callbackUrl, encryptClientSecret } from '../../src/sso/provider-setup.ts';
import { describeInBrowser, useBrowser } from '../harness/browser.ts';
import { startIdentityProvider, type TestIdentityProvider } from '../harness/identity-provider.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

let server: TestServer;
let provider: TestIdentityProvider;
beforeAll(async () => {
  server = await startTestServer();
  const fixtures = createFixtures(server);
  const organization = await fixtures.organization('acme');
  const assessment = await fixtures.assessment(organization.uid);
  provider = await startIdentityProvider({
    redirectUris: [callbackUrl(server.context.addresses, organization.uid)],
  });
  const { db, keys, clock } = server.context;
  await db.write((tx) =>
    setIdentityProvider(tx, cliChangeContext(clock()), organization.uid, {
      issuer: provider.issuer,
      clientId: provider.clientId,
      encryptedSecret: encryptClientSecret(keys.secret, provider.clientSecret),
      domains: ['acme.example'],
      groupsClaim: 'groups',
      adminGroup: 'admins',
      groups: [{ group: 'testers', assessment: assessment.uid }],
      ssoOnly: true,
      trustEmail: false,
    }),
  );
  provider.add({
    sub: 'kim',
    email: 'kim@acme.example',
    email_verified: true,
    name: 'Kim',
    groups: ['admins', 'testers'],
  });
});
afterAll(async () => {
  await server.close();
  await provider.close();
});

describeInBrowser('Single sign-on', () => {
  const open = useBrowser();

  it('creates the account and returns to the requested page; without JavaScript', async () => {
    const page = await open(server.origin, {
      javaScriptEnabled: false,
      otherOrigins: [provider.issuer],
      // The provider of the test signs in this person without a form.
      extraHTTPHeaders: { 'x-person': 'kim' },
    });
    await page.goto('/account/security');
    await page.getByRole('link', { name: 'Sign in with your organization' }).click();
    await page.getByLabel('Email address').fill('kim@acme.example');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('link', { name: 'Continue' }).click();
    await page.waitForURL('**/account/security');
    await page.goto('/account');
    expect(await page.getByText('kim@acme.example').count()).toBeGreaterThan(0);
    await page.getByRole('main').getByText('Admin', { exact: true }).waitFor();
  });

  it('shows an error after a cancellation at the provider', async () => {
    const page = await open(server.origin, { otherOrigins: [provider.issuer] });
    await page.goto('/sign-in/organization');
    await page.getByLabel('Email address').fill('kim@acme.example');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('link', { name: 'Continue' }).click();
    await page.getByText('Your identity provider did not sign you in').waitFor();
    await page.goto('/account');
    expect(new URL(page.url()).pathname).toBe('/sign-in');
  });
});
