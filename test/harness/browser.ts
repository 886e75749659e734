import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, vi } from 'vitest';
import { findBrowser } from './browser-path.ts';

/** A group of tests that need a browser; skipped where there is none, which `browser-notice.ts` says. */
export const describeInBrowser = findBrowser() === undefined ? describe.skip : describe;

export interface OpenOptions extends BrowserContextOptions {
  /** Origins beside the server's own that the test itself leads the browser to: a client, an identity provider. */
  others?: readonly string[];
  /** Statuses that the test itself makes the server answer to a script with: the browser tells each as an error. */
  refusals?: readonly number[];
}

/** Opens a page in a browser profile of its own: no cookies, no history. */
export type OpenPage = (origin: string, options?: OpenOptions) => Promise<Page>;

/**
 * One browser for the tests of a group, and a fresh profile for each page that they open. After each test, no page may
 * have asked anyone but its server for anything, broken its content security policy, or failed in a script.
 */
export function useBrowser(): OpenPage {
  // A browser beside all the other tests is slow, and no test waits for a time to pass.
  vi.setConfig({ testTimeout: 120_000 });
  let browser: Browser;
  const complaints: string[] = [];

  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: findBrowser() ?? '',
      // Nobody looks at the pictures, so none are drawn by a processor that plays a graphics card; and Chromium's sandbox
      // does not run as root.
      args: ['--disable-gpu', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
    });
  });
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    expect(complaints.splice(0)).toEqual([]);
  });
  afterAll(() => browser?.close());

  return async (origin, { others = [], refusals = [], ...options } = {}) => {
    const context = await browser.newContext({ baseURL: origin, ...options });
    context.setDefaultTimeout(30_000);
    context.on('request', (request) => {
      const { protocol, origin: asked } = new URL(request.url());
      if (protocol !== 'data:' && ![origin, ...others].includes(asked))
        complaints.push(`a request to ${request.url()}`);
    });
    context.on('weberror', (error) => complaints.push(`a script failed: ${error.error().message}`));
    context.on('console', (message) => {
      if (message.type() !== 'error' && message.type() !== 'warning') return;
      // A page that answers with a status of 4xx is told as an error too, and tests say themselves which they expect.
      const isStatus = message.text().startsWith('Failed to load resource: the server responded');
      if (isStatus && message.location().url === message.page()?.url()) return;
      if (isStatus && refusals.some((status) => message.text().includes(`a status of ${status} `))) return;
      complaints.push(`in the console of ${message.page()?.url()}: ${message.text()}`);
    });
    return context.newPage();
  };
}

/** Fills in the sign-in form and sends it. */
export async function signIn(
  page: Page,
  { email, password }: { email: string; password: string },
): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Goes on to the account, from the console that a sign-in leads to. */
export async function openAccount(page: Page): Promise<void> {
  await page.waitForURL((url) => url.pathname === '/');
  await page.goto('/account');
}
