import type { RouteOptions } from 'fastify';
import { describe, expect, it } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { invitationUrl } from '../../src/auth/account-links.ts';
import { passwordResetUrl } from '../../src/auth/account-links.ts';
import { createPasswordReset } from '../../src/domain/sign-in/password-resets.ts';
import { setUpTotp } from '../harness/second-factors.ts';
import { useSharedServer } from '../harness/server.ts';
import { createFormClient, type FormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

/** Endpoints for programs, which have no cookies. */
const ENDPOINTS = ['/oauth/token', '/oauth/revoke', '/oauth/introspect'];

let now = Date.UTC(2026, 5, 1);
const server = await useSharedServer(() => now);
const routes: RouteOptions[] = [];
await (await buildApp(server.context, (route) => routes.push(route))).close();

const pathsOf = (method: string, matches: (access: unknown) => boolean): string[] =>
  routes
    .filter((route) => [route.method].flat().includes(method) && matches(route.config?.access))
    .map(({ url }) => url.replace(/:\w+/g, 'some'));

const forms = () =>
  pathsOf('POST', (access) => typeof access === 'string' && access !== 'unlimited').filter(
    (path) => !ENDPOINTS.includes(path),
  );

async function signedIn(): Promise<FormClient> {
  const account = await createFixtures(server).account();
  const visitor = createFormClient(server);
  await visitor.signIn(account.email, account.password);
  return visitor;
}

const tokenOn = async (visitor: FormClient, path: string): Promise<string> =>
  /name="_csrf" value="([^"]+)"/.exec((await visitor.open(path)).text)?.[1] ?? '';

describe('Every form', () => {
  it('is rejected without its CSRF token, with that of another session, and with that from before the sign-in', async () => {
    const anonymous = createFormClient(server);
    const early = await tokenOn(anonymous, '/sign-in');
    const sessionToken = await tokenOn(await signedIn(), '/account');
    const visitor = await signedIn();
    const secret = anonymous.cookies.get('assay-form') ?? '';
    expect(forms().length).toBeGreaterThan(25);
    for (const path of forms()) {
      for (const token of ['', sessionToken, early]) {
        const browser = createFormClient(server);
        for (const [name, value] of visitor.cookies) browser.cookies.set(name, value);
        if (token === early) browser.cookies.set('assay-form', secret);
        expect(`${path} ${(await browser.post(path, { _csrf: token })).status}`).toBe(`${path} 403`);
      }
    }
    expect((await visitor.get('/account')).status).toBe(200);
  });

  it('is rejected from another site, even with its token', async () => {
    const visitor = await signedIn();
    const token = await tokenOn(visitor, '/account');
    for (const path of forms()) {
      for (const site of ['cross-site', 'same-site']) {
        const response = await visitor.post(path, { _csrf: token }, { 'sec-fetch-site': site });
        expect(`${path} ${response.status}`).toBe(`${path} 403`);
      }
    }
    for (const headers of [{ 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'none' }, undefined]) {
      const response = await visitor.post('/account/name', { _csrf: token, name: 'Ada' }, headers);
      expect(response.status).toBe(303);
    }
  });
});

describe('Every page with a form', () => {
  it('returns 415 for other types before it checks the CSRF token', async () => {
    const visitor = await signedIn();
    for (const path of forms()) {
      const { status, text } = await visitor.post(path, {}, { 'content-type': 'application/json' });
      expect(`${path} ${status}`).toBe(`${path} 415`);
      expect(text).toContain('<!doctype html>');
    }
  });
});

describe('Every account page', () => {
  it('has a sign-out button, ignores unknown notices in the URL, and is not cached', async () => {
    const visitor = await signedIn();
    const pages = pathsOf('GET', (access) => access === 'session');
    expect(pages.length).toBeGreaterThan(6);
    for (const path of pages) {
      for (const done of ['constructor', '__proto__', '<b>done</b>']) {
        const { status, headers, text } = await visitor.get(`${path}?${new URLSearchParams({ done })}`);
        expect(text).not.toContain('class="notice success');
        if (status !== 303) expect(text).toContain('action="/sign-out"');
        expect(headers.get('cache-control')).toBe('no-store');
        expect(headers.get('referrer-policy')).toBe('no-referrer');
        expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      }
    }
  });
});

describe('Every password field', () => {
  it('hides the input and supports password managers', async () => {
    const fixtures = createFixtures(server);
    const { clock, keys, db } = server.context;
    const account = await fixtures.account();
    const { uid } = await fixtures.invited();
    const reset = await db.write((tx) => createPasswordReset(tx, cliChangeContext(clock()), account.id));
    const visitor = createFormClient(server);
    await visitor.signIn(account.email, account.password);
    now += 600_000;
    const anonymous = createFormClient(server);
    const pages = {
      '/sign-in': ['current-password', anonymous],
      [invitationUrl(server.origin, keys.secret, { uid, invitedAt: now - 600_000 })]: [
        'new-password',
        anonymous,
      ],
      [passwordResetUrl(server.origin, reset.secret)]: ['new-password', anonymous],
      '/account/password': ['current-password new-password', visitor],
      '/account/security': ['current-password', visitor],
    } as const satisfies Record<string, readonly [string, FormClient]>;
    for (const [path, [autocomplete, browser]] of Object.entries(pages)) {
      const { text } = await browser.open(path);
      const fields = [...text.matchAll(/<input\b[^>]*>/g)]
        .map(([field]) => field)
        .filter((field) => /name="(current|password|proof)"/.test(field));
      const autocompletes = fields.map((field) => /autocomplete="([^"]*)"/.exec(field)?.[1]).join(' ');
      expect(`${path} ${autocompletes}`).toBe(`${path} ${autocomplete}`);
      for (const field of fields) expect(field).toContain('type="password"');
      expect(text).not.toMatch(/onpaste|readonly[^>]*type="password"/);
    }
  });
});

describe('A session before the second factor', () => {
  it('opens no page and accepts no form of signed-in users', async () => {
    const account = await createFixtures(server).account();
    const owner = createFormClient(server);
    await owner.signIn(account.email, account.password);
    await setUpTotp(owner, now);
    const halfSignedIn = createFormClient(server);
    expect((await halfSignedIn.signIn(account.email, account.password)).location).toContain(
      '/sign-in/second-factor',
    );
    const token = await tokenOn(halfSignedIn, '/sign-in/second-factor');
    const isForSessions = (access: unknown) => access === 'session';
    expect(pathsOf('POST', isForSessions).length).toBeGreaterThan(10);
    const responses = [
      ...(await Promise.all(pathsOf('GET', isForSessions).map((path) => halfSignedIn.get(path)))),
      ...(await Promise.all(
        pathsOf('POST', isForSessions).map((path) => halfSignedIn.post(path, { _csrf: token })),
      )),
      await halfSignedIn.get('/passkeys/options?for=confirm'),
    ];
    for (const { status, location, text } of responses) {
      expect(status).toBe(303);
      expect(location).toMatch(new RegExp(`^${server.origin}/sign-in(\\?|$)`));
      expect(text).toBe('');
    }
  });
});
