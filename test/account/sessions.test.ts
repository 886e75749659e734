import { beforeEach, describe, expect, it } from 'vitest';
import { browserName } from '../../src/account/sessions-page.tsx';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { hashSecret } from '../../src/auth/secrets.ts';
import { banUser } from '../../src/domain/users/ban-user.ts';
import { endUserSessions } from '../../src/domain/sign-in/end-sessions.ts';
import { useSharedServer } from '../harness/server.ts';
import { createFormClient, type FormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

const HOUR = 3_600_000;
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

let now = Date.UTC(2026, 5, 1);
let account: Awaited<ReturnType<ReturnType<typeof createFixtures>['account']>>;
let browser: FormClient;
const server = await useSharedServer(() => now);
const fixtures = createFixtures(server);
beforeEach(async () => {
  account = await fixtures.account();
  browser = await signIn();
});

async function signIn(by = account): Promise<FormClient> {
  const visitor = createFormClient(server);
  await visitor.signIn(by.email, by.password);
  return visitor;
}

const isSignedIn = async (visitor: FormClient) => (await visitor.get('/account')).status === 200;

const sessionsOf = (userId: number) =>
  server.context.db.read
    .selectFrom('sessions')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .execute();

describe('Sessions page', () => {
  it('lists each session with browser, address and last use, and marks the current one', async () => {
    now += 60_000;
    const otherBrowser = createFormClient(server);
    const form = await otherBrowser.open('/sign-in');
    const token = /name="_csrf" value="([^"]*)"/.exec(form.text)?.[1] ?? '';
    await otherBrowser.post(
      '/sign-in',
      { _csrf: token, email: account.email, password: account.password },
      { 'user-agent': FIREFOX },
    );
    const page = await browser.open('/account/sessions');
    const rows = [...page.text.matchAll(/<li><div class="what">(.*?)<\/li>/gs)].map(([, row = '']) => row);
    expect(rows).toHaveLength(2);
    const [first = '', second = ''] = rows.toSorted((a) => (a.includes('Firefox') ? -1 : 1));
    expect(first).toContain('Firefox on Linux');
    expect(first).toContain('127.0.0.1');
    expect(first).toContain(new Date(now).toISOString().slice(0, 16).replace('T', ' '));
    expect(first).toContain('with a password');
    expect(first).not.toContain('This browser');
    expect(second).toContain('This browser');
  });

  it('ends another session', async () => {
    const otherBrowser = await signIn();
    const ids = (await sessionsOf(account.id)).map(({ id }) => id);
    const ownSession = await ownId(browser);
    const otherId = ids.find((id) => id !== ownSession) ?? '';
    const response = await browser.submit(
      await browser.open('/account/sessions'),
      { session: otherId },
      '/account/sessions/end',
    );
    expect(response.status).toBe(303);
    expect((await browser.open(response.location ?? '')).text).toContain('The browser was signed out.');
    expect(await isSignedIn(otherBrowser)).toBe(false);
    expect(await isSignedIn(browser)).toBe(true);
    const events = (await fixtures.auditEvents()).filter(({ object_id }) => object_id === otherId);
    expect(events.at(-1)).toMatchObject({
      action: 'session.end',
      user_id: account.id,
      credential_id: ownSession,
    });
  });

  it('ends the current session and deletes its cookie', async () => {
    const response = await browser.submit(
      await browser.open('/account/sessions'),
      { session: await ownId(browser) },
      '/account/sessions/end',
    );
    expect(response.location).toBe(`${server.origin}/sign-in`);
    expect(browser.cookies.has('assay-session')).toBe(false);
  });

  it('does not end sessions of other users', async () => {
    const otherAccount = await fixtures.account();
    const otherBrowser = await signIn(otherAccount);
    const [session] = await sessionsOf(otherAccount.id);
    const response = await browser.submit(
      await browser.open('/account/sessions'),
      { session: session?.id ?? '' },
      '/account/sessions/end',
    );
    expect(response.status).toBe(404);
    expect(await isSignedIn(otherBrowser)).toBe(true);
  });

  it('signs out everywhere else', async () => {
    const otherBrowsers = [await signIn(), await signIn()];
    const page = await browser.open('/account/sessions');
    const response = await browser.submit(page, { which: 'others' }, '/account/sessions/end-all');
    expect((await browser.open(response.location ?? '')).text).toContain('browsers were signed out');
    for (const otherBrowser of otherBrowsers) expect(await isSignedIn(otherBrowser)).toBe(false);
    expect(await isSignedIn(browser)).toBe(true);
  });

  it('signs out everywhere, including here', async () => {
    const otherBrowser = await signIn();
    const before = new Map(browser.cookies);
    const page = await browser.open('/account/sessions');
    const response = await browser.submit(page, { which: 'all' }, '/account/sessions/end-all');
    expect(response.location).toBe(`${server.origin}/sign-in`);
    expect(await isSignedIn(otherBrowser)).toBe(false);
    for (const [name, value] of before) browser.cookies.set(name, value);
    expect(await isSignedIn(browser)).toBe(false);
    expect(await sessionsOf(account.id)).toEqual([]);
  });

  it('omits sessions that have expired', async () => {
    const idle = server.context.config.sessionIdle;
    await signIn();
    now += idle;
    browser = await signIn();
    const page = await browser.open('/account/sessions');
    expect(page.text.match(/<div class="what">/g)).toHaveLength(1);
    expect(page.text).not.toContain('Sign out everywhere else');
  });

  it('rejects a form without its CSRF token', async () => {
    expect((await browser.post('/account/sessions/end-all', { which: 'all' })).status).toBe(403);
    expect(await isSignedIn(browser)).toBe(true);
  });
});

describe('Operator', () => {
  it('ends all sessions of one user', async () => {
    const otherBrowser = await signIn();
    const strangerBrowser = await signIn(await fixtures.account());
    const { db } = server.context;
    expect(await db.write((tx) => endUserSessions(tx, cliChangeContext(now), account.id))).toBe(2);
    expect(await Promise.all([browser, otherBrowser, strangerBrowser].map(isSignedIn))).toEqual([
      false,
      false,
      true,
    ]);
    expect((await fixtures.auditEvents()).at(-1)).toMatchObject({ action: 'session.end', user_id: null });
    await expect(db.write((tx) => endUserSessions(tx, cliChangeContext(now), 0))).rejects.toMatchObject({
      kind: 'not-found',
    });
  });
});

describe('Session', () => {
  it('has a cookie of 256 random bits, stored as a hash', async () => {
    const secret = browser.cookies.get('assay-session') ?? '';
    expect(secret).toMatch(/^\w{43}$/);
    const [row] = await sessionsOf(account.id);
    expect(row?.secret_hash).toBe(hashSecret(secret));
    expect(JSON.stringify([row, await fixtures.auditEvents(), server.logs()])).not.toContain(secret);
  });

  it('ends after four hours without use', async () => {
    const start = now;
    now = start + 4 * HOUR - 1;
    expect(await isSignedIn(browser)).toBe(true);
    now += 4 * HOUR;
    expect(await isSignedIn(browser)).toBe(false);
  });

  it('ends after seven days, even if it is used', async () => {
    const end = now + 7 * 24 * HOUR;
    for (now += 3 * HOUR; now < end; now += 3 * HOUR) expect(await isSignedIn(browser)).toBe(true);
    now = end;
    expect(await isSignedIn(browser)).toBe(false);
  });

  it('ends on the server when its browser signs out', async () => {
    const before = new Map(browser.cookies);
    const response = await browser.submit(await browser.open('/account'), {}, '/sign-out');
    expect(response.location).toBe(`${server.origin}/sign-in`);
    expect(browser.cookies.has('assay-session')).toBe(false);
    for (const [name, value] of before) browser.cookies.set(name, value);
    expect(await isSignedIn(browser)).toBe(false);
    expect((await fixtures.auditEvents()).at(-1)).toMatchObject({
      action: 'session.end',
      user_id: account.id,
    });
  });

  it('ends with a ban', async () => {
    await server.context.db.write((tx) => banUser(tx, cliChangeContext(now), account.id));
    expect(await isSignedIn(browser)).toBe(false);
  });
});

async function ownId(visitor: FormClient): Promise<string> {
  const page = await visitor.open('/account/sessions');
  const row = /<li>(?:(?!<li>).)*This browser.*?<\/li>/s.exec(page.text)?.[0] ?? '';
  return /name="session" value="([^"]*)"/.exec(row)?.[1] ?? '';
}

describe('browserName', () => {
  it.each([
    [FIREFOX, 'Firefox on Linux'],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36 Edg/150.0.0.0',
      'Edge on Windows',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1',
      'Safari on iOS',
    ],
    [
      'Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Mobile Safari/537.36',
      'Chrome on Android',
    ],
    ['curl/8.14.1', 'curl/8.14.1'],
    ['', 'Unknown browser'],
    ['x'.repeat(300), 'x'.repeat(60)],
  ])('returns the name of %s', (userAgent, name) => {
    expect(browserName(userAgent)).toBe(name);
  });
});
