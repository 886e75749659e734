import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { describeInBrowser } from '../harness/browser.ts';
import { undo, useConsole } from '../harness/console.ts';
import { uploadReport, waitForImport, waitUntilSearchable } from '../harness/imports.ts';
import { nucleiReport } from '../harness/nuclei.ts';

/** 20 pages. */
const COUNT = 4_000;
const LIST = '/vulnerabilities?search=Long+list&sort=title';
const titleOf = (number: number) => `Long list ${String(number).padStart(4, '0')}`;

const gridOf = (page: Page) => page.getByRole('grid', { name: 'Vulnerabilities' });
const rowOf = (page: Page, title: string) => gridOf(page).getByRole('row').filter({ hasText: title });
const currentRow = (page: Page) => gridOf(page).locator('[data-current]');
const waitForCurrent = (page: Page, number: number) =>
  currentRow(page)
    .getByRole('link', { name: titleOf(number) })
    .waitFor();

/** Records the pages that the list requests. */
function recordRequests(page: Page): URLSearchParams[] {
  const requests: URLSearchParams[] = [];
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    const isPage = searchParams.get('page[size]') === '200' && searchParams.has('filter[search]');
    if (pathname === '/v1/vulnerabilities' && isPage) requests.push(searchParams);
  });
  return requests;
}

describeInBrowser('Console: long lists', () => {
  const assay = useConsole();

  beforeAll(async () => {
    const findings = Array.from({ length: COUNT }, (_, index) => ({
      rule: `rule-${index}`,
      name: titleOf(index + 1),
      severity: 'low',
      at: Date.UTC(2025, 10, 1),
    }));
    const { token = '' } = assay.demo().users.admin;
    const { status, body } = await uploadReport(assay.server(), token, nucleiReport(findings), {
      assessment_id: assay.demo().assessment.uid,
    });
    expect(status).toBe(202);
    await waitForImport(assay.server(), token, body.id);
    await waitUntilSearchable(assay.server());
  });

  /** Opens a list. @returns the page, and the pages of the list that it requests from now on */
  async function enter(path = LIST) {
    const page = await assay.enter('admin', '/');
    const requests = recordRequests(page);
    await page.goto(path);
    await page.getByText('4,000 found').waitFor();
    // The list reads the visible rows and 400 more.
    await expect.poll(() => requests.length).toBe(3);
    requests.length = 0;
    await gridOf(page).focus();
    return { page, requests };
  }

  it('End reads the last rows and Home the first, without the rows between them', async () => {
    const { page, requests } = await enter();
    await page.keyboard.press('End');
    await waitForCurrent(page, COUNT);
    expect(requests.length).toBeLessThanOrEqual(3);
    await page.keyboard.press('k');
    await waitForCurrent(page, COUNT - 1);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await waitForCurrent(page, COUNT);
    await page.keyboard.press('Home');
    await waitForCurrent(page, 1);
    await page.keyboard.press('j');
    await waitForCurrent(page, 2);
    await page.keyboard.press('End');
    await waitForCurrent(page, COUNT);
    expect(requests.length).toBeLessThanOrEqual(3);
  });

  it('End and Home go to the last and the first row wherever the focus is, and the help lists them', async () => {
    const page = await assay.enter('admin', LIST);
    await page.getByText('4,000 found').waitFor();
    await page.keyboard.press('End');
    await waitForCurrent(page, COUNT);
    await page.keyboard.press('Home');
    await waitForCurrent(page, 1);
    await page.keyboard.press('?');
    await page.getByRole('row', { name: 'End Last finding' }).waitFor();
    await page.keyboard.press('Escape');
    // In a text field, they move the cursor.
    await page.getByRole('searchbox').press('End');
    expect(await currentRow(page).textContent()).toContain(titleOf(1));
  });

  it('a position of the scrollbar reads the rows that it shows', async () => {
    const { page, requests } = await enter();
    await gridOf(page).evaluate((grid) => {
      grid.scrollTop = grid.scrollHeight / 2;
    });
    await rowOf(page, titleOf(COUNT / 2)).waitFor();
    expect(
      requests
        .map((search) => search.get('page[number]'))
        .every((number) => number === '10' || number === '11'),
    ).toBe(true);
    expect(requests.length).toBeLessThanOrEqual(2);
  });

  it('the last row is previewed, selected and changed, and the change undone', async () => {
    const { page } = await enter();
    const pane = page.getByRole('complementary', { name: 'Preview' });
    await page.keyboard.press('j');
    await page.keyboard.press('o');
    await pane.getByRole('heading', { name: titleOf(1) }).waitFor();
    await page.keyboard.press('End');
    await pane.getByRole('heading', { name: titleOf(COUNT) }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('x');
    await page.getByText('1 selected').waitFor();
    await page.keyboard.press('s');
    await page.getByRole('dialog', { name: 'Set status' }).waitFor();
    await page.keyboard.press('3');
    const last = rowOf(page, titleOf(COUNT));
    await last.getByText('Fix in progress').waitFor();
    await undo(page, `Fix in progress: ${titleOf(COUNT)}`);
    await page.getByText('Change to 1 finding undone').waitFor();
    await last.getByText('Pending review').waitFor();
    expect(await last.getAttribute('data-current')).toBe('true');
  });

  it('last rows that cannot be read leave the others, and load when asked to', async () => {
    const page = await assay.enter('admin', '/', { expectedStatuses: [403] });
    const isNumbered = ({ searchParams }: URL) => searchParams.has('page[number]');
    // The console does not retry a 403, so the button stays until it is clicked.
    await page.route(isNumbered, (route) => route.fulfill({ status: 403, json: { detail: 'Locked.' } }));
    await page.goto(LIST);
    await page.getByText('4,000 found').waitFor();
    await gridOf(page).focus();
    await page.keyboard.press('End');
    const alert = page.getByRole('alert').filter({ hasText: 'Could not load the list' });
    await alert.waitFor();
    await page.keyboard.press('Home');
    await waitForCurrent(page, 1);
    await page.unroute(isNumbered);
    await alert.getByRole('button', { name: 'Try again' }).click();
    await alert.waitFor({ state: 'detached' });
    await page.keyboard.press('End');
    await waitForCurrent(page, COUNT);
    expect(await alert.count()).toBe(0);
  });

  it('assets beyond the loaded ones are read by number', async () => {
    const { token = '' } = assay.demo().users.admin;
    const hosts = Array.from(
      { length: 1_200 },
      (_, index) =>
        `<host><status state="up"/><address addr="10.99.${index >> 8}.${index & 255}" addrtype="ipv4"/></host>`,
    );
    const report = `<?xml version="1.0"?><nmaprun scanner="nmap" start="1">${hosts.join('')}</nmaprun>`;
    const { status, body } = await uploadReport(assay.server(), token, report, {
      assessment_id: assay.demo().assessment.uid,
    });
    expect(status).toBe(202);
    await waitForImport(assay.server(), token, body.id);
    const page = await assay.enter('admin', '/assets');
    await page.getByText(/^1,\d{3} found$/).waitFor();
    const grid = page.getByRole('grid', { name: 'Assets' });
    await grid.focus();
    const numbered = page.waitForRequest((request) => new URL(request.url()).searchParams.has('page'));
    await page.keyboard.press('End');
    await numbered;
    await grid.locator('[data-current]').getByRole('link').waitFor();
    expect(await grid.getAttribute('aria-activedescendant')).toMatch(/^row-1\d{3}$/);
  });

  it('End finds the last row when rows have left the list meanwhile', async () => {
    const { page } = await enter(`${LIST}&phase=%5B%22new%22%5D`);
    const search = new URLSearchParams({ 'filter[search]': titleOf(COUNT) });
    const [last] = await assay.call('admin', 'GET', `/v1/vulnerabilities?${search}`);
    await assay.call('admin', 'PATCH', `/v1/vulnerabilities/${last.id}`, { status_id: 3 });
    await page.keyboard.press('End');
    await waitForCurrent(page, COUNT - 1);
    await page.getByText('3,999 found').waitFor();
    expect(await rowOf(page, titleOf(COUNT)).count()).toBe(0);
  });
});
