import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { expectAccessible } from '../harness/accessibility.ts';
import { describeInBrowser } from '../harness/browser.ts';
import { useConsole } from '../harness/console.ts';
import { createFixtures } from '../harness/fixtures.ts';

describeInBrowser('Console: frame', () => {
  const assay = useConsole();
  let infra: { email: string; password: string };

  beforeAll(async () => {
    const { organization } = assay.demo();
    const make = createFixtures(assay.server());
    const group = await make.group(organization.uid);
    await make.assessment(organization.uid, 'assessment-of-frame', group.id);
    const account = await make.account({ organization: organization.uid, email: 'infra@frame.example' });
    await make.member(group.id, account.uid, 'infra_admin');
    infra = account;
  });

  const navigation = (page: Page) => page.getByRole('navigation', { name: 'Main navigation' });
  const linksOf = (page: Page, group: string) =>
    navigation(page).getByRole('group', { name: group }).getByRole('link');

  it('shows the organization, and how many findings of which active assessments are open', async () => {
    const page = await assay.enter('admin', '/');
    const open = await assay.call(
      'admin',
      'GET',
      '/v1/vulnerabilities/summary?filter[phase][]=new&filter[phase][]=open',
    );
    const total = Object.values(open.by_severity as Record<string, number>).reduce(
      (sum, count) => sum + count,
    );
    await page.getByRole('link', { name: 'Acme Freight' }).waitFor();
    await navigation(page)
      .getByRole('link', { name: `Vulnerabilities ${total} open` })
      .waitFor();
    const assessments = (await assay.call(
      'admin',
      'GET',
      '/v1/assessments?filter[state][]=active&sort=-created_at',
    )) as { name: string; open_vulnerability_count: number }[];
    const expected = assessments
      .filter((assessment) => assessment.open_vulnerability_count > 0)
      .map((assessment) => `${assessment.name}${assessment.open_vulnerability_count} open`);
    await expect.poll(() => linksOf(page, 'Active assessments').allTextContents()).toEqual(expected);
    // The one that was opened last comes first.
    await linksOf(page, 'Active assessments').last().click();
    await page.getByRole('heading', { level: 1, name: assessments.at(-1)?.name ?? '' }).waitFor();
    await page.reload();
    await expect
      .poll(() => linksOf(page, 'Active assessments').allTextContents())
      .toEqual([...expected.slice(-1), ...expected.slice(0, -1)]);
  });

  it('counts anew when a finding is closed', async () => {
    const page = await assay.enter('admin', '/vulnerabilities?status_id=%5B%222%22%5D');
    const link = navigation(page).getByRole('link', { name: /^Vulnerabilities/ });
    const before = Number(/\d+/.exec((await link.filter({ hasText: 'open' }).textContent()) ?? '')?.[0]);
    await page.getByRole('grid').locator('[id="row-0"] a').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('s');
    await page.getByRole('dialog', { name: 'Set status' }).waitFor();
    await page.keyboard.press('5');
    const after = `Vulnerabilities ${before - 1} open`;
    await expect.poll(() => navigation(page).getByRole('link', { name: after }).count()).toBe(1);
  });

  it('shows staff all organizations, and whose assessments they are', async () => {
    const page = await assay.enter('staff', '/');
    await page.getByRole('button', { name: 'All organizations' }).waitFor();
    await linksOf(page, 'Active assessments').first().waitFor();
    await page.getByRole('button', { name: 'Account menu' }).filter({ hasText: 'Staff' }).waitFor();
    await expectAccessible(page);
  });

  it('lets staff choose an organization, which filters the pages', async () => {
    const page = await assay.enter('staff', '/');
    const count = async () => {
      const link = navigation(page).getByRole('link', { name: /^Vulnerabilities \d/ });
      return Number(/\d+/.exec((await link.textContent()) ?? '')?.[0]);
    };
    const all = await count();
    await page.keyboard.press('g');
    await page.keyboard.press('o');
    await page.getByRole('menuitemradio', { name: 'Halden Mutual' }).click();
    await page.getByRole('button', { name: 'Halden Mutual' }).waitFor();
    await expect.poll(count).toBeLessThan(all);
    await page.getByRole('rowheader', { name: 'Acme Freight' }).waitFor({ state: 'detached' });
    await page.keyboard.press('g');
    await page.keyboard.press('v');
    await page.waitForURL('**/vulnerabilities?organization_uid=*');
    const rows = page.getByRole('grid').locator('[id^="row-"]');
    await rows.getByRole('img', { name: 'Halden Mutual' }).first().waitFor();
    expect(await rows.getByRole('img', { name: 'Acme Freight' }).count()).toBe(0);
    await navigation(page).getByRole('link', { name: 'Assessments' }).click();
    await page.waitForURL('**/assessments?organization_uid=*');
    const assessments = page.getByRole('grid', { name: 'Assessments' });
    await assessments.getByText('Claims platform 2026').waitFor();
    expect(await assessments.getByText('Web programme 2026').count()).toBe(0);
    await page.getByTitle('Choose an organization').click();
    await page.getByRole('menuitemradio', { name: 'All organizations' }).click();
    await page.waitForURL('**/assessments');
    await assessments.getByText('Web programme 2026').waitFor();
    await expectAccessible(page);
  });

  it('offers no place that the user cannot read', async () => {
    const page = await assay.enterAs(infra, '/assets');
    await expect
      .poll(() => navigation(page).getByRole('link').allTextContents())
      .toEqual(['Home', 'Assets', 'Assessments', 'Imports', 'Tags', 'Groups']);
  });

  it('says on phones where one is, and leads back to the list', async () => {
    const { assessment } = assay.demo();
    const page = await assay.enter('admin', `/assessments/${assessment.uid}`, {
      viewport: { width: 390, height: 844 },
    });
    await page.getByRole('heading', { level: 1, name: 'Web programme 2026' }).waitFor();
    await page.getByRole('banner').getByRole('link', { name: 'Assessments' }).click();
    await page.waitForURL('**/assessments');
    expect(await navigation(page).count()).toBe(0);
    await page.getByRole('button', { name: 'Account menu' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
  });
});
