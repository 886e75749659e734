// Takes the screenshots of the README: the console with the demo data, light and dark.
//   npm run build && npx tsx scripts/screenshots.ts
// Uses the Chromium or Chrome of the machine (ASSAY_TEST_BROWSER names another one).
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import type { DemoManifest } from '../src/demo/manifest.ts';
import { findBrowser } from '../test/harness/browser-path.ts';

const root = join(import.meta.dirname, '..');
const images = join(root, 'docs/images');
const data = mkdtempSync(join(tmpdir(), 'assay-screenshots-'));

const server = spawn(process.execPath, [join(root, 'bin/assay.js'), 'serve', '--port', '0', '--data', data], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const origin = await new Promise<string>((resolve, reject) => {
    server.once('exit', (code) => reject(new Error(`The server ended with exit code ${code}.`)));
    createInterface(server.stdout).on('line', (line) => {
      const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
      if (address !== undefined) resolve(address);
    });
  });
  const executablePath = findBrowser();
  if (executablePath === undefined) throw new Error('No Chromium or Chrome was found on this machine.');
  const browser = await chromium.launch({
    executablePath,
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  const { users } = JSON.parse(readFileSync(join(data, 'demo.json'), 'utf8')) as DemoManifest;
  const { email, password = '' } = users.admin;
  mkdirSync(images, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({
      baseURL: origin,
      colorScheme,
      viewport: { width: 1440, height: 810 },
    });
    const page = await context.newPage();
    await page.goto('/sign-in?to=/vulnerabilities');
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.waitForURL('**/vulnerabilities');
    await page.locator('[role=row]').nth(3).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('o');
    await page.locator('aside').last().waitFor();
    await page.waitForLoadState('networkidle');
    await page.screenshot({ path: join(images, `console-${colorScheme}.png`) });
    await context.close();
  }
  await browser.close();
} finally {
  server.kill();
  rmSync(data, { recursive: true, force: true });
}
