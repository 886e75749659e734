import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { describeInBrowser } from '../harness/browser.ts';
import { useSharedConsole } from '../harness/console.ts';

const LISTS = [
  ['/vulnerabilities', '/v1/vulnerabilities'],
  ['/assets', '/api/asset/v2/assets'],
  ['/assessments', '/v1/assessments'],
  ['/imports', '/v1/imports'],
  ['/tags', '/v1/vulnerability_tags'],
  ['/groups', '/v1/assessment_groups'],
  ['/people', '/v1/users'],
  ['/audit', '/v1/audit_events'],
] as const;

/** Answers requests to a path of the API with a status, until `restore` is called; `count` counts them. */
async function failRequests(page: Page, path: string, status: number) {
  let count = 0;
  const matches = ({ pathname }: URL) => pathname === path;
  await page.route(matches, (route) => {
    count += 1;
    return route.fulfill({ status, json: { status, detail: 'The database is locked.' } });
  });
  return { count: () => count, restore: () => page.unroute(matches) };
}

const row = (page: Page) => page.getByRole('grid').first().getByRole('row').nth(1);

describeInBrowser('Console: requests that fail', () => {
  const assay = useSharedConsole();

  it.each(LISTS)('%s shows why, shows no count, and loads when asked to', async (path, endpoint) => {
    const page = await assay.enter('admin', '/', { expectedStatuses: [403] });
    const { count, restore } = await failRequests(page, endpoint, 403);
    await page.goto(path);
    const alert = page.getByRole('alert').filter({ hasText: 'Could not load the list' }).first();
    await alert.getByText('The database is locked.').waitFor();
    expect(await page.getByText(/\d found|No results|yet$/).count()).toBe(0);
    // The console does not retry a request that the server has rejected.
    const refused = count();
    await page.evaluate(`dispatchEvent(new Event('offline')); dispatchEvent(new Event('online'))`);
    await restore();
    expect(count()).toBe(refused);
    await alert.getByRole('button', { name: 'Try again' }).click();
    await alert.waitFor({ state: 'detached' });
  });

  it('lists are loaded again when the server recovers, without a click', async () => {
    const page = await assay.enter('admin', '/', { expectedStatuses: [500] });
    const { restore } = await failRequests(page, '/v1/vulnerabilities', 500);
    await page.goto('/vulnerabilities');
    await page.getByText('Could not load the list').waitFor();
    await restore();
    await page.getByRole('grid').locator('[id="row-0"] a').waitFor();
    await page.getByText(/\d found$/).waitFor();
    expect(await page.getByText('Could not load the list').count()).toBe(0);
  });

  it('why a list could not be loaded is as wide as the list, and as high as its text', async () => {
    const page = await assay.enter('admin', '/', { expectedStatuses: [403] });
    const { restore } = await failRequests(page, '/v1/vulnerabilities', 403);
    await page.goto('/vulnerabilities');
    const alert = page.getByRole('alert').filter({ hasText: 'Could not load the list' });
    const { width = 0, height = 0 } = (await alert.boundingBox()) ?? {};
    const main = await page.getByRole('main').boundingBox();
    expect(width).toBeGreaterThan((main?.width ?? 0) * 0.9);
    expect(height).toBeLessThan(200);
    await restore();
  });

  it('a page that cannot be loaded as the server is unreachable loads when it answers', async () => {
    const page = await assay.enter('admin', '/tags', {
      expectedStatuses: [502],
      expectedConsoleErrors: /ERR_CONNECTION_REFUSED|dynamically imported module|preload CSS/,
    });
    await row(page).waitFor();
    const isServer = ({ origin }: URL) => origin === assay.server().origin;
    await page.route(isServer, (route) => route.abort('connectionrefused'));
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByText('Cannot reach the server').waitFor();
    // A proxy answers before the server does.
    await page.route(isServer, (route) => route.fulfill({ status: 502 }));
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.unroute(isServer);
    await row(page).waitFor();
    expect(await page.title()).toBe('Audit log - Assay');
  });

  it('lists are loaded again when the browser is online again', async () => {
    const page = await assay.enter('admin', '/assets', {
      expectedConsoleErrors: /ERR_INTERNET_DISCONNECTED/,
    });
    await row(page).waitFor();
    await page.context().setOffline(true);
    try {
      await page.getByRole('searchbox').fill('gateway');
      await page.getByText('Cannot reach the server').waitFor();
    } finally {
      await page.context().setOffline(false);
    }
    await page.getByText(/\d found$/).waitFor();
    expect(await page.getByText('Could not load the list').count()).toBe(0);
  });

  it('a further page that fails keeps the rows, and is loaded when asked to', async () => {
    const page = await assay.enter('staff', '/', { expectedStatuses: [403] });
    let fails = true;
    await page.route(
      ({ pathname, searchParams }) =>
        pathname === '/v1/vulnerabilities' && (searchParams.get('page[after]') ?? '') !== '',
      (route) =>
        // The console does not retry a 403, so the button stays until it is clicked.
        fails
          ? route.fulfill({ status: 403, json: { detail: 'The database is locked.' } })
          : route.fallback(),
    );
    // The open ones alone have one page.
    await page.goto('/vulnerabilities?phase=%5B%22new%22%2C%22open%22%2C%22closed%22%5D');
    await page.getByText('Could not load the list').waitFor();
    await page.getByRole('grid').locator('[id="row-0"] a').waitFor();
    await page.getByText(/\d found$/).waitFor();
    fails = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => page.getByText('Could not load the list').count()).toBe(0);
  });

  it('pages of objects that do not exist say so and lead to the list', async () => {
    const page = await assay.enter('admin', '/', { expectedStatuses: [400, 404] });
    for (const [path, name] of [
      ['/vulnerabilities/999999', 'vulnerabilities'],
      ['/vulnerabilities/none', 'vulnerabilities'],
      ['/vulnerabilities/999999/edit', 'vulnerabilities'],
      ['/vulnerabilities/none/edit', 'vulnerabilities'],
      ['/assessments/none', 'assessments'],
      ['/assets/none', 'assets'],
      ['/imports/999999', 'imports'],
      ['/imports/none', 'imports'],
      ['/groups/999999', 'groups'],
      ['/groups/none', 'groups'],
      ['/people/999999', 'people'],
      ['/people/none', 'people'],
    ] as const) {
      await page.goto(path);
      await page.getByText(/^This [a-z]+ does not exist, or you do not have access to it$/).waitFor();
      expect(await page.title()).toMatch(/^[A-Z][a-z]+ not found - Assay$/);
      await page.getByRole('link', { name: `All ${name}` }).waitFor();
    }
    await page.goto('/assessments/none/further');
    await page.getByRole('heading', { name: 'Page not found', level: 1 }).waitFor();
  });
});
