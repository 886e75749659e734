// Takes pictures of the console and the account pages with the demo data, light and dark.
//   npm run screenshots                               those of the README and of the tour, to docs/images
//   npm run screenshots -- --all FOLDER               every page, 390, 1440 and 1920 pixels wide, to FOLDER
//   npm run screenshots -- --all FOLDER --beside DIR  each to the left of DIR/NAME.html, a design of the page
// Uses the Chromium or Chrome of the machine (ASSAY_TEST_BROWSER names another one).
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import type { DemoManifest } from '../src/demo/manifest.ts';
import { findBrowser } from '../test/harness/browser-path.ts';
import {
  IMPORTED_ASSESSMENT,
  type Picture,
  PICTURES,
  reportOf,
  TOUR,
  type Viewer,
} from './screenshot-pages.ts';

type ColorScheme = 'light' | 'dark';

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
  importReports();
  const sessions = await signInAll(browser, baseURL);
  const open: Open = async (viewer, colorScheme, viewport) =>
    browser.newContext({
      baseURL,
      colorScheme,
      viewport,
      ...(viewer === undefined ? {} : { storageState: sessions[viewer] }),
    });
  if (all === undefined) await takeDocsPictures(open);
  else await takeAllPictures(open, resolve(all), beside);
  await browser.close();
} finally {
  server.kill();
  rmSync(data, { recursive: true, force: true });
}

type Open = (
  viewer: Viewer | undefined,
  colorScheme: ColorScheme,
  viewport: (typeof SIZES)[number],
) => Promise<BrowserContext>;

/** Runs a command beside the server. */
function assay(...args: string[]): string {
  return execFileSync(process.execPath, [join(root, 'bin/assay.js'), ...args, '--data', data], {
    encoding: 'utf8',
  });
}

/** Imports a report and a later one, of which some findings are new and others gone. */
function importReports(): void {
  const path = join(data, 'app-scan.sarif');
  for (const [from, to] of [
    [0, 5],
    [1, 6],
  ] as const) {
    writeFileSync(path, reportOf(from, to));
    assay('import', 'sarif', path, '--assessment', IMPORTED_ASSESSMENT);
  }
}

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

/** @returns the cookies of a session of each viewer */
async function signInAll(browser: Browser, baseURL: string) {
  const { users } = JSON.parse(readFileSync(join(data, 'demo.json'), 'utf8')) as DemoManifest;
  const enter = async (prepare: (page: Page) => Promise<unknown>) => {
    const context = await browser.newContext({ baseURL });
    await prepare(await context.newPage());
    const state = await context.storageState();
    await context.close();
    return state;
  };
  const signIn = (user: 'admin' | 'staff') =>
    enter(async (page) => {
      const { email, password = '' } = users[user];
      await page.goto('/sign-in');
      await page.locator('[name=email]').fill(email);
      await page.locator('[name=password]').fill(password);
      await page.locator('[name=password]').press('Enter');
      await page.waitForURL((url) => url.pathname !== '/sign-in');
    });
  assay('organization', 'create', 'kestrel', '--name', 'Kestrel Rail');
  const email = 'maren.vik@kestrelrail.example';
  const invited = assay('user', 'create', '--email', email, '--organization', 'kestrel', '--admin', '--json');
  const { invite_url: invitation } = JSON.parse(invited) as { invite_url: string };
  return {
    admin: await signIn('admin'),
    staff: await signIn('staff'),
    newcomer: await enter((page) => acceptInvitation(page, new URL(invitation))),
  };
}

async function acceptInvitation(page: Page, { pathname, search, hash }: URL): Promise<void> {
  await page.goto(`${pathname}${search}${hash}`);
  await page.getByLabel('Your name').fill('Maren Vik');
  await page.getByLabel('Choose a password').fill(randomUUID());
  await page.getByRole('button', { name: 'Accept and sign in' }).click();
  await page.getByRole('heading', { name: 'Three steps to your first finding' }).waitFor();
}

/** Takes the pictures of the README in both colour schemes, and those of the tour. */
async function takeDocsPictures(open: Open): Promise<void> {
  const folder = join(root, 'docs/images');
  mkdirSync(folder, { recursive: true });
  const take = async (name: string, file: string, colorScheme: ColorScheme) => {
    const picture = PICTURES.find((one) => one.name === name);
    if (picture === undefined) throw new Error(`There is no picture ${name}.`);
    const context = await open(picture.viewer, colorScheme, { width: 1280, height: 720 });
    const page = await context.newPage();
    await show(page, picture);
    await page.screenshot({ path: join(folder, file) });
    await context.close();
  };
  for (const colorScheme of COLOR_SCHEMES)
    await take('vulnerabilities', `console-${colorScheme}.png`, colorScheme);
  for (const name of TOUR) await take(name, `tour-${name}.png`, 'light');
}

async function takeAllPictures(open: Open, folder: string, designs: string | undefined): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const viewport of SIZES)
    for (const colorScheme of COLOR_SCHEMES)
      for (const picture of PICTURES) {
        const context = await open(picture.viewer, colorScheme, viewport);
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
