import { describe, expect, it, onTestFinished } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { setIdentityProvider } from '../../src/domain/sign-in/identity-providers.ts';
import { callbackUrl, encryptClientSecret } from '../../src/sso/provider-setup.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { createFormClient } from '../harness/form-client.ts';
import { startIdentityProvider, type TestIdentityProvider } from '../harness/identity-provider.ts';
import { useOwnServer } from '../harness/server.ts';

/** How far the server's clock is ahead of the provider's, in ms. */
let clockOffset = 0;
const server = await useOwnServer({}, () => Date.now() + clockOffset);

async function startProvider(organization: string): Promise<TestIdentityProvider> {
  await createFixtures(server).organization(organization);
  const { addresses, db, keys, clock } = server.context;
  const provider = await startIdentityProvider({
    redirectUris: [callbackUrl(addresses, organization)],
    claimsInIdToken: true,
  });
  onTestFinished(() => provider.close());
  const email = `ada@${organization}.example`;
  provider.people.set('ada', { sub: 'ada', email, email_verified: true });
  await db.write((tx) =>
    setIdentityProvider(tx, cliChangeContext(clock()), organization, {
      issuer: provider.issuer,
      clientId: provider.clientId,
      encryptedSecret: encryptClientSecret(keys.secret, provider.clientSecret),
      domains: [`${organization}.example`],
      groupsClaim: 'groups',
      adminGroup: null,
      groups: [],
      ssoOnly: false,
      trustEmail: false,
    }),
  );
  return provider;
}

/** @returns the status of the response to the callback: 303 after a sign-in */
async function signIn(organization: string, provider: TestIdentityProvider): Promise<number> {
  const visitor = createFormClient(server);
  const query = new URLSearchParams({ email: `ada@${organization}.example` });
  const start = await visitor.get(`/sign-in/organization/start?${query}`);
  return (await visitor.get(await provider.visit(start.location ?? '', 'ada'))).status;
}

const countRequestsForKeys = ({ requests }: TestIdentityProvider) =>
  requests.filter((path) => path === '/jwks').length;

describe('Keys of a provider', () => {
  it('are fetched once for several sign-ins, and again after five minutes', async () => {
    const provider = await startProvider('steady');
    for (let index = 0; index < 3; index += 1) {
      expect(await signIn('steady', provider)).toBe(303);
      clockOffset += 60_000;
    }
    expect(countRequestsForKeys(provider)).toBe(1);
    clockOffset += 300_000;
    expect(await signIn('steady', provider)).toBe(303);
    expect(countRequestsForKeys(provider)).toBe(2);
  });

  it('are fetched at once for an unknown kid, so that the first sign-in after a rotation works', async () => {
    const provider = await startProvider('rotating');
    expect(await signIn('rotating', provider)).toBe(303);
    for (const kid of ['second', 'third']) {
      clockOffset += 10_000;
      await provider.rotateKey(kid);
      expect(await signIn('rotating', provider)).toBe(303);
    }
    expect(await signIn('rotating', provider)).toBe(303);
    expect(countRequestsForKeys(provider)).toBe(3);
  });

  it('are fetched at most once in ten seconds for a kid that the provider does not publish', async () => {
    const provider = await startProvider('strange');
    expect(await signIn('strange', provider)).toBe(303);
    await provider.rotateKey('unpublished', false);
    clockOffset += 10_000;
    const attempts = [1, 2, 3].map(() => signIn('strange', provider));
    expect(await Promise.all(attempts)).toEqual([502, 502, 502]);
    expect(await signIn('strange', provider)).toBe(502);
    expect(countRequestsForKeys(provider)).toBe(2);
    clockOffset += 10_000;
    expect(await signIn('strange', provider)).toBe(502);
    expect(countRequestsForKeys(provider)).toBe(3);
  });

  it('that cannot be fetched are requested at most once in ten seconds', async () => {
    const provider = await startProvider('broken');
    provider.tamper = (path) => (path === '/jwks' ? { error: 'server_error' } : undefined);
    for (let index = 0; index < 2; index += 1) expect(await signIn('broken', provider)).toBe(502);
    expect(countRequestsForKeys(provider)).toBe(1);
    provider.tamper = () => undefined;
    clockOffset += 10_000;
    expect(await signIn('broken', provider)).toBe(303);
  });
});
