import { expect, it } from 'vitest';
import { expectAccessible } from '../harness/accessibility.ts';
import { describeInBrowser } from '../harness/browser.ts';
import { useConsole } from '../harness/console.ts';

describeInBrowser('The vulnerabilities of the console', () => {
  const assay = useConsole();

  it('are triaged by keys, and a change is taken back', async () => {
    const page = await assay.enter('admin', '/vulnerabilities?phase=%5B%22new%22%5D');
    const grid = page.getByRole('grid', { name: 'Vulnerabilities' });
    const first = grid.getByRole('row').nth(1);
    await first.getByRole('link').waitFor();
    const title = await first.getByRole('link').textContent();
    await page.keyboard.press('j');
    await page.keyboard.press('s');
    await page.getByRole('dialog', { name: 'Set the status' }).waitFor();
    await page.keyboard.press('3');
    // It shows at once where it stands, so that the list keeps its place.
    await first.getByText('Fix In Progress').waitFor();
    await page.getByText('Fix In Progress: 1 vulnerability changed.').waitFor();
    expect(await first.getByRole('link').textContent()).toBe(title);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('1 vulnerability set back.').waitFor();
    await first.getByText('Pending Review').waitFor();
  });

  it('are found by what is typed, and the search is in the address', async () => {
    const page = await assay.enter('admin', '/vulnerabilities');
    const grid = page.getByRole('grid', { name: 'Vulnerabilities' });
    await grid.getByRole('link').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('Log4Shell');
    await page.waitForURL('**/vulnerabilities?search=Log4Shell');
    await grid.getByText('Log4Shell in password reset').waitFor();
    expect(await grid.getByRole('link').allTextContents()).toSatisfy((titles: string[]) =>
      titles.every((title) => title.includes('Log4Shell')),
    );
    await page.reload();
    await grid.getByText('Log4Shell in password reset').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('Log4Shell');
  });

  it('can be used by everyone, with one of them open beside the list as well', async () => {
    const page = await assay.enter('admin', '/vulnerabilities?open=1');
    await page.getByRole('complementary', { name: 'Vulnerability' }).getByRole('heading').first().waitFor();
    await expectAccessible(page);
  });
});
