import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectAccessibleInAllViews } from '../harness/accessibility.ts';
import { describeInBrowser, type OpenOptions } from '../harness/browser.ts';
import { undo, useConsole } from '../harness/console.ts';

const HOSTILE = `<script>alert(1)</script>${'x'.repeat(180)}\u202Egnp`;

async function select(page: Page, label: string, typed: string, option: string | RegExp): Promise<void> {
  const field = page.getByRole('combobox', { name: label });
  await field.waitFor();
  // A dialog moves the focus when it opens, which closes the options of any other field.
  const dialog = page.getByRole('dialog');
  if ((await dialog.count()) > 0) await dialog.locator(':focus').waitFor();
  await field.fill(typed);
  await page.getByRole('option', { name: option }).click();
}

/** Chooses an action of the page. */
async function choose(page: Page, action: string): Promise<void> {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: action }).click();
}

describeInBrowser('Console: assessments', () => {
  const assay = useConsole();

  async function enterNew(uid: string, name: string, options?: OpenOptions): Promise<Page> {
    await assay.call('staff', 'POST', '/v1/assessments', { uid, name, organization_uid: 'acme' });
    return assay.enter('admin', `/assessments/${uid}`, options);
  }

  it('filters the list and keeps the filters in the URL', async () => {
    const tag = assay.demo().assessmentTag.id;
    const page = await assay.enter('admin', `/assessments?assessment_group_id=1&tag_id=%5B${tag}%5D`);
    const grid = page.getByRole('grid', { name: 'Assessments' });
    await page.getByRole('button', { name: 'Group: Web programme' }).waitFor();
    await page.getByRole('button', { name: 'Tag: ' }).waitFor();
    await expect.poll(() => grid.getByRole('link').allTextContents()).toEqual(['Web programme 2026']);
    await page.getByRole('button', { name: 'Remove Group filter' }).click();
    await page.getByRole('button', { name: 'Remove Tag filter' }).click();
    const tabs = page.getByRole('navigation', { name: 'Which assessments' });
    await tabs.getByRole('link', { name: 'Completed 1' }).click();
    await page.waitForURL(/state=/);
    await expect.poll(() => grid.getByRole('link').allTextContents()).toEqual(['Internal network 2026']);
    await tabs.getByRole('link', { name: 'All' }).click();
    await grid.getByText('Completed').waitFor();
    await page.getByRole('searchbox').fill('driver');
    await expect.poll(() => grid.getByRole('link').allTextContents()).toEqual(['Driver apps 2026']);
    await tabs.getByRole('link', { name: 'Active' }).click();
    await page.waitForURL('**/assessments?search=driver');
  });

  it('creates an assessment with errors at the fields, edits, tags and deletes it', async () => {
    const page = await assay.enter('admin', '/assessments', { expectedStatuses: [422] });
    await page.getByRole('button', { name: 'New assessment' }).click();
    const form = page.getByRole('dialog', { name: 'New assessment' });
    await form.getByLabel('Name').fill(HOSTILE);
    await form.getByLabel('ID', { exact: true }).fill('Not An Id');
    await form.getByLabel('Start date').fill('2026-12-10');
    await form.getByLabel('End date').fill('2026-12-01');
    await form.getByRole('button', { name: 'Create' }).click();
    const uid = form.getByRole('textbox', { name: 'ID', exact: true });
    await expect.poll(() => uid.getAttribute('aria-invalid')).toBe('true');
    await expectAccessible(page, page.getByRole('dialog'));
    await uid.fill('hostile');
    await form.getByRole('button', { name: 'Create' }).click();
    await form.getByText('before').waitFor();
    await form.getByLabel('End date').fill('2026-12-20');
    await form.getByRole('combobox', { name: 'Tags' }).fill('a new tag');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await form.getByRole('button', { name: 'Create' }).click();
    await page.waitForURL(/\/assessments\/hostile-[0-9a-z]{4}$/);
    await page.getByRole('main').getByText('a new tag').waitFor();
    await expectAccessibleInAllViews(page);

    await choose(page, 'Edit');
    await page.getByRole('dialog').getByLabel('Name').fill('A calm name');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'A calm name' }).waitFor();
    await undo(page, 'Assessment updated');
    await page.getByRole('heading', { name: '<script>' }).waitFor();

    await choose(page, 'Delete');
    await page.getByRole('dialog', { name: 'Delete assessment' }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL('**/assessments');
    await page.getByText(/hostile-[0-9a-z]{4} deleted/).waitFor();
  });

  it('explains why an assessment with vulnerabilities cannot be deleted', async () => {
    const page = await assay.enter('admin', '/assessments/acme-web-2026', { expectedStatuses: [409] });
    await choose(page, 'Delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('alert').getByText('complete the assessment instead').waitFor();
    await expectAccessible(page, page.getByRole('dialog'));
  });

  it('detects a conflicting edit', async () => {
    const page = await enterNew('seen-by-two', 'Seen by two', { expectedStatuses: [412] });
    await choose(page, 'Edit');
    await page.getByRole('dialog').getByLabel('Name').fill('Mine');
    await assay.call('staff', 'PATCH', '/v1/assessments/seen-by-two', { name: 'Theirs' });
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('Someone else changed this assessment').waitFor();
    await page.getByRole('button', { name: 'Use theirs' }).click();
    await expect.poll(() => page.getByRole('dialog').getByLabel('Name').inputValue()).toBe('Theirs');
    await page.getByRole('dialog').getByLabel('Name').fill('Ours');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'Ours' }).waitFor();
  });

  it('shows the findings of an assessment by severity and links to the list', async () => {
    const page = await assay.enter('member', '/assessments/acme-web-2026');
    const grid = page.getByRole('grid', { name: 'Findings of the assessment' });
    await grid.getByRole('link').first().waitFor();
    await grid.getByRole('button', { name: /^Critical \d+$/ }).waitFor();
    expect(await page.getByRole('tab', { name: 'Access' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'More actions' }).count()).toBe(0);
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Filter and export' }).click();
    await page.waitForURL(/\/vulnerabilities\?assessment_id=/);
    await page.getByRole('button', { name: 'Assessment: Web programme 2026' }).waitFor();
  });

  it('shows four figures, and where to set what is missing', async () => {
    const page = await enterNew('figured', 'Figured');
    const dates = page.getByRole('region', { name: 'Dates' });
    await dates.getByText('No dates').waitFor();
    await dates.getByRole('button', { name: 'Set dates' }).click();
    const form = page.getByRole('dialog', { name: 'Edit assessment' });
    await form.getByLabel('Start date').fill('2020-01-01');
    await form.getByLabel('End date').fill('2020-01-10');
    await form.getByRole('button', { name: 'Save' }).click();
    await dates.getByText('Over 10 days').waitFor();
    await page.getByRole('tab', { name: 'Imports' }).click();
    await page.waitForURL('**/assessments/figured?show=imports');
    await page.getByText('No imports yet').waitFor();

    await page.goto('/assessments/acme-web-2026');
    const closed = page.getByRole('region', { name: 'Closed' });
    await closed.getByRole('link', { name: /^Fixed \d/ }).waitFor();
    await page
      .getByRole('region', { name: 'Testing hours' })
      .getByRole('img', { name: /^Hours by week/ })
      .waitFor();
    await page.getByRole('complementary').getByText('Ines Lindqvist').waitFor();
    await expectAccessibleInAllViews(page);
    await page
      .getByRole('region', { name: 'Open by severity' })
      .getByRole('link', { name: /^Critical/ })
      .click();
    await page.waitForURL(/\/vulnerabilities\?.*severity=/);
    await page.goBack();
    await page.getByRole('link', { name: 'New finding' }).waitFor();
    await page.keyboard.press('n');
    await page.waitForURL('**/vulnerabilities/new?assessment=acme-web-2026');
  });

  it('changes the state after naming the testing sessions that it ends', async () => {
    const page = await enterNew('stated', 'Stated');
    await page.getByRole('tab', { name: 'Hours' }).click();
    await page.getByText('No hours yet').waitFor();
    await page.getByRole('button', { name: 'Start timer' }).click();
    await page.getByRole('button', { name: 'Stop timer', exact: true }).waitFor();
    await page.getByRole('button', { name: 'State: Active' }).click();
    await page.getByRole('menuitem', { name: 'Paused' }).click();
    const dialog = page.getByRole('dialog', { name: 'Set state to paused' });
    await dialog.getByText('This ends 1 running testing session: Helena Brandt').waitFor();
    await dialog.getByRole('button', { name: 'End session and continue' }).click();
    await page.getByText('Assessment is now paused').waitFor();
    await page.getByRole('button', { name: 'State: Paused' }).waitFor();
    await expect.poll(() => page.getByRole('timer').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Start timer' }).count()).toBe(0);
    await undo(page, 'Assessment is now paused');
    await page.getByRole('button', { name: 'State: Active' }).waitFor();
  });

  it('starts and stops the timer, and logs, edits and deletes hours', async () => {
    const page = await enterNew('timed', 'Timed', { expectedStatuses: [422] });
    await page.getByRole('tab', { name: 'Hours' }).click();
    await page.getByRole('button', { name: 'Start timer' }).click();
    const clock = page.getByRole('grid').getByRole('timer');
    await expect.poll(() => clock.textContent()).toMatch(/^0:(?!00:00)\d\d:\d\d$/);
    await page.getByRole('button', { name: 'Stop timer', exact: true }).click();
    await undo(page, /^Timer stopped after/);
    await clock.waitFor();
    await page.getByRole('button', { name: 'Stop the session of Helena Brandt' }).click();
    await expect.poll(() => clock.count()).toBe(0);

    await page.getByRole('button', { name: 'Log hours' }).click();
    const form = page.getByRole('dialog', { name: 'Log hours' });
    await form.getByLabel('Started').fill('2026-11-02T12:00');
    await form.getByLabel('Ended').fill('2026-11-02T10:00');
    await form.getByLabel('Note').fill('Sign-in');
    await form.getByRole('button', { name: 'Log' }).click();
    await form.getByText('Must not be before started_at.').waitFor();
    await expectAccessible(page, page.getByRole('dialog'));
    await form.getByLabel('Ended').fill('2026-11-02T14:30');
    await form.getByRole('button', { name: 'Log' }).click();
    await page.getByText('2.5 hours logged').waitFor();
    await page.getByText('2.5 hours in total').waitFor();

    const row = page.getByRole('row').filter({ hasText: 'Sign-in' });
    await row.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('dialog').getByLabel('Ended').fill('2026-11-02T15:00');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('3 hours in total').waitFor();
    await expectAccessible(page);
    await row.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Session deleted').waitFor();
    await expect.poll(() => row.count()).toBe(0);
  });

  it('shows a timer that was started before the list of hours had arrived', async () => {
    const page = await enterNew('early', 'Early');
    const isRunningList = (url: URL) => url.searchParams.has('filter[running]');
    let refreshed = (): void => undefined;
    const refresh = new Promise<void>((resolve) => (refreshed = resolve));
    let loads = 0;
    page.on('request', (request) => {
      // The list is requested with the page, and again after the timer has started.
      if (isRunningList(new URL(request.url())) && (loads += 1) === 2) refreshed();
    });
    let requests = 0;
    await page.route(
      (url) =>
        url.pathname.endsWith('/assessments/early/testing_sessions') && url.searchParams.has('page[after]'),
      async (route) => {
        const isFirst = route.request().method() === 'GET' && (requests += 1) === 1;
        const response = await route.fetch();
        if (isFirst) await refresh;
        // The page may have aborted the request.
        await route.fulfill({ response }).catch(() => undefined);
      },
    );
    await page.getByRole('tab', { name: 'Hours' }).click();
    await page.getByRole('button', { name: 'Start timer' }).click();
    await page.getByRole('grid').getByRole('timer').waitFor();
    expect(requests).toBe(2);
  });

  it('adds an asset to the scope, edits its rules and removes it', async () => {
    const page = await enterNew('scoped', 'Scoped');
    await page.getByRole('tab', { name: /^Scope/ }).click();
    await page.getByText('Nothing is in scope yet').waitFor();
    await page.getByRole('button', { name: 'Add to scope' }).click();
    await select(page, 'Asset', '10.20.0.10', '10.20.0.10');
    await page.getByRole('textbox', { name: 'Rules' }).fill('Not on Fridays\n\nNo load tests');
    await expectAccessible(page, page.getByRole('dialog'));
    await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
    const grid = page.getByRole('grid', { name: 'Assets in scope' });
    await grid.getByText('Not on Fridays · No load tests').waitFor();
    await page.getByRole('tab', { name: 'Scope 1' }).waitFor();
    await page.getByRole('button', { name: 'Edit rules of 10.20.0.10' }).click();
    await page.getByRole('textbox', { name: 'Rules' }).fill('Never');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await grid.getByText('Never').waitFor();
    await undo(page, 'Scope rules of 10.20.0.10 updated');
    await grid.getByText('Not on Fridays · No load tests').waitFor();
    // An asset in scope gets new rules; Undo restores the previous ones.
    // Closes the notification of the first addition, which has the same text.
    await page.reload();
    await page.getByRole('button', { name: 'Add to scope' }).click();
    await select(page, 'Asset', '10.20.0.10', '10.20.0.10 (in scope)');
    await page.getByRole('textbox', { name: 'Rules' }).fill('Never');
    await page.getByRole('dialog').getByRole('button', { name: 'Add 1 asset' }).click();
    await grid.getByText('Never').waitFor();
    await undo(page, '1 asset added to scope');
    await grid.getByText('Not on Fridays · No load tests').waitFor();
    await page.getByRole('button', { name: 'Remove 10.20.0.10 from scope' }).click();
    await page.getByText('Nothing is in scope yet').waitFor();
    await undo(page, '10.20.0.10 removed from scope');
    await grid.getByText('Not on Fridays · No load tests').waitFor();
  });

  it('adds many assets to the scope with a result for each, and undoes it', async () => {
    const page = await enterNew('many', 'Many');
    await page.getByRole('tab', { name: /^Scope/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Add to scope' });
    const add = () => page.getByRole('button', { name: 'Add to scope' }).click();
    await add();
    await select(page, 'Asset', '10.20.0.10', '10.20.0.10');
    await select(page, 'Asset', '10.20.1.100', '10.20.1.100');
    await page.getByRole('button', { name: 'Remove 10.20.1.100' }).click();
    await dialog
      .getByLabel('Hosts and URLs')
      .fill('10.20.0.10\n10.20.1.101\nnew.example.test, Brand new\n10.0.0.0/8\n');
    await dialog
      .getByText('3 assets found: 1 new, 2 known. Line 4: 10.0.0.0/8 has more than 1,024 addresses')
      .waitFor();
    await expectAccessible(page, dialog);
    await dialog.getByRole('button', { name: 'Add 3 assets' }).click();
    await dialog.getByText('Failed: 1 · In scope: 3').waitFor();
    await dialog.getByRole('row', { name: '10.0.0.0/8 Failed: It has more than 1,024 addresses' }).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('tab', { name: 'Scope 3' }).waitFor();
    await undo(page, '3 assets added to scope');
    await page.getByText('Nothing is in scope yet').waitFor();
    await add();
    await dialog.getByLabel('Hosts and URLs').fill('new.example.test\nnone.example.test');
    await dialog.getByLabel('Create assets that do not exist yet').uncheck();
    await dialog.getByRole('button', { name: 'Add 2 assets' }).click();
    await dialog.getByText('Failed: 1 · In scope: 1').waitFor();
    await dialog
      .getByRole('row', { name: 'none.example.test Failed: No asset has this location.' })
      .waitFor();
  });

  it('grants and removes access', async () => {
    const page = await enterNew('shared', 'Shared');
    await page.getByRole('tab', { name: 'Access' }).click();
    await page.getByText('No one was granted access').waitFor();
    await select(page, 'Grant access to', 'outsider', /outsider@acme\.example/);
    const grid = page.getByRole('grid', { name: 'People with access' });
    await grid.getByText('outsider@acme.example').waitFor();
    await page.getByText(/now has access/).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: /^Remove access of/ }).click();
    await page.getByText('No one was granted access').waitFor();
    await undo(page, 'no longer has access by name');
    await grid.getByText('outsider@acme.example').waitFor();
  });

  it('names the organization of a filter in the URL', async () => {
    const page = await assay.enter('staff', '/assessments?organization_uid=halden');
    const filter = page.getByRole('button', { name: /^Organization/ });
    await expect.poll(() => filter.textContent()).toContain('Halden');
  });

  it('lets staff create an assessment in a selected organization', async () => {
    const page = await assay.enter('staff', '/assessments', { expectedStatuses: [409] });
    await page.getByRole('button', { name: 'New assessment' }).click();
    const form = page.getByRole('dialog', { name: 'New assessment' });
    await select(page, 'Organization', 'halden', /Halden/i);
    const uid = form.getByLabel('ID', { exact: true });
    await form.getByLabel('Name').fill('Acme: Web 2026');
    await expect.poll(() => uid.inputValue()).toBe('acme-web-2026');
    await form.getByRole('button', { name: 'Create' }).click();
    await form.getByText('Is already taken.').waitFor();
    expect(await uid.getAttribute('aria-invalid')).toBe('true');
    await form.getByLabel('Name').fill('Of Stâff!');
    await expect.poll(() => uid.inputValue()).toBe('of-staff');
    await uid.fill('of-staff-1');
    await form.getByLabel('Name').fill('Of staff');
    expect(await uid.inputValue()).toBe('of-staff-1');
    await form.getByRole('button', { name: 'Create' }).click();
    await page.waitForURL('**/assessments/of-staff-1');
    await page.getByRole('heading', { name: 'Of staff' }).waitFor();
    await page.getByRole('main').getByText('Halden Mutual').waitFor();
  });
});
