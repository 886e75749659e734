import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { holdQueue } from '../harness/import-gate.ts';
import { expectAccessible, expectAccessibleInAllViews } from '../harness/accessibility.ts';
import { describeInBrowser } from '../harness/browser.ts';
import { useConsole } from '../harness/console.ts';
import { formOf, type FormPart, waitForImport } from '../harness/imports.ts';

const FIXTURES = new URL('../fixtures/', import.meta.url).pathname;

interface Report {
  name: string;
  mimeType: string;
  buffer: Buffer<ArrayBuffer>;
}

const fixture = (path: string): Report => ({
  name: path.split('/').at(-1) ?? path,
  mimeType: 'application/octet-stream',
  buffer: readFileSync(FIXTURES + path),
});

/** A Nuclei report of one day in November 2025, with a finding for each rule. */
const nucleiReport = (name: string, day: string, ...rules: string[]): Report => {
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
  return { name, mimeType: 'application/jsonl', buffer: Buffer.from(results.join('\n')) };
};

const upload = (page: Page, path: string) => page.getByLabel('Reports').setInputFiles(FIXTURES + path);

async function selectAssessment(page: Page, name: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Assessment' }).fill(name);
  await page.getByRole('option', { name }).click();
}

/** Imports what is previewed. */
const start = (page: Page) => page.getByRole('button', { name: /^Import/ }).click();

const card = (page: Page, name: string) => page.getByRole('article', { name });

describeInBrowser('Console: imports', () => {
  const assay = useConsole();

  const countFindings = async () => {
    const vulnerabilities = await assay.call('admin', 'GET', '/v1/vulnerabilities?page[size]=200&fields=id');
    return (vulnerabilities as unknown[]).length;
  };

  /** Expects rejected previews, and cancellations of previews that have just finished. */
  const enterImports = () => assay.enter('admin', '/imports', { expectedStatuses: [404, 409, 422] });

  async function importReport(report: Report, fields: Readonly<Record<string, string>>): Promise<void> {
    const { token = '' } = assay.demo().users.admin;
    const parts: FormPart[] = [...Object.entries(fields), ['file', report.buffer, report.name]];
    const { body } = await assay.server().request('POST', '/v1/imports', { token, ...formOf(parts) });
    expect(await waitForImport(assay.server(), token, body.id)).toMatchObject({ state: 'succeeded' });
  }

  it('previews a report, imports it, and says what is left to do', async () => {
    const before = await countFindings();
    const page = await enterImports();
    await upload(page, 'zap/report-plus-2.16.json');
    const zap = card(page, 'report-plus-2.16.json');
    await zap.getByText('Choose an assessment for these findings').waitFor();
    // Nothing is wrong before an assessment is chosen.
    expect(await page.getByRole('main').locator('[aria-invalid="true"], [role="alert"]').count()).toBe(0);
    await start(page);
    await page.getByText('Choose an assessment', { exact: true }).waitFor();
    expect(await page.locator('[aria-invalid="true"]').count()).toBe(1);
    await selectAssessment(page, 'Driver apps 2026');
    await zap.getByText(/^Driver apps 2026 goes from \d+ to \d+ open findings\./).waitFor();
    await zap.getByText('This is a preview. Nothing has changed yet.').waitFor();
    const format = zap.getByRole('combobox', { name: 'Format of report-plus-2.16.json' });
    await expect.poll(() => format.inputValue()).toBe('ZAP (detected)');
    const previewed = zap.getByRole('list', { name: 'new' }).getByRole('listitem');
    await previewed.first().waitFor();
    const count = await previewed.count();
    await zap.getByRole('tab', { name: `${count} new` }).waitFor();
    await page.getByRole('button', { name: 'Import into Driver apps 2026' }).waitFor();
    await expectAccessibleInAllViews(page);
    expect(await countFindings()).toBe(before);
    await start(page);
    await page.waitForURL(/\/imports\/\d+$/);
    await page.getByText('Imported', { exact: true }).waitFor();
    const findings = page.getByRole('list', { name: 'new' }).getByRole('link');
    await expect.poll(() => findings.count()).toBe(count);
    await page.getByRole('region', { name: 'Result' }).getByText('Driver apps 2026').waitFor();
    await expectAccessibleInAllViews(page);
    await page.getByRole('link', { name: /^Review \d+ new finding/ }).click();
    const grid = page.getByRole('grid', { name: 'Vulnerabilities' });
    await expect.poll(() => grid.getByRole('link').count()).toBe(count);
  });

  it('takes the assessment that one comes from', async () => {
    const page = await assay.enter('admin', '/assessments/acme-mobile-2026', {
      expectedStatuses: [404, 409],
    });
    await page.getByRole('main').getByRole('link', { name: 'Import', exact: true }).click();
    await page.waitForURL(/\/imports\?assessment_id=/);
    await upload(page, 'zap/report-plus-2.16.json');
    const assessment = page.getByRole('combobox', { name: 'Assessment' });
    await expect.poll(() => assessment.inputValue()).toBe('Driver apps 2026');
    await page.getByText('This is a preview. Nothing has changed yet.').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { level: 1, name: 'Imports' }).waitFor();
  });

  it('does not call a finding skipped whose time is unclear', async () => {
    const page = await enterImports();
    await upload(page, 'nuclei/results.jsonl');
    await selectAssessment(page, 'Driver apps 2026');
    const nuclei = card(page, 'results.jsonl');
    await nuclei.getByRole('tab', { name: '3 skipped' }).click();
    const records = nuclei.getByRole('list', { name: 'Skipped or incomplete' }).getByRole('listitem');
    await records.filter({ hasText: 'time not understood' }).waitFor();
    expect(await records.count()).toBe(4);
  });

  it('links to gone findings, which are marked until they are decided, and undoes the import', async () => {
    const first = nucleiReport('first.jsonl', '03', 'stays', 'goes', 'accepted');
    await importReport(first, {
      assessment_id: assay.demo().assessment.uid,
      targets: 'https://gone.example/',
    });
    const page = await enterImports();
    await page.getByLabel('Reports').setInputFiles([nucleiReport('second.jsonl', '10', 'stays', 'appears')]);
    await selectAssessment(page, 'Web programme 2026');
    await page.getByRole('button', { name: 'More options' }).click();
    await page.getByRole('combobox', { name: 'Targets' }).fill('https://gone.example/');
    await page.keyboard.press('Enter');
    const second = card(page, 'second.jsonl');
    await second.getByText(/, and 2 are marked as gone\./).waitFor();
    await start(page);
    await page.waitForURL(/\/imports\/\d+$/);
    await page.getByRole('link', { name: 'Decide about 2 gone' }).click();
    const grid = page.getByRole('grid', { name: 'Vulnerabilities' });
    const row = (title: string) => grid.getByRole('row').filter({ hasText: title });
    const titles = async () => (await grid.getByRole('link').allTextContents()).sort();
    await expect.poll(titles).toEqual(['It accepted', 'It goes']);
    // The filter does not offer dry runs.
    await page.getByRole('button', { name: 'Gone since import: second.jsonl' }).click();
    const imports = page.getByRole('checkbox', { name: /^second\.jsonl \(#\d+\)$/ });
    await imports.first().waitFor();
    expect(await imports.count()).toBe(1);
    await page.keyboard.press('Escape');
    await row('It accepted').getByText('Gone', { exact: true }).waitFor();
    await row('It accepted').getByRole('checkbox').check();
    await page.keyboard.press('s');
    const editor = page.getByRole('dialog', { name: 'Set status' });
    await editor.getByText('Accepted risk').click();
    await editor.getByLabel('Reason', { exact: true }).fill('Retired in May.');
    await editor.getByRole('button', { name: 'Set to Accepted risk' }).click();
    await row('It accepted').getByText('Accepted risk').waitFor();
    expect(await row('It accepted').getByText('Gone', { exact: true }).count()).toBe(0);
    await row('It accepted').getByRole('checkbox').uncheck();

    // The filter has one value, so selecting another replaces it.
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Gone from latest report' }).click();
    await page.getByRole('checkbox', { name: 'Yes' }).check();
    await page.getByRole('button', { name: 'Gone from latest report: Yes' }).waitFor();
    await expect.poll(titles).toEqual(['It accepted', 'It goes']);
    await page.getByRole('checkbox', { name: 'No' }).check();
    await page.getByText('No finding matches').waitFor();
    expect(new URL(page.url()).searchParams.get('gone')).toBe('false');
    await page.getByRole('checkbox', { name: 'No' }).uncheck();
    await page.keyboard.press('Escape');
    await grid.getByRole('link', { name: 'It goes' }).click();
    await page.getByText('Gone since Nov 10, 2025').waitFor();
    await page.getByText('The latest scan no longer detects this').waitFor();
    await page.getByRole('region', { name: 'Details' }).getByText('Gone since').waitFor();
    await expectAccessible(page, page.getByRole('main'));

    await page.getByRole('link', { name: 'Imports' }).click();
    await page.getByRole('grid', { name: 'Imports' }).getByRole('link', { name: 'second.jsonl' }).click();
    await page.getByRole('complementary', { name: 'Report' }).getByText('Nuclei').waitFor();
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('seen again').waitFor();
    await expectAccessibleInAllViews(page);
    await page.getByRole('button', { name: 'Undo import' }).click();
    const dialog = page.getByRole('dialog', { name: 'Undo import' });
    await expectAccessible(page, dialog);
    await dialog.getByRole('button', { name: 'Undo', exact: true }).click();
    await result.getByText('deleted').waitFor();
    // The button is gone; the heading beside it gets the focus.
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1');
  });

  it('reads the columns of a CSV file and applies a mapping', async () => {
    const page = await enterImports();
    await upload(page, 'csv/semicolons.csv');
    await selectAssessment(page, 'Driver apps 2026');
    const csv = card(page, 'semicolons.csv');
    await csv.getByText('This is a preview. Nothing has changed yet.').waitFor();
    await csv.getByRole('button', { name: 'Columns' }).click();
    const map = async (field: string, column: string) => {
      await csv.getByRole('combobox', { name: field, exact: true }).click();
      await page.getByRole('option', { name: column, exact: true }).click();
    };
    await map('Title', 'Severity');
    await map('Severity', 'Severity');
    await csv.getByText('This is a preview. Nothing has changed yet.').waitFor();
    const findings = csv.getByRole('list', { name: 'new' }).getByRole('listitem');
    await findings.first().waitFor();
    expect(await findings.allTextContents()).toEqual([expect.stringContaining('high')]);
  });

  it('imports dropped reports with common options, without an event stream, and shows why others are rejected', async () => {
    const page = await enterImports();
    // Responds with 404, like a proxy that blocks the stream.
    let streams = 0;
    await page.route('**/v1/imports/*/events', (route) => {
      streams += 1;
      return route.continue({ url: `${assay.server().origin}/v1/imports/none/such` });
    });
    // The whole page takes files.
    const zone = page.getByRole('main').locator('section[aria-label="New import"], article').first();
    const valid = ['zap/report-plus-2.16.json', 'nuclei/results.json'].map((path) => ({
      name: path.replace('/', '-'),
      text: readFileSync(FIXTURES + path, 'utf8'),
    }));
    const invalid = [
      { name: 'notes.txt', text: 'no report at all' },
      {
        name: 'broken.xml',
        text: '<?xml version="1.0"?>\n<nmaprun scanner="nmap" start="1700000000">\n<host><status state="up"/>\n<address addr="192.0.2.77" addrtype="ipv4"/></hos',
      },
    ];
    const drop = (dropped: readonly { name: string; text: string }[]) =>
      zone.evaluate((target, files) => {
        const dataTransfer = new DataTransfer();
        for (const { name, text } of files) dataTransfer.items.add(new File([text], name));
        for (const kind of ['dragenter', 'dragover', 'drop'])
          target.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer }));
      }, dropped);
    await drop(invalid);
    await page.getByRole('button', { name: 'More options' }).click();
    const options = page.getByRole('complementary', { name: 'Options' });
    await options.getByRole('radio', { name: 'Set to Fixed' }).check();
    await options.getByRole('combobox', { name: 'Minimum severity' }).click();
    await page.getByRole('option', { name: 'Low', exact: true }).click();
    await options.getByRole('combobox', { name: 'Tags' }).fill('dropped');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await selectAssessment(page, 'Web programme 2026');
    const show = (name: string) =>
      page.getByRole('list', { name: 'Files' }).getByRole('button', { name }).click();
    await card(page, 'notes.txt').getByText('has an unrecognised format').waitFor();
    await show('broken.xml');
    await card(page, 'broken.xml')
      .getByText(/Invalid report, first at (line|byte) \d+/)
      .waitFor();
    await expectAccessible(page, page.getByRole('main'));
    await drop(valid);
    await page.getByRole('button', { name: 'Remove broken.xml' }).click();
    await show('notes.txt');
    await page.getByRole('button', { name: 'Remove notes.txt' }).click();
    await page.getByRole('button', { name: 'Import 2 reports into Web programme 2026' }).click();
    for (const { name } of valid) {
      await show(name);
      await card(page, name).getByText('Imported', { exact: true }).waitFor();
    }
    expect(streams).toBeGreaterThan(0);
    expect(await assay.call('admin', 'GET', '/v1/imports?page[size]=2&filter[dry_run]=false')).toEqual(
      valid.map(() =>
        expect.objectContaining({
          state: 'succeeded',
          options: expect.objectContaining({
            when_gone: 'fix',
            minimum_severity: 'Low',
            tags: ['dropped'],
          }),
        }),
      ),
    );
    await page.getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => page.getByRole('article').count()).toBe(0);
  });

  it('cancels a queued import', async () => {
    const page = await enterImports();
    await upload(page, 'zap/report-plus-2.16.json');
    await selectAssessment(page, 'Driver apps 2026');
    const zap = card(page, 'report-plus-2.16.json');
    await zap.getByText('This is a preview. Nothing has changed yet.').waitFor();
    onTestFinished(await holdQueue(assay.server()));
    await start(page);
    await page.waitForURL(/\/imports\/\d+$/);
    await page.getByText('Waiting').waitFor();
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Imports' }).click();
    const running = page.getByRole('region', { name: 'Running imports' });
    await running.getByText('Not started yet').waitFor();
    await running.getByRole('link', { name: 'report-plus-2.16.json' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page
      .getByText('Import of report-plus-2.16.json cancelled. Changes already made were kept.')
      .waitFor();
    await page.getByText('Cancelled', { exact: true }).waitFor();
    expect(await assay.call('admin', 'GET', '/v1/imports?page[size]=1')).toMatchObject([
      { state: 'cancelled', file: { filename: 'report-plus-2.16.json' } },
    ]);
  });

  it('lists and filters imports', async () => {
    await importReport(fixture('nuclei/results.json'), { assessment_id: 'acme-mobile-2026' });
    await importReport(fixture('nuclei/results.json'), {
      assessment_id: 'acme-mobile-2026',
      dry_run: 'true',
    });
    const page = await assay.enter('admin', '/imports');
    const grid = page.getByRole('grid', { name: 'Imports' });
    await grid.getByRole('link', { name: 'results.json' }).first().waitFor();
    // Dry runs are shown on request, and are marked on a phone as well.
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
    await page.goto('/imports?state=%5B%22succeeded%22%5D&assessment_id=%5B%22acme-internal-2025%22%5D');
    await page.getByText('No results').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await grid.getByRole('link', { name: 'results.json' }).first().waitFor();
  });

  it('requires an assessment from members who import hosts only', async () => {
    const page = await assay.enter('member', '/imports');
    await upload(page, 'nmap/scripts.xml');
    const nmap = card(page, 'scripts.xml');
    await nmap.getByText('Choose an assessment to preview this report.').waitFor();
    await selectAssessment(page, 'Web programme 2026');
    await nmap.getByText('This is a preview. Nothing has changed yet.').waitFor();
    expect(await nmap.getByText('Could not import this report').count()).toBe(0);
  });
});
