import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectAccessibleInAllViews } from '../harness/accessibility.ts';
import { describeInBrowser } from '../harness/browser.ts';
import { useSharedConsole } from '../harness/console.ts';

const fieldOf = (page: Page) => page.getByRole('combobox', { name: 'Search everything' });
const groupOf = (page: Page, name: string) =>
  page.getByRole('listbox', { name: 'Results' }).getByRole('group', { name, exact: true });
const selectedOf = (page: Page) => page.locator('[role="option"][aria-selected="true"]');
const pathOf = (page: Page) => new URL(page.url()).pathname;

describeInBrowser('Console: command palette', () => {
  const assay = useSharedConsole();

  const create = async (title: string): Promise<number> => {
    const members = { assessment_id: assay.demo().assessment.uid, severity: 'High', title };
    return (await assay.call('admin', 'POST', '/v1/vulnerabilities', members)).id;
  };

  async function open(page: Page, key = 'Control+k') {
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press(key);
    await fieldOf(page).waitFor();
  }

  it('opens by key, also in a field, with recent findings and pages, and gives the focus back', async () => {
    const id = await create('Opened by its reader');
    const page = await assay.enter('admin', `/vulnerabilities/${id}`);
    await page.getByRole('heading', { level: 1, name: 'Opened by its reader' }).waitFor();
    await page.getByRole('link', { name: 'Vulnerabilities' }).first().click();
    const field = page.getByRole('searchbox');
    await field.waitFor();
    await field.focus();
    await open(page);
    await groupOf(page, 'Recent findings').getByRole('option', { name: 'Opened by its reader' }).waitFor();
    await groupOf(page, 'Pages').getByRole('option', { name: 'Audit log' }).waitFor();
    await expectAccessibleInAllViews(page);
    await page.keyboard.press('Escape');
    await fieldOf(page).waitFor({ state: 'detached' });
    expect(await field.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.getByRole('heading', { level: 1 }).click();
    await open(page, '/');
    await page.keyboard.press('Control+k');
    await fieldOf(page).waitFor({ state: 'detached' });
  });

  it('opens the finding of a number, also if Enter comes before the results', async () => {
    const id = await create('Searched by its number');
    const page = await assay.enter('admin', '/tags');
    await open(page);
    await page.keyboard.type(`#${id}`);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Searched by its number' }).waitFor();
    expect(pathOf(page)).toBe(`/vulnerabilities/${id}`);
  });

  it('searches everything, moves by arrow keys, and opens a new tab', async () => {
    const id = await create('Tracking number is guessable');
    const page = await assay.enter('admin', '/tags');
    await open(page);
    await page.keyboard.type('tracking');
    const finding = groupOf(page, 'Findings').getByRole('option', { name: 'Tracking number is guessable' });
    await finding.waitFor();
    await groupOf(page, 'Assets').getByRole('option').first().waitFor();
    expect(await finding.locator('mark').textContent()).toBe('Tracking');
    expect(await finding.getAttribute('href')).toBe(`/vulnerabilities/${id}`);
    await page
      .getByRole('status')
      .filter({ hasText: /finding.*asset/ })
      .waitFor();
    await expectAccessible(page, page.getByRole('dialog'));
    // From the first option up to the last and down again.
    const first = await selectedOf(page).textContent();
    await page.keyboard.press('ArrowUp');
    expect(await selectedOf(page).textContent()).not.toBe(first);
    await page.keyboard.press('ArrowDown');
    expect(await selectedOf(page).textContent()).toBe(first);
    await fieldOf(page).fill(`#${id}`);
    await expect.poll(() => selectedOf(page).getAttribute('href')).toBe(`/vulnerabilities/${id}`);
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      page.keyboard.press('Control+Enter'),
    ]);
    await tab.waitForURL(`**/vulnerabilities/${id}`);
    await tab.close();
    // The palette stays for the next one.
    await fieldOf(page).waitFor();
    expect(pathOf(page)).toBe('/tags');
  });

  it('narrows to a kind by Tab, widens by Backspace, and shows all in the list', async () => {
    await create('Narrowed to findings');
    const page = await assay.enter('admin', '/tags');
    await open(page);
    const pressed = page.getByRole('group', { name: 'Search in' }).locator('[aria-pressed="true"]');
    expect(await pressed.textContent()).toBe('Everything');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(await pressed.textContent()).toBe('Assets');
    await groupOf(page, 'Assets').getByRole('option').first().waitFor();
    expect(await page.getByRole('listbox', { name: 'Results' }).getByRole('group').count()).toBe(1);
    await page.keyboard.press('Backspace');
    expect(await pressed.textContent()).toBe('Everything');
    await page.keyboard.type('Narrowed to findings');
    await groupOf(page, 'Findings')
      .getByRole('option', { name: /^Show all findings/ })
      .click();
    await page.waitForURL((url) => url.searchParams.get('search') === 'Narrowed to findings');
    await page.getByRole('grid', { name: 'Vulnerabilities' }).getByRole('link').first().waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('Narrowed to findings');
  });

  it('runs an action of the page, with the focus where it was', async () => {
    const id = await create('Acted upon');
    const page = await assay.enter('admin', `/vulnerabilities/${id}`);
    await page.getByRole('heading', { level: 1, name: 'Acted upon' }).waitFor();
    await open(page);
    await page.keyboard.type('Go to the list');
    await page.getByText('Nothing matches “Go to the list”').waitFor();
    await fieldOf(page).fill('comment');
    await groupOf(page, 'Actions').getByRole('option', { name: 'Comment' }).click();
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA');
    expect(await fieldOf(page).count()).toBe(0);
  });

  it('offers only what its reader may read', async () => {
    const page = await assay.enter('member', '/');
    await open(page);
    const kinds = page.getByRole('group', { name: 'Search in' }).getByRole('button');
    await expect
      .poll(() => kinds.allTextContents())
      .toEqual(['Everything', 'Findings', 'Assets', 'Assessments', 'Tags']);
    expect(await groupOf(page, 'Pages').getByRole('option', { name: 'Audit log' }).count()).toBe(0);
  });

  it('never counts all matches, and says what could not be searched', async () => {
    const page = await assay.enter('admin', '/tags', { expectedStatuses: [403] });
    const counted: string[] = [];
    page.on('response', (response) => {
      if (new URL(response.url()).searchParams.get('filter[search]') === 'a')
        counted.push(response.headers()['pagination-total-count'] ?? '');
    });
    await page.route(/\/assets\?/, (route) => route.fulfill({ status: 403, json: { message: 'No.' } }));
    await open(page);
    await page.keyboard.type('a');
    await page.getByText('Could not search assets.').waitFor();
    await groupOf(page, 'Findings').getByRole('option').nth(5).waitFor();
    expect(counted.length).toBeGreaterThan(0);
    expect(counted.filter((total) => total !== '' && total !== '0')).toEqual([]);
  });
});
