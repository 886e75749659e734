import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** The narrowest window of WCAG 2.2, 1.4.10 Reflow, which is also 1280 px at a zoom of 400 %. */
const NARROWEST = 320;

const LOOKS = [
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 360 },
] as const;

/** The same as what the module has as text, in half as many letters for each page to read. */
const AXE = `${readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')}
  axe.configure({ noHtml: true });`;

declare const axe: typeof import('axe-core');

/**
 * Expects that axe finds no violation on a page, light and wide, then dark and narrow, and that the page never scrolls
 * sideways. The page must run scripts. Restores the window's size.
 * @param part checked alone, light and wide: a dialog over a page that is checked elsewhere in both
 */
export async function expectAccessible(page: Page, part?: Locator): Promise<void> {
  const path = new URL(page.url()).pathname;
  const before = page.viewportSize();
  const found: string[] = [];
  await page.evaluate(AXE);
  for (const { colorScheme, width } of part === undefined ? LOOKS : LOOKS.slice(0, 1)) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    // Every rule runs; what was found to be right is not collected and sent over, which takes as long as the rules, and
    // what an element is written as is read of those alone that something is wrong with.
    const violations = await page.evaluate(
      async (within) => {
        const result = await axe.run(within ?? document, { resultTypes: ['violations'], elementRef: true });
        return result.violations.flatMap(({ id, nodes }) =>
          nodes.map(
            ({ element, target }) => `${id}: ${element?.outerHTML.slice(0, 300) ?? target.join(' ')}`,
          ),
        );
      },
      await part?.elementHandle(),
    );
    found.push(...violations.map((text) => `${colorScheme}, ${width} px, ${text}`));
  }
  await page.setViewportSize({ width: NARROWEST, height: 900 });
  const width = await page.evaluate<number>('document.documentElement.scrollWidth');
  if (width > NARROWEST) found.push(`${width} px wide in a window of ${NARROWEST} px`);
  if (before !== null) await page.setViewportSize(before);
  expect({ path, found }).toEqual({ path, found: [] });
}
