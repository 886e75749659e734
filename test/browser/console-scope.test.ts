import { expect, it } from 'vitest';
import { expectAccessible, expectAccessibleInAllViews } from '../harness/accessibility.ts';
import { describeInBrowser } from '../harness/browser.ts';
import { useConsole } from '../harness/console.ts';
import { createFixtures } from '../harness/fixtures.ts';

describeInBrowser('Console: outside the scope', () => {
  const assay = useConsole();

  it('marks findings and ports, and adds the assets that one chooses', async () => {
    const { organization } = assay.demo();
    const make = createFixtures(assay.server());
    const uid = 'assessment-of-scope';
    await make.assessment(organization.uid, uid);
    const newHost = (location: string) =>
      make.asset({ organization: organization.uid, type: 'host', location });
    const [first, second] = [await newHost('198.51.100.71'), await newHost('198.51.100.72')];
    const { id } = await make.vulnerability(uid, {
      title: 'Found beside the scope',
      assetUids: [first.uid, second.uid],
    });

    const page = await assay.enter('admin', `/vulnerabilities?assessment_id=%5B%22${uid}%22%5D`);
    const row = page.getByRole('row').filter({ hasText: 'Found beside the scope' });
    await row.getByText('Outside scope').waitFor();
    await page.goto(`/vulnerabilities/${id}`);
    await page.getByRole('button', { name: '2 assets' }).click();
    await expect.poll(() => page.getByText('Outside scope').count()).toBe(2);
    await page.getByText('198.51.100.71 Outside scope').waitFor();
    await page.goto(`/assets/${first.uid}`);
    await page.getByText('Outside scope').waitFor();

    await page.goto(`/assessments/${uid}?show=assets`);
    const note = page.getByRole('alert').filter({ hasText: '2 assets outside the scope' });
    await note.waitFor();
    await expectAccessibleInAllViews(page);
    await note.getByRole('button', { name: 'Choose assets to add' }).click();
    const dialog = page.getByRole('dialog', { name: 'Choose assets to add' });
    await dialog.getByRole('checkbox', { name: '198.51.100.71' }).check();
    expect(await dialog.getByRole('checkbox', { name: '198.51.100.72' }).isChecked()).toBe(false);
    await expectAccessible(page, dialog);
    await dialog.getByRole('button', { name: 'Add 1 asset' }).click();
    await page.getByRole('alert').filter({ hasText: '1 asset outside the scope' }).waitFor();
    await page.getByRole('grid', { name: 'Assets in scope' }).getByText('198.51.100.71').waitFor();
  });

  it('offers members no asset that they can only read', async () => {
    const { organization, users } = assay.demo();
    const make = createFixtures(assay.server());
    const uid = 'assessment-of-readers';
    await make.assessment(organization.uid, uid);
    await make.access(uid, users.member.id);
    const asset = await make.asset({
      organization: organization.uid,
      type: 'host',
      location: '198.51.100.73',
    });
    await make.vulnerability(uid, { assetUids: [asset.uid] });
    const page = await assay.enter('member', `/assessments/${uid}?show=assets`);
    await page.getByRole('alert').filter({ hasText: '1 asset outside the scope' }).waitFor();
    expect(await page.getByRole('button', { name: 'Choose assets to add' }).count()).toBe(0);
  });

  it('lists the assets of an import only when told', async () => {
    const page = await assay.enter('admin', '/imports');
    await page
      .getByLabel('Reports')
      .setInputFiles(new URL('../fixtures/nmap/scripts.xml', import.meta.url).pathname);
    await page.getByRole('combobox', { name: 'Assessment' }).fill('web programme');
    expect(await page.getByRole('checkbox', { name: 'Add the assets of the report' }).count()).toBe(0);
    await page.getByRole('option', { name: 'Web programme 2026' }).click();
    const list = page.getByRole('checkbox', { name: 'Add the assets of the report to the scope' });
    await list.waitFor();
    expect(await list.isChecked()).toBe(false);
  });
});
