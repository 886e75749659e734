import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { setIdentityProvider } from '../../src/domain/sign-in/identity-providers.ts';
import { findUser } from '../../src/domain/users/user-list.ts';
import { callbackUrl, encryptClientSecret } from '../../src/sso/provider-setup.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { createFormClient } from '../harness/form-client.ts';
import {
  type IdentityProviderUser,
  startIdentityProvider,
  type TestIdentityProvider,
} from '../harness/identity-provider.ts';
import { startTestServer } from '../harness/server.ts';

/** Sends claims in the userinfo response only. */
let userinfoProvider: TestIdentityProvider;
/** Sends claims in the ID token and the userinfo response. */
let idTokenProvider: TestIdentityProvider;

const server = await startTestServer();
const fixtures = createFixtures(server);
beforeAll(async () => {
  const redirectUris = [callbackUrl(server.context.addresses, 'acme')];
  userinfoProvider = await startIdentityProvider({ redirectUris });
  idTokenProvider = await startIdentityProvider({ redirectUris, claimsInIdToken: true });
  await fixtures.organization('acme');
  await fixtures.organization('umbra');
});
afterAll(async () => {
  await server.close();
  for (const provider of [userinfoProvider, idTokenProvider]) await provider.close();
});
beforeEach(() => {
  idTokenProvider.tamper = () => undefined;
});

function configure(provider: TestIdentityProvider, trustEmail: boolean): Promise<void> {
  const { db, keys, clock } = server.context;
  return db.write((tx) =>
    setIdentityProvider(tx, cliChangeContext(clock()), 'acme', {
      issuer: provider.issuer,
      clientId: provider.clientId,
      encryptedSecret: encryptClientSecret(keys.secret, provider.clientSecret),
      domains: ['acme.example'],
      groupsClaim: 'groups',
      adminGroup: null,
      groups: [],
      ssoOnly: false,
      trustEmail,
    }),
  );
}

let counter = 0;
type PersonClaims = Omit<IdentityProviderUser, 'sub'>;

/** Signs in a new user. @returns `in`, or the message on the page */
async function signIn(provider: TestIdentityProvider, claims: PersonClaims): Promise<string> {
  const sub = `subject-${(counter += 1)}`;
  provider.people.set(sub, { sub, ...claims });
  const visitor = createFormClient(server);
  const start = await visitor.get('/sign-in/organization/start?email=someone@acme.example');
  const page = await visitor.get(await provider.visit(start.location ?? '', sub));
  const signedIn = (await visitor.get('/account')).status === 200;
  if (page.status === 303 && signedIn) return 'in';
  expect({ status: page.status, signedIn }).toEqual({ status: 403, signedIn: false });
  return /role="alert">(.*?)<\/div>/s.exec(page.text)?.[1] ?? page.text;
}

const newAddress = (domain = 'acme.example') => `person${(counter += 1)}@${domain}`;

const TRUSTED = [
  ['whose addresses are not trusted', false],
  ['whose addresses are trusted', true],
] as const;

/** @returns the message on the page; a trusted provider may omit `email_verified` */
const messageFor = (message: RegExp | undefined, trustEmail: boolean) =>
  trustEmail && message === UNSTATED ? undefined : message;

const UNSTATED = /does not say that it has verified/;
const UNVERIFIED = /has not verified/;

/**
 * The claims of a user with an address, and the message that they get if addresses are not trusted; `undefined` if they
 * are signed in.
 */
const CLAIMS: readonly (readonly [string, (email: string) => PersonClaims, RegExp | undefined])[] = [
  ['true', (email) => ({ email, email_verified: true }), undefined],
  ['"true", as Amazon Cognito sends it', (email) => ({ email, email_verified: 'true' }), undefined],
  ['missing, as from Microsoft Entra ID', (email) => ({ email, preferred_username: email }), UNSTATED],
  ['null', (email) => ({ email, email_verified: null }), UNSTATED],
  ['false', (email) => ({ email, email_verified: false }), UNVERIFIED],
  ['"false"', (email) => ({ email, email_verified: 'false' }), UNVERIFIED],
  ['"TRUE"', (email) => ({ email, email_verified: 'TRUE' }), UNVERIFIED],
  ['1', (email) => ({ email, email_verified: 1 }), UNVERIFIED],
  ['empty', (email) => ({ email, email_verified: '' }), UNVERIFIED],
  [
    'true, with the address in upn and preferred_username alone',
    (email) => ({ upn: email, preferred_username: email, email_verified: true }),
    /sent no email address/,
  ],
];

const SOURCES = [
  ['the ID token', () => idTokenProvider],
  ['userinfo alone', () => userinfoProvider],
] as const;

const CASES = SOURCES.flatMap(([source, provider]) =>
  TRUSTED.map(([trust, trustEmail]) => [source, trust, provider, trustEmail] as const),
);

describe.each(CASES)('email_verified in %s of a provider %s', (_source, _trust, provider, trustEmail) => {
  beforeEach(() => configure(provider(), trustEmail));

  it.each(CLAIMS)('is %s', async (_value, claimsOf, untrusted) => {
    const message = messageFor(untrusted, trustEmail);
    const outcome = message === undefined ? 'in' : expect.stringMatching(message);
    const email = newAddress();
    expect(await signIn(provider(), claimsOf(email))).toEqual(outcome);
    const account = await findUser(server.context.db.read, { email });
    expect(account?.organizationUid).toBe(message === undefined ? 'acme' : undefined);

    const existing = await fixtures.user({ organization: 'acme', email: newAddress() });
    expect(await signIn(provider(), claimsOf(existing.email))).toEqual(outcome);
  });

  it.each(CLAIMS)('is %s, for an address of another domain', async (_value, claimsOf, untrusted) => {
    const message = messageFor(untrusted, trustEmail);
    const outcome = expect.stringMatching(message ?? /does not belong to Organization acme/);
    const email = newAddress('umbra.example');
    expect(await signIn(provider(), claimsOf(email))).toEqual(outcome);
    expect(await findUser(server.context.db.read, { email })).toBeUndefined();
    const victim = await fixtures.user({ organization: 'umbra', email: newAddress('umbra.example') });
    expect(await signIn(provider(), claimsOf(victim.email))).toEqual(outcome);
  });
});

describe('A shared issuer', () => {
  it.each(['https://login.microsoftonline.com/common/v2.0', 'https://accounts.google.com'])(
    'cannot be trusted: %s',
    async (issuer) => {
      await expect(configure({ ...idTokenProvider, issuer }, true)).rejects.toMatchObject({
        fieldErrors: [{ property: 'issuer', code: 'shared-issuer', params: { other: 'trustEmail' } }],
      });
      await configure({ ...idTokenProvider, issuer }, false);
    },
  );
});

describe.each(TRUSTED)('An ID token without email_verified, of a provider %s,', (_trust, trustEmail) => {
  beforeEach(() => configure(idTokenProvider, trustEmail));

  it.each<[string, Record<string, unknown>, RegExp | undefined]>([
    ['confirms the address', { email_verified: true }, undefined],
    ['confirms it as text', { email_verified: 'true' }, undefined],
    ['denies it', { email_verified: false }, UNVERIFIED],
    ['confirms another one', { email: 'other@acme.example', email_verified: true }, UNSTATED],
    ['denies another one', { email: 'other@acme.example', email_verified: false }, UNVERIFIED],
    ['denies without an address', { email: undefined, email_verified: 'false' }, UNVERIFIED],
  ])('counts together with a userinfo response that %s', async (_what, claims, untrusted) => {
    const message = messageFor(untrusted, trustEmail);
    idTokenProvider.tamper = (path, body) => (path === '/me' ? { ...body, ...claims } : undefined);
    expect(await signIn(idTokenProvider, { email: newAddress() })).toEqual(
      message === undefined ? 'in' : expect.stringMatching(message),
    );
  });
});
