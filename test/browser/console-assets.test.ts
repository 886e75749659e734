import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectAccessibleInAllViews } from '../harness/accessibility.ts';
import { describeInBrowser } from '../harness/browser.ts';
import { undo, useConsole } from '../harness/console.ts';

const GRID = { name: 'Assets' } as const;

/** Selects the first rows of the list. */
async function selectFirst(page: Page, number: number): Promise<void> {
  const grid = page.getByRole('grid', GRID);
  await grid.getByRole('link').first().waitFor();
  for (let row = 1; row <= number; row += 1)
    await grid.getByRole('row').nth(row).getByRole('checkbox').check();
}

const linksOf = (page: Page) => page.getByRole('grid', GRID).getByRole('link');

describeInBrowser('Console: assets', () => {
  const assay = useConsole();

  it('filters the list and keeps the filters in the URL', async () => {
    const page = await assay.enter('admin', '/assets');
    await linksOf(page).first().waitFor();
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByRole('menuitem', { name: 'IP range' }).click();
    await page.getByRole('textbox', { name: 'Search ip range' }).fill('10.20.0.0/24');
    await page.getByRole('checkbox', { name: '10.20.0.0/24' }).check();
    await page.keyboard.press('Escape');
    const inRange = (all: string[]) => all.length > 0 && all.every((text) => text.startsWith('10.20.0.'));
    await expect.poll(() => linksOf(page).allTextContents()).toSatisfy(inRange);
    await page.reload();
    await linksOf(page).first().waitFor();
    expect(await linksOf(page).allTextContents()).toSatisfy(inRange);
    await page.getByRole('searchbox').fill('10.20.0.10');
    await page.waitForURL('**search=10.20.0.10*');
    await expect.poll(() => linksOf(page).allTextContents()).toEqual(['10.20.0.10']);
  });

  it('has room for addresses, and no columns without values', async () => {
    const page = await assay.enter('admin', '/assets?assetType=%5B%22webapp%22%5D');
    await page.setViewportSize({ width: 1440, height: 900 });
    const header = (name: string) => page.getByRole('columnheader', { name });
    const link = page.getByRole('grid', GRID).getByRole('link', { name: 'https://billing.acme.example/' });
    await link.waitFor();
    expect(await link.evaluate((cell) => cell.scrollWidth <= cell.clientWidth)).toBe(true);
    await header('Tags').waitFor();
    // Hosts alone have ports.
    expect(await header('Open ports').count()).toBe(0);
    await page.goto('/assets?assetType=%5B%22host%22%5D');
    await header('Open ports').waitFor();
  });

  it('sets the criticality of selected assets where permitted, and undoes it', async () => {
    const page = await assay.enter('admin', '/assets?criticality=%5B%22medium%22%2C%22low%22%5D');
    await selectFirst(page, 3);
    const [, second = ''] = await linksOf(page).allTextContents();
    await page.getByRole('toolbar').getByRole('button', { name: 'Criticality' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'High' }).click();
    // The testers set the criticality of the first one.
    await expect.poll(() => linksOf(page).allTextContents()).not.toContain(second);
    await undo(page, 'Criticality of 2 assets set to high. 1 asset skipped: no permission');
    await page.getByText('Change to 2 assets undone').waitFor();
    await expect.poll(() => linksOf(page).allTextContents()).toContain(second);
  });

  it('adds a new tag, and undoes it', async () => {
    const page = await assay.enter('admin', '/assets?assetType=%5B%22webapp%22%5D');
    await selectFirst(page, 2);
    await page.getByRole('button', { name: 'Tags', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit tags' });
    await dialog.getByLabel('Add').fill('looked at together');
    await page.keyboard.press('Enter');
    // Closes the list of known tags, which covers the button.
    await page.keyboard.press('Tab');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Tags of 2 assets updated').waitFor();
    await linksOf(page).first().click();
    const tags = page.getByRole('group', { name: 'Tags' });
    await tags.getByText('looked at together').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Change to 2 assets undone').waitFor();
    await expect.poll(() => tags.getByText('looked at together').count()).toBe(0);
  });

  it('adds an asset to a scope with scope rules, edits and removes them', async () => {
    const { host } = assay.demo().assets;
    const page = await assay.enter('admin', `/assets/${host}`);
    const listings = page.getByRole('region', { name: 'Scopes' });
    await listings.getByRole('button', { name: 'Add to a scope' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit scope' });
    await dialog.getByRole('combobox', { name: 'Assessment' }).fill('Driver');
    await page.getByRole('option', { name: 'Driver apps 2026' }).click();
    await dialog.getByRole('textbox', { name: 'Scope rules' }).fill('Reads alone\nNo load');
    await dialog.getByRole('button', { name: 'Add to scope' }).click();
    await page.getByText('1 asset added to the scope of Driver apps 2026').waitFor();
    await listings.getByRole('link', { name: 'Driver apps 2026' }).waitFor();
    const rules = listings.getByRole('list', { name: 'Scope rules of Driver apps 2026' });
    await expect
      .poll(() => rules.getByRole('listitem').allTextContents())
      .toEqual(['Reads alone', 'No load']);
    await listings.getByRole('button', { name: 'Edit rules of Driver apps 2026' }).click();
    await listings.getByRole('textbox', { name: 'Scope rules' }).fill('Only at night');
    await listings.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => rules.getByRole('listitem').allTextContents()).toEqual(['Only at night']);
    await listings.getByRole('button', { name: 'Remove from Driver apps 2026' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await listings.getByRole('link', { name: 'Driver apps 2026' }).waitFor({ state: 'detached' });
  });

  it('adds assets from a pasted list after a preview of new, known and invalid lines', async () => {
    const page = await assay.enter('admin', '/assets');
    await page.getByRole('button', { name: 'Add assets' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add assets' });
    await dialog.getByRole('combobox', { name: 'Assessment' }).fill('Driver');
    await page.getByRole('option', { name: 'Driver apps 2026' }).click();
    await dialog
      .getByRole('textbox', { name: 'Hosts and URLs' })
      .fill(
        '192.0.2.201, Printer\n10.20.0.10\n10.0.0.0/8\nHTTPS://Pasted.example:443/a#b\n\n# a remark\nbad host\n2001:DB8::0:1\n192.0.2.201\n192.0.2.210-212',
      );
    await expect
      .poll(() => dialog.getByRole('list', { name: 'New' }).getByRole('listitem').allTextContents())
      .toEqual([
        'New192.0.2.201, Printer Host',
        'Newhttps://pasted.example/a Web application',
        'New2001:db8::1 Host',
        'New192.0.2.210 Host',
        'New192.0.2.211 Host',
        'New192.0.2.212 Host',
      ]);
    await dialog.getByText('1 known, 1 added to the scope of Driver apps 2026').waitFor();
    await dialog.getByText('1 duplicate').waitFor();
    expect(
      await dialog.getByRole('list', { name: 'Invalid lines' }).getByRole('listitem').allTextContents(),
    ).toEqual([
      'Line 3: 10.0.0.0/8 has more than 1,024 addresses; enter smaller ranges',
      'Line 7: bad host is neither an IP address nor a hostname',
    ]);
    await expectAccessible(page, page.getByRole('dialog'));
    // Nothing has changed yet.
    expect(await assay.call('admin', 'GET', '/api/asset/v2/assets?search=pasted.example')).toEqual([]);
    await dialog.getByRole('button', { name: 'Add 6' }).click();
    await page.getByText('6 assets added, 1 asset added to the scope of Driver apps 2026').waitFor();
    const listed = await assay.call('admin', 'GET', '/api/asset/v2/listings/acme-mobile-2026/assets');
    expect((listed as { location: string }[]).map(({ location }) => location)).toEqual([
      '10.20.0.10',
      '192.0.2.201',
      '192.0.2.210',
      '192.0.2.211',
      '192.0.2.212',
      '2001:db8::1',
      'https://pasted.example/a',
    ]);
  });

  it('shows the ports, port history and vulnerabilities of an asset', async () => {
    const page = await assay.enter('admin', `/assets/${assay.demo().assets.host}`);
    await page.getByRole('tabpanel', { name: 'Findings' }).getByText('No findings yet.').waitFor();
    await page.getByRole('tab', { name: 'Ports' }).click();
    const ports = page.getByRole('tabpanel', { name: 'Ports' });
    await ports.getByRole('row').nth(20).waitFor();
    await ports.getByRole('row', { name: /^443\/tcp/ }).waitFor();
    await ports.getByText('History').click();
    await ports.getByRole('list', { name: 'Port history' }).getByText('23/tcp').first().waitFor();
    await expectAccessibleInAllViews(page);
    await page.goto('/assets?sort=-vulnerabilityCount');
    await linksOf(page).first().click();
    const section = page.getByRole('tabpanel', { name: 'Findings' });
    await section.getByRole('link', { name: 'show in list' }).click();
    await page.getByRole('grid', { name: 'Vulnerabilities' }).getByRole('link').first().waitFor();
  });

  it('edits an asset, resolves a conflict, and deletes the asset after confirmation', async () => {
    const asset = { organizationUid: 'acme', assetType: 'host', location: '192.0.2.222' };
    const { uid } = await assay.call('admin', 'POST', '/api/asset/v2/assets', asset);
    const page = await assay.enter('admin', `/assets/${uid}`, { expectedStatuses: [412, 422] });
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit asset' });
    await dialog.getByRole('textbox', { name: 'IP address or hostname' }).fill('no host');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.getByText('must be an IPv4 or IPv6 address or a host name').waitFor();
    await dialog.getByRole('textbox', { name: 'IP address or hostname' }).fill('192.0.2.222');
    await assay.call('admin', 'PATCH', `/api/asset/v2/assets/${uid}`, { name: 'Theirs' });
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Mine');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.getByText('Someone else changed this asset').waitFor();
    await dialog.getByRole('button', { name: 'Use theirs' }).click();
    await expect
      .poll(() => dialog.getByRole('textbox', { name: 'Name', exact: true }).inputValue())
      .toBe('Theirs');
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Ours');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('main').getByText('Ours', { exact: true }).waitFor();
    await undo(page, '192.0.2.222 updated');
    await page.getByRole('main').getByText('Theirs', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog', { name: 'Delete asset' }).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('192.0.2.222 deleted').waitFor();
    await page.waitForURL('**/assets');
  });
});
