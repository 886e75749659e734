import { expect, it } from 'vitest';
import { expectAccessible, expectAccessibleInAllViews } from '../harness/accessibility.ts';
import { describeInBrowser, signIn, useBrowser } from '../harness/browser.ts';
import { addSession, useSharedConsole } from '../harness/console.ts';
import { createFixtures } from '../harness/fixtures.ts';

const numberIn = (text: string | null) => Number(/\d+$/.exec(text ?? '')?.[0]);

describeInBrowser('Console: home page', () => {
  const assay = useSharedConsole();
  const open = useBrowser();

  it('shows open vulnerabilities by severity and age, linked to their lists', async () => {
    const page = await assay.enter('admin', '/');
    const severities = page.locator('section', { hasText: 'Open by severity' });
    const critical = severities.getByRole('link').first();
    expect(await critical.textContent()).toMatch(/^Critical/);
    const count = numberIn(await critical.textContent());
    expect(count).toBeGreaterThan(0);
    await page.getByText(/\d+ reported, \d+ closed/).waitFor({ state: 'attached' });
    const ages = page.locator('section', { hasText: 'Open by age' });
    await ages.getByText('Up to 7 days').waitFor();
    await critical.click();
    await page.waitForURL('**/vulnerabilities?phase=*');
    await page.getByText(`${count} found`).waitFor();
    for (const age of ['8 to 30 days', 'Over 90 days']) {
      await page.goBack();
      const link = ages.getByRole('link', { name: age });
      const oldNumber = numberIn(await link.textContent());
      expect(oldNumber).toBeGreaterThan(0);
      await link.click();
      await page.waitForURL(/created_until/);
      await page.getByText(`${oldNumber} found`).waitFor();
    }
    await page.goBack();
    await ages.getByRole('link', { name: 'Oldest first' }).click();
    await page.waitForURL(/sort=resolved_at/);
    await page.getByRole('grid', { name: 'Vulnerabilities' }).getByRole('link').first().waitFor();
  });

  it('links each count to its list', async () => {
    const page = await assay.enter('admin', '/');
    for (const [title, address] of [
      ['Assigned to me', /assignee_id/],
      ['Due soon or overdue', /due_until/],
      ['Pending retests', /retest/],
    ] as const) {
      const link = page.locator('section', { hasText: title }).getByRole('link');
      const count = await link.textContent();
      expect(Number(count)).toBeGreaterThan(0);
      await link.click();
      await page.waitForURL(address);
      await page.getByText(`${count} found`).waitFor();
      await page.goBack();
    }
  });

  it('shows new vulnerabilities since the last visit, testing hours and running imports', async () => {
    const page = await assay.enter('admin', '/');
    await page.getByText('This is your first visit in this browser.').waitFor();
    const hours = page.locator('section', { hasText: 'Testing hours this month' });
    await expect.poll(() => hours.getByText(/^[\d,.]+$/).count()).toBe(1);
    await page.getByRole('link', { name: 'Import a report' }).waitFor();
    await page.evaluate(() =>
      localStorage.setItem('assay-last-seen', String(Date.now() - 30 * 24 * 3_600_000)),
    );
    await page.reload();
    const section = page.locator('section', { hasText: 'New since your last visit' });
    await section.getByText(/Last visit/).waitFor();
    await section.getByRole('link').click();
    await page.waitForURL(/created_since/);
    await page.getByText(/^[1-9]\d* found$/).waitFor();
  });

  it('shows first steps in a new organization, and whom to ask without access', async () => {
    const fixtures = createFixtures(assay.server());
    const { uid, name: organization } = await fixtures.organization();
    const admin = await fixtures.account({ organization: uid, admin: true });
    const page = await open(assay.server().origin);
    await page.goto('/');
    await signIn(page, admin);
    await page.getByRole('heading', { name: 'No findings yet' }).waitFor();
    const steps = page.getByRole('main').getByRole('listitem').getByRole('link');
    expect(await steps.allTextContents()).toEqual([
      'Create an assessment',
      'Add assets',
      'Import a report',
      'Invite people',
    ]);
    await expectAccessibleInAllViews(page);
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

  it('shows an error in a card that fails to load, and loads it when asked to', async () => {
    const page = await assay.enter('admin', '/tags', { expectedStatuses: [403] });
    // The console does not retry a 403, so the button stays until it is clicked.
    await page.route('**/v1/testing_sessions?*', (route) => route.fulfill({ status: 403, json: {} }));
    await page.goto('/');
    const hours = page.locator('section', { hasText: 'Testing hours this month' });
    const retryButton = page.getByRole('button', { name: 'Try again' });
    await hours.filter({ has: retryButton }).waitFor();
    await page.locator('section', { hasText: 'Open by severity' }).getByRole('link').first().waitFor();
    await expectAccessible(page);
    await page.unrouteAll();
    await retryButton.click();
    await hours.getByText(/^[\d,.]+$/).waitFor();
    expect(await retryButton.count()).toBe(0);
  });

  it('focuses the content and sets the window title on navigation', async () => {
    const page = await assay.enter('admin', '/');
    await page.getByText(/\d+ reported, \d+ closed/).waitFor({ state: 'attached' });
    await page.getByRole('link', { name: 'Tags' }).click();
    await page.getByRole('heading', { name: 'Tags', level: 1 }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('content');
    expect(await page.title()).toBe('Tags - Assay');
  });
});
