import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { endUserSessions } from '../../src/domain/sign-in/end-sessions.ts';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { bumpCredentialVersion } from '../../src/domain/tokens/credentials.ts';
import { expectAccessible } from '../harness/accessibility.ts';
import { describeInBrowser, signIn } from '../harness/browser.ts';
import { useSharedConsole } from '../harness/console.ts';
import type { DemoAccount } from '../../src/demo/manifest.ts';

describeInBrowser('Console: session', () => {
  const assay = useSharedConsole();
  const account = (role: 'admin' | 'member') => assay.demo().users[role] as Required<DemoAccount>;

  /** Ends all sessions of a user, as an operator does. */
  const endSessions = async (email: string) => {
    const { db, clock } = assay.server().context;
    const { id } = await db.read
      .selectFrom('users')
      .select('id')
      .where('email', '=', email)
      .executeTakeFirstOrThrow();
    await db.write((tx) => endUserSessions(tx, cliChangeContext(clock()), id));
  };
  const enterTags = async (): Promise<Page> => {
    const page = await assay.enter('admin', '/tags', { expectedStatuses: [401] });
    await page.getByRole('grid').getByText('PCI DSS').waitFor();
    return page;
  };

  it('requests a new token after a reload, without another page', async () => {
    const page = await enterTags();
    const visited: string[] = [];
    page.on('framenavigated', (frame) => visited.push(new URL(frame.url()).pathname));
    await page.reload();
    await page.getByRole('grid').getByText('PCI DSS').waitFor();
    expect(visited).toEqual(['/tags']);
    // Neither the token nor a code is stored.
    const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
    expect(stored).not.toMatch(/eyJ|code|token/);
  });

  it('requests one new token when the server rejects several requests at once', async () => {
    const page = await enterTags();
    const { db } = assay.server().context;
    await db.write(async (tx) => {
      await tx
        .updateTable('tokens')
        .set({ revoked_at: 1 })
        .where('client_id', '=', 'assay-console')
        .where('revoked_at', 'is', null)
        .execute();
      await bumpCredentialVersion(tx);
    });
    const tokens: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/oauth/token')) tokens.push(request.url());
    });
    // The second rejection arrives when the first has led to a new token.
    const renewed = page.waitForResponse('**/oauth/token');
    await page.route('**/v1/vulnerabilities/summary*', async (route) => {
      const response = await route.fetch();
      if (response.status() === 401) await renewed;
      await route.fulfill({ response });
    });
    const pendingResponse = page.waitForResponse(
      (response) => response.url().includes('/v1/vulnerabilities/summary') && response.status() === 200,
    );
    await page.getByRole('link', { name: 'Home' }).click();
    await pendingResponse;
    expect(tokens).toHaveLength(1);
  });

  it('signs out in the account menu, after which pages redirect to sign-in', async () => {
    const page = await enterTags();
    await page.getByRole('button', { name: 'Account menu' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL((url) => url.pathname === '/sign-in');
    await page.goto('/tags');
    expect(new URL(page.url()).pathname).toBe('/sign-in');
  });

  it('applies the selected colour scheme to the account pages', async () => {
    const page = await enterTags();
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await paper();
    await page.getByRole('button', { name: 'Account menu' }).click();
    await page.getByRole('menuitemradio', { name: 'Dark' }).click();
    await expect.poll(paper).not.toBe(light);
    const dark = await paper();
    await page.goto('/account');
    expect(await paper()).toBe(dark);
    await page.evaluate(() => localStorage.setItem('mantine-color-scheme-value', 'light'));
    await page.reload();
    expect(await paper()).toBe(light);
  });

  it('links to the account pages and back', async () => {
    const page = await enterTags();
    await page.getByRole('button', { name: 'Account menu' }).click();
    expect(await page.getByRole('menuitem', { name: 'API reference' }).getAttribute('href')).toBe('/docs');
    await page.getByRole('menuitem', { name: 'Account', exact: true }).click();
    await page.waitForURL('**/account');
    await page.getByRole('navigation').getByRole('link', { name: 'Home' }).click();
    await page.waitForURL((url) => url.pathname === '/');
    await page.getByRole('heading', { name: 'Home' }).waitFor();
  });

  it('keeps typed text when the session expires, and continues after a sign-in in another tab', async () => {
    const page = await enterTags();
    await page.getByRole('button', { name: 'New tag' }).first().click();
    await page.getByRole('textbox', { name: 'Name' }).fill('typed long ago');
    await endSessions(account('admin').email);
    await page.getByRole('button', { name: 'Create tag' }).click();
    const dialog = page.getByRole('dialog', { name: 'You are signed out' });
    // The dialog covers the rest of the page.
    await expectAccessible(page, dialog);
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await dialog.getByText("You're not signed in to this browser yet.").waitFor();
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      dialog.getByRole('link', { name: 'Open the sign-in page' }).click(),
    ]);
    await signIn(tab, account('admin'));
    await tab.waitForURL((url) => url.pathname === '/');
    await tab.close();
    await page.bringToFront();
    await page
      .getByRole('button', { name: 'Continue' })
      .or(page.getByText('The tag "typed long ago"'))
      .first()
      .waitFor();
    if (await dialog.isVisible()) await dialog.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('Tag "typed long ago" created').waitFor();
    await dialog.waitFor({ state: 'detached' });
    // The page has the CSRF token of the session that ended.
    await page.getByRole('button', { name: 'Account menu' }).click();
    const item = page.getByRole('menuitem', { name: 'Sign out' });
    // The page that has the new token arrives after the menu has closed.
    await page.route(`${assay.server().origin}/`, async (route) => {
      await item.waitFor({ state: 'detached' });
      await route.continue();
    });
    await item.click();
    await page.waitForURL((url) => url.pathname === '/sign-in');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('Sign in');
  });

  it('redirects to sign-in and back to the same address', async () => {
    const page = await enterTags();
    await endSessions(account('admin').email);
    await page.getByRole('searchbox').fill('privacy');
    const dialog = page.getByRole('dialog', { name: 'You are signed out' });
    await dialog.waitFor();
    await dialog.getByRole('button', { name: 'Sign in here' }).click();
    await page.waitForURL((url) => url.pathname === '/sign-in');
    await signIn(page, account('admin'));
    await page.waitForURL('**/tags?search=privacy');
    await page.getByRole('grid').getByText('privacy').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('privacy');
  });

  it('navigates with keyboard shortcuts, and lists them', async () => {
    const page = await enterTags();
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await help.getByText('Go to Vulnerabilities').waitFor();
    await expectAccessible(page, page.getByRole('dialog'));
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'detached' });
    await page.keyboard.press('g');
    await page.keyboard.press('l');
    await page.waitForURL('**/audit');
    await page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('content');
    await page.reload();
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    await page.keyboard.press('Tab');
    await page.getByRole('link', { name: 'Skip to content' }).press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('content');
  });

  it('turns single-key shortcuts off and on in the account menu', async () => {
    const page = await enterTags();
    const menu = page.getByRole('button', { name: 'Account menu' });
    const choice = page.getByRole('menuitemcheckbox', { name: 'Single-key shortcuts' });
    await menu.click();
    await expectAccessible(page, page.getByRole('menu'));
    await choice.click();
    await page.keyboard.press('Escape');
    await page.reload();
    await page.getByRole('grid').getByText('PCI DSS').waitFor();
    await page.keyboard.press('?');
    await menu.click();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await choice.click();
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  });

  it('closes the navigation drawer on phones after a navigation', async () => {
    const page = await assay.enter('admin', '/tags', { viewport: { width: 390, height: 844 } });
    await page.getByRole('button', { name: 'Open navigation' }).click();
    const menu = page.getByRole('dialog', { name: 'Assay' });
    await menu.getByRole('link', { name: 'Audit' }).click();
    await page.waitForURL('**/audit');
    await menu.waitFor({ state: 'detached' });
    expect(await page.title()).toBe('Audit log - Assay');
  });

  it('offers to reload when a part is missing after an update', async () => {
    const page = await assay.enter('admin', '/tags', {
      expectedStatuses: [404],
      expectedConsoleErrors: /dynamically imported module/,
    });
    await page.getByRole('grid').getByText('PCI DSS').waitFor();
    // A file of an earlier version of the console, which the server no longer has.
    const removed = `${assay.server().origin}/console/files/audit-removed.js`;
    await page.route(/\/console\/files\/audit-[^/]*\.js$/, (route) => route.continue({ url: removed }));
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('heading', { name: 'Reload the console', level: 1 }).waitFor();
    await page.getByText('The server may have been updated').waitFor();
    await expectAccessible(page);
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor();
  });

  it('shows a page for unknown addresses', async () => {
    const page = await assay.enter('admin', '/tags/no/such', { expectedStatuses: [404] });
    await page.getByRole('heading', { name: 'Page not found', level: 1 }).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Go to Home' }).click();
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    expect(await page.title()).toBe('Home - Assay');
  });
});
