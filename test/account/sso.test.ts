import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { banUser } from '../../src/domain/users/ban-user.ts';
import type { ProviderSettings } from '../../src/domain/sign-in/identity-provider-settings.ts';
import { removeIdentityProvider, setIdentityProvider } from '../../src/domain/sign-in/identity-providers.ts';
import { unlinkIdentities } from '../../src/domain/sign-in/sign-in-with-provider.ts';
import { findUser, listUsers } from '../../src/domain/users/user-list.ts';
import { callbackUrl, encryptClientSecret } from '../../src/sso/provider-setup.ts';
import {
  type IdentityProviderUser,
  startIdentityProvider,
  type TestIdentityProvider,
} from '../harness/identity-provider.ts';
import { startTestServer } from '../harness/server.ts';
import { createFormClient, type FormPage, type FormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

/** How far the server's clock is ahead of the provider's, in ms. */
let clockOffset = 0;
let acmeProvider: TestIdentityProvider;
let otherProvider: TestIdentityProvider;
let publicProvider: TestIdentityProvider;

const server = await startTestServer({}, () => Date.now() + clockOffset);
const fixtures = createFixtures(server);
beforeAll(async () => {
  const callback = (organization: string) => callbackUrl(server.context.addresses, organization);
  acmeProvider = await startIdentityProvider({ redirectUris: ['acme', 'twin'].map(callback) });
  otherProvider = await startIdentityProvider({
    redirectUris: ['other', 'acme'].map(callback),
    claimsInIdToken: true,
    authMethod: 'client_secret_post',
  });
  publicProvider = await startIdentityProvider({ redirectUris: ['open'].map(callback), secret: false });
  for (const uid of ['acme', 'twin', 'other', 'open', 'strict', 'plain']) await fixtures.organization(uid);
});
afterAll(async () => {
  await server.close();
  for (const provider of [acmeProvider, otherProvider, publicProvider]) await provider.close();
});

const DEFAULTS = { groupsClaim: 'groups', adminGroup: null, groups: [], ssoOnly: false, trustEmail: false };

/** Configures a provider as `assay sso set` does. */
function name(
  organization: string,
  provider: TestIdentityProvider,
  settings: Partial<ProviderSettings> = {},
): Promise<void> {
  const { db, keys, clock } = server.context;
  return db.write((tx) =>
    setIdentityProvider(tx, cliChangeContext(clock()), organization, {
      issuer: provider.issuer,
      clientId: provider.clientId,
      encryptedSecret: encryptClientSecret(keys.secret, provider.clientSecret),
      domains: [`${organization}.example`],
      ...DEFAULTS,
      ...settings,
    }),
  );
}

beforeEach(async () => {
  clockOffset = 0;
  acmeProvider.tamper = () => undefined;
  otherProvider.tamper = () => undefined;
  await name('acme', acmeProvider);
  await name('other', otherProvider);
});

let counter = 0;
/** Creates a person at acme's provider with a verified address of acme. */
function person(
  overrides: Partial<IdentityProviderUser> = {},
  provider = acmeProvider,
  domain = 'acme.example',
): IdentityProviderUser {
  counter += 1;
  const providerUser = {
    sub: `subject-${counter}`,
    email: `person${counter}@${domain}`,
    email_verified: true,
    ...overrides,
  };
  provider.people.set(providerUser.sub, providerUser);
  return providerUser;
}

const linkIn = (page: FormPage): string => {
  const href = /href="(\/sign-in\/organization\/start\?[^"]*)"/.exec(page.text)?.[1];
  if (href === undefined) throw new Error(`There is no link to the provider: ${page.text}`);
  return href.replaceAll('&amp;', '&');
};

/** Submits the email address and follows the link. @returns the URL at the provider */
async function begin(visitor: FormClient, email: string, to?: string): Promise<string> {
  const page = await visitor.open(
    `/sign-in/organization${to === undefined ? '' : `?to=${encodeURIComponent(to)}`}`,
  );
  const next = await visitor.submit(page, { email }, '/sign-in/organization');
  expect(next.status).toBe(200);
  const start = await visitor.get(linkIn(next));
  expect(start.status).toBe(303);
  return start.location ?? '';
}

/** Signs in: email address, provider, callback. */
async function signIn(
  providerUser: IdentityProviderUser,
  {
    visitor = createFormClient(server),
    provider = acmeProvider,
    email = providerUser.email ?? 'nobody@acme.example',
    to = undefined as string | undefined,
  } = {},
): Promise<FormPage & { visitor: FormClient }> {
  const response = await provider.visit(await begin(visitor, email, to), providerUser.sub);
  return { ...(await visitor.get(response)), visitor };
}

const isSignedIn = async (visitor: FormClient) => (await visitor.get('/account')).status === 200;
const accountOf = (email: string) => findUser(server.context.db.read, { email });
const eventsSince = async (count: number) => (await fixtures.auditEvents()).slice(count);
const countEvents = async () => (await fixtures.auditEvents()).length;
/** Counts rejected sign-ins of all providers; those of one minute share an event. */
const countDeniedSignIns = async () =>
  (await fixtures.auditEvents())
    .filter(({ action }) => action === 'identity-provider.refuse')
    .reduce((sum, { count }) => sum + count, 0);
const words = (page: FormPage) => /role="alert">(.*?)<\/div>/s.exec(page.text)?.[1] ?? page.text;

async function expectDenied(
  page: FormPage & { visitor: FormClient },
  status: number,
  message: RegExp,
): Promise<void> {
  expect({ status: page.status, words: words(page) }).toEqual({
    status,
    words: expect.stringMatching(message),
  });
  expect(await isSignedIn(page.visitor)).toBe(false);
}

describe('Redirect to the provider', () => {
  it('is offered on the sign-in page and keeps the requested page', async () => {
    const page = await createFormClient(server).open('/sign-in?to=%2Faccount%2Fsessions');
    expect(page.text).toContain('href="/sign-in/organization?to=%2Faccount%2Fsessions"');
  });

  it('starts with an email address, and explains an unknown domain', async () => {
    const visitor = createFormClient(server);
    const page = await visitor.open('/sign-in/organization');
    const response = await visitor.submit(page, { email: 'a@nowhere.example' });
    expect(response.status).toBe(422);
    expect(response.text).toMatch(/No organization uses single sign-on with addresses at nowhere\.example/);
    expect(response.text).toContain('value="a@nowhere.example"');
  });

  it('does not reveal whether the address has an account', async () => {
    const account = await fixtures.account({ organization: 'acme', email: 'known@acme.example' });
    const texts: string[] = [];
    for (const email of [account.email, 'unknown@acme.example']) {
      const visitor = createFormClient(server);
      const page = await visitor.open('/sign-in/organization');
      const response = await visitor.submit(page, { email });
      expect(response.status).toBe(200);
      texts.push(response.text.replaceAll(encodeURIComponent(email), '').replace(/value="[^"]*"/g, ''));
    }
    expect(texts[0]).toBe(texts[1]);
  });

  it("is a link with the provider's host, not a redirect of a form", async () => {
    const visitor = createFormClient(server);
    const page = await visitor.open('/sign-in/organization');
    const response = await visitor.submit(page, { email: 'Someone@ACME.example' });
    expect(response.text).toContain(`Continue to ${new URL(acmeProvider.issuer).host}`);
    expect(response.headers.get('content-security-policy')).toContain("form-action 'self';");
  });

  it('OpenID Connect Core, 3.1.2.1 and RFC 7636, 4.3: has a new state, nonce and S256 challenge each time', async () => {
    const urls = await Promise.all(
      [1, 2].map(async () => new URL(await begin(createFormClient(server), 'a@acme.example'))),
    );
    for (const url of urls) {
      expect(Object.fromEntries(url.searchParams)).toEqual({
        client_id: 'assay',
        response_type: 'code',
        scope: 'openid email profile groups',
        redirect_uri: `${server.origin}/sign-in/organization/callback/acme`,
        code_challenge_method: 'S256',
        code_challenge: expect.stringMatching(/^[\w-]{43}$/),
        state: expect.stringMatching(/^[\w-]{43}$/),
        nonce: expect.stringMatching(/^[\w-]{43}$/),
        login_hint: 'a@acme.example',
      });
    }
    for (const secret of ['state', 'nonce', 'code_challenge'])
      expect(urls[0]?.searchParams.get(secret)).not.toBe(urls[1]?.searchParams.get(secret));
  });

  it('stores the attempt in an encrypted HttpOnly cookie for ten minutes', async () => {
    const visitor = createFormClient(server);
    const page = await visitor.open('/sign-in/organization');
    const start = await visitor.get(linkIn(await visitor.submit(page, { email: 'a@acme.example' })));
    const cookie = start.headers.getSetCookie().find((text) => text.startsWith('assay-single-sign-on='));
    expect(cookie).toMatch(/; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
    const state = new URL(start.location ?? '').searchParams.get('state') ?? 'none';
    const encrypted = visitor.cookies.get('assay-single-sign-on') ?? '';
    expect(Buffer.from(encrypted, 'base64url').includes(state)).toBe(false);
  });

  it.each(['cross-site', 'same-site'])('OWASP ASVS 5, 7.6.2: rejects a %s start', async (site) => {
    const visitor = createFormClient(server);
    const page = await visitor.open('/sign-in/organization');
    const link = linkIn(await visitor.submit(page, { email: 'a@acme.example' }));
    const started = await visitor.get(link, { 'sec-fetch-site': site });
    expect(started.location).toBe(`${server.origin}/sign-in/organization?to=%2F`);
    expect(visitor.cookies.has('assay-single-sign-on')).toBe(false);
    const followed = await visitor.get(link, { 'sec-fetch-site': 'same-origin' });
    expect(followed.location).toContain('/auth?');
  });

  it('caches the discovery document for ten minutes', async () => {
    await begin(createFormClient(server), 'a@acme.example');
    const before = acmeProvider.requests.length;
    await begin(createFormClient(server), 'a@acme.example');
    expect(acmeProvider.requests.length).toBe(before);
    clockOffset = 601_000;
    await begin(createFormClient(server), 'a@acme.example');
    expect(acmeProvider.requests.slice(before)).toEqual(['/.well-known/openid-configuration']);
  });

  it('rejects a return path too long for a cookie', async () => {
    const to = `/oauth/authorize?state=${'x'.repeat(2_100)}`;
    const page = await createFormClient(server).get(
      `/sign-in/organization/start?${new URLSearchParams({ email: 'a@acme.example', to })}`,
    );
    expect(page.status).toBe(400);
    expect(page.text).toMatch(/Sign in first/);
  });

  it('reports an unreachable provider, and recovers', async () => {
    const stoppedProvider = await startIdentityProvider({ redirectUris: ['http://127.0.0.1/'] });
    await stoppedProvider.close();
    await name('acme', stoppedProvider);
    const visitor = createFormClient(server);
    const page = await visitor.open('/sign-in/organization');
    const before = await countDeniedSignIns();
    const start = await visitor.get(linkIn(await visitor.submit(page, { email: 'a@acme.example' })));
    expect({ status: start.status, words: words(start) }).toEqual({
      status: 502,
      words: expect.stringMatching(/provider is not responding. Try again/),
    });
    expect(await countDeniedSignIns()).toBe(before + 1);
    expect(server.logs()).toContainEqual(
      expect.objectContaining({
        msg: 'single sign-on failed',
        reason: expect.stringContaining('ECONNREFUSED'),
      }),
    );
    await name('acme', acmeProvider);
    expect((await signIn(person())).status).toBe(303);
  });
});

describe('Failing provider', () => {
  it.each(['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint', 'issuer'])(
    'has metadata whose %s is no https URL',
    async (member) => {
      const failing = await startIdentityProvider({ redirectUris: ['http://127.0.0.1/'] });
      await name('acme', failing);
      for (const value of ['http://login.example/x', 'not a URL']) {
        failing.tamper = (path, body) =>
          path.includes('openid-configuration') ? { ...body, [member]: value } : undefined;
        const start = await createFormClient(server).get('/sign-in/organization/start?email=a@acme.example');
        expect({ status: start.status, words: words(start) }).toEqual({
          status: 502,
          words: expect.stringMatching(/provider is invalid/),
        });
        clockOffset += 10_001;
      }
      await failing.close();
    },
  );

  it('is requested at most once in ten seconds', async () => {
    const failing = await startIdentityProvider({ redirectUris: ['http://127.0.0.1/'] });
    failing.tamper = (path, body) =>
      path.includes('openid-configuration') ? { ...body, issuer: 'https://elsewhere.example' } : undefined;
    await name('acme', failing);
    const countDiscoveries = () =>
      failing.requests.filter((path) => path.includes('openid-configuration')).length;
    const start = async () =>
      (await createFormClient(server).get('/sign-in/organization/start?email=a@acme.example')).status;
    expect(await Promise.all([start(), start(), start(), start(), start()])).toEqual(Array(5).fill(502));
    expect(await start()).toBe(502);
    expect(countDiscoveries()).toBe(1);
    clockOffset += 10_001;
    expect(await start()).toBe(502);
    expect(countDiscoveries()).toBe(2);
    failing.tamper = () => undefined;
    clockOffset += 10_001;
    expect(await start()).toBe(303);
    await failing.close();
  });
});

describe('Sign-in attempt', () => {
  it('is valid once, even with a copied cookie and a provider that accepts a code twice', async () => {
    const providerUser = person({ groups: [] }, otherProvider, 'other.example');
    const visitor = createFormClient(server);
    const response = await otherProvider.visit(
      await begin(visitor, providerUser.email ?? ''),
      providerUser.sub,
    );
    const thief = createFormClient(server);
    for (const [cookie, value] of visitor.cookies) thief.cookies.set(cookie, value);
    let first: Record<string, unknown> | undefined;
    otherProvider.tamper = (path, body) => (path === '/token' ? (first ??= body) : undefined);
    const before = await countEvents();
    expect((await visitor.get(response)).status).toBe(303);
    const copy = { ...(await thief.get(response)), visitor: thief };
    await expectDenied(copy, 400, /does not belong to a sign-in from this browser/);
    const started = (await eventsSince(before)).filter(({ action }) => action === 'session.start');
    expect(started).toHaveLength(1);
  });
});

describe('First sign-in', () => {
  it('creates an account for a verified address of the organization, and signs in', async () => {
    const providerUser = person({ name: 'Ada Lovelace' });
    const before = await countEvents();
    const { status, location, visitor } = await signIn(providerUser, { to: '/account/sessions' });
    expect([status, location]).toEqual([303, `${server.origin}/account/sessions`]);
    const page = await visitor.get('/account');
    expect(page.text).toContain(providerUser.email);
    expect(page.text).toContain('Ada Lovelace');
    const account = await accountOf(providerUser.email ?? '');
    expect(account).toMatchObject({ organizationUid: 'acme', admin: false, staff: false, accepted: true });
    const events = await eventsSince(before);
    expect(events.map(({ action }) => action)).toEqual([
      'user.create',
      'identity.link',
      'user.accept-invitation',
      'session.start',
    ]);
    expect(JSON.parse(events[1]?.after ?? '')).toEqual({
      issuer: acmeProvider.issuer,
      subject: providerUser.sub,
      email: providerUser.email,
    });
    expect(JSON.parse(events[3]?.after ?? '')).toEqual({ user: account?.id, method: 'sso' });
  });

  it('supports claims in the ID token and client_secret_post', async () => {
    const providerUser = person({}, otherProvider, 'other.example');
    const before = otherProvider.requests.length;
    expect((await signIn(providerUser, { provider: otherProvider })).status).toBe(303);
    expect(await accountOf(providerUser.email ?? '')).toMatchObject({ organizationUid: 'other' });
    expect(otherProvider.requests.slice(before)).toContain('/token');
  });

  it('supports a public client', async () => {
    await name('open', publicProvider, { encryptedSecret: null });
    const providerUser = person({}, publicProvider, 'open.example');
    expect((await signIn(providerUser, { provider: publicProvider })).status).toBe(303);
  });

  it("links the organization's account with the address, and keeps its password", async () => {
    const account = await fixtures.account({ organization: 'acme', email: 'linked@acme.example' });
    const before = await countEvents();
    const { status } = await signIn(person({ email: 'Linked@acme.example' }), { email: account.email });
    expect(status).toBe(303);
    expect((await eventsSince(before)).map(({ action, object_id }) => [action, object_id])).toEqual([
      ['identity.link', String(account.id)],
      ['session.start', expect.any(String)],
    ]);
    expect((await createFormClient(server).signIn(account.email, account.password)).status).toBe(303);
  });

  it('accepts a pending invitation', async () => {
    const invited = await fixtures.invited({
      organization: 'acme',
      email: 'invited@acme.example',
      admin: true,
    });
    await signIn(person({ email: invited.email }));
    expect(await accountOf(invited.email)).toMatchObject({ id: invited.id, accepted: true, admin: true });
  });

  it.each([
    'a/b@acme.example',
    'a%00@acme.example',
    'a%2Fb@acme.example',
    'a\0@acme.example',
    'a\u202e@acme.example',
    'a\n@acme.example',
    ' a@acme.example',
    '"a b"@acme.example',
    '.a@acme.example',
    'ä@acme.example',
    'a@ac%6de.example',
    'a@acme.example\0',
    `${'a'.repeat(65)}@acme.example`,
  ])('rejects the address %j without creating an account', async (email) => {
    const accounts = async () => (await listUsers(server.context.db.read)).length;
    const before = await accounts();
    const { status, text } = await signIn(person({ email }), { email: 'someone@acme.example' });
    expect([status, text]).toEqual([403, expect.stringContaining('address that is not supported here')]);
    expect(await accounts()).toBe(before);
  });

  it('sanitizes the name and ignores ambiguous groups', async () => {
    await name('acme', acmeProvider, { adminGroup: 'admins' });
    const providerUser = person({
      name: 'Ada\0\u202eLovelace\u2066',
      groups: ['admins\u202e', 'admins\0', 'x'.repeat(100_000)],
    });
    expect((await signIn(providerUser)).status).toBe(303);
    const account = await accountOf(providerUser.email ?? '');
    expect(account?.admin).toBe(false);
    const { name: storedName } = await server.context.db.read
      .selectFrom('users')
      .select('name')
      .where('id', '=', account?.id ?? 0)
      .executeTakeFirstOrThrow();
    expect(storedName).toBe('Ada Lovelace');
  });

  it.each(['ü', 's'.repeat(256)])('rejects the subject %j', async (sub) => {
    const { status } = await signIn(person({ sub }));
    expect([403, 502]).toContain(status);
  });

  it('rejects users banned before they accepted, until an admin invites them again', async () => {
    const { db, clock } = server.context;
    const email = 'never@acme.example';
    const invited = await fixtures.invited({ organization: 'acme', email });
    await db.write((tx) => banUser(tx, cliChangeContext(clock()), invited.id));
    expect(await accountOf(email)).toBeUndefined();
    const providerUser = person({ email: 'Never@acme.example' });
    await expectDenied(await signIn(providerUser), 403, /Your account is closed/);
    expect(await accountOf(email)).toBeUndefined();

    await fixtures.invited({ organization: 'other', email: 'never@other.example' });
    await expectDenied(await signIn(providerUser), 403, /Your account is closed/);
    const repeated = await fixtures.invited({ organization: 'acme', email });
    expect((await signIn(providerUser)).status).toBe(303);
    expect(await accountOf(email)).toMatchObject({ id: repeated.id, accepted: true });
  });

  it('creates an account for an address that is banned in another organization', async () => {
    const { db, clock } = server.context;
    const email = 'elsewhere@acme.example';
    const invited = await fixtures.invited({ organization: 'other', email });
    await db.write((tx) => banUser(tx, cliChangeContext(clock()), invited.id));
    expect((await signIn(person({ email }))).status).toBe(303);
  });

  it('creates one account for concurrent sign-ins', async () => {
    const providerUser = person();
    const visitors = Array.from({ length: 5 }, () => createFormClient(server));
    const responses = await Promise.all(
      visitors.map(async (visitor) =>
        acmeProvider.visit(await begin(visitor, providerUser.email ?? ''), providerUser.sub),
      ),
    );
    const pages = await Promise.all(visitors.map((visitor, index) => visitor.get(responses[index] ?? '')));
    expect(pages.map(({ status }) => status)).toEqual([303, 303, 303, 303, 303]);
    const links = (await fixtures.auditEvents()).filter(
      ({ action, after }) => action === 'identity.link' && after?.includes(`"${providerUser.sub}"`),
    );
    expect(links).toHaveLength(1);
  });

  it('omits a name that cannot be stored', async () => {
    const providerUser = person({ name: 'x'.repeat(300) });
    expect((await signIn(providerUser)).status).toBe(303);
  });

  it('rejects an address that is not verified', async () => {
    const victim = await fixtures.account({
      organization: 'acme',
      email: `victim${(counter += 1)}@acme.example`,
    });
    const before = await countDeniedSignIns();
    const page = await signIn(person({ email: victim.email, email_verified: false }));
    await expectDenied(page, 403, /has not verified your email address/);
    expect(await countDeniedSignIns()).toBe(before + 1);
  });

  it('rejects a person without an address', async () => {
    const providerUser = person();
    delete providerUser.email;
    await expectDenied(await signIn(providerUser), 403, /sent no email address/);
  });

  it('rejects a verified address of another domain, even of an account of another organization', async () => {
    const victim = await fixtures.account({ organization: 'other', email: 'victim@other.example' });
    await expectDenied(
      await signIn(person({ email: victim.email }), { email: 'someone@acme.example' }),
      403,
      /does not belong to Organization acme/,
    );
    await expectDenied(
      await signIn(person({ email: 'x@acme.example@elsewhere.example' }), { email: 'x@acme.example' }),
      403,
      /address that is not supported here/,
    );
  });

  it('never links accounts of other organizations or staff, even with an address of its own domain', async () => {
    const foreign = await fixtures.account({ organization: 'other', email: 'foreign@acme.example' });
    const staff = await fixtures.account({ email: 'staff@acme.example' });
    for (const { email } of [foreign, staff]) {
      const before = await countDeniedSignIns();
      await expectDenied(
        await signIn(person({ email })),
        403,
        /An account with your email address exists outside your organization/,
      );
      expect(await countDeniedSignIns()).toBe(before + 1);
    }
    expect(await accountOf(foreign.email)).toMatchObject({ organizationUid: 'other' });
    expect(await accountOf(staff.email)).toMatchObject({ organizationUid: null, staff: true });
  });

  it('rejects another subject with a linked address until the link is removed', async () => {
    const first = person();
    await signIn(first);
    const second = person({ email: first.email ?? '' });
    await expectDenied(await signIn(second), 403, /linked with another person at your provider/);
    const { db, clock } = server.context;
    const { id = 0 } = (await accountOf(first.email ?? '')) ?? {};
    await db.write((tx) => unlinkIdentities(tx, cliChangeContext(clock()), id));
    expect((await signIn(second)).status).toBe(303);
    await expectDenied(await signIn(first), 403, /linked with another person/);
  });
});

describe('Later sign-in', () => {
  it('finds the account by issuer and subject, regardless of the address', async () => {
    const providerUser = person();
    await signIn(providerUser);
    const { id } = (await accountOf(providerUser.email ?? '')) ?? {};
    acmeProvider.add({ ...providerUser, email: 'married@elsewhere.example', email_verified: false });
    const before = await countEvents();
    expect((await signIn(providerUser)).status).toBe(303);
    const events = await eventsSince(before);
    expect(events.map(({ action }) => action)).toEqual(['session.start']);
    expect(JSON.parse(events[0]?.after ?? '')).toMatchObject({ user: id });
  });

  it('rejects the subject in another organization with the same provider', async () => {
    await name('twin', acmeProvider, { domains: ['twin.example'] });
    const providerUser = person();
    await signIn(providerUser);
    await expectDenied(
      await signIn(providerUser, { email: 'x@twin.example' }),
      403,
      /does not belong to Organization twin/,
    );
  });

  it('treats the same subject of another issuer as another person', async () => {
    const providerUser = person();
    await signIn(providerUser);
    await name('acme', otherProvider, { domains: ['acme.example'] });
    const namesake = person({ sub: providerUser.sub }, otherProvider);
    expect((await signIn(namesake, { provider: otherProvider })).status).toBe(303);
    const [first, second] = [
      await accountOf(providerUser.email ?? ''),
      await accountOf(namesake.email ?? ''),
    ];
    expect(second?.id).toEqual(expect.any(Number));
    expect(second?.id).not.toBe(first?.id);
  });

  it('rejects a banned account', async () => {
    const providerUser = person();
    await signIn(providerUser);
    const { id = 0 } = (await accountOf(providerUser.email ?? '')) ?? {};
    await server.context.db.write((tx) => banUser(tx, cliChangeContext(server.context.clock()), id));
    await expectDenied(await signIn(providerUser), 403, /Your account is closed/);
    const newAccount = await fixtures.account({ organization: 'acme', email: 'banned@acme.example' });
    await server.context.db.write((tx) =>
      banUser(tx, cliChangeContext(server.context.clock()), newAccount.id),
    );
    await expectDenied(await signIn(person({ email: newAccount.email })), 403, /Your account is closed/);
  });

  it('ends the previous session of the browser', async () => {
    const account = await fixtures.account({ organization: 'acme' });
    const visitor = createFormClient(server);
    const url = await begin(visitor, 'a@acme.example');
    await visitor.signIn(account.email, account.password);
    const oldCookie = visitor.cookies.get('assay-session');
    const providerUser = person();
    await visitor.get(await acmeProvider.visit(url, providerUser.sub));
    expect((await visitor.get('/account')).text).toContain(providerUser.email);
    const thief = createFormClient(server);
    thief.cookies.set('assay-session', oldCookie ?? '');
    expect(await isSignedIn(thief)).toBe(false);
  });
});

describe('Groups', () => {
  const rowsOf = async (userId: number) =>
    (
      await server.context.db.read
        .selectFrom('assessment_access')
        .innerJoin('assessments', 'assessments.id', 'assessment_access.assessment_id')
        .select('assessments.uid')
        .where('user_id', '=', userId)
        .orderBy('assessments.uid')
        .execute()
    ).map(({ uid }) => uid);

  it('grant and revoke the admin role, immediately for tokens', async () => {
    await fixtures.account({ organization: 'acme', admin: true });
    await name('acme', acmeProvider, { adminGroup: 'leads' });
    const providerUser = person({ groups: ['leads', 'more'] });
    await signIn(providerUser);
    const { id = 0, admin } = (await accountOf(providerUser.email ?? '')) ?? {};
    expect(admin).toBe(true);
    const { token } = await fixtures.token(id);
    const path = '/api/tagging/v1.0/organizations/acme/tags';
    const body = { tags: [{ name: `by ${providerUser.sub}` }] };
    expect((await server.request('POST', path, { token, body })).status).toBe(201);
    acmeProvider.add({ ...providerUser, groups: [] });
    const before = await countEvents();
    await signIn(providerUser);
    expect(await accountOf(providerUser.email ?? '')).toMatchObject({ admin: false });
    expect((await eventsSince(before))[0]).toMatchObject({
      action: 'user.set-role',
      before: '{"admin":true}',
      after: '{"admin":false,"group":"leads"}',
    });
    expect((await server.request('POST', path, { token, body })).status).toBe(404);
  });

  it('do not change the role if the organization has no admin group', async () => {
    const admin = await fixtures.account({ organization: 'acme', admin: true, email: 'kept@acme.example' });
    await signIn(person({ email: admin.email, groups: [] }));
    expect(await accountOf(admin.email)).toMatchObject({ admin: true });
  });

  it('never remove the last admin', async () => {
    await fixtures.organization('lonely');
    const callback = callbackUrl(server.context.addresses, 'lonely');
    const provider = await startIdentityProvider({ redirectUris: [callback] });
    try {
      await name('lonely', provider, { adminGroup: 'leads' });
      const admin = await fixtures.account({
        organization: 'lonely',
        admin: true,
        email: 'only@lonely.example',
      });
      // An invited user may never sign in.
      await fixtures.invited({ organization: 'lonely', admin: true });
      const providerUser = person({ email: admin.email, groups: [] }, provider);
      const before = await countEvents();
      expect((await signIn(providerUser, { provider })).status).toBe(303);
      expect(await accountOf(admin.email)).toMatchObject({ admin: true });
      expect((await eventsSince(before)).map(({ action }) => action)).toContain('user.keep-admin');
    } finally {
      await provider.close();
    }
  });

  it('grant and revoke access to mapped assessments only', async () => {
    for (const uid of ['shop', 'bank', 'mail']) await fixtures.assessment('acme', uid);
    await name('acme', acmeProvider, {
      groups: [
        { group: 'web', assessment: 'shop' },
        { group: 'web', assessment: 'bank' },
        { group: 'CN=Finance,DC=acme', assessment: 'bank' },
      ],
    });
    const providerUser = person({ groups: ['web'] });
    await signIn(providerUser);
    const { id = 0 } = (await accountOf(providerUser.email ?? '')) ?? {};
    expect(await rowsOf(id)).toEqual(['bank', 'shop']);
    await fixtures.access('mail', id);
    acmeProvider.add({ ...providerUser, groups: ['CN=Finance,DC=acme'] });
    const before = await countEvents();
    await signIn(providerUser);
    expect(await rowsOf(id)).toEqual(['bank', 'mail']);
    expect((await eventsSince(before))[0]).toMatchObject({
      action: 'assessment.revoke',
      object_id: 'shop',
      before: JSON.stringify({ user: id, role: 'assessment_member' }),
    });
    delete acmeProvider.people.get(providerUser.sub)?.groups;
    await signIn(providerUser);
    expect(await rowsOf(id)).toEqual(['mail']);
  });

  it('revoke nothing if the provider omits them as too many', async () => {
    acmeProvider.tamper = (path, body) =>
      path === '/me' ? { ...body, _claim_names: { groups: 'src1' } } : undefined;
    await expectDenied(await signIn(person()), 502, /provider is invalid/);
  });
});

describe('Rejected responses', () => {
  it('the user cancelled at the provider', async () => {
    // Uses a minute of its own.
    clockOffset = 300_000;
    const visitor = createFormClient(server);
    const before = await countEvents();
    const response = await acmeProvider.visit(await begin(visitor, 'a@acme.example'), null);
    expect(new URL(response).searchParams.get('error')).toBe('access_denied');
    await expectDenied(
      { ...(await visitor.get(response)), visitor },
      403,
      /identity provider did not sign you in/,
    );
    const events = await eventsSince(before);
    expect(events).toMatchObject([{ action: 'identity-provider.refuse', address: '127.0.0.1' }]);
    expect(JSON.parse(events[0]?.after ?? '')).toMatchObject({
      method: 'sso',
      reason: 'it responded with access_denied (The person cancelled.)',
    });
  });

  it.each([
    ['invalid_client', 'invalid_client', 420_000],
    ['a code with the secret', 'an invalid error code', 480_000],
  ])('an error of the provider that repeats our secret: %s', async (error, described, minute) => {
    // Uses a minute of its own.
    clockOffset = minute;
    const visitor = createFormClient(server);
    const providerUser = person();
    const response = new URL(
      await acmeProvider.visit(await begin(visitor, providerUser.email ?? ''), providerUser.sub),
    );
    const { clientSecret } = acmeProvider;
    acmeProvider.tamper = (path) =>
      path === '/token' ? { error, error_description: `${clientSecret} is wrong.` } : undefined;
    const before = await countEvents();
    response.searchParams.set('code', 'unknown');
    await expectDenied({ ...(await visitor.get(response.href)), visitor }, 502, /provider is invalid/);
    const [event] = await eventsSince(before);
    expect(JSON.parse(event?.after ?? '').reason).toBe(`it rejected the code with ${described} (400)`);
    expect(JSON.stringify(server.logs())).not.toContain(clientSecret);
  });

  it('a response that is opened twice', async () => {
    const visitor = createFormClient(server);
    const providerUser = person();
    const response = await acmeProvider.visit(
      await begin(visitor, providerUser.email ?? ''),
      providerUser.sub,
    );
    expect((await visitor.get(response)).status).toBe(303);
    visitor.cookies.delete('assay-session');
    const repeated = await visitor.get(response);
    expect(repeated.status).toBe(400);
    expect(repeated.text).toContain('Start the sign-in again');
    expect(await isSignedIn(visitor)).toBe(false);
  });

  it('a replayed response with a stored cookie, as the code is valid once', async () => {
    const visitor = createFormClient(server);
    const providerUser = person();
    const url = await begin(visitor, providerUser.email ?? '');
    const savedCookie = visitor.cookies.get('assay-single-sign-on') ?? '';
    const response = await acmeProvider.visit(url, providerUser.sub);
    await visitor.get(response);
    const thief = createFormClient(server);
    thief.cookies.set('assay-single-sign-on', savedCookie);
    await expectDenied({ ...(await thief.get(response)), visitor: thief }, 502, /provider is invalid/);
  });

  it('RFC 9700, 4.7: a response in a browser that did not start the sign-in', async () => {
    const providerUser = person();
    const response = await acmeProvider.visit(
      await begin(createFormClient(server), providerUser.email ?? ''),
      providerUser.sub,
    );
    const victim = createFormClient(server);
    const page = await victim.get(response);
    expect(page.status).toBe(400);
    expect(page.text).toContain('You are not signed in');
    expect(await isSignedIn(victim)).toBe(false);
  });

  it('a response with the state of another attempt', async () => {
    const attacker = person();
    const response = await acmeProvider.visit(
      await begin(createFormClient(server), attacker.email ?? ''),
      attacker.sub,
    );
    const victim = createFormClient(server);
    await begin(victim, 'a@acme.example');
    await expectDenied(
      { ...(await victim.get(response)), visitor: victim },
      400,
      /does not belong to a sign-in/,
    );
  });

  it('RFC 9700, 4.5: a stolen code with the state of this browser', async () => {
    const providerUser = person();
    const stolen = new URL(
      await acmeProvider.visit(
        await begin(createFormClient(server), providerUser.email ?? ''),
        providerUser.sub,
      ),
    );
    const thief = createFormClient(server);
    const ownRequest = new URL(await begin(thief, 'a@acme.example'));
    stolen.searchParams.set('state', ownRequest.searchParams.get('state') ?? '');
    // The code has another challenge (RFC 7636, section 4.6).
    await expectDenied({ ...(await thief.get(stolen.href)), visitor: thief }, 502, /provider is invalid/);
  });

  it('OpenID Connect Core, 3.1.3.7 (11): an ID token with another nonce', async () => {
    const visitor = createFormClient(server);
    const providerUser = person();
    const url = new URL(await begin(visitor, providerUser.email ?? ''));
    url.searchParams.set('nonce', 'of-another-attempt');
    const response = await acmeProvider.visit(url.href, providerUser.sub);
    await expectDenied({ ...(await visitor.get(response)), visitor }, 502, /provider is invalid/);
  });

  const changed = (token: string, change: (claims: Record<string, unknown>) => void): string => {
    const [header = '', payload = '', signature = ''] = token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    change(claims);
    return [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.');
  };
  it.each<[string, (token: string) => string | undefined]>([
    ['that was modified', (token) => changed(token, (claims) => (claims['name'] = 'Mallory'))],
    ['from another issuer', (token) => changed(token, (claims) => (claims['iss'] = 'https://evil.example'))],
    ['for another client', (token) => changed(token, (claims) => (claims['aud'] = 'another'))],
    ['that has expired', (token) => changed(token, (claims) => (claims['exp'] = 1_000_000_000))],
    [
      'without a signature',
      (token) => `${Buffer.from('{"alg":"none"}').toString('base64url')}.${token.split('.')[1] ?? ''}.`,
    ],
    ['that is missing', () => undefined],
  ])('OpenID Connect Core, 3.1.3.7: an ID token %s', async (_what, change) => {
    acmeProvider.tamper = (path, body) =>
      path === '/token' ? { ...body, id_token: change(body['id_token']) } : undefined;
    const providerUser = person();
    await expectDenied(await signIn(providerUser), 502, /provider is invalid/);
    expect(await accountOf(providerUser.email ?? '')).toBeUndefined();
  });

  it('OpenID Connect Core, 5.3.2: claims of another subject', async () => {
    acmeProvider.tamper = (path, body) => (path === '/me' ? { ...body, sub: 'somebody-else' } : undefined);
    await expectDenied(await signIn(person()), 502, /provider is invalid/);
  });

  it('an oversized token response', async () => {
    acmeProvider.tamper = (path, body) =>
      path === '/token' ? { ...body, more: 'x'.repeat(2_000_000) } : undefined;
    await expectDenied(await signIn(person()), 502, /provider is invalid/);
  });

  it('a response after more than ten minutes', async () => {
    const visitor = createFormClient(server);
    const providerUser = person();
    const response = await acmeProvider.visit(
      await begin(visitor, providerUser.email ?? ''),
      providerUser.sub,
    );
    clockOffset = 600_000;
    const page = await visitor.get(response);
    expect(page.status).toBe(400);
    expect(page.text).toContain('has expired');
  });

  it('a response from a provider that has since been replaced or removed', async () => {
    const { db, clock } = server.context;
    for (const change of [
      () => name('acme', otherProvider),
      () => db.write((tx) => removeIdentityProvider(tx, cliChangeContext(clock()), 'acme')),
    ]) {
      await name('acme', acmeProvider);
      const visitor = createFormClient(server);
      const providerUser = person();
      const response = await acmeProvider.visit(
        await begin(visitor, providerUser.email ?? ''),
        providerUser.sub,
      );
      await change();
      expect((await visitor.get(response)).status).toBe(400);
      expect(await isSignedIn(visitor)).toBe(false);
    }
  });

  it('are logged without codes and tokens', async () => {
    const visitor = createFormClient(server);
    const providerUser = person();
    const response = new URL(
      await acmeProvider.visit(await begin(visitor, providerUser.email ?? ''), providerUser.sub),
    );
    const code = response.searchParams.get('code') ?? 'none';
    let idToken = 'none';
    acmeProvider.tamper = (path, body) => {
      if (path !== '/token') return undefined;
      idToken = `${body['id_token']}x`;
      return { ...body, id_token: idToken };
    };
    await visitor.get(response.href);
    const log = JSON.stringify(server.logs());
    expect(log).not.toContain(code);
    expect(log).not.toContain(idToken.split('.')[1]);
    expect(JSON.stringify(await fixtures.auditEvents())).not.toContain(code);
  });
});

describe('Mix-up of the providers of two organizations (RFC 9700, 4.4)', () => {
  it('RFC 9207, 2.4: rejects a response of another issuer without redeeming its code', async () => {
    const victim = createFormClient(server);
    const url = new URL(await begin(victim, 'a@other.example'));
    const providerUser = person();
    const honest = new URL(
      await acmeProvider.visit(
        await begin(createFormClient(server), providerUser.email ?? ''),
        providerUser.sub,
      ),
    );
    const response = new URL(url.searchParams.get('redirect_uri') ?? '');
    response.search = honest.search;
    response.searchParams.set('state', url.searchParams.get('state') ?? '');
    const before = otherProvider.requests.length;
    await expectDenied(
      { ...(await victim.get(response.href)), visitor: victim },
      400,
      /does not belong to a sign-in/,
    );
    expect(otherProvider.requests.slice(before)).not.toContain('/token');
  });

  it('RFC 9207, 2.4: rejects a response without the issuer if the provider supports it', async () => {
    const visitor = createFormClient(server);
    const providerUser = person();
    const response = new URL(
      await acmeProvider.visit(await begin(visitor, providerUser.email ?? ''), providerUser.sub),
    );
    expect(response.searchParams.get('iss')).toBe(acmeProvider.issuer);
    response.searchParams.delete('iss');
    await expectDenied({ ...(await visitor.get(response.href)), visitor }, 502, /provider is invalid/);
  });

  it("RFC 9700, 4.4.2.2: rejects a response at another organization's callback, with or without an issuer", async () => {
    const victim = createFormClient(server);
    const url = new URL(await begin(victim, 'a@other.example'));
    const providerUser = person();
    const honest = new URL(
      await acmeProvider.visit(
        await begin(createFormClient(server), providerUser.email ?? ''),
        providerUser.sub,
      ),
    );
    honest.searchParams.delete('iss');
    honest.searchParams.set('state', url.searchParams.get('state') ?? '');
    const before = otherProvider.requests.length;
    const page = await victim.get(honest.href);
    expect(page.status).toBe(400);
    expect(otherProvider.requests.slice(before)).toEqual([]);
    expect(await isSignedIn(victim)).toBe(false);
  });
});

describe('Requirements of an organization', () => {
  it('single sign-on counts as two factors', async () => {
    await fixtures.organization('twofactors');
    const { db } = server.context;
    await db.write(async (tx) => {
      await tx
        .updateTable('organizations')
        .set({ require_second_factor: 1 })
        .where('uid', '=', 'twofactors')
        .execute();
    });
    const provider = await startIdentityProvider({
      redirectUris: [callbackUrl(server.context.addresses, 'twofactors')],
    });
    try {
      await name('twofactors', provider);
      const providerUser = person({}, provider, 'twofactors.example');
      const page = await signIn(providerUser, { provider });
      expect(page.location).toBe(`${server.origin}/`);
      expect(await isSignedIn(page.visitor)).toBe(true);
    } finally {
      await provider.close();
    }
  });

  it('single sign-on only: rejects a right password with the message for a wrong one', async () => {
    await name('strict', acmeProvider, { ssoOnly: true });
    const account = await fixtures.account({ organization: 'strict' });
    const right = await createFormClient(server).signIn(account.email, account.password);
    const wrong = await createFormClient(server).signIn(account.email, 'not the password');
    expect([right.status, wrong.status]).toEqual([401, 401]);
    expect(words(right)).toBe(words(wrong));
  });
});
