import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { afterAll, afterEach, describe, expect } from 'vitest';
import { findBrowser } from './browser-path.ts';
import { WAIT_TIMEOUT } from './timeouts.ts';

/** A group of tests that need a browser. Skipped without one, which `skipped-notice.ts` reports. */
export const describeInBrowser = findBrowser() === undefined ? describe.skip : describe;

/** The state of a page before each test. */
const VIEWPORT = { width: 1280, height: 900 };
const MEDIA = { colorScheme: 'light', reducedMotion: 'reduce' } as const;
/** A path of the server without a page, where the storage of its origin can be cleared. */
const BLANK_PATH = '/healthz';

export interface OpenOptions extends Pick<BrowserContextOptions, 'javaScriptEnabled' | 'extraHTTPHeaders'> {
  /** Origins that the browser may send requests to besides the server: a client, an identity provider. */
  otherOrigins?: readonly string[];
  /** Statuses of failed requests that the test causes; the browser logs each as an error. */
  expectedStatuses?: readonly number[];
  /** Other console errors that the test causes. */
  expectedConsoleErrors?: RegExp;
  viewport?: { width: number; height: number };
  /** Pages of the same person share cookies, also in later tests. Without a person, a page starts without cookies. */
  person?: string;
}

/** Opens a page in a browser profile without data, apart from the cookies of a `person`. */
export type OpenPage = (origin: string, options?: OpenOptions) => Promise<Page>;

/** A browser context. Later tests reuse it with its pages: a new one starts a process and an empty cache. */
interface Profile {
  context: BrowserContext;
  keepsCookies: boolean;
  used: Page[];
  idle: Page[];
  allowed: Pick<OpenOptions, 'otherOrigins' | 'expectedStatuses' | 'expectedConsoleErrors'>;
  /** Errors of the page that the test does not expect. */
  complaints: string[];
}

let launched: Promise<Browser> | undefined;
/** Profiles by origin, person and options, which stay open until the worker ends. */
const sharedProfiles = new Map<string, Profile[]>();

/** Launches the browser of the worker, which ends with it. */
function launchBrowser(): Promise<Browser> {
  launched ??= chromium.launch({
    timeout: WAIT_TIMEOUT,
    executablePath: findBrowser() ?? '',
    args: [
      // Avoids a GPU process, which would render in software.
      '--disable-gpu',
      '--in-process-gpu',
      '--process-per-site',
      // Pages close before optimized code would save time.
      '--js-flags=--no-opt',
      // Starts no spare processes for other sites.
      '--disable-site-isolation-trials',
      // Chromium's sandbox refuses to run as root.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });
  return launched;
}

/**
 * Opens pages for the tests of a group. The pages of a test have separate profiles, except those of one `person`. A
 * test fails if a page sends a request to another origin, violates its content security policy, or has a script error.
 * @param isShared keeps the profiles for later files of the worker, which use the same server
 */
export function useBrowser(isShared = false): OpenPage {
  const profiles = isShared ? sharedProfiles : new Map<string, Profile[]>();
  const all = () => [...profiles.values()].flat();

  afterEach(async () => {
    await Promise.all(all().map(reset));
    expect(all().flatMap(({ complaints }) => complaints.splice(0))).toEqual([]);
  });
  afterAll(async () => {
    if (!isShared) await Promise.all(all().map(({ context }) => context.close()));
  });

  return async (
    origin,
    { otherOrigins = [], expectedStatuses = [], expectedConsoleErrors, viewport, person, ...options } = {},
  ) => {
    const key = JSON.stringify([origin, person, options]);
    const alike = profiles.get(key) ?? [];
    profiles.set(key, alike);
    let profile = alike.find(({ used }) => person !== undefined || used.length === 0);
    if (profile === undefined) {
      profile = await createProfile(origin, person !== undefined, options);
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

async function createProfile(
  origin: string,
  keepsCookies: boolean,
  options: BrowserContextOptions,
): Promise<Profile> {
  const browser = await launchBrowser();
  const context = await browser.newContext({ baseURL: origin, viewport: VIEWPORT, ...MEDIA, ...options });
  // A slow machine needs longer than eight seconds from a change to its Undo.
  await context.addInitScript("try { localStorage.setItem('assay-long-notifications', 'true') } catch {}");
  const profile: Profile = { context, keepsCookies, used: [], idle: [], allowed: {}, complaints: [] };
  const { complaints } = profile;
  context.setDefaultTimeout(WAIT_TIMEOUT);
  context.on('request', (request) => {
    const { protocol, origin: target } = new URL(request.url());
    if (protocol !== 'data:' && ![origin, ...(profile.allowed.otherOrigins ?? [])].includes(target))
      complaints.push(`a request to ${request.url()}`);
  });
  context.on('weberror', (error) => complaints.push(`a script error: ${error.error().message}`));
  context.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    // The browser logs each response of 4xx as an error. That of the page itself is checked by its test.
    const isStatus = message.text().startsWith('Failed to load resource: the server responded');
    if (isStatus && message.location().url === message.page()?.url()) return;
    const { expectedStatuses = [], expectedConsoleErrors } = profile.allowed;
    if (isStatus && expectedStatuses.some((status) => message.text().includes(`a status of ${status} `)))
      return;
    if (expectedConsoleErrors?.test(message.text())) return;
    complaints.push(`in the console of ${message.page()?.url()}: ${message.text()}`);
  });
  return profile;
}

/** Removes everything that a test left in a profile, except the cookies of its person. */
async function reset(profile: Profile): Promise<void> {
  const { context, keepsCookies, used, idle } = profile;
  const pages = used.splice(0);
  if (pages.length === 0) return;
  const popups = context.pages().filter((page) => !pages.includes(page) && !idle.includes(page));
  await Promise.all(popups.map((page) => page.close()));
  if (!keepsCookies) await context.clearCookies();
  for (const page of pages) {
    if (page.isClosed()) continue;
    page.removeAllListeners();
    // Playwright continues the requests that a handler still holds; the handler's own response then fails.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.goto(BLANK_PATH);
    await page.evaluate('try { localStorage.clear(); sessionStorage.clear(); } catch {}');
    await page.emulateMedia(MEDIA);
    await page.setViewportSize(VIEWPORT);
    idle.push(page);
  }
  profile.allowed = {};
}

export async function signIn(
  page: Page,
  { email, password }: { email: string; password: string },
): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Opens the account page from the console, which a sign-in opens. */
export async function openAccount(page: Page): Promise<void> {
  // Does not wait for the console to load.
  await page.waitForURL((url) => url.pathname === '/', { waitUntil: 'commit' });
  await page.goto('/account');
}
