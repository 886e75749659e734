import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { invitationUrl } from '../../src/auth/account-links.ts';
import { describeInBrowser, signIn, useBrowser, openAccount } from '../harness/browser.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

const NOW = Date.UTC(2026, 5, 1);
const PASSWORD = 'seven green ladders sing';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({}, () => NOW);
});
afterAll(() => server.close());

const HOW = [
  ['with JavaScript', true],
  ['without JavaScript', false],
] as const;

const linkFor = ({ uid }: { uid: string }): string => {
  const { addresses, keys } = server.context;
  return invitationUrl(addresses.clientBaseUrl, keys.secret, { uid, invitedAt: NOW });
};

/** Expects that a page's secret link is neither in the address bar nor in the history, where scripts may run. */
async function expectCleanAddress(page: Page, javaScriptEnabled: boolean): Promise<void> {
  if (javaScriptEnabled) await expect.poll(() => new URL(page.url()).search).toBe('');
}

describeInBrowser('A link that opens an account', () => {
  const open = useBrowser();

  it.each(HOW)('is an invitation, and leads to the first call; %s', async (_how, javaScriptEnabled) => {
    const world = createFixtures(server);
    const organization = await world.organization();
    const invited = await world.invited({ organization: organization.uid, admin: true });
    const link = linkFor(invited);
    const page = await open(server.origin, { javaScriptEnabled });
    await page.goto(link);
    await expectCleanAddress(page, javaScriptEnabled);
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

    const again = await open(server.origin, { javaScriptEnabled });
    await again.goto(link);
    expect(await again.title()).toBe('This invitation is no longer valid - Assay');
  });

  it.each(HOW)(
    'is for a new password, made by an admin, and signs out everywhere else; %s',
    async (_how, javaScriptEnabled) => {
      const world = createFixtures(server);
      const organization = await world.organization();
      const admin = await world.account({ organization: organization.uid, admin: true });
      const account = await world.account({ organization: organization.uid });
      const elsewhere = await open(server.origin);
      await elsewhere.goto('/sign-in');
      await signIn(elsewhere, account);
      await openAccount(elsewhere);

      const office = await open(server.origin, { javaScriptEnabled });
      await office.goto('/account');
      await signIn(office, admin);
      await office.goto(`/account/people/${account.uid}/password-link`);
      await office.getByRole('button', { name: 'Create link' }).click();
      const link = (await office.locator('.secret').textContent()) ?? '';

      const page = await open(server.origin, { javaScriptEnabled });
      await page.goto(link);
      await expectCleanAddress(page, javaScriptEnabled);
      await page.getByLabel('New password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Set password and sign in' }).click();
      await openAccount(page);
      await elsewhere.reload();
      expect(new URL(elsewhere.url()).pathname).toBe('/sign-in');
      await signIn(elsewhere, { email: account.email, password: PASSWORD });
      await elsewhere.waitForURL('**/account');
    },
  );

  it('has no part in the requests of the page that it opens', async () => {
    const world = createFixtures(server);
    const invited = await world.invited({ organization: (await world.organization()).uid });
    const page = await open(server.origin);
    const told: string[] = [];
    page.on('request', (request) => {
      if (!request.isNavigationRequest()) told.push(request.url(), request.headers()['referer'] ?? '');
    });
    await page.goto(linkFor(invited));
    await page.getByLabel('Choose a password').waitFor();
    await page.getByRole('link', { name: 'Assay', exact: true }).click();
    await page.waitForURL(`${server.origin}/sign-in`);
    expect(told.length).toBeGreaterThan(0);
    expect(told.join()).not.toContain(invited.uid);
    await page.goBack();
    expect(page.url()).not.toContain(invited.uid);
  });
});
