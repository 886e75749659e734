import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { expectAccessible, expectAccessibleInAllViews } from '../harness/accessibility.ts';
import { describeInBrowser } from '../harness/browser.ts';
import { useConsole } from '../harness/console.ts';
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
  /** The label of the switch to drafts, which covers its radio button. */
  const drafts = (page: Page, count: number) => page.getByText(`Drafts (${count})`, { exact: true });
  const openList = async (user: 'staff' | 'admin', more = '') => {
    const page = await assay.enter(user, '/tags');
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
    await expectAccessibleInAllViews(page);
    await page.keyboard.press('j');
    await page.keyboard.press('o');
    const preview = page.getByRole('complementary', { name: 'Vulnerability preview' });
    await preview.getByText('Only staff see this draft.').waitFor();
    await expectAccessible(page);

    await page.goto(`/vulnerabilities/${id}`);
    await page.getByText('Only staff see this draft.').waitFor();
    await page.getByRole('button', { name: 'Add a comment' }).click();
    await page.getByText('Comments on a draft are internal').waitFor();
    expect(await page.getByRole('checkbox', { name: /^Internal/ }).count()).toBe(0);
    await page.getByRole('textbox', { name: 'Comment', exact: true }).fill('Is this exploitable?');
    await expectAccessibleInAllViews(page);
    await page.getByRole('button', { name: 'Post comment' }).click();
    await page.getByRole('article').getByText('Internal, staff only').waitFor();

    await page.getByRole('button', { name: 'Publish' }).click();
    const dialog = page.getByRole('dialog', { name: 'Publish 1 draft' });
    await dialog.getByText('You cannot take this back.').waitFor();
    await expectAccessible(page, dialog);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await isDraft(id)).toBe(true);
    await page.getByRole('button', { name: 'Publish' }).click();
    await dialog.getByRole('button', { name: 'Publish 1 draft' }).click();
    await page.getByText('Draft published').waitFor();
    await page.getByText('Only staff see this draft.').waitFor({ state: 'detached' });
    await page.getByText('Published by').waitFor();
    expect(await isDraft(id)).toBe(false);
    await page.getByRole('tab', { name: 'Timeline' }).click();
    await page.getByText('published the draft').waitFor();
    expect(await page.getByRole('list', { name: 'Timeline' }).getByText('Draft:').count()).toBe(0);
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
    await page.getByRole('button', { name: 'Edit all 3…' }).click();
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
    await second.getByText('Draft published').waitFor();
    await assay.call('staff', 'PATCH', path, { drafts: 'off' });
  });

  it('shows customers none of it', async () => {
    const id = await report('Not for customers', true);
    const published = await report('For customers', false);
    // The link of a colleague on staff.
    const page = await openList('admin', '&draft=true');
    await page.getByRole('link', { name: 'For customers', exact: true }).waitFor();
    expect(await page.getByText('Not for customers').count()).toBe(0);
    expect(await page.getByRole('radio').count()).toBe(0);
    await page.getByRole('checkbox', { name: 'Select For customers' }).check();
    expect(await page.getByRole('button', { name: 'Publish' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('button', { name: /^Edit all/ }).click();
    const fields = page.getByLabel('Field');
    await fields.waitFor();
    expect(await fields.locator('option').allTextContents()).not.toContain('Publish drafts');
    await page.goto(`/vulnerabilities/${published}`);
    await page.getByRole('heading', { level: 1, name: 'For customers' }).waitFor();
    expect(await page.getByText(/draft|Published by/i).count()).toBe(0);
    await page.goto(`/assessments/${uid}`);
    await page.getByRole('link', { name: 'For customers', exact: true }).waitFor();
    expect(await page.getByRole('radio').count()).toBe(0);
    expect(await page.getByText(/draft/i).count()).toBe(0);
    await assay.call('staff', 'DELETE', `/v1/vulnerabilities/${id}`);
  });
});
