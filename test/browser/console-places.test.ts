import { describe, expect, it } from 'vitest';
import { HOME, PLACES } from '../../src/pages/addresses.ts';
import { expectAccessible } from '../harness/accessibility.ts';
import { describeInBrowser } from '../harness/browser.ts';
import { useConsole } from '../harness/console.ts';

/** What the heading of each place is, and something there that was read. */
const SHOWN: Readonly<Record<string, { heading: string; read: string }>> = {
  '': { heading: 'Home', read: 'section:has-text("Open by severity") a' },
  vulnerabilities: { heading: 'Vulnerabilities', read: '[role=grid] a' },
  assets: { heading: 'Assets', read: '[role=grid] a' },
  assessments: { heading: 'Assessments', read: '[role=grid] a' },
  groups: { heading: 'Groups', read: '[role=grid] a' },
  people: { heading: 'People', read: '[role=grid] a' },
  tags: { heading: 'Tags', read: '[role=grid] [role=row]:nth-child(2)' },
  imports: { heading: 'Imports', read: 'text=Drop reports of scanners here' },
  audit: { heading: 'Audit', read: '[role=grid] >> text=session.start' },
};

describe('Every place of the console', () => {
  it('is looked at', () => {
    expect(Object.keys(SHOWN)).toEqual(['', ...PLACES]);
  });
});

describeInBrowser('Nothing is in the way of anybody in the console, light or dark, wide or narrow', () => {
  const assay = useConsole();

  it.each(Object.entries(SHOWN))('at /%s', async (place, { heading, read }) => {
    const page = await assay.enter('admin', HOME + place);
    await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
    await page.locator(read).first().waitFor();
    expect(await page.title()).toBe(`${heading} - Assay`);
    await expectAccessible(page);
  });
});
