import type { RouteOptions } from 'fastify';
import { generateSync } from 'otplib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { invitationUrl } from '../../src/auth/account-links.ts';
import { setIdentityProvider } from '../../src/domain/sign-in/identity-providers.ts';
import { createPasswordReset } from '../../src/domain/sign-in/password-resets.ts';
import { expectAccessible, expectAccessibleInAllViews } from '../harness/accessibility.ts';
import {
  type CallbackServer,
  REGISTERED_REDIRECT_URI,
  startCallbackServer,
} from '../harness/oauth-callback-server.ts';
import { describeInBrowser, signIn, useBrowser } from '../harness/browser.ts';
import { addSession } from '../harness/console.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

const NOW = Date.UTC(2026, 5, 1);

let server: TestServer;
let application: CallbackServer;
let fixtures: ReturnType<typeof createFixtures>;
const routes: RouteOptions[] = [];
beforeAll(async () => {
  // Nothing listens on this port: pages queue mail without waiting for the server.
  server = await startTestServer({ smtpUrl: 'smtp://127.0.0.1:9' }, () => NOW);
  fixtures = createFixtures(server);
  application = await startCallbackServer();
  const app = await buildApp(server.context, (route) => void routes.push(route));
  await app.close();
  await fixtures.organization('provided');
  await server.context.db.write((tx) =>
    setIdentityProvider(tx, cliChangeContext(NOW), 'provided', {
      issuer: 'http://127.0.0.1:9',
      clientId: 'assay',
      encryptedSecret: null,
      domains: ['provided.example'],
      groupsClaim: 'groups',
      adminGroup: null,
      groups: [],
      ssoOnly: false,
      trustEmail: false,
    }),
  );
});
afterAll(async () => {
  await application.close();
  await server.close();
});

let counter = 0;
async function createLongAccount() {
  const organization = await fixtures.organization();
  counter += 1;
  const email = `${'a-very-long-name.'.repeat(3)}${counter}@${'a-very-long-host-name.'.repeat(4)}example.com`;
  const account = await fixtures.account({
    organization: organization.uid,
    email,
    name: 'A'.repeat(100),
    admin: true,
  });
  return { ...account, organization };
}

/** Opens a page with the session of a new account. */
async function enter(page: Page, path: string): ReturnType<typeof createLongAccount> {
  const account = await createLongAccount();
  await addSession(page, server, account);
  await page.goto(path);
  await page.waitForURL((url) => url.pathname === path);
  return account;
}

async function setUpAuthenticator(page: Page): Promise<void> {
  const secret = (await page.locator('#totp-secret').textContent()) ?? '';
  const code = generateSync({ secret: secret.replaceAll(/\s/g, ''), epoch: NOW / 1_000 });
  await page.getByLabel('Code', { exact: true }).fill(code);
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.locator('#recovery-codes').waitFor();
}

/** Opens the authorization request of an application with a long name. */
async function requestAccess(page: Page): Promise<void> {
  const client = await fixtures.client({
    name: 'B'.repeat(100),
    redirectUris: [REGISTERED_REDIRECT_URI],
    implicit: true,
  });
  await page.goto(
    `/oauth/authorize?${new URLSearchParams({
      response_type: 'token',
      client_id: client.id,
      redirect_uri: application.redirectUri,
      scope: 'api tag_gw tag_ow tag_or asset_client_ow',
    })}`,
  );
}

/** Functions that open a page, by the name of its operation, and check its other states on the way. */
const PAGES: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  'sign-in-page': async (page) => {
    await page.goto('/sign-in');
    await expectAccessible(page);
    await signIn(page, { email: 'nobody@example.com', password: 'not a password' });
    await page.getByRole('alert').waitFor();
  },
  'organization-sign-in-page': async (page) => {
    await page.goto('/sign-in/organization');
    await page.getByLabel('Email address').fill('kim@nowhere.example');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('No organization uses single sign-on with addresses').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Email address').fill('kim@provided.example');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('link', { name: 'Continue' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Continue' }).click();
    await page.getByText('You are not signed in').waitFor();
  },
  'invitation-page': async (page) => {
    const { uid } = await fixtures.invited({ organization: (await fixtures.organization()).uid });
    const { addresses, keys } = server.context;
    await page.goto(invitationUrl(addresses.clientBaseUrl, keys.secret, { uid, invitedAt: NOW }));
    await expectAccessible(page);
    await page.getByLabel('Your name').fill('Kim');
    await page.getByLabel('Choose a password').fill('short');
    await page.getByRole('button', { name: 'Accept and sign in' }).click();
    await page.locator('#password-error').waitFor();
    await expectAccessible(page);
    await page.goto('/invitation?token=unknown');
  },
  'request-reset-page': async (page) => {
    await page.goto('/reset-password/request');
    await expectAccessible(page);
    await page.getByLabel('Email address').fill('nobody@example.com');
    await page.getByRole('button', { name: 'Send link' }).click();
    await page.getByRole('status').waitFor();
  },
  'reset-password-page': async (page) => {
    const { id } = await createLongAccount();
    const { secret } = await server.context.db.write((tx) =>
      createPasswordReset(tx, cliChangeContext(NOW), id),
    );
    await page.goto(`/reset-password?token=${secret}`);
    await expectAccessible(page);
    await page.goto('/reset-password?token=unknown');
  },
  'second-factor-page': async (page) => {
    const account = await enter(page, '/account/security/authenticator');
    await setUpAuthenticator(page);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.waitForURL('**/sign-in');
    await signIn(page, account);
    await page.getByLabel('Code', { exact: true }).fill('000000');
    await page.getByText('Use a recovery code').click();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').waitFor();
  },
  'second-factor-set-up-page': async (page) => {
    const { email, password, organization } = await createLongAccount();
    await server.context.db.write((tx) =>
      tx
        .updateTable('organizations')
        .set({ require_second_factor: 1 })
        .where('uid', '=', organization.uid)
        .execute(),
    );
    await page.goto('/sign-in');
    await signIn(page, { email, password });
    await page.getByRole('heading', { name: 'Set up a second factor' }).waitFor();
    await expectAccessible(page);
    await setUpAuthenticator(page);
  },
  'authorize-page': async (page) => {
    await page.goto('/oauth/authorize?client_id=unknown');
    await expectAccessible(page);
    await enter(page, '/account');
    await requestAccess(page);
  },
  'account-page': async (page) => enter(page, '/account'),
  'unknown-page': async (page) => page.goto('/account/nothing'),
  'password-page': async (page) => {
    await enter(page, '/account/password');
    await page.getByLabel('Current password').fill('not the password');
    await page.getByLabel('New password').fill('seven green ladders sing');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.locator('#current-error').waitFor();
  },
  'security-page': async (page) => {
    await enter(page, '/account/security');
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Set up an authenticator app' }).click();
    await setUpAuthenticator(page);
    await page.getByRole('link', { name: 'Done' }).click();
    await page.getByRole('heading', { name: 'Recovery codes' }).waitFor();
  },
  'authenticator-page': async (page) => enter(page, '/account/security/authenticator'),
  'sessions-page': async (page) => enter(page, '/account/sessions'),
  'tokens-page': async (page) => {
    await enter(page, '/account/tokens');
    await page.getByLabel('Name', { exact: true }).fill('C'.repeat(100));
    await page.getByLabel('Selected scopes').check();
    await page.getByLabel('Read and write vulnerabilities').check();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.locator('.secret').waitFor();
  },
  'console-page': async (page) => {
    await enter(page, '/');
    await page.getByRole('heading', { name: 'Home' }).waitFor();
  },
  'password-link-page': async (page) => {
    const { organization } = await enter(page, '/account');
    const { uid } = await fixtures.account({ organization: organization.uid, name: 'F'.repeat(100) });
    await page.goto(`/account/people/${uid}/password-link`);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create link' }).click();
    await page.locator('.secret').waitFor();
  },
  'applications-page': async (page) => {
    await enter(page, '/account');
    await requestAccess(page);
    await page.getByRole('button', { name: 'Allow' }).click();
    await application.redirectIn(page);
    await page.goto('/account/applications');
  },
};

describe('Account pages', () => {
  it('are all tested for accessibility', () => {
    const pages = routes.flatMap(({ config, method }) => {
      const { operation = '' } = config ?? {};
      return method === 'GET' && operation.endsWith('-page') ? [operation] : [];
    });
    expect([...new Set(pages)].sort()).toEqual(Object.keys(PAGES).sort());
  });
});

describeInBrowser('Account pages are accessible in light and dark, wide and narrow', () => {
  const open = useBrowser();

  it.each(Object.entries(PAGES))('%s', async (_name, visit) => {
    const page = await open(server.origin, { otherOrigins: [application.origin] });
    await visit(page);
    await expectAccessibleInAllViews(page);
  });

  it.each(['/problems', '/problems/v1/conflict', '/problems/v1/none'])('%s', async (path) => {
    const page = await open(server.origin);
    await page.goto(path);
    await page.locator('h1').waitFor();
    await expectAccessibleInAllViews(page);
  });

  it('open the navigation from a menu on a phone', async () => {
    const page = await open(server.origin, { viewport: { width: 390, height: 844 } });
    await enter(page, '/account');
    const navigation = page.getByRole('navigation', { name: 'Main' });
    expect(await navigation.count()).toBe(0);
    await page.getByLabel('Navigation').click();
    await expectAccessible(page);
    await navigation.getByRole('button', { name: 'Sign out' }).waitFor();
    await navigation.getByRole('link', { name: 'Tags' }).waitFor();
    await page.getByLabel('Navigation').click();
    await navigation.waitFor({ state: 'hidden' });
  });

  it('shows an accessible error page', async () => {
    const page = await open(server.origin);
    await page.goto('/sign-in');
    await page.context().clearCookies();
    await signIn(page, { email: 'somebody@example.com', password: 'a password' });
    await page.getByText('The form has expired').waitFor();
    await expectAccessibleInAllViews(page);
  });
});
