import { expect, it } from 'vitest';
import { expectAccessible, expectAccessibleInAllViews } from '../harness/accessibility.ts';
import { describeInBrowser } from '../harness/browser.ts';
import { undo, useConsole } from '../harness/console.ts';

describeInBrowser('Console: people', () => {
  const assay = useConsole();

  it('lists, searches and filters people', async () => {
    const page = await assay.enter('admin', '/people');
    const grid = page.getByRole('grid', { name: 'People' });
    await grid.getByRole('link', { name: 'Helena Brandt' }).waitFor();
    await page.getByRole('searchbox').fill('outsider');
    await page.waitForURL('**/people?search=outsider');
    await expect.poll(() => grid.getByRole('row').count()).toBe(2);
    await page.getByRole('searchbox').fill('');
    await page.waitForURL('**/people');
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByRole('menuitem', { name: 'State' }).click();
    await page.getByRole('checkbox', { name: 'Invited' }).check();
    await page.waitForURL('**/people?state=invited');
    await grid.getByText(assay.demo().users.invited.email).waitFor();
    const states = grid.getByRole('row').filter({ hasText: '@' });
    await expect.poll(() => states.filter({ hasText: 'Active' }).count()).toBe(0);
  });

  it('changes who may dismiss findings', async () => {
    const page = await assay.enter('admin', '/people');
    const open = () => page.getByRole('button', { name: 'Organization settings' }).click();
    await open();
    const dialog = page.getByRole('dialog', { name: 'Organization settings' });
    await expect
      .poll(() => dialog.getByRole('radio', { name: 'Everyone who triages' }).isChecked())
      .toBe(true);
    await dialog.getByRole('radio', { name: 'Admins alone' }).check();
    await expectAccessible(page, page.getByRole('dialog'));
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Organization settings saved').waitFor();
    await open();
    await expect.poll(() => dialog.getByRole('radio', { name: 'Admins alone' }).isChecked()).toBe(true);
    await dialog.getByRole('radio', { name: 'Everyone who triages' }).check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
  });

  it('invites a person with a link, and shows errors at their field', async () => {
    const page = await assay.enter('admin', '/people', { expectedStatuses: [409, 422] });
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    const form = page.getByRole('dialog', { name: 'Invite someone' });
    const email = form.getByLabel('Email address');
    await email.fill('not an address');
    await form.getByRole('button', { name: 'Invite', exact: true }).click();
    await form.getByText('Must be an email address').waitFor();
    await email.fill('member@acme.example');
    await form.getByRole('button', { name: 'Invite', exact: true }).click();
    await form.getByText(/taken/).waitFor();
    expect(await email.getAttribute('aria-invalid')).toBe('true');
    await email.fill('newcomer@acme.example');
    await form.getByRole('combobox', { name: 'Access to assessments' }).fill('web');
    await page.getByRole('option', { name: 'Web programme 2026' }).click();
    await expectAccessible(page, page.getByRole('dialog'));
    await form.getByRole('button', { name: 'Invite', exact: true }).click();
    const link = page
      .getByRole('dialog', { name: 'Invitation created' })
      .getByRole('textbox', { name: 'Invitation link' });
    await expect.poll(() => link.inputValue()).toMatch(/\/invitation\?token=/);
    await expectAccessible(page, page.getByRole('dialog'));
    await page.getByRole('dialog').getByRole('link', { name: 'newcomer@acme.example' }).click();
    await page.getByRole('listitem').getByText('Web programme 2026').waitFor();

    const first = await page.getByRole('textbox', { name: 'Invitation link' }).inputValue();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Create a new invitation link' }).click();
    await page.getByText('New invitation link created. The old one no longer works.').waitFor();
    expect(await page.getByRole('textbox', { name: 'Invitation link' }).inputValue()).not.toBe(first);

    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Ban' }).click();
    await page.getByRole('dialog').getByText('the invitation and its link are revoked').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Ban' }).click();
    await page.waitForURL('**/people');
    await page.getByText('newcomer@acme.example banned').waitFor();
  });

  it('bans a person after a confirmation, and reactivates them', async () => {
    const { spare } = assay.demo().users;
    const page = await assay.enter('admin', `/people/${spare.id}`);
    await page.getByRole('heading', { name: 'Sami Lehtinen' }).waitFor();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Ban' }).click();
    await page.getByRole('dialog').getByText('signed out everywhere').waitFor();
    await expectAccessible(page, page.getByRole('dialog'));
    await page.getByRole('dialog').getByRole('button', { name: 'Ban' }).click();
    await page.getByText('Sami Lehtinen banned').waitFor();
    await page.getByRole('definition').getByText('Banned').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Reactivate');
    const { status } = await assay.server().request('GET', '/v1/users/whoami', { token: spare.token });
    expect(status).toBe(401);
    await page.getByRole('button', { name: 'Reactivate' }).click();
    await page.getByText('Sami Lehtinen can sign in again.').waitFor();
    await page.getByRole('definition').getByText('Active').waitFor();
  });

  it('gives and removes the admin role, with undo', async () => {
    const { outsider } = assay.demo().users;
    const page = await assay.enter('admin', `/people/${outsider.id}`);
    const admin = page.getByRole('switch', { name: 'Organization admin' });
    await admin.click();
    await page.getByRole('definition').getByText('Admin', { exact: true }).waitFor();
    await undo(page, 'is now an admin');
    await page.getByRole('definition').getByText('User', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('n'.repeat(200));
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'nnn' }).waitFor();
    await expectAccessibleInAllViews(page);
  });

  it('reverts the optimistic update if the last admin would lose the role', async () => {
    const { admin } = assay.demo().users;
    const page = await assay.enter('staff', `/people/${admin.id}`, { expectedStatuses: [403] });
    const isAdmin = page.getByRole('switch', { name: 'Organization admin' });
    await isAdmin.click();
    await page.getByText(/^Could not update/).waitFor();
    await expect.poll(() => isAdmin.isChecked()).toBe(true);
  });

  it('gives and removes access to assessments', async () => {
    const { outsider } = assay.demo().users;
    const page = await assay.enter('admin', `/people/${outsider.id}`);
    await page.getByText('No access yet.').waitFor();
    await page.getByRole('combobox', { name: 'Give access to' }).fill('driver');
    await page.getByRole('option', { name: 'Driver apps 2026' }).click();
    await page.getByRole('listitem').getByRole('link', { name: 'Driver apps 2026' }).waitFor();
    await page.getByRole('button', { name: 'Remove access to Driver apps 2026' }).click();
    await page.getByText('No access yet.').waitFor();
    await undo(page, 'Access to Driver apps 2026 removed');
    await page.getByRole('listitem').getByRole('link', { name: 'Driver apps 2026' }).waitFor();
    await expectAccessible(page);
  });

  it('tells access by group from access by name', async () => {
    const page = await assay.enter('admin', '/people?search=mateo.zhang');
    await page.getByRole('link', { name: 'Mateo Zhang' }).click();
    await page.getByText('No access by name.').waitFor();
    const byGroup = page.getByRole('region', { name: 'Access by group' });
    await byGroup.getByRole('link', { name: 'Web programme 2026' }).waitFor();
    expect(await byGroup.getByRole('button').count()).toBe(0);
    await page.getByRole('complementary', { name: 'Details' }).getByText('Second factor').waitFor();
  });

  it('lets staff select the organization of an invitation', async () => {
    const page = await assay.enter('staff', '/people');
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    const form = page.getByRole('dialog', { name: 'Invite someone' });
    await form.getByRole('combobox', { name: 'Organization' }).fill('halden');
    await page.getByRole('option', { name: /Halden/i }).click();
    await form.getByLabel('Email address').fill('new@halden.example');
    await form.getByRole('button', { name: 'Invite', exact: true }).click();
    await page.getByRole('dialog', { name: 'Invitation created' }).getByRole('link').click();
    await page.getByRole('heading', { name: 'new@halden.example' }).waitFor();
    await expect.poll(() => page.getByRole('definition').allTextContents()).toContain('Halden Mutual');
  });

  it('shows members that only admins can see people', async () => {
    const page = await assay.enter('member', '/people');
    await page.getByText('Only admins can see this page').waitFor();
    await expectAccessible(page);
  });
});
