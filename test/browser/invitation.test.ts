import { afterAll, beforeAll, expect, it } from 'vitest';
import { invitationUrl } from '../../src/auth/account-links.ts';
import { describeInBrowser, signIn, useBrowser, openAccount } from '../harness/browser.ts';
import { addSession } from '../harness/console.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

const NOW = Date.UTC(2026, 5, 1);
const PASSWORD = 'seven green ladders sing';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({}, () => NOW);
});
afterAll(() => server.close());

const linkFor = ({ uid }: { uid: string }): string => {
  const { addresses, keys } = server.context;
  return invitationUrl(addresses.clientBaseUrl, keys.secret, { uid, invitedAt: NOW });
};

describeInBrowser('Account links', () => {
  const open = useBrowser();

  it('an invited user accepts, creates a token and calls the API with it', async () => {
    const fixtures = createFixtures(server);
    const organization = await fixtures.organization();
    const invited = await fixtures.invited({ organization: organization.uid, admin: true });
    const link = linkFor(invited);
    const page = await open(server.origin);
    await page.goto(link);
    // The secret stays neither in the address bar nor in the history.
    await expect.poll(() => new URL(page.url()).search).toBe('');
    await page.getByLabel('Your name').fill('Ada Example');
    await page.getByLabel('Choose a password').fill('password1234');
    await page.getByRole('button', { name: 'Accept and sign in' }).click();
    const password = page.getByLabel('Choose a password');
    expect(await password.getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ada Example');
    await password.fill(PASSWORD);
    await page.getByRole('button', { name: 'Accept and sign in' }).click();
    await openAccount(page);

    await page.getByRole('navigation').getByRole('link', { name: 'Tokens' }).click();
    await page.getByLabel('Name', { exact: true }).fill('first script');
    await page.getByLabel('Everything I can do').check();
    await page.getByRole('button', { name: 'Create token' }).click();
    const token = (await page.locator('.secret').textContent()) ?? '';
    const call = await server.request('POST', `/api/tagging/v1.0/organizations/${organization.uid}/tags`, {
      token,
      body: { tags: [{ name: 'from the first script' }] },
    });
    expect(call.status).toBe(201);

    await page.getByRole('link', { name: 'Tokens' }).click();
    expect(await page.content()).not.toContain(token);
    await page.getByRole('button', { name: 'Revoke first script' }).click();
    await page.getByText('Token revoked').waitFor();
    expect((await server.request('GET', '/v1/assessments/1/testing_hours', { token })).status).toBe(401);

    const repeated = await open(server.origin);
    await repeated.goto(link);
    expect(await repeated.title()).toBe('This invitation is no longer valid - Assay');
  });

  it('a password link from an admin works without JavaScript, and its use ends all other sessions', async () => {
    const fixtures = createFixtures(server);
    const organization = await fixtures.organization();
    const admin = await fixtures.account({ organization: organization.uid, admin: true });
    const account = await fixtures.account({ organization: organization.uid });
    const otherPage = await open(server.origin);
    await addSession(otherPage, server, account);
    await otherPage.goto('/account');
    await otherPage.getByText(account.email).first().waitFor();

    const adminPage = await open(server.origin, { javaScriptEnabled: false });
    await addSession(adminPage, server, admin);
    await adminPage.goto(`/account/people/${account.uid}/password-link`);
    await adminPage.getByRole('button', { name: 'Create link' }).click();
    const link = (await adminPage.locator('.secret').textContent()) ?? '';

    const page = await open(server.origin, { javaScriptEnabled: false });
    await page.goto(link);
    await page.getByLabel('New password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Set password and sign in' }).click();
    await page.waitForURL((url) => url.pathname === '/', { waitUntil: 'commit' });
    await otherPage.reload();
    expect(new URL(otherPage.url()).pathname).toBe('/sign-in');
    await signIn(otherPage, { email: account.email, password: PASSWORD });
    await otherPage.waitForURL('**/account');
  });

  it('the requests of the opened page do not contain the secret', async () => {
    const fixtures = createFixtures(server);
    const invited = await fixtures.invited({ organization: (await fixtures.organization()).uid });
    const page = await open(server.origin);
    const sent: string[] = [];
    page.on('request', (request) => {
      if (!request.isNavigationRequest()) sent.push(request.url(), request.headers()['referer'] ?? '');
    });
    await page.goto(linkFor(invited));
    await page.getByLabel('Choose a password').waitFor();
    await page.getByRole('link', { name: 'Assay', exact: true }).click();
    await page.waitForURL(`${server.origin}/sign-in`);
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.join()).not.toContain(invited.uid);
    await page.goBack();
    expect(page.url()).not.toContain(invited.uid);
  });
});
