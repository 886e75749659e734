import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { CONSOLE_HOME, CONSOLE_PATHS } from '../../src/pages/paths.ts';
import { expectAccessible } from '../harness/accessibility.ts';
import { describeInBrowser } from '../harness/browser.ts';
import { useConsole } from '../harness/console.ts';

/** The heading of each page, and a selector of loaded content. */
const SHOWN: Readonly<Record<string, { heading: string; read: string }>> = {
  '': { heading: 'Home', read: 'section:has-text("Open by severity") a' },
  vulnerabilities: { heading: 'Vulnerabilities', read: '[role=grid] a' },
  assets: { heading: 'Assets', read: '[role=grid] a' },
  assessments: { heading: 'Assessments', read: '[role=grid] a' },
  groups: { heading: 'Groups', read: '[role=grid] a' },
  people: { heading: 'People', read: '[role=grid] a' },
  tags: { heading: 'Tags', read: '[role=grid] [role=row]:nth-child(2)' },
  imports: { heading: 'Imports', read: 'text=Drop scanner reports here' },
  audit: { heading: 'Audit', read: '[role=grid] >> text=session.start' },
};

describe('Console: all pages', () => {
  it('are covered by this test', () => {
    expect(Object.keys(SHOWN)).toEqual(['', ...CONSOLE_PATHS]);
  });
});

describeInBrowser('Console: every page is accessible, in light and dark, wide and narrow', () => {
  const assay = useConsole();

  it.each(Object.entries(SHOWN))('at /%s', async (place, { heading, read }) => {
    const page = await assay.enter('admin', CONSOLE_HOME + place);
    await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
    await page.locator(read).first().waitFor();
    expect(await page.title()).toBe(`${heading} - Assay`);
    await expectAccessible(page);
    await expectTableWithin(page);
  });
});

/** Window widths in pixels: phones, and either side of where columns appear. */
const BREAKPOINTS = [360, 600, 840, 1_080, 1_400];

/** Expects every column of a table to fit into it. */
async function expectTableWithin(page: Page): Promise<void> {
  const cut: number[] = [];
  for (const width of BREAKPOINTS) {
    await page.setViewportSize({ width, height: 800 });
    const beyond = await page.evaluate<number>(`new Promise((tell) => {
      const measure = () => {
        const grid = document.querySelector('[role=grid]');
        tell(grid === null ? 0 : grid.scrollWidth - grid.clientWidth);
      };
      // The table observes its width in one frame and renders in the next.
      requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(measure)));
    })`);
    if (beyond > 0) cut.push(width);
  }
  expect(cut).toEqual([]);
}
