import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectAccessibleInAllViews } from '../harness/accessibility.ts';
import { describeInBrowser } from '../harness/browser.ts';
import { editAll, notificationsOf, useConsole } from '../harness/console.ts';
import { scriptSizeOf } from '../harness/script-size.ts';

const LIST = '/vulnerabilities';
/** The tab All. */
const ALL = `${LIST}?phase=%5B%22new%22%2C%22open%22%2C%22closed%22%5D`;
/** Compressed JavaScript of the list. */
const MAX_BYTES = 230_000;

const gridOf = (page: Page) => page.getByRole('grid', { name: 'Vulnerabilities' });
const rowsOf = (page: Page) =>
  gridOf(page)
    .getByRole('row')
    .filter({ has: page.getByRole('link') });

/** Adds a filter and checks one of its options. */
async function filter(page: Page, label: string, search: string | undefined, option: string | RegExp) {
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByRole('menuitem', { name: label, exact: true }).click();
  if (search !== undefined)
    await page.getByRole('textbox', { name: `Search ${label.toLowerCase()}` }).fill(search);
  await page.getByRole('checkbox', { name: option }).first().check();
  await page.keyboard.press('Escape');
}

async function countFound(page: Page): Promise<number> {
  const text = await page.getByText(/^[\d,]+ found$/).textContent();
  return Number(text?.replace(/\D/g, ''));
}

/** Types the last letter at the moment when the letters before it reach the URL. */
const TYPE_DURING_UPDATE = `
  const { replaceState } = history;
  history.replaceState = (...parts) => {
    replaceState.apply(history, parts);
    if (!location.search.endsWith('=Log4Shel')) return;
    history.replaceState = replaceState;
    document.execCommand('insertText', false, 'l');
  };`;

describeInBrowser('Console: vulnerability list', () => {
  const assay = useConsole();

  async function enter(path = LIST): Promise<Page> {
    const page = await assay.enter('admin', path);
    await rowsOf(page).first().waitFor();
    return page;
  }

  it('sets a status by keyboard and undoes it', async () => {
    const page = await enter(`${LIST}?phase=%5B%22new%22%5D`);
    const first = rowsOf(page).first();
    const title = await first.getByRole('link').textContent();
    await page.keyboard.press('j');
    await page.keyboard.press('s');
    await page.getByRole('dialog', { name: 'Set status' }).waitFor();
    await page.keyboard.press('3');
    // The row shows the new status at once and stays where it is.
    await first.getByText('Fix in progress').waitFor();
    await page.getByText(`Fix in progress: ${title}`).waitFor();
    expect(await first.getByRole('link').textContent()).toBe(title);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Change to 1 finding undone').waitFor();
    await first.getByText('Pending review').waitFor();
  });

  it('shows notifications of the latest changes, each with its own undo', async () => {
    const page = await enter(`${LIST}?severity=%5B%22Low%22%5D`);
    const notices = notificationsOf(page).filter({ hasText: 'Out of scope: ' });
    const last = rowsOf(page).nth(4);
    for (let index = 0; index < 5; index += 1) {
      const title = (await rowsOf(page).nth(index).getByRole('link').textContent()) ?? '';
      await page.keyboard.press('j');
      await page.keyboard.press('s');
      await page.getByRole('menuitem', { name: 'Out of scope' }).click();
      await page.getByRole('dialog').getByLabel('Reason', { exact: true }).fill('Not ours.');
      await page.getByRole('button', { name: 'Set to Out of scope' }).click();
      await notices.filter({ hasText: title }).waitFor();
    }
    await expect.poll(() => notices.count()).toBe(3);
    const title = (await last.getByRole('link').textContent()) ?? '';
    await notices.filter({ hasText: title }).getByRole('button', { name: 'Undo' }).click();
    await last.getByText('Out of scope').waitFor({ state: 'detached' });
    expect(await last.getByRole('link').textContent()).toBe(title);
  });

  it('searches as the user types and keeps the search in the URL', async () => {
    const page = await enter();
    await page.getByRole('searchbox').focus();
    await page.evaluate(TYPE_DURING_UPDATE);
    await page.keyboard.type('Log4Shel');
    await page.waitForURL('**/vulnerabilities?search=Log4Shell');
    await expect
      .poll(() => gridOf(page).getByRole('link').allTextContents())
      .toSatisfy(
        (titles: string[]) => titles.length > 0 && titles.every((title) => title.includes('Log4Shell')),
      );
    await page.reload();
    await gridOf(page)
      .getByText(/^Log4Shell/)
      .first()
      .waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('Log4Shell');
  });

  it('filters by chips with searchable options', async () => {
    const page = await enter();
    const all = await countFound(page);
    await filter(page, 'Source', 'man', 'manual');
    await filter(page, 'Assignee', 'helena', /Helena/);
    await page.getByRole('button', { name: /^Assignee: Helena/ }).waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('assignee_id')).not.toBeNull();
    await expect.poll(() => countFound(page)).toBeLessThan(all);
    await page.getByRole('button', { name: 'Remove Assignee filter', exact: true }).click();
    await page.getByRole('button', { name: 'Remove Source filter', exact: true }).click();
    await expect.poll(() => countFound(page)).toBe(all);

    // A low window shows the last option as well.
    await page.setViewportSize({ width: 1280, height: 500 });
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByRole('menuitem').last().hover();
    await page.getByRole('menuitem', { name: 'Due before', exact: true }).click();
    await page.getByLabel('Due before', { exact: true }).fill('2000-01-01');
    await page.getByText('No open finding matches').waitFor();
    await page.keyboard.press('Escape');
    const chip = page.getByRole('button', { name: 'Due before: Jan 1, 2000' });
    expect(await chip.innerText()).toBe('Due before: Jan 1, 2000');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await expect.poll(() => countFound(page)).toBe(all);
    expect(new URL(page.url()).search).toBe('');

    await page.goto(`${LIST}?status_id=[1]`);
    await page.getByRole('button', { name: 'Status: Pending review', exact: true }).waitFor();
  });

  it('shows how long open vulnerabilities are overdue, at any width', async () => {
    const overdue = /[\d,]+ d overdue/;
    const listUrl = (phase: string) => `${LIST}?sort=due_on&phase=%5B%22${phase}%22%5D`;
    const page = await assay.enter('admin', listUrl('open'), { viewport: { width: 1440, height: 900 } });
    const first = rowsOf(page).first();
    await first.getByText(overdue).waitFor();
    await page.setViewportSize({ width: 390, height: 800 });
    await first.getByText(overdue).waitFor();
    await first.getByRole('link').click();
    await page.getByRole('region', { name: 'Properties' }).getByText(overdue).waitFor();
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(listUrl('closed'));
    await rowsOf(page).first().waitFor();
    expect(await gridOf(page).getByText(overdue).count()).toBe(0);
  });

  it('shows the word of a status, or its glyph alone where the word has no room', async () => {
    const page = await assay.enter('admin', `${LIST}?status_id=[4]`);
    const row = rowsOf(page).first();
    await row.getByText('Pending verification').waitFor();
    await page.setViewportSize({ width: 1000, height: 800 });
    await row.getByRole('img', { name: 'Pending verification' }).waitFor();
    await page.setViewportSize({ width: 390, height: 800 });
    await row.getByText('Pending verification').waitFor();
    expect(await row.getByRole('img', { name: /^(Critical|High|Medium|Low|Informational)$/ }).count()).toBe(
      1,
    );
  });

  it('has tabs of open, closed and all findings, which keep the filters', async () => {
    const page = await enter(`${LIST}?severity=%5B%22High%22%5D`);
    const tab = (name: string) =>
      page.getByRole('navigation', { name: 'Shown findings' }).getByRole('link', { name });
    const countOf = async (name: string) => Number(/\d+/.exec((await tab(name).textContent()) ?? '')?.[0]);
    await tab('All').filter({ hasText: /\d/ }).waitFor();
    const open = await countOf('Open');
    const closed = await countOf('Closed');
    expect(await countOf('All')).toBe(open + closed);
    expect(await countFound(page)).toBe(open);
    expect(await tab('Drafts').count()).toBe(0);
    await gridOf(page).getByRole('checkbox').nth(1).check();
    await tab('Closed').click();
    await expect.poll(() => countFound(page)).toBe(closed);
    expect(await page.getByRole('toolbar').count()).toBe(0);
    expect(new URL(page.url()).searchParams.get('severity')).toBe('["High"]');
    expect(await tab('Closed').getAttribute('aria-current')).toBe('page');
    await page.reload();
    await expect.poll(() => countFound(page)).toBe(closed);
    await tab('All').click();
    await expect.poll(() => countFound(page)).toBe(open + closed);
  });

  it('has rows of two densities, which the browser keeps', async () => {
    const page = await enter();
    const heightOf = async () => (await rowsOf(page).first().boundingBox())?.height;
    expect(await heightOf()).toBe(52);
    await page.getByRole('button', { name: 'Display' }).click();
    await page.getByText('Compact', { exact: true }).click();
    await expect.poll(heightOf).toBe(36);
    await page.keyboard.press('Escape');
    await gridOf(page).getByRole('columnheader', { name: 'Assessment' }).waitFor();
    await expectAccessible(page);
    await page.reload();
    await rowsOf(page).first().waitFor();
    expect(await heightOf()).toBe(36);
    await page.getByRole('button', { name: 'Display' }).click();
    await page.getByText('Comfortable', { exact: true }).click();
    await expect.poll(heightOf).toBe(52);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Account menu' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Compact lists' }).click();
    await expect.poll(heightOf).toBe(36);
  });

  it('sorts by a menu, and extends a selection by Shift', async () => {
    const page = await enter();
    await page.getByRole('button', { name: 'Sort: Newest' }).click();
    const sorted = page.waitForResponse((response) => response.url().includes('sort=-severity'));
    await page.getByRole('menuitemradio', { name: 'Severity' }).click();
    await page.waitForURL('**/vulnerabilities?sort=-severity');
    // The rows of the previous order are shown until then.
    await sorted;
    await expect.poll(() => gridOf(page).getAttribute('aria-busy')).toBe('false');
    await rowsOf(page).first().getByRole('img', { name: 'Critical' }).waitFor();
    const boxes = gridOf(page).getByRole('checkbox');
    await boxes.nth(2).click();
    await boxes.nth(5).click({ modifiers: ['Shift'] });
    await page.getByRole('toolbar').getByText('4 selected').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Clear selection' }).click();
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.keyboard.press('Shift+J');
    await page.keyboard.press('Shift+J');
    await page.getByRole('toolbar').getByText('3 selected').waitFor();
    await page.keyboard.press('Shift+K');
    await page.getByRole('toolbar').getByText('3 selected').waitFor();
  });

  it('adds tags in a dialog whose button the options do not cover', async () => {
    const page = await enter();
    await page.keyboard.press('j');
    await page.keyboard.press('t');
    const dialog = page.getByRole('dialog', { name: 'Add tags' });
    await dialog.getByText('Tags that do not exist yet are created.').waitFor();
    expect(await page.getByRole('option').count()).toBe(0);
    await dialog.getByRole('combobox').press('ArrowDown');
    // Enter selects nothing while the options are still loading.
    await page.getByRole('option').first().click();
    // The options stay open for another tag, and must not cover the button.
    await page.getByRole('option').first().waitFor();
    await dialog.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Change to 1 finding undone').waitFor();
  });

  it('lets staff add tags that exist in several organizations', async () => {
    const page = await assay.enter('staff', LIST);
    await rowsOf(page).first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('t');
    const dialog = page.getByRole('dialog', { name: 'Add tags' });
    // It may still be opening: a key of the page would go elsewhere.
    await dialog.getByRole('combobox').press('ArrowDown');
    await expect.poll(() => page.getByRole('option', { name: 'PCI DSS' }).count()).toBe(1);
    await dialog.getByRole('combobox').fill('Made by keys');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Control+Enter');
    await dialog.waitFor({ state: 'hidden' });
    await notificationsOf(page).getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Change to 1 finding undone').waitFor();
  });

  it('saves, applies, renames and deletes a view', async () => {
    const page = await enter(`${LIST}?severity=%5B%22Critical%22%5D`);
    await page.getByRole('button', { name: 'Display' }).click();
    await page.getByRole('checkbox', { name: 'Source' }).check();
    await page.keyboard.press('Escape');
    await gridOf(page).getByRole('columnheader', { name: 'Source' }).waitFor({ state: 'attached' });
    const critical = await countFound(page);

    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Save view' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Critical ones');
    await page.keyboard.press('Enter');
    await page.getByText('View "Critical ones" saved in this browser').waitFor();

    await page.goto(LIST);
    await expect.poll(() => countFound(page)).toBeGreaterThan(critical);
    expect(await gridOf(page).getByRole('columnheader', { name: 'Source' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Critical ones' }).click();
    await gridOf(page).getByRole('columnheader', { name: 'Source' }).waitFor({ state: 'attached' });
    await expect.poll(() => countFound(page)).toBe(critical);

    await page.getByRole('button', { name: 'Critical ones' }).click();
    await page.getByRole('menuitem', { name: 'Manage views' }).click();
    const dialog = page.getByRole('dialog', { name: 'Manage views' });
    await dialog.getByLabel('Name').fill('Most critical');
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await dialog.getByRole('button', { name: 'Delete Most critical' }).click();
    await dialog.getByText('No saved views').waitFor();
    await page.getByText('View "Most critical" deleted').waitFor();
  });

  it('edits all matches after a preview, and undoes the edit', async () => {
    const address = `${LIST}?phase=%5B%22new%22%5D`;
    const page = await enter(address);
    const count = await countFound(page);
    await editAll(page, count);
    const dialog = page.getByRole('dialog', { name: `Edit all ${count} matching findings` });
    await dialog.getByLabel('Status', { exact: true }).selectOption('Pending fix');
    await dialog.getByText(`${count} match, ${count} will change.`).waitFor();
    await expectAccessible(page, page.getByRole('dialog'));
    await dialog.getByRole('button', { name: `Edit ${count} findings` }).click();
    await page.getByText(new RegExp(`^Pending fix: ${count} findings? updated`)).waitFor();
    // The filters and the rows stay.
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(address);
    await rowsOf(page).first().getByText('Pending fix').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText(/^Change to .* undone$/).waitFor();
    await rowsOf(page).first().getByText('Pending review').waitFor();
  });

  it('edits selected vulnerabilities together', async () => {
    const page = await enter(`${LIST}?phase=%5B%22new%22%5D`);
    await gridOf(page).getByRole('checkbox').nth(1).check();
    await gridOf(page).getByRole('checkbox').nth(2).check();
    await page.getByText('2 selected').waitFor();
    // Shortcuts work while a checkbox has the focus.
    await page.keyboard.press('t');
    await page.getByRole('dialog', { name: 'Add tags' }).getByLabel('Tags').fill('seen together');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.getByText('seen together: 2 findings updated').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Change to 2 findings undone').waitFor();
    expect(await page.getByText('2 selected').count()).toBe(1);
  });

  it('exports the matches as CSV and NDJSON', async () => {
    const page = await enter(`${LIST}?severity=%5B%22High%22%5D`);
    const count = await countFound(page);
    for (const [label, name, row] of [
      ['CSV for spreadsheets', 'vulnerabilities.csv', /^\d+,/gm],
      ['NDJSON for programs', 'vulnerabilities.ndjson', /^\{/gm],
    ] as const) {
      await page.getByRole('button', { name: 'Export' }).click();
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: label }).click(),
      ]);
      expect(file.suggestedFilename()).toBe(name);
      await page.getByText(`Exported ${count} findings to ${name}`).waitFor();
      const text = readFileSync(await file.path(), 'utf8');
      expect(text.match(row)).toHaveLength(count);
      expect(text.startsWith('\uFEFF')).toBe(name.endsWith('.csv'));
      if (name.endsWith('.csv'))
        expect(text).toMatch(/^\uFEFFid,title,severity,status,.*,created_at,closed_at\r\n/);
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
  });

  it('shows a preview beside the list, which keeps its scroll position', async () => {
    const page = await enter();
    const pane = page.getByRole('complementary', { name: 'Preview' });
    const titles = await rowsOf(page).getByRole('link').allTextContents();
    await page.keyboard.press('j');
    await page.keyboard.press('o');
    await pane.getByRole('heading', { name: titles[0] ?? '' }).waitFor();
    for (let step = 1; step <= 3; step += 1) await page.keyboard.press('j');
    await pane.getByRole('heading', { name: titles[3] ?? '' }).waitFor();
    await page.keyboard.press('k');
    await pane.getByRole('heading', { name: titles[2] ?? '' }).waitFor();
    await page.keyboard.press('Escape');
    await pane.waitFor({ state: 'detached' });
    expect(await rowsOf(page).nth(2).getAttribute('data-current')).toBe('true');
  });

  it('has rows that are as high as their content in narrow windows and beside a preview', async () => {
    const page = await enter();
    const title = await rowsOf(page).first().getByRole('link').textContent();
    await page.keyboard.press('j');
    await page.keyboard.press('o');
    const pane = page.getByRole('complementary', { name: 'Preview' });
    await pane.getByRole('heading', { name: title ?? '' }).waitFor();
    const withPreview = page.url();
    const overflowAt = async (address: string, width: number) => {
      await page.setViewportSize({ width, height: 720 });
      await page.goto(address);
      await (address === withPreview ? pane.getByRole('heading').first() : rowsOf(page).first()).waitFor();
      return rowsOf(page).evaluateAll(async (rows) => {
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        const bottomOf = (element: Element) => element.getBoundingClientRect().bottom;
        return rows.flatMap((row) =>
          [...row.querySelectorAll('a, bdi')].filter((part) => bottomOf(part) > bottomOf(row) + 1),
        ).length;
      });
    };
    for (const width of [1440, 1280, 1181]) expect(await overflowAt(withPreview, width)).toBe(0);
    for (const width of [861, 700, 390]) expect(await overflowAt(LIST, width)).toBe(0);
  });

  it('saves a comment draft of a dialog, and posts it with Ctrl+Enter', async () => {
    const page = await enter();
    const dialog = page.getByRole('dialog', { name: 'Add comment' });
    const field = dialog.getByLabel('Comment', { exact: true });
    const openDialog = async () => {
      await page.keyboard.press('c');
      await field.waitFor();
    };
    await page.keyboard.press('j');
    await openDialog();
    await field.fill('Started in the list');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    // Another vulnerability has no draft.
    await page.keyboard.press('j');
    await openDialog();
    expect(await field.inputValue()).toBe('');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.keyboard.press('k');
    await openDialog();
    expect(await field.inputValue()).toBe('Started in the list');
    await dialog.getByText('Your draft was restored').waitFor();
    await expectAccessible(page, dialog);
    await field.press('Control+Enter');
    await page.getByText('Comment posted').waitFor();
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement.role')).toBe('grid');
    await openDialog();
    expect(await field.inputValue()).toBe('');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  it('virtualizes its rows without repeating or skipping any', async () => {
    const page = await enter(ALL);
    const count = await countFound(page);
    const seen = await page.evaluate<{ links: string[]; most: number }>(`new Promise((resolve) => {
      const scroller = document.querySelector('[role="grid"]');
      const byIndex = new Map();
      let most = 0;
      const draw = () => {
        // Without the heads of the table and of its groups.
        const rows = [...scroller.querySelectorAll('[id^="row-"]')];
        most = Math.max(most, rows.length);
        let complete = true;
        for (const row of rows) {
          const link = row.querySelector('a');
          if (link === null) complete = false;
          else byIndex.set(row.getAttribute('aria-rowindex'), link.getAttribute('href'));
        }
        if (byIndex.size >= ${count}) resolve({ links: [...byIndex.values()], most });
        else {
          if (complete) scroller.scrollTop += scroller.clientHeight;
          requestAnimationFrame(draw);
        }
      };
      draw();
    })`);
    expect(seen.most).toBeLessThanOrEqual(200);
    expect(new Set(seen.links).size).toBe(count);
    expect(count).toBeGreaterThan(200);
  });

  it('loads at most 230 kB of JavaScript', async () => {
    const page = await assay.enter('admin', '/healthz');
    const bytes = await scriptSizeOf(page, async () => {
      await page.goto(LIST);
      await rowsOf(page).first().waitFor();
    });
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
  });

  it('shows a preview with hostile names, accessible at any width', async () => {
    await assay.call('admin', 'PATCH', '/v1/vulnerabilities/1', {
      title: `<script>alert(1)</script>\u202e${'W'.repeat(180)}`,
      tag_list: Array.from({ length: 30 }, (_, index) => `${index}${'t'.repeat(90)}`),
    });
    const page = await enter(`${LIST}?id=%5B1%5D&open=1`);
    const pane = page.getByRole('complementary', { name: 'Preview' });
    for (const heading of [/^Comments/, /^Evidence/, /^Locations/])
      await pane.getByRole('heading', { name: heading }).waitFor();
    await expectAccessibleInAllViews(page);
  });
});
