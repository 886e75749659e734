import { generateSync } from 'otplib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { PKCE } from '../harness/authorization.ts';
import {
  type CallbackServer,
  REGISTERED_REDIRECT_URI,
  startCallbackServer,
} from '../harness/oauth-callback-server.ts';
import { describeInBrowser, signIn, useBrowser, openAccount } from '../harness/browser.ts';
import { addSession } from '../harness/console.ts';
import { startSecondServer, startTestServer, type TestServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

let server: TestServer;
let application: CallbackServer;
let now = Date.UTC(2026, 5, 1);
beforeAll(async () => {
  server = await startTestServer({}, () => now);
  application = await startCallbackServer();
});
afterAll(async () => {
  await application.close();
  await server.close();
});

/** Returns the next code of an authenticator app, 30 seconds later. */
function nextCode(secret: string): string {
  now += 30_000;
  return generateSync({ secret, epoch: Math.floor(now / 1_000) });
}

async function totpSecretOn(page: Page): Promise<string> {
  return ((await page.locator('#totp-secret').textContent()) ?? '').replaceAll(/\s/g, '');
}

describeInBrowser('Second factor: authenticator app', () => {
  const open = useBrowser();

  it('is set up, and required at the next sign-in; without JavaScript', async () => {
    const account = await createFixtures(server).account();
    const page = await open(server.origin, { javaScriptEnabled: false });
    await page.goto('/sign-in');
    await signIn(page, account);
    await openAccount(page);
    await page.getByRole('link', { name: 'Security' }).click();
    await page.getByRole('link', { name: 'Set up an authenticator app' }).click();
    const qrCode = page.getByRole('img', { name: 'QR code' });
    expect((await qrCode.boundingBox())?.width).toBeGreaterThan(150);
    const secret = await totpSecretOn(page);
    await page.getByLabel('Code', { exact: true }).fill(nextCode(secret));
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.locator('#recovery-codes').waitFor();
    const codes = await page.locator('#recovery-codes code').allTextContents();
    expect(codes.length).toBeGreaterThan(5);
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();

    await page.waitForURL('**/sign-in');
    await signIn(page, account);
    await page.getByLabel('Code', { exact: true }).fill('000000');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Code', { exact: true }).fill(nextCode(secret));
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await openAccount(page);
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();

    await page.waitForURL('**/sign-in');
    await signIn(page, account);
    await page.getByText('Use a recovery code').click();
    await page.getByLabel('Recovery code').fill(codes[0] ?? '');
    await page.getByRole('button', { name: 'Sign in with recovery code' }).click();
    await openAccount(page);
  });

  it('is required during an authorization request, which then continues', async () => {
    const fixtures = createFixtures(server);
    const account = await fixtures.account({ organization: (await fixtures.organization()).uid });
    const client = await fixtures.client({ kind: 'confidential', redirectUris: [REGISTERED_REDIRECT_URI] });
    const request = `/oauth/authorize?${new URLSearchParams({
      response_type: 'code',
      client_id: client.id,
      redirect_uri: application.redirectUri,
      ...PKCE,
    })}`;
    const page = await open(server.origin, { otherOrigins: [application.origin] });
    await addSession(page, server, account);
    await page.goto('/account/security/authenticator');
    const secret = await totpSecretOn(page);
    await page.getByLabel('Code', { exact: true }).fill(nextCode(secret));
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.locator('#recovery-codes').waitFor();
    await page.goto(request);
    await page.getByRole('button', { name: 'Allow' }).click();
    await application.redirectIn(page);

    await page.context().clearCookies();
    await page.goto(server.origin + request);
    await signIn(page, account);
    await page.getByLabel('Code', { exact: true }).fill(nextCode(secret));
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    // The application has consent, so the form redirects twice, to another site.
    expect((await application.redirectIn(page)).searchParams.get('code')).toBeTruthy();
  });

  it('is set up first if the organization requires a second factor', async () => {
    const fixtures = createFixtures(server);
    const organization = await fixtures.organization();
    await server.context.db.write((tx) =>
      tx
        .updateTable('organizations')
        .set({ require_second_factor: 1 })
        .where('uid', '=', organization.uid)
        .execute(),
    );
    const account = await fixtures.account({ organization: organization.uid });
    const page = await open(server.origin);
    await page.goto('/account/sessions');
    await signIn(page, account);
    await page.getByRole('heading', { name: 'Set up a second factor' }).waitFor();
    await page.getByLabel('Code', { exact: true }).fill(nextCode(await totpSecretOn(page)));
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('link', { name: 'Continue' }).click();
    await page.waitForURL('**/account/sessions');
    expect(await page.getByText('with a password and a second factor').count()).toBe(1);
  });

  it('is set up first by staff if the server requires it', async () => {
    const strict = await startSecondServer(server, { staffSecondFactor: 'required' });
    onTestFinished(() => strict.close());
    const account = await createFixtures(strict).account();
    const page = await open(strict.origin);
    await page.goto('/account/sessions');
    await signIn(page, account);
    await page.getByLabel('Code', { exact: true }).fill(nextCode(await totpSecretOn(page)));
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('link', { name: 'Continue' }).click();
    await page.waitForURL('**/account/sessions');
    expect(await page.getByText('with a password and a second factor').count()).toBe(1);
  });
});

describeInBrowser('Second factor: passkey', () => {
  const open = useBrowser();

  /** Opens a page at `localhost`, as passkeys need a host name, with a virtual authenticator that verifies its user. */
  const openWithAuthenticator = async () => {
    const page = await open(server.origin.replace('127.0.0.1', 'localhost'));
    const devtools = await page.context().newCDPSession(page);
    onTestFinished(() => devtools.send('WebAuthn.disable').then(() => devtools.detach()));
    await devtools.send('WebAuthn.enable');
    const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    const setVerified = (isUserVerified: boolean) =>
      devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
    return { page, setVerified };
  };

  it('is added, and signs in without a password', async () => {
    const account = await createFixtures(server).account();
    const { page, setVerified } = await openWithAuthenticator();
    await page.goto('/sign-in?to=/account/security');
    await signIn(page, account);
    await page.getByLabel('Name of the new passkey').fill('Laptop');
    await page.getByRole('button', { name: 'Add passkey' }).click();
    await page.locator('#recovery-codes').waitFor();
    await page.getByRole('link', { name: 'Done' }).click();
    await page.getByText('Laptop', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();

    await setVerified(false);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByText('Your device did not respond').waitFor();
    await setVerified(true);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await openAccount(page);
    expect(await page.getByText(account.email).count()).toBeGreaterThan(0);
  });

  it('is a second factor after the password', async () => {
    const account = await createFixtures(server).account();
    const { page } = await openWithAuthenticator();
    await page.goto('/sign-in?to=/account/security');
    await signIn(page, account);
    await page.getByRole('button', { name: 'Add passkey' }).click();
    await page.locator('#recovery-codes').waitFor();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.waitForURL('**/sign-in');
    await signIn(page, account);
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await openAccount(page);
    expect(await page.getByText('with a password and a second factor').count()).toBe(1);
  });

  it('is not offered at an IP address, which links to the host name', async () => {
    const page = await open(server.origin);
    await page.goto('/sign-in');
    const link = page.getByRole('link', { name: 'localhost' });
    await link.waitFor();
    expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).isVisible()).toBe(false);
    expect(await link.getAttribute('href')).toBe(
      `${server.origin.replace('127.0.0.1', 'localhost')}/sign-in`,
    );
  });
});
