import type { Page, Route } from 'playwright-core';
import { expect, it } from 'vitest';
import { describeInBrowser } from '../harness/browser.ts';
import { useSharedConsole } from '../harness/console.ts';

const WAITING = 'Waiting for other uploads';

/** A response like that of the server to an account with too many requests or uploads. */
const refuse = (route: Route) =>
  route.fulfill({
    status: 429,
    headers: { 'retry-after': '1', 'content-type': 'application/problem+json' },
    body: JSON.stringify({ title: 'Too Many Requests', status: 429, detail: 'Too many uploads.' }),
  });

describeInBrowser('Console: uploads', () => {
  const assay = useSharedConsole();

  /** Handles each POST to a path with `answer`. */
  const intercept = (page: Page, path: string, handler: (route: Route) => Promise<void>) =>
    page.route(path, (route) => (route.request().method() === 'POST' ? handler(route) : route.continue()));

  it('run two at a time, and are retried after a 429', async () => {
    const page = await assay.enter('admin', '/imports', { expectedStatuses: [404, 409, 422, 429] });
    const names = ['one', 'two', 'three'];
    await page.getByLabel('Reports').setInputFiles(
      names.map((name) => ({
        name: `${name}.jsonl`,
        mimeType: 'application/jsonl',
        buffer: Buffer.from(
          JSON.stringify({
            'template-id': `upload-${name}`,
            type: 'http',
            host: `${name}.uploads.example`,
            'matched-at': `https://${name}.uploads.example/`,
            info: { name: `Upload ${name}`, severity: 'info' },
          }),
        ),
      })),
    );
    await page.getByRole('combobox', { name: 'Assessment' }).fill('Web programme 2026');
    await page.getByRole('option', { name: 'Web programme 2026' }).click();
    const importAll = page.getByRole('button', { name: 'Import 3 reports into Web programme 2026' });
    await importAll.waitFor();
    const held: Route[] = [];
    let isHeld = true;
    await intercept(page, '**/v1/imports', async (route) => {
      if (isHeld) held.push(route);
      else await route.continue();
    });
    await importAll.click();
    await expect.poll(() => held.length).toBe(2);
    const files = page.getByRole('list', { name: 'Files' });
    await files.getByText(WAITING).waitFor();
    expect(held).toHaveLength(2);
    await Promise.all(held.splice(0).map(refuse));
    // The order of the uploads stays the same.
    await expect.poll(() => held.length).toBe(2);
    expect(await page.getByText('Could not import this report').count()).toBe(0);
    isHeld = false;
    await Promise.all(held.splice(0).map((route) => route.continue()));
    for (const name of names) {
      await files.getByRole('button', { name: `${name}.jsonl` }).click();
      await page
        .getByRole('article', { name: `${name}.jsonl` })
        .getByText('Imported', { exact: true })
        .waitFor();
    }
  });

  it('of attachments wait until the server accepts them', async () => {
    const { id } = await assay.call('admin', 'POST', '/v1/vulnerabilities', {
      assessment_id: assay.demo().assessment.uid,
      severity: 'High',
      title: 'With a late file',
    });
    const page = await assay.enter('admin', `/vulnerabilities/${id}`, { expectedStatuses: [429] });
    let isFull = true;
    await intercept(page, '**/attachments', (route) => (isFull ? refuse(route) : route.continue()));
    const files = page.getByRole('region', { name: 'Files' });
    const chooser = page.waitForEvent('filechooser');
    await files.getByRole('button', { name: 'Choose files' }).click();
    await (
      await chooser
    ).setFiles([{ name: 'late.txt', mimeType: 'text/plain', buffer: Buffer.from('Late') }]);
    await files.getByText(WAITING).waitFor();
    expect(await files.getByText('Upload failed').count()).toBe(0);
    isFull = false;
    await page.getByText('late.txt attached').waitFor();
    await files.getByRole('heading', { name: 'Files 1' }).waitFor();
  });
});
