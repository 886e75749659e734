import { beforeEach, describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { setIdentityProvider } from '../../src/domain/sign-in/identity-providers.ts';
import { startSession } from '../../src/domain/sign-in/sessions.ts';
import { alertOn, totpCodeAt, SECOND_FACTOR, SECURITY, setUpTotp } from '../harness/second-factors.ts';
import { useSharedServer } from '../harness/server.ts';
import { createFormClient, type FormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

let now = Date.UTC(2026, 5, 1);
let organization: { id: number; uid: string };
let account: Awaited<ReturnType<ReturnType<typeof createFixtures>['account']>>;
const server = await useSharedServer(() => now);
beforeEach(async () => {
  organization = await createFixtures(server).organization();
  account = await createFixtures(server).account({ organization: organization.uid });
});

async function signedIn({ email, password } = account): Promise<FormClient> {
  const visitor = createFormClient(server);
  await visitor.signIn(email, password);
  return visitor;
}

async function throughProvider(): Promise<FormClient> {
  const { secret } = await server.context.db.write((tx) =>
    startSession(
      tx,
      cliChangeContext(now),
      {
        userId: account.id,
        organizationId: organization.id,
        state: 'complete',
        method: 'sso',
        browser: { address: '192.0.2.1', userAgent: '' },
      },
      { idle: 86_400_000, lifetime: 86_400_000 },
    ),
  );
  const visitor = createFormClient(server);
  visitor.cookies.set('assay-session', secret);
  return visitor;
}

const setProvider = (ssoOnly: boolean) =>
  server.context.db.write((tx) =>
    setIdentityProvider(tx, cliChangeContext(now), organization.uid, {
      issuer: 'https://login.acme.example',
      clientId: 'assay',
      encryptedSecret: null,
      domains: [`${organization.uid}.example`],
      groupsClaim: 'groups',
      adminGroup: null,
      groups: [],
      ssoOnly,
      trustEmail: false,
    }),
  );

describe('Disabling passwords of an organization', () => {
  it('ends sessions that started with a password, complete or not, and keeps those of the provider', async () => {
    const colleague = await createFixtures(server).account({ organization: organization.uid });
    const outsider = await signedIn(await createFixtures(server).account());
    const { secret } = await setUpTotp(await signedIn(colleague), now);
    now += 60_000;
    const browser = await signedIn();
    const halfSignedIn = await signedIn(colleague);
    const page = await halfSignedIn.open(SECOND_FACTOR);
    const provided = await throughProvider();

    await setProvider(false);
    expect((await browser.get('/account')).status).toBe(200);
    await setProvider(true);
    expect((await browser.get('/account')).status).toBe(303);
    await halfSignedIn.submit(page, { code: totpCodeAt(secret, now) }, SECOND_FACTOR);
    expect((await halfSignedIn.get('/account')).status).toBe(303);
    expect((await provided.get('/account')).status).toBe(200);
    expect((await outsider.get('/account')).status).toBe(200);
    const ended = (await createFixtures(server).auditEvents()).filter(
      ({ action, organization_id }) => action === 'session.end' && organization_id === organization.id,
    );
    expect(ended.length).toBeGreaterThanOrEqual(3);

    // Setting the same value again ends no sessions.
    await setProvider(true);
    expect((await provided.get('/account')).status).toBe(200);
  });

  it('disables confirmation by password', async () => {
    await setProvider(true);
    const visitor = await throughProvider();
    now += 600_000;
    const page = await visitor.open(SECURITY);
    expect(page.text).not.toContain('Your password');
    expect(page.text).not.toContain('/account/password');
    const token = /name="_csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    const response = await visitor.post(`${SECURITY}/confirm`, { _csrf: token, proof: account.password });
    expect(response.status).toBe(401);
    expect(alertOn(response)).toBe('');
  });
});
