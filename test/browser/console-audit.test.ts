import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { expectAccessible } from '../harness/accessibility.ts';
import { describeInBrowser } from '../harness/browser.ts';
import { addSession, useSharedConsole } from '../harness/console.ts';
import type { DemoAccount } from '../../src/demo/manifest.ts';

describeInBrowser('Console: audit log', () => {
  const assay = useSharedConsole();

  it('filters events and keeps the filters in the URL', async () => {
    const page = await assay.enter('admin', '/healthz');
    await addSession(page, assay.server(), assay.demo().users.admin as Required<DemoAccount>);
    await page.goto('/audit');
    const grid = page.getByRole('grid', { name: 'Events' });
    await grid.getByText('signed in').first().waitFor();
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Action' }).click();
    await page.getByLabel('Search action').fill('vulnerability.up');
    await page.getByRole('checkbox', { name: 'vulnerability.update' }).check();
    await page.keyboard.press('Escape');
    await expect.poll(() => new URL(page.url()).search).toContain('vulnerability.update');
    await expect.poll(() => grid.getByText('signed in').count()).toBe(0);
    await page.reload();
    await grid.getByTitle('vulnerability.update', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Remove Action filter' }).click();
    await grid.getByText('signed in').first().waitFor();
    await page.getByLabel('To', { exact: true }).fill('2001-01-01');
    await page.getByText('No results').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await grid.getByText('signed in').first().waitFor();
  });

  it('shows values before and after, and all events of the object', async () => {
    const page = await assay.enter('admin', '/audit?action=%5B%22vulnerability.update%22%5D');
    const row = page.getByRole('row').nth(1);
    await row.getByTitle('vulnerability.update', { exact: true }).waitFor();
    await page.keyboard.press('j');
    const height = async () => (await row.boundingBox())?.height;
    expect(await height()).toBe(52);
    await page.keyboard.press('o');
    await row.getByRole('button', { name: 'Details of vulnerability.update', expanded: true }).waitFor();
    const table = row.getByRole('table', { name: 'Changes' });
    const headers = table.getByRole('columnheader');
    await expect.poll(() => headers.allTextContents()).toEqual(['Field', 'Before', 'After']);
    await expectAccessible(page);
    await page.keyboard.press('o');
    await table.waitFor({ state: 'detached' });
    await expect.poll(height).toBe(52);
    await row.getByRole('button', { name: 'Details of vulnerability.update' }).click();
    await row.getByRole('button', { name: 'All events for this object' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('object_type')).toBe('vulnerability');
    await table.waitFor({ state: 'detached' });
    await row.getByTitle('vulnerability.update', { exact: true }).waitFor();
  });

  it('says who did what, with names in place of ids, and seconds', async () => {
    const { id } = assay.demo().vulnerability;
    const path = `/v1/vulnerabilities/${id}`;
    for (const status_id of [4, 5])
      await assay.call('admin', 'PATCH', path, { status_id, tag_list: [`named in the log ${status_id}`] });
    const page = await assay.enter('admin', '/audit?action=%5B%22vulnerability.update%22%5D');
    const row = page.getByRole('row').nth(1);
    await row.getByTitle('vulnerability.update', { exact: true }).waitFor();
    await expect
      .poll(() => row.getByTitle('vulnerability.update', { exact: true }).textContent())
      .toMatch(new RegExp(`^[A-Z]\\w+ \\w+ set #${id} \\w.* to Fixed$`));
    expect(await row.locator('time').textContent()).toMatch(/\d:\d\d:\d\d/);
    await page.keyboard.press('j');
    await page.keyboard.press('o');
    const table = row.getByRole('table', { name: 'Changes' });
    const cells = (name: string) => table.getByRole('row', { name }).getByRole('cell').allInnerTexts();
    await expect.poll(() => cells('status')).toEqual(['Pending verification', 'Fixed']);
    await expect.poll(() => cells('tags')).toEqual(['named in the log 4', 'named in the log 5']);
  });

  it('loads the names of all objects of a page with one request', async () => {
    const path = `/v1/vulnerabilities/${assay.demo().vulnerability.id}/comments`;
    await assay.call('admin', 'POST', path, { text: 'Confirmed.' });
    const requests: string[] = [];
    const page = await assay.enter('admin', '/healthz');
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/v1/vulnerabilities' && searchParams.has('filter[id][]')) requests.push(pathname);
    });
    await page.goto('/audit?action=%5B%22vulnerability.update%22%2C%22comment.create%22%5D');
    const grid = page.getByRole('grid', { name: 'Events' });
    await grid.getByText('commented on').first().waitFor();
    const object = grid.getByRole('row').nth(1).getByRole('link');
    await expect.poll(() => object.textContent()).toMatch(/^#\d+ [A-Z]/);
    expect(requests).toHaveLength(1);
    const title = (await object.textContent())?.replace(/^#\d+ /, '');
    await object.click();
    await page.getByRole('heading', { name: title ?? '', level: 1 }).waitFor();
  });

  it('exports all matching events', async () => {
    const page = await assay.enter('admin', '/audit?action=%5B%22vulnerability.update%22%5D');
    for (const [form, name] of [
      ['CSV', 'audit-events.csv'],
      ['NDJSON', 'audit-events.ndjson'],
    ] as const) {
      await page.getByRole('button', { name: 'Export' }).click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: `All matching events as ${form}` }).click(),
      ]);
      expect(download.suggestedFilename()).toBe(name);
      const text = await readFile(await download.path(), 'utf8');
      expect(text.startsWith('\uFEFF')).toBe(form === 'CSV');
      const lines = text.trimEnd().split('\n');
      const rows = form === 'CSV' ? lines.slice(1) : lines;
      expect(rows.length).toBeGreaterThan(0);
      expect(rows.every((line) => line.includes('vulnerability.update'))).toBe(true);
    }
  });

  it('shows members that only admins can see the audit log', async () => {
    const page = await assay.enter('member', '/audit');
    await page.getByText('Only admins can see the audit log').waitFor();
    expect(await page.getByRole('link', { name: 'Audit' }).count()).toBe(0);
    await expectAccessible(page);
  });
});
