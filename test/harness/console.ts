import type { Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { ensureDemo } from '../../src/cli/demo-data.ts';
import type { DemoAccount, DemoManifest } from '../../src/demo/manifest.ts';
import { type OpenOptions, signIn, useBrowser } from './browser.ts';
import { startTestServer, type TestServer } from './server.ts';

export interface ConsoleUnderTest {
  /** The server that the console is of, with the demo data. */
  server(): TestServer;
  demo(): DemoManifest;
  /** Signs in as one of the accounts of the demo, in a browser profile of its own, and opens a path of the console. */
  enter(who: keyof DemoManifest['users'], path: string, options?: OpenOptions): Promise<Page>;
}

/** A server with the demo data, and a browser that uses its console. See `useBrowser` for what no page may do. */
export function useConsole(): ConsoleUnderTest {
  const open = useBrowser();
  let server: TestServer;
  let demo: DemoManifest;
  beforeAll(async () => {
    server = await startTestServer();
    const loaded = await ensureDemo(server.context, false);
    if (loaded === undefined) throw new Error('No demo data was made.');
    demo = loaded.manifest;
  }, 120_000);
  afterAll(() => server?.close());
  return {
    server: () => server,
    demo: () => demo,
    async enter(who, path, options) {
      const page = await open(server.origin, options);
      await page.goto(path);
      await signIn(page, demo.users[who] as Required<DemoAccount>);
      await page.waitForURL((url) => url.pathname + url.search === path);
      return page;
    },
  };
}
