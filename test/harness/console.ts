import type { Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import type { DemoAccount, DemoManifest } from '../../src/demo/manifest.ts';
import { type OpenOptions, signIn, useBrowser } from './browser.ts';
import { demoManifest } from './demo-template.ts';
import { createFormClient } from './form-client.ts';
import { startTestServer, type TestServer } from './server.ts';

export interface ConsoleUnderTest {
  /** The server that the console is of, with the demo data. */
  server(): TestServer;
  demo(): DemoManifest;
  /** Opens a path of the console as one of the accounts of the demo, who is signed in. */
  enter(who: keyof DemoManifest['users'], path: string, options?: OpenOptions): Promise<Page>;
}

/** A server with the demo data, and a browser that uses its console. See `useBrowser` for what no page may do. */
export function useConsole(): ConsoleUnderTest {
  const open = useBrowser();
  let server: TestServer;
  let demo: DemoManifest;
  beforeAll(async () => {
    server = await startTestServer({}, Date.now, 'demo');
    demo = demoManifest(server.context.config.dataDirectory);
  }, 120_000);
  afterAll(() => server?.close());
  return {
    server: () => server,
    demo: () => demo,
    async enter(who, path, options) {
      const page = await open(server.origin, { ...options, person: who });
      const account = demo.users[who] as Required<DemoAccount>;
      if ((await page.context().cookies()).length === 0) await bringSession(page, server, account);
      await page.goto(path);
      // Where a test before ended the session.
      if (new URL(page.url()).pathname === '/sign-in') await signIn(page, account);
      await page.waitForURL((url) => url.pathname + url.search === path);
      return page;
    },
  };
}

/** Signs in without the browser, whose sign-in page has tests of its own. */
export async function bringSession(
  page: Page,
  server: TestServer,
  { email, password }: { email: string; password: string },
): Promise<void> {
  const visitor = createFormClient(server);
  await visitor.signIn(email, password);
  const cookies = [...visitor.cookies].map(([name, value]) => ({ name, value, url: server.origin }));
  await page.context().addCookies(cookies);
}
