import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { expectAccessible, expectAccessibleInAllViews } from '../harness/accessibility.ts';
import { describeInBrowser } from '../harness/browser.ts';
import { editAll, useConsole } from '../harness/console.ts';
import { createFixtures } from '../harness/fixtures.ts';

describeInBrowser('Console: drafts', () => {
  const assay = useConsole();
  const uid = 'assessment-with-staff';

  beforeAll(async () => {
    await createFixtures(assay.server()).assessment(assay.demo().organization.uid, uid);
  });

  const report = async (title: string, draft: boolean, assessment = uid): Promise<number> => {
    const body = { assessment_id: assessment, title, severity: 'High', draft };
    return (await assay.call('staff', 'POST', '/v1/vulnerabilities', body)).id;
  };
  const isDraft = async (id: number) =>
    (await assay.call('staff', 'GET', `/v1/vulnerabilities/${id}`)).draft as boolean;
  const drafts = (page: Page, count: number) =>
    page.getByRole('link', { name: `Drafts ${count}`, exact: true });
  const openList = async (user: 'staff' | 'admin', more = '') => {
    const page = await assay.enter(user, '/tags', { expectedStatuses: user === 'admin' ? [422] : [] });
    await page.goto(`/vulnerabilities?assessment_id=%5B%22${uid}%22%5D${more}`);
    return page;
  };

  it('marks drafts, lists and counts them, and publishes one', async () => {
    const published = await report('Seen by all', false);
    const id = await report('Still being written', true);
    const page = await openList('staff');
    await drafts(page, 1).waitFor();
    const row = page.getByRole('row').filter({ hasText: 'Still being written' });
    await row.getByText('Draft', { exact: true }).waitFor();
    expect(await page.getByRole('row').filter({ hasText: 'Seen by all' }).getByText('Draft').count()).toBe(0);
    await drafts(page, 1).click();
    await page.getByRole('link', { name: 'Seen by all' }).waitFor({ state: 'detached' });
    await row.getByText('Not published').waitFor();
    const current = page.getByRole('navigation', { name: 'Shown findings' }).locator('[aria-current]');
    expect(await current.allTextContents()).toEqual(['Drafts1']);
    await expectAccessibleInAllViews(page);
    await page.keyboard.press('j');
    await page.keyboard.press('o');
    const preview = page.getByRole('complementary', { name: 'Preview' });
    await preview.getByText('Only staff see this draft.').waitFor();
    await expectAccessible(page);

    await page.goto(`/vulnerabilities/${id}`);
    await page.getByText('Only staff see this draft.').waitFor();
    await page.getByText('Comments on a draft are internal').waitFor();
    expect(await page.getByRole('checkbox', { name: 'Staff only' }).count()).toBe(0);
    await page.getByRole('textbox', { name: 'Comment', exact: true }).fill('Is this exploitable?');
    await expectAccessibleInAllViews(page);
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    await page.getByRole('article').getByText('Staff only').waitFor();

    await page.getByRole('button', { name: 'Publish' }).click();
    const dialog = page.getByRole('dialog', { name: 'Publish 1 draft' });
    await dialog.getByText('You cannot take this back.').waitFor();
    await expectAccessible(page, dialog);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await isDraft(id)).toBe(true);
    await page.getByRole('button', { name: 'Publish' }).click();
    await dialog.getByRole('button', { name: 'Publish 1 draft' }).click();
    await page.getByText('1 draft published').waitFor();
    await page.getByText('Only staff see this draft.').waitFor({ state: 'detached' });
    await page.getByText('Published by').waitFor();
    expect(await isDraft(id)).toBe(false);
    await page.getByText('published the draft').waitFor();
    expect(await page.getByRole('list', { name: 'Discussion' }).getByText('Draft:').count()).toBe(0);
    await page.goto(`/vulnerabilities/${published}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.getByRole('button', { name: 'Publish' }).count()).toBe(0);
  });

  it('publishes selected drafts, and all that match', async () => {
    const ids = [await report('First of many', true), await report('Second of many', true)];
    const rest = await report('Third of many', true);
    const page = await openList('staff', '&search=many');
    await page.getByRole('checkbox', { name: 'Select First of many' }).check();
    await page.getByRole('checkbox', { name: 'Select Second of many' }).check();
    await page.getByRole('button', { name: 'Publish' }).click();
    const dialog = page.getByRole('dialog', { name: 'Publish 2 drafts' });
    await dialog.getByRole('button', { name: 'Publish 2 drafts' }).click();
    await page.getByText('2 drafts published').waitFor();
    await drafts(page, 1).waitFor();
    expect(await Promise.all([...ids, rest].map(isDraft))).toEqual([false, false, true]);
    // The selection is cleared.
    await editAll(page, 3);
    const all = page.getByRole('dialog');
    await all.getByLabel('Field').selectOption('Publish drafts');
    await all.getByText('3 match, 1 will change.').waitFor();
    await all.getByText('You cannot take this back.').waitFor();
    await expectAccessible(page, all);
    await all.getByRole('button', { name: 'Publish 1 draft' }).click();
    await drafts(page, 0).waitFor();
    expect(await isDraft(rest)).toBe(false);
  });

  it('shows why a draft needs a second person', async () => {
    const path = `/v1/assessments/${uid}`;
    await assay.call('staff', 'PATCH', path, { drafts: 'second_person' });
    const id = await report('For a second pair of eyes', true);
    const page = await assay.enter('staff', `/vulnerabilities/${id}`, { expectedStatuses: [403] });
    await page.getByText('another member of staff publishes drafts').waitFor();
    expect(await page.getByRole('button', { name: 'Publish' }).count()).toBe(0);
    await page.goto(`/vulnerabilities?assessment_id=%5B%22${uid}%22%5D&search=second`);
    await page.getByRole('checkbox', { name: 'Select For a second pair of eyes' }).check();
    await page.getByRole('button', { name: 'Publish' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Publish 1 draft' }).click();
    await dialog.getByText('another member of staff publishes').waitFor();
    await expectAccessible(page, dialog);
    expect(await isDraft(id)).toBe(true);
    const other = await createFixtures(assay.server()).account({ name: 'Second' });
    const second = await assay.enterAs(other, `/vulnerabilities/${id}`);
    await second.getByRole('button', { name: 'Publish' }).click();
    await second.getByRole('button', { name: 'Publish 1 draft' }).click();
    await second.getByText('1 draft published').waitFor();
    await assay.call('staff', 'PATCH', path, { drafts: 'off' });
  });

  it('sets the default of reports and imports in an assessment', async () => {
    const path = `/v1/assessments/${uid}`;
    const page = await assay.enter('staff', `/assessments/${uid}`);
    const setPolicy = async (label: string) => {
      await page.goto(`/assessments/${uid}`);
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      const form = page.getByRole('dialog', { name: 'Edit assessment' });
      await form.getByRole('combobox', { name: 'Drafts' }).click();
      await page.getByRole('option', { name: label, exact: true }).click();
      await expectAccessible(page, form);
      await form.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Assessment updated').waitFor();
    };
    const checkbox = page.getByRole('checkbox', { name: 'Draft', exact: true });
    const openForm = async () => {
      await page.goto(`/vulnerabilities/new?assessment=${uid}`);
      await checkbox.waitFor();
    };
    await openForm();
    expect(await checkbox.isChecked()).toBe(false);

    await setPolicy('On');
    await page.getByRole('definition').getByText('On', { exact: true }).waitFor();
    await openForm();
    expect(await checkbox.isChecked()).toBe(true);
    await page.getByLabel('Title').fill('Begins as a draft');
    await expectAccessibleInAllViews(page);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Only staff see this draft.').waitFor();
    await openForm();
    await checkbox.uncheck();
    await page.getByLabel('Title').fill('Published at once');
    // The choice is stored with the rest of the form.
    await page.reload();
    await page.getByText('Draft restored').waitFor();
    await checkbox.waitFor();
    expect(await checkbox.isChecked()).toBe(false);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'Published at once' }).waitFor();
    expect(await page.getByText('Only staff see this draft.').count()).toBe(0);

    await openForm();
    await checkbox.uncheck();
    await page.getByLabel('Title').fill('Chosen before the policy');
    await setPolicy('On, published by a second person');
    await openForm();
    await page.getByText('another member of staff publishes drafts').waitFor();
    expect([await checkbox.isChecked(), await checkbox.isDisabled()]).toEqual([true, true]);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Only staff see this draft.').waitFor();

    await assay.call('staff', 'PATCH', path, { drafts: 'on' });
    await page.goto('/imports');
    const finding = { 'template-id': 'a', type: 'http', host: 'a.example', info: { name: 'Imported' } };
    await page.getByLabel('Reports').setInputFiles({
      name: 'drafts.jsonl',
      mimeType: 'application/jsonl',
      buffer: Buffer.from(JSON.stringify({ ...finding, 'matched-at': 'https://a.example/' })),
    });
    const asDrafts = page.getByRole('checkbox', { name: 'Import as drafts' });
    expect(await asDrafts.count()).toBe(0);
    await page.getByRole('combobox', { name: 'Assessment' }).fill(uid);
    await page.getByRole('option', { name: uid }).click();
    await asDrafts.waitFor();
    expect(await asDrafts.isChecked()).toBe(true);
    const imported = page.getByRole('article', { name: 'drafts.jsonl' });
    await imported.getByText('This is a preview. Nothing has changed yet.').waitFor();
    await expectAccessibleInAllViews(page);
    await page.getByRole('button', { name: /^Import/ }).click();
    await page.waitForURL(/\/imports\/\d+$/);
    await page.getByText('Imported', { exact: true }).first().waitFor();
    const query = `filter[assessment_id][]=${uid}&filter[draft]=true&filter[source][]=nuclei`;
    expect(await assay.call('staff', 'GET', `/v1/vulnerabilities?${query}`)).toHaveLength(1);
    await assay.call('staff', 'PATCH', path, { drafts: 'off' });
  });

  it('asks before an assessment with drafts is completed', async () => {
    const other = 'assessment-to-complete';
    await createFixtures(assay.server()).assessment(assay.demo().organization.uid, other);
    const id = await report('Forgotten', true, other);
    const page = await assay.enter('staff', `/assessments/${other}`);
    const complete = async () => {
      await page.getByRole('button', { name: 'State: Active' }).click();
      await page.getByRole('menuitem', { name: 'Completed' }).click();
    };
    await drafts(page, 1).click();
    await page.getByRole('grid').getByText('Draft', { exact: true }).waitFor();
    await expectAccessible(page);
    await complete();
    const dialog = page.getByRole('dialog', { name: 'Set state to completed' });
    await dialog.getByText('This assessment has 1 draft, which the customer does not see.').waitFor();
    await expectAccessible(page, dialog);
    await dialog.getByRole('link', { name: 'Show the drafts' }).click();
    await page.getByRole('checkbox', { name: 'Select Forgotten' }).waitFor();
    expect(await drafts(page, 1).getAttribute('aria-current')).toBe('page');
    await page.goBack();
    await complete();
    await dialog.getByRole('button', { name: 'Complete' }).click();
    await page.getByText('Assessment is now completed').waitFor();

    await assay.call('staff', 'PATCH', `/v1/assessments/${other}`, { state: 'active' });
    await assay.call('staff', 'DELETE', `/v1/vulnerabilities/${id}`);
    await page.reload();
    await complete();
    await page.getByText('Assessment is now completed').waitFor();
  });

  it('shows customers none of it', async () => {
    const id = await report('Not for customers', true);
    const published = await report('For customers', false);
    // The link of a colleague on staff.
    const page = await openList('admin', '&draft=true');
    await page.getByRole('link', { name: 'For customers', exact: true }).waitFor();
    expect(await page.getByText('Not for customers').count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Drafts' }).count()).toBe(0);
    await page.getByRole('checkbox', { name: 'Select For customers' }).check();
    expect(await page.getByRole('button', { name: 'Publish' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Clear selection' }).click();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: /^Edit all/ }).click();
    const fields = page.getByLabel('Field');
    await fields.waitFor();
    expect(await fields.locator('option').allTextContents()).not.toContain('Publish drafts');
    await page.goto(`/vulnerabilities/${published}`);
    await page.getByRole('heading', { level: 1, name: 'For customers' }).waitFor();
    expect(await page.getByText(/draft|Published by/i).count()).toBe(0);
    await page.goto(`/assessments/${uid}`);
    await page.getByRole('link', { name: 'For customers', exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'Drafts' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Name').waitFor();
    expect(await page.getByText(/draft/i).count()).toBe(0);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'State: Active' }).click();
    await page.getByRole('menuitem', { name: 'Completed' }).click();
    await page.getByRole('button', { name: 'State: Completed' }).waitFor();
    await page.goto(`/vulnerabilities/new?assessment=${uid}`);
    await page.getByLabel('Title').waitFor();
    expect(await page.getByText(/draft/i).count()).toBe(0);
    await page.goto('/imports');
    await page.getByLabel('Reports').setInputFiles(import.meta.filename);
    await page.getByRole('combobox', { name: 'Assessment' }).fill(uid);
    await page.getByRole('option', { name: uid }).click();
    await page.getByText('Could not import this report').waitFor();
    expect(await page.getByText(/drafts$/i).count()).toBe(0);
    await assay.call('staff', 'DELETE', `/v1/vulnerabilities/${id}`);
  });
});
