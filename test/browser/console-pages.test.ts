import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { CONSOLE_HOME, CONSOLE_PATHS } from '../../src/page-kit/paths.ts';
import { expectAccessibleInAllViews } from '../harness/accessibility.ts';
import { describeInBrowser } from '../harness/browser.ts';
import { useSharedConsole } from '../harness/console.ts';

/** The heading of each page, and a selector of loaded content. */
const PAGES: Readonly<Record<string, { heading: string; content: string }>> = {
  '': { heading: 'Home', content: 'tbody [role=img]' },
  vulnerabilities: { heading: 'Vulnerabilities', content: '[role=grid] a' },
  assets: { heading: 'Assets', content: '[role=grid] a' },
  assessments: { heading: 'Assessments', content: '[role=grid] a' },
  groups: { heading: 'Groups', content: '[role=grid] a' },
  people: { heading: 'People', content: '[role=grid] a' },
  tags: { heading: 'Tags', content: '[role=grid] [role=row]:nth-child(2)' },
  imports: { heading: 'Imports', content: 'text=Drop scanner reports here' },
  audit: { heading: 'Audit log', content: '[role=grid] [role=row]:nth-child(2)' },
};

describe('Console pages', () => {
  it('are all tested for accessibility', () => {
    expect(Object.keys(PAGES)).toEqual(['', ...CONSOLE_PATHS]);
  });
});

describeInBrowser('Console pages: accessible in light and dark, wide and narrow', () => {
  const assay = useSharedConsole();

  it.each(Object.entries(PAGES))('/%s', async (path, { heading, content }) => {
    const page = await assay.enter('admin', CONSOLE_HOME + path);
    await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
    await page.locator(content).first().waitFor();
    expect(await page.title()).toBe(`${heading} - Assay`);
    await expectAccessibleInAllViews(page);
    await expectTableToFit(page);
  });
});

/** Window widths in pixels: phones, and either side of where columns appear. */
const BREAKPOINTS = [360, 600, 840, 1_080, 1_400];

/** Expects the columns of a table to fit into it at every width. */
async function expectTableToFit(page: Page): Promise<void> {
  const tooNarrow: number[] = [];
  for (const width of BREAKPOINTS) {
    await page.setViewportSize({ width, height: 800 });
    const overflow = await page.evaluate<number>(`new Promise((resolve) => {
      const measure = () => {
        const grid = document.querySelector('[role=grid]');
        resolve(grid === null ? 0 : grid.scrollWidth - grid.clientWidth);
      };
      // The table observes its width in one frame and renders in the next.
      requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(measure)));
    })`);
    if (overflow > 0) tooNarrow.push(width);
  }
  expect(tooNarrow).toEqual([]);
}
