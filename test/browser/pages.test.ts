import type { RouteOptions } from 'fastify';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { expectAccessible } from '../harness/accessibility.ts';
import { describeInBrowser, signIn, useBrowser } from '../harness/browser.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { worldOf } from '../harness/world.ts';

let server: TestServer;
const routes: RouteOptions[] = [];
beforeAll(async () => {
  server = await startTestServer();
  const app = await buildApp(server.context, (route) => void routes.push(route));
  await app.close();
});
afterAll(() => server.close());

/** How each page is reached, by the name of its operation. */
const PAGES: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  'sign-in-page': async (page) => {
    await page.goto('/sign-in');
    await expectAccessible(page);
    await signIn(page, { email: 'nobody@example.com', password: 'not a password' });
    await page.getByRole('alert').waitFor();
  },
  'account-page': async (page) => enter(page, '/account'),
};

/** Signs in as somebody new whose names are long, and opens a page. */
async function enter(page: Page, path: string): Promise<void> {
  const world = worldOf(server);
  const organization = await world.organization();
  const email = `${'a-very-long-name.'.repeat(3)}${organization.uid}@${'a-very-long-host-name.'.repeat(4)}example.com`;
  const account = await world.account({ organization: organization.uid, email, name: 'A'.repeat(100) });
  await page.goto('/sign-in');
  await signIn(page, account);
  await page.waitForURL('**/account');
  if (path !== '/account') await page.goto(path);
}

describe('Every page', () => {
  it('is looked at in a browser', () => {
    const pages = routes.flatMap(({ config, method }) => {
      const { operation = '' } = config ?? {};
      return method === 'GET' && operation.endsWith('-page') ? [operation] : [];
    });
    expect([...new Set(pages)].sort()).toEqual(Object.keys(PAGES).sort());
  });
});

describeInBrowser('Nothing is in the way of anybody, light or dark, wide or narrow', () => {
  const open = useBrowser();

  it.each(Object.entries(PAGES))('on the %s', async (_name, visit) => {
    const page = await open(server.origin);
    await visit(page);
    await expectAccessible(page);
  });

  it('on a page that tells of an error', async () => {
    const page = await open(server.origin);
    await page.goto('/sign-in');
    await page.context().clearCookies();
    await signIn(page, { email: 'somebody@example.com', password: 'a password' });
    await page.getByText('This form is too old').waitFor();
    await expectAccessible(page);
  });
});
