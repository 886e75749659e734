import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** WCAG 2.2, 1.4.10 Reflow: 320 px is a window of 1280 px at a zoom of 400%. */
const MIN_WIDTH = 320;
const HEIGHT = 900;

/** The minified build, which the browser parses in half the time. */
const AXE = `${readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')}
  axe.configure({ noHtml: true });`;

/** The rules that depend on colours and widths. The other rules read the markup, which needs one check. */
const RULES_OF_APPEARANCE = [
  'color-contrast',
  'scrollable-region-focusable',
  'link-in-text-block',
  'button-name',
  'link-name',
  'aria-hidden-focus',
];

declare const axe: typeof import('axe-core');

/**
 * Expects that axe finds no violation on a page as it is. The page must run scripts.
 * @param part the only part to check, such as a dialog over a page that another test checks
 */
export async function expectAccessible(page: Page, part?: Locator): Promise<void> {
  expect(await violationsOn(page, part)).toEqual([]);
}

/**
 * Expects that axe finds no violation on a page, wide and light, then narrow and dark, and that the page never scrolls
 * horizontally. Takes longer than `expectAccessible`: for one state of each page. Restores the window.
 */
export async function expectAccessibleInAllViews(page: Page): Promise<void> {
  const size = page.viewportSize();
  const violations = await violationsOn(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 360, height: HEIGHT });
  violations.push(
    ...(await violationsOn(page, undefined, RULES_OF_APPEARANCE)).map(
      (violation) => `dark, narrow: ${violation}`,
    ),
  );
  await page.emulateMedia({ colorScheme: 'light' });
  expect(violations).toEqual([]);
  await expectReflow(page);
  if (size !== null) await page.setViewportSize(size);
}

/** Expects that a page never scrolls horizontally. Leaves the window narrow. */
export async function expectReflow(page: Page): Promise<void> {
  await page.setViewportSize({ width: MIN_WIDTH, height: HEIGHT });
  const width = await page.evaluate<number>('document.documentElement.scrollWidth');
  const { pathname } = new URL(page.url());
  expect({ pathname, scrollsHorizontally: width > MIN_WIDTH }).toEqual({
    pathname,
    scrollsHorizontally: false,
  });
}

async function violationsOn(page: Page, part?: Locator, rules?: readonly string[]): Promise<string[]> {
  const path = new URL(page.url()).pathname;
  // A list is dimmed while it loads its next rows.
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
  if (await page.evaluate<boolean>("typeof axe === 'undefined'")) await page.evaluate(AXE);
  const violations = await page.evaluate(
    async ({ element, only }) => {
      // Excludes passed rules, because collecting and sending them doubles the time.
      const options = { resultTypes: ['violations' as const], elementRef: true };
      const result = await axe.run(element ?? document, only ? { ...options, runOnly: [...only] } : options);
      return result.violations.flatMap(({ id, nodes }) =>
        nodes.map(
          ({ element: node, target }) => `${id}: ${node?.outerHTML.slice(0, 300) ?? target.join(' ')}`,
        ),
      );
    },
    { element: await part?.elementHandle(), only: rules },
  );
  return violations.map((violation) => `${path}: ${violation}`);
}
