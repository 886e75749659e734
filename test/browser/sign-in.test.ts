import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, signIn, useBrowser, openAccount } from '../harness/browser.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

const REFUSED =
  'The e-mail address or password is wrong, or there were too many attempts. Check both, or wait ten minutes.';

let server: TestServer;
let now = Date.UTC(2026, 5, 1);
beforeAll(async () => {
  server = await startTestServer({}, () => now);
});
afterAll(() => server.close());

describeInBrowser('Signing in', () => {
  const open = useBrowser();

  it.each([
    ['with JavaScript', true],
    ['without JavaScript', false],
  ])('leads from the page that was wanted to it and out again, %s', async (_how, javaScriptEnabled) => {
    const account = await createFixtures(server).account();
    const page = await open(server.origin, { javaScriptEnabled });
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

  it('goes on with the keyboard alone', async () => {
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

  it('says what is wrong, keeps the address, and waits in the password field', async () => {
    const account = await createFixtures(server).account();
    const page = await open(server.origin);
    await page.goto('/sign-in');
    await signIn(page, { email: account.email, password: 'not the password' });
    expect(await page.getByRole('alert').textContent()).toBe(REFUSED);
    expect(await page.getByLabel('E-mail address').inputValue()).toBe(account.email);
    const password = page.getByLabel('Password', { exact: true });
    expect(await password.inputValue()).toBe('');
    expect(await page.evaluate('document.activeElement.id')).toBe('password');
    await password.fill(account.password);
    await page.keyboard.press('Enter');
    await openAccount(page);
  });

  it('locks the account for this address after ten failures, and lets it in ten minutes later', async () => {
    const account = await createFixtures(server).account();
    const page = await open(server.origin);
    await page.goto('/sign-in');
    for (let attempt = 1; attempt <= 10; attempt += 1)
      await signIn(page, { email: account.email, password: 'not the password' });
    await signIn(page, account);
    expect(await page.getByRole('alert').textContent()).toBe(REFUSED);
    now += 10 * 60_000;
    await signIn(page, account);
    await openAccount(page);
  });

  it('ends at the next click once an admin bans the account', async () => {
    const world = createFixtures(server);
    const organization = await world.organization();
    const admin = await world.user({ organization: organization.uid, admin: true });
    const account = await world.account({ organization: organization.uid });
    const page = await open(server.origin);
    await page.goto('/sign-in');
    await signIn(page, account);
    await openAccount(page);
    const ban = await server.request('DELETE', `/v1/users/${account.id}`, { token: admin.token });
    expect(ban.body).toMatchObject({ id: account.id, banned: true });
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.waitForURL('**/sign-in?to=%2Faccount');
    await signIn(page, account);
    expect(await page.getByRole('alert').textContent()).toBe(REFUSED);
  });

  it('shows nothing of the account from the browser’s memory after signing out', async () => {
    const account = await createFixtures(server).account();
    const page = await open(server.origin);
    await page.goto('/sign-in');
    await signIn(page, account);
    await openAccount(page);
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.waitForURL('**/sign-in');
    await page.goBack();
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    expect(await page.content()).not.toContain(account.email);
  });
});
