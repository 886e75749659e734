import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';

/** The loopback server of a native application, which receives authorization responses (RFC 8252, section 7.3). */
export interface CallbackServer {
  origin: string;
  /** Registered as `REGISTERED_REDIRECT_URI`, without the port. */
  redirectUri: string;
  /** Waits until the browser opens the redirect URI. @returns its URL with the response */
  redirectIn(page: Page): Promise<URL>;
  close(): Promise<void>;
}

/** The registered redirect URI, without the port, which is known only after the server listens. */
export const REGISTERED_REDIRECT_URI = 'http://127.0.0.1/callback';

export async function startCallbackServer(): Promise<CallbackServer> {
  const listener = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Done</title>'),
  );
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return {
    origin,
    redirectUri: `${origin}/callback`,
    async redirectIn(page) {
      await page.waitForURL(`${origin}/**`);
      return new URL(page.url());
    },
    close: () =>
      new Promise((resolve) => {
        listener.close(() => resolve());
        listener.closeAllConnections();
      }),
  };
}
