import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { expectAccessible } from '../harness/accessibility.ts';
import { notificationsOf, undo, useSharedConsole } from '../harness/console.ts';

const gridOf = (page: Page) => page.getByRole('grid', { name: 'Vulnerabilities' });
const headsOf = (page: Page) => gridOf(page).locator('[aria-expanded]');
const headOf = (page: Page, name: RegExp) => gridOf(page).getByRole('button', { name });
const rowsOf = (page: Page) => gridOf(page).locator('[id^="row-"]');

describe('Console: groups and steps in the list', () => {
  const assay = useSharedConsole();

  /** Number of vulnerabilities that match a filter. */
  const countOf = async (filter: string): Promise<number> => {
    const { token } = assay.demo().users.admin;
    const response = await assay
      .server()
      .request('GET', `/v1/vulnerabilities?page[size]=1&${filter}`, { token });
    return (JSON.parse(response.headers.get('x-pagination') ?? '{}') as { total_entries: number })
      .total_entries;
  };
  const OPEN = 'filter[phase][]=new&filter[phase][]=open';

  it('groups by severity, with counts, and collapses groups', async () => {
    const page = await assay.enter('admin', '/vulnerabilities');
    const critical = headOf(page, /^Critical/);
    await critical.waitFor();
    const count = await countOf(`${OPEN}&filter[severity][]=Critical`);
    expect(await critical.textContent()).toBe(`Critical ${count}`);
    await rowsOf(page).first().getByRole('img', { name: 'Critical' }).waitFor();
    await expectAccessible(page);
    await critical.click();
    await rowsOf(page).first().getByRole('img', { name: 'High' }).waitFor();
    expect(await critical.getAttribute('aria-expanded')).toBe('false');
    // Moving starts with the first row that is shown.
    await page.keyboard.press('j');
    await gridOf(page).locator(`[id="row-${count}"][data-current]`).waitFor();
    await page.keyboard.press('k');
    await gridOf(page).locator(`[id="row-${count}"][data-current]`).waitFor();
    await critical.press('Enter');
    await rowsOf(page).first().getByRole('img', { name: 'Critical' }).waitFor();
  });

  it('groups the results of a search without counting the groups, if one page has them all', async () => {
    const page = await assay.enter('admin', '/tags');
    const counts: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('filter[severity]')) counts.push(request.url());
    });
    await page.goto('/vulnerabilities?search=injection&phase=%5B%22new%22%2C%22open%22%2C%22closed%22%5D');
    const severities = ['Critical', 'High', 'Medium', 'Low', 'Informational'];
    await headsOf(page).first().waitFor();
    for (const name of await headsOf(page).allTextContents())
      expect(severities).toContain(name.replace(/ \d+$/, ''));
    expect(counts).toEqual([]);

    expect(await countOf('filter[search]=the')).toBeGreaterThan(100);
    await page.goto('/vulnerabilities?search=the&phase=%5B%22new%22%2C%22open%22%2C%22closed%22%5D');
    await rowsOf(page).first().waitFor();
    expect(await headsOf(page).count()).toBe(0);
  });

  it('ignores a grouping in the address that it does not know', async () => {
    const page = await assay.enter('admin', '/vulnerabilities?group=nonsense');
    await headOf(page, /^Critical/).waitFor();
    expect(await page.getByRole('button', { name: 'Group: Severity' }).count()).toBe(1);
  });

  it('has the head of the rows at the top, and every row once', async () => {
    const page = await assay.enter('admin', '/vulnerabilities');
    await rowsOf(page).first().waitFor();
    await gridOf(page).focus();
    await page.keyboard.press('End');
    const total = await countOf(OPEN);
    await gridOf(page)
      .locator(`[id="row-${total - 1}"][data-current]`)
      .getByRole('link')
      .waitFor();
    await headOf(page, /^Informational/).waitFor();
    await page.keyboard.press('Home');
    await rowsOf(page).first().getByRole('img', { name: 'Critical' }).waitFor();
    expect(await headsOf(page).first().textContent()).toContain('Critical');
  });

  it('groups by status, by assessment or not at all, kept in the address', async () => {
    const page = await assay.enter('admin', '/vulnerabilities');
    await page.getByRole('button', { name: 'Group: Severity' }).click();
    await page.getByRole('menuitemradio', { name: 'Status' }).click();
    await page.waitForURL('**/vulnerabilities?group=status');
    await headOf(page, /^Pending review/).waitFor();
    await page.reload();
    await headOf(page, /^Pending review/).waitFor();
    await page.goto('/vulnerabilities?group=assessment');
    await headOf(page, /^Web programme 2026/).waitFor();
    await page.goto('/vulnerabilities?group=none');
    await rowsOf(page).first().waitFor();
    expect(await headsOf(page).count()).toBe(0);
  });

  it('has only the groups of its filters and its tab', async () => {
    const page = await assay.enter('admin', '/vulnerabilities?group=status&phase=%5B%22closed%22%5D');
    await headOf(page, /^Fixed/).waitFor();
    expect(await headOf(page, /^Pending/).count()).toBe(0);
    await page.goto('/vulnerabilities?severity=%5B%22Low%22%5D');
    await headOf(page, /^Low/).waitFor();
    expect(await headsOf(page).count()).toBe(1);
  });

  it('says of a row that an edit has taken out of its list or group', async () => {
    const page = await assay.enter('admin', '/vulnerabilities?group=status');
    const first = rowsOf(page).first();
    await first.getByText('Pending review').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('s');
    await page.getByRole('dialog', { name: 'Set status' }).waitFor();
    await page.keyboard.press('3');
    await first.getByText('No longer matches').waitFor();
    await undo(page, 'Fix in progress: ');
    await first.getByText('Pending review').waitFor();
    await expect.poll(() => first.getByText('No longer matches').count()).toBe(0);
  });

  it('takes the next step of the current row, of the preview and of the selection', async () => {
    const page = await assay.enter('admin', '/vulnerabilities?status_id=%5B1%5D&group=none');
    const first = rowsOf(page).first();
    await first.getByText('Pending review').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('.');
    await first.getByText('Pending fix').waitFor();
    await undo(page, 'Pending fix: ');
    await first.getByText('Pending review').waitFor();
    await page.keyboard.press('o');
    const pane = page.getByRole('complementary', { name: 'Preview' });
    await pane.getByRole('button', { name: 'Confirm' }).click();
    await pane.getByRole('button', { name: 'Start fix' }).waitFor();
    await undo(page, 'Pending fix: ');
    await pane.getByRole('button', { name: 'Confirm' }).waitFor();
    await pane.getByRole('button', { name: 'Dismiss' }).click();
    await page.getByRole('dialog', { name: 'Dismiss the finding' }).getByLabel('Out of scope').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await pane.waitFor({ state: 'detached' });
    await page.keyboard.press('x');
    await page.getByRole('toolbar').getByRole('button', { name: 'Confirm' }).waitFor();
    expect(await first.getByRole('checkbox').isChecked()).toBe(true);
  });

  it('undoes the last change by key, and closes notifications', async () => {
    const page = await assay.enter('admin', '/vulnerabilities?status_id=%5B1%5D&group=none');
    const first = rowsOf(page).first();
    await first.getByText('Pending review').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('.');
    await notificationsOf(page).filter({ hasText: 'Pending fix: ' }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press('z');
    await first.getByText('Pending review').waitFor();
    const undone = notificationsOf(page).filter({ hasText: 'Change to 1 finding undone' });
    await undone.getByRole('button', { name: 'Close notification' }).click();
    await expect.poll(() => notificationsOf(page).count()).toBe(0);
  });

  it('sets the due date by key', async () => {
    const page = await assay.enter('admin', '/vulnerabilities?group=none&sort=title');
    const first = rowsOf(page).first();
    await first.getByRole('link').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('d');
    const dialog = page.getByRole('dialog', { name: 'Set due date' });
    await dialog.getByLabel('Due date').fill('2099-12-31');
    await dialog.getByRole('button', { name: 'Set' }).click();
    await first.getByText('2099').waitFor();
    await undo(page, 'Due 2099-12-31: ');
    await expect.poll(() => first.getByText('2099').count()).toBe(0);
  });

  it('has a preview whose width the browser keeps', async () => {
    const page = await assay.enter('admin', '/vulnerabilities?group=none&open=1');
    const handle = page.getByRole('separator', { name: 'Width of the preview' });
    await handle.press('ArrowLeft');
    await handle.press('ArrowLeft');
    expect(await handle.getAttribute('aria-valuenow')).toBe('540');
    await page.reload();
    await handle.waitFor();
    expect(await handle.getAttribute('aria-valuenow')).toBe('540');
    const before = await handle.boundingBox();
    if (before === null) throw new Error('The handle is not visible.');
    await page.mouse.move(before.x + 4, 300);
    await page.mouse.down();
    await page.mouse.move(before.x + 404, 300);
    await page.mouse.up();
    expect(await handle.getAttribute('aria-valuenow')).toBe('420');
    await expectAccessible(page);
  });
});
