import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { afterAll, afterEach, describe, expect, vi } from 'vitest';
import { findBrowser } from './browser-path.ts';

/** A group of tests that need a browser; skipped where there is none, which `browser-notice.ts` says. */
export const describeInBrowser = findBrowser() === undefined ? describe.skip : describe;

/** What a page begins with, and gets back before it is used again. */
const VIEWPORT = { width: 1280, height: 900 };
const MEDIA = { colorScheme: 'light', reducedMotion: 'reduce' } as const;
/** An address of the server that answers with no page, where what a browser keeps of the others can be cleared. */
const NOWHERE = '/healthz';

export interface OpenOptions extends Pick<BrowserContextOptions, 'javaScriptEnabled' | 'extraHTTPHeaders'> {
  /** Origins beside the server's own that the test itself leads the browser to: a client, an identity provider. */
  otherOrigins?: readonly string[];
  /** Statuses that the test itself makes the server answer to a script with: the browser tells each as an error. */
  expectedStatuses?: readonly number[];
  /** What else the test itself makes the browser complain of. */
  expectedConsoleErrors?: RegExp;
  viewport?: { width: number; height: number };
  /** Whose cookies it keeps from test to test; without, it begins with none. */
  person?: string;
}

/** Opens a page in a browser profile of its own: nothing is kept there, but for the cookies of a `person`. */
export type OpenPage = (origin: string, options?: OpenOptions) => Promise<Page>;

/** A browser profile. The pages in it are used again by the next test: to begin a process and a cache is dear. */
interface Profile {
  context: BrowserContext;
  keepsCookies: boolean;
  used: Page[];
  idle: Page[];
  allowed: Pick<OpenOptions, 'otherOrigins' | 'expectedStatuses' | 'expectedConsoleErrors'>;
}

let launched: Promise<Browser> | undefined;

/** @returns the one browser of this worker, which ends with it */
function browserOfWorker(): Promise<Browser> {
  launched ??= chromium.launch({
    executablePath: findBrowser() ?? '',
    args: [
      // Nobody looks at the pictures, so none are drawn by a processor that plays a graphics card.
      '--disable-gpu',
      '--in-process-gpu',
      '--process-per-site',
      // No process is begun ahead for a site that no test goes to next: a third of those that were begun.
      '--disable-site-isolation-trials',
      // Chromium's sandbox does not run as root.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });
  return launched;
}

/**
 * A browser for the tests of a group. Each page that a test opens has a profile that no other page of the test has, but
 * for those of one `person`. After each test, no page may have asked anyone but its server for anything, broken its
 * content security policy, or failed in a script.
 */
export function useBrowser(): OpenPage {
  // A browser beside all the other tests is slow, and no test waits for a time to pass.
  vi.setConfig({ testTimeout: 120_000 });
  const profiles = new Map<string, Profile[]>();
  const all = () => [...profiles.values()].flat();
  const complaints: string[] = [];

  afterEach(async () => {
    await Promise.all(all().map(tidy));
    expect(complaints.splice(0)).toEqual([]);
  });
  afterAll(() => Promise.all(all().map(({ context }) => context.close())));

  const start = async (origin: string, keepsCookies: boolean, options: BrowserContextOptions) => {
    const browser = await browserOfWorker();
    const context = await browser.newContext({ baseURL: origin, viewport: VIEWPORT, ...MEDIA, ...options });
    const profile: Profile = { context, keepsCookies, used: [], idle: [], allowed: {} };
    context.setDefaultTimeout(30_000);
    context.on('request', (request) => {
      const { protocol, origin: asked } = new URL(request.url());
      if (protocol !== 'data:' && ![origin, ...(profile.allowed.otherOrigins ?? [])].includes(asked))
        complaints.push(`a request to ${request.url()}`);
    });
    context.on('weberror', (error) => complaints.push(`a script failed: ${error.error().message}`));
    context.on('console', (message) => {
      if (message.type() !== 'error' && message.type() !== 'warning') return;
      // A page that answers with a status of 4xx is told as an error too, and tests say themselves which they expect.
      const isStatus = message.text().startsWith('Failed to load resource: the server responded');
      if (isStatus && message.location().url === message.page()?.url()) return;
      const { expectedStatuses = [] } = profile.allowed;
      if (isStatus && expectedStatuses.some((status) => message.text().includes(`a status of ${status} `)))
        return;
      if (profile.allowed.expectedConsoleErrors?.test(message.text())) return;
      complaints.push(`in the console of ${message.page()?.url()}: ${message.text()}`);
    });
    return profile;
  };

  return async (
    origin,
    { otherOrigins = [], expectedStatuses = [], expectedConsoleErrors, viewport, person, ...options } = {},
  ) => {
    const key = JSON.stringify([origin, person, options]);
    const alike = profiles.get(key) ?? [];
    profiles.set(key, alike);
    let profile = alike.find(({ used }) => person !== undefined || used.length === 0);
    if (profile === undefined) {
      profile = await start(origin, person !== undefined, options);
      alike.push(profile);
    }
    profile.allowed = {
      otherOrigins: [...(profile.allowed.otherOrigins ?? []), ...otherOrigins],
      expectedStatuses: [...(profile.allowed.expectedStatuses ?? []), ...expectedStatuses],
      ...(expectedConsoleErrors === undefined ? {} : { expectedConsoleErrors }),
    };
    const page = profile.idle.pop() ?? (await profile.context.newPage());
    profile.used.push(page);
    if (viewport !== undefined) await page.setViewportSize(viewport);
    return page;
  };
}

/** Leaves nothing in a profile of what a test did there, but for the cookies of whom it is kept for. */
async function tidy(profile: Profile): Promise<void> {
  const { context, keepsCookies, used, idle } = profile;
  const pages = used.splice(0);
  if (pages.length === 0) return;
  const others = context.pages().filter((page) => !pages.includes(page) && !idle.includes(page));
  await Promise.all(others.map((page) => page.close()));
  if (!keepsCookies) await context.clearCookies();
  for (const page of pages) {
    if (page.isClosed()) continue;
    page.removeAllListeners();
    await page.unrouteAll();
    await page.goto(NOWHERE);
    await page.evaluate('try { localStorage.clear(); sessionStorage.clear(); } catch {}');
    await page.emulateMedia(MEDIA);
    await page.setViewportSize(VIEWPORT);
    idle.push(page);
  }
  profile.allowed = {};
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
  // The console is not waited for, which the tests of the console do.
  await page.waitForURL((url) => url.pathname === '/', { waitUntil: 'commit' });
  await page.goto('/account');
}
