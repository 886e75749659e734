import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectAccessibleInAllViews } from '../harness/accessibility.ts';
import { describeInBrowser } from '../harness/browser.ts';
import { undo, useConsole } from '../harness/console.ts';

const HOSTILE = `<script>alert(1)</script>\u202e${'x'.repeat(180)}`;

/** Opens the question before the deletion of a tag. */
async function remove(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: `More actions for ${name}`, exact: true }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
}

describeInBrowser('Console: tags', () => {
  const assay = useConsole();

  it('creates, renames, undoes, searches and deletes tags', async () => {
    const page = await assay.enter('admin', '/tags', { expectedStatuses: [409] });
    const grid = page.getByRole('grid', { name: 'Tags of findings' });
    await grid.getByText('PCI DSS').waitFor();
    // A fixed tag has no buttons, and says why.
    await grid.getByRole('row', { name: /PCI DSS .* cannot be renamed or deleted/ }).waitFor();
    expect(await page.getByRole('button', { name: 'Rename PCI DSS' }).count()).toBe(0);

    await page.keyboard.press('n');
    await page.getByRole('textbox', { name: 'Name' }).fill('pci dss');
    await page.getByRole('button', { name: 'Create tag' }).click();
    await page.getByText(/already exists/i).waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('quarterly review');
    await page.getByRole('button', { name: 'Create tag' }).click();
    await page.getByText('Tag "quarterly review" created').waitFor();

    await page.getByRole('button', { name: 'Rename quarterly review' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('yearly review');
    await page.getByRole('button', { name: 'Rename', exact: true }).click();
    await grid.getByText('yearly review').waitFor();
    await page.getByRole('searchbox').focus();
    await undo(page, 'Tag "quarterly review" renamed to "yearly review"');
    await grid.getByText('quarterly review').waitFor();
    expect(await page.evaluate('document.activeElement.type')).toBe('search');

    // The actions of a row appear with the pointer or the focus on it.
    const rename = page.getByRole('button', { name: 'Rename regression' });
    const opacity = async () =>
      await rename.locator('..').evaluate((element) => getComputedStyle(element).opacity);
    expect(await opacity()).toBe('0');
    await rename.focus();
    expect(await opacity()).toBe('1');
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'Name' }).fill('Privacy');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Show that tag' }).click();
    await page.waitForURL(/search=Privacy/);
    await grid.getByText('privacy').waitFor();
    await page.getByRole('searchbox').fill('');
    await rename.click();
    await page.getByRole('textbox', { name: 'Name' }).fill('seen before');
    await page.keyboard.press('Enter');
    await page.getByText('Tag "regression" renamed to "seen before"').waitFor();
    await remove(page, 'seen before');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Tag "seen before" deleted').waitFor();
    // The deleted row had the focus.
    await expect.poll(() => page.evaluate('document.activeElement.role')).toBe('grid');
    // A deleted tag cannot be renamed back.
    await expect.poll(() => page.getByText('Tag "regression" renamed').count()).toBe(0);

    await page.getByRole('searchbox').fill('authent');
    await page.waitForURL(/search=authent/);
    await expect.poll(() => grid.getByRole('row').count()).toBe(2);
    const link = grid.getByRole('link');
    const count = await link.textContent();
    await remove(page, 'authentication');
    const dialog = page.getByRole('dialog', { name: 'Delete tag' });
    await dialog.getByText(`It is removed from ${count}. You cannot undo this.`).waitFor();
    await expectAccessible(page, page.getByRole('dialog'));
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Tag "authentication" deleted').waitFor();
    await page.getByText('No results').waitFor();
  });

  it('links to the tagged objects', async () => {
    const page = await assay.enter('member', '/tags');
    const row = page.getByRole('row', { name: /privacy/ });
    const count = Number.parseInt((await row.getByRole('link').textContent()) ?? '', 10);
    await row.getByRole('link').click();
    await page.waitForURL('**/vulnerabilities?tag_id=*');
    await page.getByText(`${count} found`).waitFor();
    expect(count).toBeGreaterThan(0);
  });

  it('tags of assessments need a first assessment, and only admins edit them', async () => {
    const page = await assay.enter('admin', '/tags?kind=assessment');
    const grid = page.getByRole('grid', { name: 'Tags of assessments' });
    await page.getByRole('button', { name: 'New tag' }).first().click();
    await page.getByRole('textbox', { name: 'Name' }).fill('third quarter');
    await page.getByRole('combobox', { name: 'First assessment' }).click();
    await page.getByRole('option').first().click();
    await page.getByRole('button', { name: 'Create tag' }).click();
    await grid
      .getByRole('row', { name: /third quarter/ })
      .getByText('1 assessment')
      .waitFor();

    const member = await assay.enter('member', '/tags?kind=assessment');
    await member.getByRole('grid', { name: 'Tags of assessments' }).getByText('third quarter').waitFor();
    expect(await member.getByRole('button', { name: 'New tag' }).count()).toBe(0);
    expect(await member.getByRole('button', { name: /^Rename/ }).count()).toBe(0);
  });

  it('tags of assets can have any name', async () => {
    const page = await assay.enter('admin', '/tags?kind=asset');
    const grid = page.getByRole('grid', { name: 'Tags of assets' });
    await page.getByRole('button', { name: 'New tag' }).first().click();
    await page.getByRole('textbox', { name: 'Name' }).fill(HOSTILE);
    await page.getByRole('button', { name: 'Create tag' }).click();
    await grid.getByText('<script>alert(1)</script>').waitFor();
    await expectAccessibleInAllViews(page);
    await remove(page, HOSTILE);
    await page.getByText('None of the assets you have access to has this tag. Others may.').waitFor();
    await expectAccessible(page, page.getByRole('dialog'));
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await expect.poll(() => grid.getByText('<script>').count()).toBe(0);
  });

  it('lets staff select the organization', async () => {
    const page = await assay.enter('staff', '/tags?kind=asset');
    await page.getByRole('grid').getByText('internet-facing').waitFor();
    await page.getByRole('combobox', { name: 'Organization' }).click();
    await page.getByRole('option', { name: /Halden/ }).click();
    await page.waitForURL(/organization=halden/);
    await page.getByRole('grid').or(page.getByText('No tags yet')).waitFor();
    expect(await page.getByRole('combobox', { name: 'Organization' }).inputValue()).toMatch(/Halden/);
  });
});
