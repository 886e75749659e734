import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, signIn, useBrowser, openAccount } from '../harness/browser.ts';
import { addSession } from '../harness/console.ts';
import { createFormClient } from '../harness/form-client.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

const DENIED =
  'The email address or password is wrong, or there were too many attempts. Check both, or wait ten minutes.';

let server: TestServer;
let now = Date.UTC(2026, 5, 1);
beforeAll(async () => {
  server = await startTestServer({}, () => now);
});
afterAll(() => server.close());

describeInBrowser('Sign-in', () => {
  const open = useBrowser();

  it('returns to the requested page, and signs out; without JavaScript', async () => {
    const account = await createFixtures(server).account();
    const page = await open(server.origin, { javaScriptEnabled: false });
    await page.goto('/account/sessions');
    expect(await page.title()).toBe('Sign in - Assay');
    await signIn(page, account);
    await page.waitForURL('**/account/sessions');
    expect(await page.getByText(account.email).count()).toBeGreaterThan(0);

    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.waitForURL('**/sign-in');
    expect(await page.context().cookies()).not.toContainEqual(
      expect.objectContaining({ name: 'assay-session' }),
    );
    await page.goto('/account');
    expect(new URL(page.url()).pathname).toBe('/sign-in');
  });

  it('works with the keyboard', async () => {
    const account = await createFixtures(server).account();
    const page = await open(server.origin);
    await page.goto('/sign-in');
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('email');
    await page.keyboard.type(account.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(account.password);
    await page.keyboard.press('Enter');
    await openAccount(page);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => new URL(page.url()).hash).toBe('#content');
  });

  it('shows an error, keeps the email address, and focuses the password', async () => {
    const account = await createFixtures(server).account();
    const page = await open(server.origin);
    await page.goto('/sign-in');
    await signIn(page, { email: account.email, password: 'not the password' });
    expect(await page.getByRole('alert').textContent()).toBe(DENIED);
    expect(await page.getByLabel('Email address').inputValue()).toBe(account.email);
    const password = page.getByLabel('Password', { exact: true });
    expect(await password.inputValue()).toBe('');
    expect(await page.evaluate('document.activeElement.id')).toBe('password');
    await password.fill(account.password);
    await page.keyboard.press('Enter');
    await openAccount(page);
  });

  it('is locked for ten minutes after ten failures', async () => {
    const account = await createFixtures(server).account();
    const client = createFormClient(server);
    for (let attempt = 1; attempt <= 10; attempt += 1) await client.signIn(account.email, 'not the password');
    const page = await open(server.origin);
    await page.goto('/sign-in');
    await signIn(page, account);
    expect(await page.getByRole('alert').textContent()).toBe(DENIED);
    now += 10 * 60_000;
    await signIn(page, account);
    await page.waitForURL((url) => url.pathname === '/', { waitUntil: 'commit' });
  });

  it('ends at the next request after an admin bans the account', async () => {
    const fixtures = createFixtures(server);
    const organization = await fixtures.organization();
    const admin = await fixtures.user({ organization: organization.uid, admin: true });
    const account = await fixtures.account({ organization: organization.uid });
    const page = await open(server.origin);
    await addSession(page, server, account);
    await page.goto('/account');
    const ban = await server.request('DELETE', `/v1/users/${account.id}`, { token: admin.token });
    expect(ban.body).toMatchObject({ id: account.id, banned: true });
    await page.getByRole('link', { name: 'Profile' }).click();
    await page.waitForURL('**/sign-in?to=%2Faccount');
    await signIn(page, account);
    expect(await page.getByRole('alert').textContent()).toBe(DENIED);
  });

  it('leaves no page of the account in the history of the browser after sign-out', async () => {
    const account = await createFixtures(server).account();
    const page = await open(server.origin);
    await addSession(page, server, account);
    await page.goto('/account');
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.waitForURL('**/sign-in');
    await page.goBack();
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    expect(await page.content()).not.toContain(account.email);
  });
});
