// Takes pictures of the console and the account pages with the demo data, light and dark.
//   npm run screenshots                               those of the README, to docs/images
//   npm run screenshots -- --all FOLDER               every page, 390, 1440 and 1920 pixels wide, to FOLDER
//   npm run screenshots -- --all FOLDER --beside DIR  each to the left of DIR/NAME.html, a design of the page
// Uses the Chromium or Chrome of the machine (ASSAY_TEST_BROWSER names another one).
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import type { DemoManifest } from '../src/demo/manifest.ts';
import { findBrowser } from '../test/harness/browser-path.ts';

type User = 'admin' | 'member' | 'outsider' | 'staff';
type ColorScheme = 'light' | 'dark';

interface Picture {
  /** The name of the file, and of the design. */
  name: string;
  /** The signed-in user; without one, the page is public. */
  user?: User;
  path: string;
  /** Steps from the loaded page to the state of the picture. */
  prepare?: (page: Page) => Promise<unknown>;
}

/** Opens the preview of the first row. */
async function openPreview(page: Page): Promise<void> {
  await page.locator('[id="row-0"] a').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('o');
  await page.locator('aside h2').waitFor();
}

const PICTURES: readonly Picture[] = [
  { name: 'sign-in', path: '/sign-in' },
  { name: 'home-customer', user: 'admin', path: '/' },
  { name: 'home-staff', user: 'staff', path: '/' },
  { name: 'vulnerabilities', user: 'admin', path: '/vulnerabilities', prepare: openPreview },
  { name: 'vulnerabilities-staff', user: 'staff', path: '/vulnerabilities' },
  { name: 'finding', user: 'staff', path: '/vulnerabilities/1' },
  { name: 'finding-new', user: 'staff', path: '/vulnerabilities/new' },
  { name: 'assessments', user: 'admin', path: '/assessments' },
  { name: 'assessment', user: 'staff', path: '/assessments/acme-web-2026' },
  { name: 'assets', user: 'admin', path: '/assets' },
  { name: 'imports', user: 'admin', path: '/imports' },
  { name: 'tags', user: 'admin', path: '/tags' },
  { name: 'groups', user: 'admin', path: '/groups' },
  { name: 'people', user: 'admin', path: '/people' },
  { name: 'audit', user: 'admin', path: '/audit' },
  { name: 'account', user: 'admin', path: '/account' },
  { name: 'account-security', user: 'admin', path: '/account/security' },
  { name: 'account-sessions', user: 'admin', path: '/account/sessions' },
  { name: 'account-tokens', user: 'admin', path: '/account/tokens' },
  { name: 'account-applications', user: 'admin', path: '/account/applications' },
];
const SIZES = [
  { width: 390, height: 844 },
  { width: 1440, height: 900 },
  { width: 1920, height: 1080 },
];
const COLOR_SCHEMES: readonly ColorScheme[] = ['light', 'dark'];

const { all, beside } = parseArgs({
  options: { all: { type: 'string' }, beside: { type: 'string' } },
}).values;
const root = join(import.meta.dirname, '..');
const data = mkdtempSync(join(tmpdir(), 'assay-screenshots-'));
const server = spawn(process.execPath, [join(root, 'bin/assay.js'), 'serve', '--port', '0', '--data', data], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const baseURL = await addressOfServer();
  const executablePath = findBrowser();
  if (executablePath === undefined) throw new Error('No Chromium or Chrome was found on this machine.');
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = await chromium.launch({ executablePath, args });
  const sessions = await signInAll(browser, baseURL);
  const open = async (user: User | undefined, colorScheme: ColorScheme, viewport: (typeof SIZES)[number]) =>
    browser.newContext({
      baseURL,
      colorScheme,
      viewport,
      ...(user === undefined ? {} : { storageState: sessions[user] }),
    });
  if (all === undefined) await takeReadmePictures(open);
  else await takeAllPictures(open, resolve(all), beside);
  await browser.close();
} finally {
  server.kill();
  rmSync(data, { recursive: true, force: true });
}

type Open = (
  user: User | undefined,
  colorScheme: ColorScheme,
  viewport: (typeof SIZES)[number],
) => Promise<BrowserContext>;

/** Waits until the server listens. */
function addressOfServer(): Promise<string> {
  return new Promise((found, reject) => {
    server.once('exit', (code) => reject(new Error(`The server ended with exit code ${code}.`)));
    createInterface(server.stdout).on('line', (line) => {
      const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
      if (address !== undefined) found(address);
    });
  });
}

/** @returns the cookies of a session of each user */
async function signInAll(browser: Browser, baseURL: string) {
  const { users } = JSON.parse(readFileSync(join(data, 'demo.json'), 'utf8')) as DemoManifest;
  const signIn = async (user: User) => {
    const context = await browser.newContext({ baseURL });
    const page = await context.newPage();
    const { email, password = '' } = users[user];
    await page.goto('/sign-in');
    await page.locator('[name=email]').fill(email);
    await page.locator('[name=password]').fill(password);
    await page.locator('[name=password]').press('Enter');
    await page.waitForURL((url) => url.pathname !== '/sign-in');
    const state = await context.storageState();
    await context.close();
    return state;
  };
  return {
    admin: await signIn('admin'),
    member: await signIn('member'),
    outsider: await signIn('outsider'),
    staff: await signIn('staff'),
  };
}

async function takeReadmePictures(open: Open): Promise<void> {
  const folder = join(root, 'docs/images');
  mkdirSync(folder, { recursive: true });
  for (const colorScheme of COLOR_SCHEMES) {
    const context = await open('admin', colorScheme, { width: 1440, height: 810 });
    const page = await context.newPage();
    await show(page, { name: 'console', path: '/vulnerabilities', prepare: openPreview });
    await page.screenshot({ path: join(folder, `console-${colorScheme}.png`) });
    await context.close();
  }
}

async function takeAllPictures(open: Open, folder: string, designs: string | undefined): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const viewport of SIZES)
    for (const colorScheme of COLOR_SCHEMES)
      for (const picture of PICTURES) {
        const context = await open(picture.user, colorScheme, viewport);
        const page = await context.newPage();
        await show(page, picture);
        const path = join(folder, `${picture.name}-${viewport.width}-${colorScheme}.png`);
        const design = designs === undefined ? undefined : resolve(designs, `${picture.name}.html`);
        if (design !== undefined && existsSync(design)) await screenshotBeside(page, design, path);
        else await page.screenshot({ path });
        await context.close();
        process.stdout.write(`${path}\n`);
      }
}

/** Opens the page of a picture and waits until it is loaded. */
async function show(page: Page, { path, prepare }: Picture): Promise<void> {
  await page.goto(path);
  await page.waitForLoadState('networkidle');
  await prepare?.(page);
  await page.waitForLoadState('networkidle');
  // Parts of the console that load on demand.
  await page
    .locator('.mantine-Loader-root, .mantine-Skeleton-root, [aria-busy="true"]')
    .first()
    .waitFor({ state: 'detached' });
  await page.evaluate('document.fonts.ready');
}

/** Takes a picture of the page and one of a design, and writes both side by side. */
async function screenshotBeside(page: Page, design: string, path: string): Promise<void> {
  const images = [await page.screenshot()];
  await page.goto(pathToFileURL(design).href);
  images.push(await page.screenshot());
  const tags = images.map((image) => `<img src="data:image/png;base64,${image.toString('base64')}">`);
  await page.setContent(
    `<body style="display:flex;gap:8px;width:max-content;margin:0;background:#888">${tags.join('')}`,
  );
  await page.locator('body').screenshot({ path });
}
