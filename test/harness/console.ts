import type { Page } from 'playwright-core';
import { afterAll, beforeAll, inject } from 'vitest';
import type { DemoAccount, DemoManifest } from '../../src/demo/manifest.ts';
import { type OpenOptions, signIn, useBrowser } from './browser.ts';
import { createTestDatabase } from './database.ts';
import { demoManifest } from './demo-template.ts';
import { createFormClient } from './form-client.ts';
import { serve, startTestServer, type TestServer } from './server.ts';

type DemoUser = Exclude<keyof DemoManifest['users'], 'invited'>;

interface Credentials {
  email: string;
  password: string;
}

export interface ConsoleUnderTest {
  /** The server of the console, with the demo data. */
  server(): TestServer;
  demo(): DemoManifest;
  /** Opens a path of the console, signed in as an account of the demo. */
  enter(user: DemoUser, path: string, options?: OpenOptions): Promise<Page>;
  /** Like `enter`, as an account that the test has made. */
  enterAs(account: Credentials, path: string, options?: OpenOptions): Promise<Page>;
  /** Sends a request to the API as an account of the demo. Returns the body; throws unless the request succeeds. */
  call(user: DemoUser, method: string, path: string, body?: unknown): Promise<any>;
}

/** Starts a server with the demo data for the tests of a group, and a browser that opens its console. */
export const useConsole = (): ConsoleUnderTest =>
  createConsole(() => startTestServer({}, Date.now, 'demo'), false);

let shared: Promise<TestServer> | undefined;

/**
 * Like `useConsole`, on a server that the files of a worker share. Use it in tests that change only their own data, and
 * do not depend on lists with the data of other files.
 */
export const useSharedConsole = (): ConsoleUnderTest =>
  createConsole(async () => {
    shared ??= createTestDatabase('demo', inject('templates')).then((database) => serve(database));
    return { ...(await shared), close: async () => undefined };
  }, true);

function createConsole(start: () => Promise<TestServer>, isShared: boolean): ConsoleUnderTest {
  const open = useBrowser(isShared);
  let server: TestServer;
  let demo: DemoManifest;
  beforeAll(async () => {
    server = await start();
    demo = demoManifest(server.context.config.dataDirectory);
  });
  afterAll(() => server?.close());
  const enter = async (person: string, account: Credentials, path: string, options?: OpenOptions) => {
    const page = await open(server.origin, { ...options, person });
    if ((await page.context().cookies()).length === 0) await addSession(page, server, account);
    await page.goto(path);
    // An earlier test ended the session.
    if (new URL(page.url()).pathname === '/sign-in') await signIn(page, account);
    await page.waitForURL((url) => url.pathname + url.search === path);
    return page;
  };
  return {
    server: () => server,
    demo: () => demo,
    enter: (user, path, options) => enter(user, demo.users[user] as Required<DemoAccount>, path, options),
    enterAs: (account, path, options) => enter(account.email, account, path, options),
    async call(user, method, path, body) {
      const { token } = demo.users[user];
      const response = await server.request(method, path, { token, body });
      if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${response.text}`);
      return response.body;
    },
  };
}

/** Opens the dialog that edits all matches of a list of vulnerabilities. */
export async function editAll(page: Page, count: number): Promise<void> {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: `Edit all ${count.toLocaleString()} that match` }).click();
}

/** The notifications on a page. */
export const notificationsOf = (page: Page) =>
  page.getByRole('region', { name: 'Notifications' }).locator('[role=status] > div, [role=alert] > div');

/**
 * Clicks Undo in the notification of a change. The page shows the change before its notification, and notifications of
 * earlier changes stay visible for seconds: the last Undo button may be that of another change.
 */
export const undo = (page: Page, change: string | RegExp): Promise<void> =>
  notificationsOf(page).filter({ hasText: change }).getByRole('button', { name: 'Undo' }).click();

/** Signs a page in without the sign-in form, which other tests cover. */
export async function addSession(
  page: Page,
  server: TestServer,
  { email, password }: Credentials,
): Promise<void> {
  const client = createFormClient(server);
  await client.signIn(email, password);
  const cookies = [...client.cookies].map(([name, value]) => ({ name, value, url: server.origin }));
  await page.context().addCookies(cookies);
}
