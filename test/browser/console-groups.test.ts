import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectAccessibleInAllViews } from '../harness/accessibility.ts';
import { describeInBrowser } from '../harness/browser.ts';
import { undo, useSharedConsole } from '../harness/console.ts';

async function expectFocusOn(page: Page, name: string): Promise<void> {
  await expect.poll(() => page.evaluate<string>('document.activeElement.textContent')).toBe(name);
}

describeInBrowser('Console: groups', () => {
  const assay = useSharedConsole();

  async function enterNew(name: string): Promise<Page> {
    const { id } = await assay.call('admin', 'POST', '/v1/assessment_groups', { name });
    return assay.enter('admin', `/groups/${id}`);
  }

  it('resolves a conflicting edit in favour of either side', async () => {
    const { id } = await assay.call('admin', 'POST', '/v1/assessment_groups', { name: 'Edited by two' });
    const page = await assay.enter('admin', `/groups/${id}`, { expectedStatuses: [412] });
    const dialog = page.getByRole('dialog', { name: 'Edit group' });
    const editWhileOthersEdit = async (side: string) => {
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      await dialog.getByLabel('Name').fill(`Mine before ${side}`);
      await assay.call('staff', 'PATCH', `/v1/assessment_groups/${id}`, { name: `Theirs before ${side}` });
      await dialog.getByRole('button', { name: 'Save' }).click();
      const alert = dialog.getByRole('alert').filter({ hasText: 'Someone else changed this group' });
      await alert.getByRole('button', { name: side }).click();
      await alert.waitFor({ state: 'detached' });
    };
    await editWhileOthersEdit('Use theirs');
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Theirs before Use theirs');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await editWhileOthersEdit('Keep mine');
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Mine before Keep mine');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Mine before Keep mine' }).waitFor();
  });

  it('lists, searches, creates, edits and deletes groups', async () => {
    const page = await assay.enter('admin', '/groups', { expectedStatuses: [422] });
    const grid = page.getByRole('grid', { name: 'Groups' });
    await grid.getByRole('link', { name: 'Web programme' }).waitFor();
    await page.getByRole('searchbox').fill('mobile');
    await page.waitForURL('**/groups?search=mobile');
    await expect.poll(() => grid.getByRole('row').count()).toBe(2);
    await page.getByRole('button', { name: 'New group' }).click();
    const form = page.getByRole('dialog', { name: 'New group' });
    await form.getByRole('button', { name: 'Create' }).click();
    await expect.poll(() => form.getByLabel('Name').getAttribute('aria-invalid')).toBe('true');
    await expectAccessible(page, page.getByRole('dialog'));
    await form.getByLabel('Name').fill('y'.repeat(200));
    await form.getByLabel('Description').fill('Of **tests**');
    await form.getByRole('button', { name: 'Create' }).click();
    await page.waitForURL(/\/groups\/\d+$/);
    await page.getByRole('heading', { name: 'yyy' }).waitFor();
    await page.getByText('No members yet').waitFor();
    await expectAccessibleInAllViews(page);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Renamed');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Renamed' }).waitFor();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByText('This removes 0 memberships.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL('**/groups');
    await page.getByText('Renamed deleted').waitFor();
  });

  it('groups members by role', async () => {
    const page = await assay.enter('admin', '/groups');
    const row = page.getByRole('row', { name: /Web programme/ });
    await expect.poll(() => row.getByRole('img').count()).toBe(5);
    await row.getByText('+60').waitFor();
    await row.getByRole('link', { name: 'Web programme' }).click();
    const grid = page.getByRole('grid', { name: 'Members' });
    await grid.getByText('Noor Jansen').waitFor();
    const heads = grid.getByRole('button', { expanded: true });
    expect(await heads.first().textContent()).toBe('Creator 10');
    await heads.first().click();
    await grid.getByRole('button', { name: 'Creator 10', expanded: false }).waitFor();
    await grid.getByText('Noor Jansen').waitFor({ state: 'detached' });
    await expectAccessible(page);
  });

  it('adds and removes members in batches, with a result for each', async () => {
    const page = await enterNew('Batches');
    await page.getByRole('button', { name: 'Add people' }).first().click();
    const form = page.getByRole('dialog', { name: 'Add people' });
    await form.getByRole('combobox', { name: 'Person' }).fill('outsider');
    await page.getByRole('option', { name: /outsider@acme\.example/ }).click();
    await form
      .getByLabel('Email addresses')
      .fill('Marcus Oyelaran <member@acme.example>, spare@acme.example\nnobody@acme.example');
    await form.getByText('3 addresses found').waitFor();
    await expectAccessible(page, page.getByRole('dialog'));
    await form.getByRole('button', { name: 'Add 4 people' }).click();
    await form.getByText('Failed: 1 · Added: 3').waitFor();
    const failed = form.getByRole('row').filter({ hasText: 'nobody@acme.example' });
    await failed.getByText('No account has this address').waitFor();
    await expectAccessible(page, page.getByRole('dialog'));
    await form.getByRole('button', { name: 'Close' }).last().click();

    const grid = page.getByRole('grid', { name: 'Members' });
    await grid.getByRole('button', { name: 'Member 3' }).waitFor();
    await page.getByRole('button', { name: 'Add people' }).click();
    await form.getByLabel('Email addresses').fill('member@acme.example');
    await form.getByRole('button', { name: 'Add 1 person' }).click();
    await form.getByText('Already a member: 1').waitFor();
    await form.getByRole('button', { name: 'Close' }).last().click();

    await grid.getByRole('checkbox', { name: 'Select Marcus Oyelaran' }).check();
    // A closed dialog returns the focus to the button, or to that of the menu, which opened it. The menu that closes
    // ignores keys, so the dialog must have the focus first.
    const dialogWithFocus = page.locator('[role=dialog]:focus-within');
    await page.getByRole('button', { name: 'Add people' }).press('Enter');
    await dialogWithFocus.waitFor();
    await page.keyboard.press('Escape');
    await expectFocusOn(page, 'Add people');
    await page.getByRole('button', { name: 'Role' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Operator' }).press('Enter');
    await dialogWithFocus.waitFor();
    await page.keyboard.press('Escape');
    await expectFocusOn(page, 'Role');
    await page.getByRole('button', { name: 'Role' }).click();
    await page.getByRole('menuitem', { name: 'Operator' }).click();
    await page.getByRole('button', { name: 'Change 1 person' }).click();
    await page.getByRole('dialog').getByText('Changed: 1').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await grid.getByRole('button', { name: 'Operator 1' }).waitFor();

    await grid.getByRole('checkbox', { name: 'Select all loaded rows' }).check();
    await page.getByText('3 selected').waitFor();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByText('Access by name stays').waitFor();
    await page.getByRole('button', { name: 'Remove 3 people' }).click();
    await page.getByRole('dialog').getByText('Removed: 3').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await page.getByText('No members yet').waitFor();
    await undo(page, '3 people removed');
    await grid.getByRole('button', { name: 'Member 2' }).waitFor();
    await grid.getByRole('button', { name: 'Operator 1' }).waitFor();
  });

  it('does not remove the last admin', async () => {
    const page = await enterNew('Led');
    await page.getByRole('button', { name: 'Add people' }).first().click();
    const form = page.getByRole('dialog', { name: 'Add people' });
    await form.getByLabel('Email addresses').fill('member@acme.example');
    await form.getByRole('combobox', { name: 'Role' }).click();
    await page.getByRole('option', { name: 'Group admin' }).click();
    await form.getByRole('button', { name: 'Add 1 person' }).click();
    await form.getByText('Added: 1').waitFor();
    await form.getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('checkbox', { name: 'Select Marcus Oyelaran' }).check();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('button', { name: 'Remove 1 person' }).click();
    await page.getByRole('dialog').getByText('Failed: 1').waitFor();
    const why = page.getByRole('dialog').getByRole('row').filter({ hasText: 'Marcus Oyelaran' });
    expect(await why.textContent()).toMatch(/last/);
  });

  it('is read-only for members without permission', async () => {
    const page = await assay.enter('member', '/groups/1');
    await page.getByRole('grid', { name: 'Members' }).getByText('Noor Jansen').waitFor();
    expect(await page.getByRole('button', { name: 'Add people' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'More actions' }).count()).toBe(0);
    expect(await page.getByRole('checkbox', { name: /^Select/ }).count()).toBe(0);
  });
});
