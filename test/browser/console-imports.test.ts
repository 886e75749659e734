import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { expectAccessible } from '../harness/accessibility.ts';
import { describeInBrowser } from '../harness/browser.ts';
import { useConsole } from '../harness/console.ts';

const FIXTURES = new URL('../fixtures/', import.meta.url).pathname;

/** Chooses reports, as a drop gives them. */
const give = (page: Page, ...paths: readonly string[]) =>
  page.getByLabel('Reports').setInputFiles(paths.map((path) => FIXTURES + path));

async function chooseAssessment(page: Page, name: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Assessment' }).fill(name);
  await page.getByRole('option', { name }).click();
}

const card = (page: Page, name: string) => page.getByRole('article', { name });

describeInBrowser('Console: imports', () => {
  const assay = useConsole();
  const as = () => ({ token: assay.demo().users.admin.token });
  const found = async () => {
    const { body } = await assay
      .server()
      .request('GET', '/v1/vulnerabilities?page[size]=200&fields=id', as());
    return (body as unknown[]).length;
  };

  it('previews a report, imports it, and links to the new findings', async () => {
    const before = await found();
    // A dry run that nobody waits for is cancelled, which comes too late where it has ended just now: that of the hosts,
    // which needs no assessment, when one is chosen.
    const page = await assay.enter('admin', '/imports', { expectedStatuses: [409, 422] });
    await give(page, 'zap/report-plus-2.16.json', 'nmap/scripts.xml');
    const zap = card(page, 'report-plus-2.16.json');
    // What the server has against it stands where it is mended.
    await zap.getByText('Choose an assessment for these findings').waitFor();
    await page
      .getByRole('region', { name: 'Options' })
      .getByText('Choose an assessment for these findings')
      .waitFor();
    await chooseAssessment(page, 'Driver apps 2026');
    await zap.getByText('Preview. Nothing has been imported yet.').waitFor();
    // What a choice is called is shown a moment after the rest.
    const format = zap.getByRole('combobox', { name: 'Format of report-plus-2.16.json' });
    await expect.poll(() => format.inputValue()).toBe('ZAP (detected)');
    await zap.getByRole('button', { name: 'Show details' }).click();
    const previewed = zap.getByRole('region', { name: 'New' }).getByRole('listitem');
    await previewed.first().waitFor();
    const number = await previewed.count();
    await expectAccessible(page);
    expect(await found()).toBe(before);
    await zap.getByRole('button', { name: 'Import', exact: true }).click();
    await zap.getByText('Done').waitFor();
    await zap.getByRole('link', { name: `${number} new` }).click();
    const grid = page.getByRole('grid', { name: 'Vulnerabilities' });
    await expect.poll(() => grid.getByRole('link').count()).toBe(number);
  });

  it('shows findings of the next report as seen again and gone', async () => {
    const page = await assay.enter('admin', '/imports', { expectedStatuses: [409, 422] });
    await give(page, 'zap/report-plus-2.16.xml');
    await chooseAssessment(page, 'Driver apps 2026');
    const zap = card(page, 'report-plus-2.16.xml');
    await zap.getByText('Preview. Nothing has been imported yet.').waitFor();
    await page.getByRole('combobox', { name: 'Findings missing from this report' }).click();
    await page.getByRole('option', { name: 'Set to Fixed' }).click();
    await zap.getByText('gone, set to Fixed').waitFor();
    await zap.getByRole('button', { name: 'Import', exact: true }).click();
    await zap.getByText('Done').waitFor();
    await zap.getByRole('link', { name: /^Import \d+$/ }).click();
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('seen again').waitFor();
    expect(await result.getByRole('definition').first().textContent()).toMatch(/^\d+$/);
  });

  it('links to gone findings, which are marked until they are decided', async () => {
    const page = await assay.enter('admin', '/imports', { expectedStatuses: [409, 422] });
    const add = async (name: string, day: string, ...rules: string[]) => {
      const results = rules.map((rule) =>
        JSON.stringify({
          'template-id': rule,
          type: 'http',
          host: 'gone.example',
          'matched-at': `https://gone.example/${rule}`,
          timestamp: `2025-11-${day}T10:00:00Z`,
          info: { name: `It ${rule}`, severity: 'high' },
        }),
      );
      const report = { name, mimeType: 'application/jsonl', buffer: Buffer.from(results.join('\n')) };
      await page.getByLabel('Reports').setInputFiles([report]);
    };
    const start = async (name: string) => {
      await card(page, name).getByRole('button', { name: 'Import', exact: true }).click();
      await card(page, name).getByText('Done').waitFor();
    };
    await add('first.jsonl', '03', 'stays', 'goes', 'accepted');
    await chooseAssessment(page, 'Web programme 2026');
    await page.getByRole('button', { name: 'More options' }).click();
    await page.getByRole('combobox', { name: 'Targets' }).fill('https://gone.example/');
    await page.keyboard.press('Enter');
    await start('first.jsonl');
    await add('second.jsonl', '10', 'stays');
    await start('second.jsonl');
    await card(page, 'second.jsonl').getByRole('link', { name: '2 gone' }).click();
    const grid = page.getByRole('grid', { name: 'Vulnerabilities' });
    const row = (title: string) => grid.getByRole('row').filter({ hasText: title });
    const titles = async () => (await grid.getByRole('link').allTextContents()).sort();
    await expect.poll(titles).toEqual(['It accepted', 'It goes']);
    // The dry run of the same file is none of the choices.
    await page.getByRole('button', { name: 'Gone since import: second.jsonl' }).click();
    const imports = page.getByRole('checkbox', { name: /^second\.jsonl \(#\d+\)$/ });
    await imports.first().waitFor();
    expect(await imports.count()).toBe(1);
    await page.keyboard.press('Escape');
    await row('It accepted').getByText('Gone', { exact: true }).waitFor();
    await row('It accepted').getByRole('checkbox').check();
    await page.keyboard.press('s');
    await page.getByRole('dialog', { name: 'Set status' }).getByText('Accepted Risk').click();
    await row('It accepted').getByText('Accepted Risk').waitFor();
    expect(await row('It accepted').getByText('Gone', { exact: true }).count()).toBe(0);
    await row('It accepted').getByRole('checkbox').uncheck();

    // The filter of all that is gone has one value, which the other takes the place of.
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Gone from latest report' }).click();
    await page.getByRole('checkbox', { name: 'Yes' }).check();
    await page.getByRole('button', { name: 'Gone from latest report: Yes' }).waitFor();
    await expect.poll(titles).toEqual(['It accepted', 'It goes']);
    await page.getByRole('checkbox', { name: 'No' }).check();
    await page.getByText('No results').waitFor();
    expect(new URL(page.url()).searchParams.get('gone')).toBe('false');
    await page.getByRole('checkbox', { name: 'No' }).uncheck();
    await page.keyboard.press('Escape');
    await grid.getByRole('link', { name: 'It goes' }).click();
    await page.getByText('Gone since Nov 10, 2025').waitFor();
    await page.getByText('The last complete report of its scanner no longer contains it').waitFor();
    await page.getByRole('complementary', { name: 'Details' }).getByText('Gone since').waitFor();
    await expectAccessible(page);
  });

  it('reads the columns of a CSV file and applies a mapping', async () => {
    // A dry run that nobody waits for is cancelled, which comes too late where it has ended just now.
    const page = await assay.enter('admin', '/imports', { expectedStatuses: [409, 422] });
    await give(page, 'csv/semicolons.csv');
    await chooseAssessment(page, 'Driver apps 2026');
    const csv = card(page, 'semicolons.csv');
    await csv.getByText('Preview. Nothing has been imported yet.').waitFor();
    await csv.getByRole('button', { name: 'Columns' }).click();
    const choose = async (member: string, column: string) => {
      await csv.getByRole('combobox', { name: member, exact: true }).click();
      await page.getByRole('option', { name: column, exact: true }).click();
    };
    await choose('Title', 'Severity');
    await choose('Severity', 'Severity');
    await csv.getByText('Preview. Nothing has been imported yet.').waitFor();
    await csv.getByRole('button', { name: 'Show details' }).click();
    const findings = csv.getByRole('region', { name: 'New' }).getByRole('listitem');
    await findings.first().waitFor();
    expect(await findings.allTextContents()).toEqual([expect.stringContaining('high')]);
  });

  it('shows why a report is rejected, and where a truncated one ends', async () => {
    const page = await assay.enter('admin', '/imports', { expectedStatuses: [422] });
    await chooseLater(page);
    await page.getByLabel('Reports').setInputFiles([
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no report at all') },
      {
        name: 'broken.xml',
        mimeType: 'text/xml',
        buffer: Buffer.from(
          '<?xml version="1.0"?>\n<nmaprun scanner="nmap" start="1700000000">\n<host><status state="up"/>\n<address addr="192.0.2.77" addrtype="ipv4"/></hos',
        ),
      },
    ]);
    await card(page, 'notes.txt').getByText('has an unrecognised format').waitFor();
    const broken = card(page, 'broken.xml');
    await broken.getByText(/Invalid report, first at (line|byte) \d+/).waitFor();
    await expectAccessible(page);
  });

  it('imports several dropped reports with common options, also without an event stream', async () => {
    const page = await assay.enter('admin', '/imports', { expectedStatuses: [404, 409, 422] });
    // As behind a proxy that leads the stream elsewhere; what has no address the server itself refuses.
    let streams = 0;
    await page.route('**/v1/imports/*/events', (route) => {
      streams += 1;
      return route.continue({ url: `${assay.server().origin}/v1/imports/none/such` });
    });
    const zone = page.getByRole('region', { name: 'New import' });
    const dropped = ['zap/report-plus-2.16.json', 'nuclei/results.json'].map((path) => ({
      name: path.replace('/', '-'),
      text: readFileSync(FIXTURES + path, 'utf8'),
    }));
    await zone.evaluate((target, files) => {
      const dataTransfer = new DataTransfer();
      for (const { name, text } of files) dataTransfer.items.add(new File([text], name));
      for (const kind of ['dragenter', 'dragover', 'drop'])
        target.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer }));
    }, dropped);
    await page.getByRole('button', { name: 'More options' }).click();
    const options = page.getByRole('region', { name: 'Options' });
    await options.getByRole('combobox', { name: 'Minimum severity' }).click();
    await page.getByRole('option', { name: 'Low', exact: true }).click();
    await options.getByRole('combobox', { name: 'Tags' }).fill('dropped');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await chooseAssessment(page, 'Web programme 2026');
    await page.getByRole('button', { name: 'Import all 2' }).click();
    for (const { name } of dropped) await card(page, name).getByText('Done').waitFor();
    expect(streams).toBeGreaterThan(0);
    const { body } = await assay.server().request('GET', '/v1/imports?page[size]=2', as());
    expect(body).toEqual(
      dropped.map(() =>
        expect.objectContaining({
          state: 'succeeded',
          options: expect.objectContaining({ minimum_severity: 'Low', tags: ['dropped'] }),
        }),
      ),
    );
    await page.getByRole('button', { name: 'Done' }).click();
    await expect.poll(() => page.getByRole('article').count()).toBe(0);
  });

  it('cancels a queued import', async () => {
    const page = await assay.enter('admin', '/imports', { expectedStatuses: [422] });
    await give(page, 'zap/report-plus-2.16.json');
    await chooseAssessment(page, 'Driver apps 2026');
    const zap = card(page, 'report-plus-2.16.json');
    await zap.getByText('Preview. Nothing has been imported yet.').waitFor();
    // Other instances have as many imports as run at once.
    const { db, clock } = assay.server().context;
    const other = {
      kind: 'import',
      quota_key: null,
      payload: '{}',
      attempts: 1,
      locked_by: 'another instance',
    };
    const at = { run_at: clock() + 3_600_000, created_at: clock() };
    const rows = Array.from({ length: 20 }, (_, index) => ({ ...other, ...at, key: `import:${-index - 1}` }));
    await db.write((tx) => tx.insertInto('jobs').values(rows).execute());
    onTestFinished(async () => {
      await db.write((tx) => tx.deleteFrom('jobs').where('locked_by', '=', other.locked_by).execute());
    });
    await zap.getByRole('button', { name: 'Import', exact: true }).click();
    await zap.getByText('Waiting').waitFor();
    await zap.getByRole('button', { name: 'Cancel' }).click();
    await page
      .getByText('Import of report-plus-2.16.json cancelled. Changes already made were kept.')
      .waitFor();
    await zap.getByText('Cancelled').waitFor();
    const { body } = await assay.server().request('GET', '/v1/imports?page[size]=1', as());
    expect(body).toMatchObject([{ state: 'cancelled', file: { filename: 'report-plus-2.16.json' } }]);
  });

  it('lists and filters imports, and undoes one after a confirmation', async () => {
    const page = await assay.enter('admin', '/imports', { expectedStatuses: [422] });
    await give(page, 'nuclei/results.json');
    await chooseAssessment(page, 'Driver apps 2026');
    const nuclei = card(page, 'results.json');
    await nuclei.getByRole('button', { name: 'Import', exact: true }).click();
    await nuclei.getByText('Done').waitFor();
    await page.goto('/imports');
    const grid = page.getByRole('grid', { name: 'Imports' });
    await grid.getByRole('link', { name: 'results.json' }).first().waitFor();
    // What was tried first is there for who asks for it, and says so on a phone as well.
    expect(await grid.getByText('Dry run').count()).toBe(0);
    await page.getByRole('checkbox', { name: 'Show dry runs' }).check();
    await page.waitForURL('**/imports?dry_runs=true');
    await page.setViewportSize({ width: 390, height: 800 });
    await grid
      .getByRole('row', { name: /results\.json.*Dry run/ })
      .first()
      .waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto('/imports?state=%5B%22succeeded%22%5D');
    await grid.getByRole('link', { name: 'results.json' }).first().waitFor();
    await page.goto('/imports?assessment_id=%5B%22acme-internal-2025%22%5D');
    await page.getByText('No results').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await grid.getByRole('link', { name: 'results.json' }).first().click();
    await page.getByRole('region', { name: 'Report' }).getByText('Nuclei').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Undo import' }).click();
    const dialog = page.getByRole('dialog', { name: 'Undo import' });
    await expectAccessible(page, page.getByRole('dialog'));
    await dialog.getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByRole('region', { name: 'Result' }).getByText('deleted').waitFor();
    // The button is gone, and the heading is what it stood beside.
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1');
  });

  it('requires an assessment from members who import hosts only', async () => {
    const page = await assay.enter('member', '/imports');
    await give(page, 'nmap/scripts.xml');
    const nmap = card(page, 'scripts.xml');
    await nmap.getByText('Choose an assessment to preview this report.').waitFor();
    await chooseAssessment(page, 'Web programme 2026');
    await nmap.getByRole('button', { name: 'Import', exact: true }).waitFor();
    expect(await nmap.getByText('Could not import this report').count()).toBe(0);
  });
});

/** Waits until the page takes files. */
const chooseLater = (page: Page) => page.getByText('Drop scanner reports here').waitFor();
