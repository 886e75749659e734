import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectAccessibleInAllViews } from '../harness/accessibility.ts';
import { describeInBrowser, signIn, useBrowser } from '../harness/browser.ts';
import { addSession, useSharedConsole } from '../harness/console.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { scriptSizeOf } from '../harness/script-size.ts';

/** Of JavaScript, compressed. */
const MAX_BYTES = 230_000;
const COURSE_DAYS = 90;
/** Requests for the rows of the table. */
const MAX_REQUESTS = 24;

const numberIn = (text: string | null) => Number(/\d+$/.exec(text ?? '')?.[0]);
const overview = (page: Page) => page.getByRole('complementary', { name: 'Overview' });
const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const sectionNames = (page: Page) => page.locator('main section ul').locator('..').getByRole('heading');

describeInBrowser('Console: home page', () => {
  const assay = useSharedConsole();
  const open = useBrowser();

  it('shows what is open by severity and age, linked to the lists', async () => {
    const page = await assay.enter('admin', '/');
    const critical = overview(page).getByRole('link', { name: /^Critical: / });
    const count = numberIn(await critical.getAttribute('aria-label'));
    expect(count).toBeGreaterThan(0);
    await critical.click();
    await page.waitForURL('**/vulnerabilities?phase=*');
    await page.getByText(`${count} found`).waitFor();
    for (const age of ['8 to 30 days', 'Over 90 days']) {
      await page.goBack();
      const link = overview(page).getByRole('link', { name: age });
      const oldNumber = numberIn(await link.textContent());
      expect(oldNumber).toBeGreaterThan(0);
      await link.click();
      await page.waitForURL(/created_until/);
      await page.getByText(`${oldNumber} found`).waitFor();
    }
    await page.goBack();
    await overview(page).getByRole('link', { name: 'Oldest first' }).click();
    await page.waitForURL(/sort=resolved_at/);
    await page.getByRole('grid', { name: 'Vulnerabilities' }).getByRole('link').first().waitFor();
  });

  it('tells the numbers of a day by key and by pointer, and of all days as a table', async () => {
    const page = await assay.enter('admin', '/');
    const chart = overview(page).getByRole('img', { name: /^Open findings at the end of each day/ });
    const last = /, (\d+) today\.$/.exec((await chart.getAttribute('aria-label')) ?? '')?.[1];
    const day = overview(page).getByRole('slider', { name: 'Day' });
    await day.press('Home');
    const first = await day.getAttribute('aria-valuetext');
    expect(first).toMatch(/\d+ critical, \d+ high, \d+ medium, \d+ low, \d+ informational; \d+ open$/);
    await overview(page)
      .getByText(first ?? '')
      .waitFor();
    await day.press('ArrowRight');
    expect(await day.getAttribute('aria-valuenow')).toBe('1');
    await day.press('End');
    expect(await day.getAttribute('aria-valuetext')).toContain(`; ${last} open`);
    await day.press('ArrowRight');
    expect(await day.getAttribute('aria-valuenow')).toBe(String(COURSE_DAYS - 1));
    await day.blur();
    await overview(page).getByText('Open at the end of each day, last 90 days').waitFor();
    await day.hover();
    await overview(page)
      .getByText(/; \d+ open$/)
      .waitFor();
    await overview(page).getByRole('button', { name: 'Show as table' }).click();
    const rows = page.getByRole('region', { name: 'Open findings by day' }).getByRole('row');
    expect(await rows.count()).toBe(1 + COURSE_DAYS);
    expect(await rows.nth(1).getByRole('cell').last().textContent()).toBe(last);
    await expectAccessible(page);
    await overview(page).getByRole('button', { name: 'Show as chart' }).click();
    await chart.waitFor();
  });

  it('leads from each count and each section to the list', async () => {
    const page = await assay.enter('admin', '/');
    const counts = page.getByRole('main').getByRole('paragraph').first().getByRole('link');
    for (const [text, address] of [
      [/^(\d+) overdue$/, /due_until/],
      [/^(\d+) to review$/, /status_id=%5B1%5D/],
      [/^(\d+) retests? came back$/, /retest/],
    ] as const) {
      const link = counts.filter({ hasText: text });
      const count = text.exec((await link.textContent()) ?? '')?.[1];
      await link.click();
      await page.waitForURL(address);
      await page.getByText(`${count} found`).waitFor();
      await page.goBack();
    }
    const overdue = section(page, 'Overdue');
    expect(await overdue.getByRole('listitem').count()).toBe(3);
    expect(await overdue.getByText(/\d d overdue$/).count()).toBe(3);
    const moreLink = overdue.getByRole('link', { name: /^Show \d+ more$/ });
    const rest = numberIn(((await moreLink.textContent()) ?? '').replace(' more', ''));
    await moreLink.click();
    await page.waitForURL(/due_until/);
    await page.getByText(`${rest + 3} found`).waitFor();
    await page.goBack();
    const link = overdue.getByRole('listitem').first().getByRole('link').first();
    const title = (await link.textContent()) ?? '';
    await link.click();
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
  });

  it('shows each reader what there is to do', async () => {
    const admin = await assay.enter('admin', '/');
    await section(admin, 'Overdue').waitFor();
    expect(await sectionNames(admin).allTextContents()).toEqual(
      expect.arrayContaining(['Overdue', 'Needs your decision', 'Retests that came back']),
    );
    await section(admin, 'Retests that came back')
      .getByText(/^(Fix verified|Still exploitable|Could not be tested)/)
      .first()
      .waitFor();
    const member = await assay.enter('member', '/');
    await section(member, 'Assigned to you').waitFor();
    expect(await member.getByRole('heading', { name: 'Overdue' }).count()).toBe(0);
    const staff = await assay.enter('staff', '/');
    await section(staff, 'Drafts').waitFor();
    const waiting = section(staff, 'Retests to decide').getByRole('listitem').first();
    await waiting.getByText(/, \S/).first().waitFor();
    await staff.getByRole('rowheader', { name: 'Acme Freight' }).waitFor();
    await expectAccessibleInAllViews(staff);
  });

  it('has the next step of each task, for those who may take it', async () => {
    const page = await assay.enter('admin', '/');
    await section(page, 'Overdue')
      .getByRole('button', { name: /^Ask for a retest: / })
      .first()
      .click();
    const dialog = page.getByRole('dialog', { name: 'Ask for a retest' });
    await dialog.getByRole('textbox', { name: 'What was fixed, and where to test it' }).waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    const review = section(page, 'Needs your decision')
      .getByRole('link', { name: /^Review: / })
      .first();
    const title = (await review.getAttribute('aria-label'))?.slice('Review: '.length) ?? '';
    await review.click();
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
    await page.getByRole('button', { name: 'Confirm' }).first().waitFor();
    expect(title).not.toBe('');
  });

  it('compares assessments with at most 24 requests', async () => {
    const page = await assay.enter('admin', '/tags');
    const requests: string[] = [];
    page.on('request', (request) => requests.push(decodeURIComponent(request.url())));
    await page.goto('/');
    const row = page.getByRole('row').filter({ hasText: 'Web programme 2026' });
    await row.getByText(/^\d+ days?$/).waitFor();
    await row.getByRole('img', { name: /^\d+ critical, \d+ high/ }).waitFor();
    expect(Number(await row.getByRole('cell').nth(1).textContent())).toBeGreaterThan(0);
    const ofRows = requests.filter((url) => url.includes('filter[assessment_id]'));
    expect(ofRows.length).toBeGreaterThan(0);
    expect(ofRows.length).toBeLessThanOrEqual(MAX_REQUESTS);
    await row.getByRole('link', { name: 'Web programme 2026' }).click();
    await page.getByRole('heading', { level: 1, name: 'Web programme 2026' }).waitFor();
  });

  it('shows what is new since the last visit', async () => {
    const page = await assay.enter('admin', '/');
    await section(page, 'Overdue').waitFor();
    await page.evaluate(() =>
      localStorage.setItem('assay-last-seen', String(Date.now() - 30 * 24 * 3_600_000)),
    );
    await page.reload();
    const news = section(page, 'New since your last visit');
    await news.getByRole('listitem').first().waitFor();
    expect(await news.getByRole('listitem').count()).toBe(3);
    await news.getByRole('link', { name: /^Show \d+ more$/ }).click();
    await page.waitForURL(/created_since/);
    await page.getByText(/^[1-9]\d* found$/).waitFor();
  });

  it('shows infrastructure admins hosts and imports, and nothing about findings', async () => {
    const fixtures = createFixtures(assay.server());
    const { uid: organization } = await fixtures.organization();
    const group = await fixtures.group(organization);
    const assessment = await fixtures.assessment(organization, undefined, group.id);
    const account = await fixtures.account({ organization });
    await fixtures.member(group.id, account.uid, 'infra_admin');
    const page = await assay.enterAs(account, '/');
    await page.getByText('Nothing waits for you.').waitFor();
    expect(await page.getByRole('heading', { name: 'Open findings' }).count()).toBe(0);
    const asset = await fixtures.asset({ organization, type: 'host' });
    await fixtures.list(assessment.uid, asset.uid);
    await page.reload();
    await section(page, 'New hosts this week').getByRole('link').first().click();
    await page.waitForURL(`**/assets/${asset.uid}`);
  });

  it('shows three steps in a new organization, and whom to ask without access', async () => {
    const fixtures = createFixtures(assay.server());
    const { uid, name: organization } = await fixtures.organization();
    const admin = await fixtures.account({ organization: uid, admin: true });
    const page = await open(assay.server().origin);
    await page.goto('/');
    await signIn(page, admin);
    await page.getByRole('heading', { name: 'Three steps to your first finding' }).waitFor();
    const steps = page.getByRole('main').getByRole('listitem');
    expect(await steps.getByRole('heading').allTextContents()).toEqual([
      'Create an assessment',
      'Choose a report, or write a finding',
      'Check the preview, then import',
    ]);
    await page.getByRole('link', { name: 'Invite people' }).waitFor();
    await expectAccessibleInAllViews(page);
    await page.getByRole('button', { name: 'Create an assessment' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Depot network');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await steps.nth(0).getByRole('link', { name: 'Depot network' }).waitFor();
    expect(await steps.nth(1).getAttribute('aria-current')).toBe('step');
    await steps.nth(1).getByRole('link', { name: 'Write a finding' }).waitFor();
    await steps.nth(1).getByRole('link', { name: 'Import a report' }).click();
    await page.getByRole('heading', { name: 'Imports', level: 1 }).waitFor();

    const member = await fixtures.account({ organization: uid });
    const otherPage = await open(assay.server().origin);
    await addSession(otherPage, assay.server(), member);
    await otherPage.goto('/');
    const emptyHeading = otherPage.getByRole('heading', {
      name: 'You do not have access to any assessment yet',
    });
    await emptyHeading.waitFor();
    await otherPage.getByText(`Ask an admin of ${organization} to give ${member.email} access`).waitFor();
    await expectAccessible(otherPage);
    await otherPage.getByRole('link', { name: 'Imports' }).click();
    await otherPage.getByRole('heading', { name: 'Imports', level: 1 }).waitFor();
    await emptyHeading.waitFor();
    expect(await otherPage.getByRole('main').getByRole('button').allTextContents()).toEqual(['Check again']);
    const assessment = await fixtures.assessment(uid);
    await fixtures.access(assessment.uid, member.id);
    await otherPage.getByRole('button', { name: 'Check again' }).click();
    await emptyHeading.waitFor({ state: 'detached' });
    await otherPage.getByText('No imports yet').waitFor();
  });

  it('shows the numbers alone while there is less than a week of data', async () => {
    const fixtures = createFixtures(assay.server());
    const { uid: organization } = await fixtures.organization();
    const assessment = await fixtures.assessment(organization);
    const admin = await fixtures.account({ organization, admin: true });
    const page = await assay.enterAs(admin, '/');
    await page.getByRole('heading', { name: 'Three steps to your first finding' }).waitFor();
    await assay.call('staff', 'POST', '/v1/vulnerabilities', {
      assessment_id: assessment.uid,
      title: 'The first one',
      severity: 'High',
      status_id: 2,
      draft: false,
    });
    await page.reload();
    await overview(page).getByRole('link', { name: 'High: 1' }).waitFor();
    expect(await page.getByRole('slider').count()).toBe(0);
    await page.getByText('Nothing waits for you.').waitFor();
    await expectAccessible(page);
  });

  it('shows an error in a section that fails to load, and loads it when asked to', async () => {
    const page = await assay.enter('admin', '/tags', { expectedStatuses: [403] });
    // The console does not retry a 403, so the button stays until it is clicked.
    await page.route('**/v1/vulnerabilities/summary?*', (route) => route.fulfill({ status: 403, json: {} }));
    await page.goto('/');
    const retryButton = overview(page).getByRole('button', { name: 'Try again' });
    await retryButton.waitFor();
    await section(page, 'Overdue').getByRole('link').first().waitFor();
    await expectAccessible(page);
    await page.unrouteAll();
    await retryButton.click();
    await overview(page)
      .getByRole('link', { name: /^Critical: / })
      .waitFor();
    expect(await retryButton.count()).toBe(0);
  });

  it('loads at most 230 kB of JavaScript', async () => {
    const page = await assay.enter('admin', '/healthz');
    const bytes = await scriptSizeOf(page, async () => {
      await page.goto('/');
      await page.getByRole('row').filter({ hasText: 'Web programme 2026' }).waitFor();
    });
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
  });

  it('focuses the content and sets the window title on navigation', async () => {
    const page = await assay.enter('admin', '/');
    await section(page, 'Overdue').waitFor();
    await page.getByRole('link', { name: 'Tags' }).click();
    await page.getByRole('heading', { name: 'Tags', level: 1 }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('content');
    expect(await page.title()).toBe('Tags - Assay');
  });
});
