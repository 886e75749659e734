import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** The narrowest window of WCAG 2.2, 1.4.10 Reflow, which is also 1280 px at a zoom of 400 %. */
const NARROWEST = 320;

const LOOKS = [
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 360 },
] as const;

/**
 * Expects that axe finds nothing wrong with a page, light and dark, wide and narrow, and that it never has to be scrolled
 * sideways. It must run scripts.
 */
export async function expectAccessible(page: Page): Promise<void> {
  const path = new URL(page.url()).pathname;
  const found: string[] = [];
  await page.evaluate(axe.source);
  for (const { colorScheme, width } of LOOKS) {
    // A colour on its way to another one is neither.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height: 900 });
    // Every rule runs; what was found to be right is not collected and sent over, which takes as long as the rules.
    const violations = await page.evaluate<AxeResults['violations']>(
      `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)`,
    );
    for (const { id, nodes } of violations)
      found.push(...nodes.map((node) => `${id}, ${colorScheme}, ${width} px: ${node.html}`));
  }
  await page.setViewportSize({ width: NARROWEST, height: 900 });
  const width = await page.evaluate<number>('document.documentElement.scrollWidth');
  if (width > NARROWEST) found.push(`${width} px wide in a window of ${NARROWEST} px`);
  expect({ path, found }).toEqual({ path, found: [] });
}
