import { describe, expect, it } from 'vitest';
import {
  alertOn,
  totpCodeAt,
  setupKeyOn,
  SECOND_FACTOR,
  SECURITY,
  sendCode,
  setUpTotp,
} from '../harness/second-factors.ts';
import { useSharedServer } from '../harness/server.ts';
import { createFormClient, type FormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

const STEP = 30_000;

// The start of a time step.
let now = Date.UTC(2026, 5, 1);
const server = await useSharedServer(() => now);

/** An account with an authenticator app, set up some steps ago. */
async function accountWithTotp() {
  const account = await createFixtures(server).account();
  const owner = createFormClient(server);
  await owner.signIn(account.email, account.password);
  const { secret, codes } = await setUpTotp(owner, now);
  now += 10 * STEP;
  return { ...account, owner, secret, codes };
}

/** A browser after the password and before the second factor. */
async function signInWithPassword(account: { email: string; password: string }): Promise<FormClient> {
  const visitor = createFormClient(server);
  await visitor.signIn(account.email, account.password);
  return visitor;
}

const eventsOf = async (userId: number) =>
  (await createFixtures(server).auditEvents()).filter(
    (event) => event.object_type === 'user' && event.object_id === String(userId),
  );

describe('Setting up an authenticator app', () => {
  it('shows a key as QR code and text, and stores it after a valid code', async () => {
    const account = await createFixtures(server).account();
    const visitor = createFormClient(server);
    await visitor.signIn(account.email, account.password);
    const otherBrowser = createFormClient(server);
    await otherBrowser.signIn(account.email, account.password);
    const cookie = visitor.cookies.get('assay-session');

    const form = await visitor.open(`${SECURITY}/authenticator`);
    expect(form.text).toMatch(/<svg class="qr"[^>]*role="img" aria-label="[^"]+"/);
    const secret = setupKeyOn(form);
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);

    const wrong = await visitor.submit(form, { code: '000000' }, `${SECURITY}/authenticator`);
    expect(wrong.status).toBe(422);
    expect(wrong.text).toContain('id="code-error"');
    expect(setupKeyOn(wrong)).toBe(secret);
    expect(await createFormClient(server).signIn(account.email, account.password)).toMatchObject({
      location: `${server.origin}/`,
    });

    const sameForm = { ...wrong, url: form.url };
    const done = await visitor.submit(
      sameForm,
      { code: totpCodeAt(secret, now) },
      `${SECURITY}/authenticator`,
    );
    expect(done.status).toBe(200);
    expect(done.text).toContain('id="recovery-codes"');
    // The session was renewed and the others ended.
    expect(visitor.cookies.get('assay-session')).not.toBe(cookie);
    expect((await visitor.get(SECURITY)).text).toContain('enter a code from your authenticator app');
    expect((await otherBrowser.get('/account')).status).toBe(303);

    const { db } = server.context;
    const stored = await db.read
      .selectFrom('totp_secrets')
      .selectAll()
      .where('user_id', '=', account.id)
      .executeTakeFirstOrThrow();
    expect(stored.sealed_secret).not.toContain(secret);
    const events = await eventsOf(account.id);
    expect(events.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['totp.create', 'recovery-codes.create']),
    );
    expect(JSON.stringify(events)).not.toContain(secret);
  });

  it('rejects the form of another session and an expired one', async () => {
    const account = await createFixtures(server).account();
    const [browser, otherBrowser] = [await signInWithPassword(account), await signInWithPassword(account)];
    const form = await browser.open(`${SECURITY}/authenticator`);
    const setUp = /name="set_up" value="([^"]+)"/.exec(form.text)?.[1] ?? '';
    const code = totpCodeAt(setupKeyOn(form), now);
    const foreign = await otherBrowser.open(`${SECURITY}/authenticator`);
    const path = `${SECURITY}/authenticator`;
    expect((await otherBrowser.submit(foreign, { set_up: setUp, code }, path)).status).toBe(422);
    now += 900_000;
    const lateResponse = await browser.submit(form, { code: totpCodeAt(setupKeyOn(form), now) }, path);
    expect(lateResponse.status).toBe(403);
  });

  it('allows one app per account', async () => {
    const { owner, secret } = await accountWithTotp();
    const { page } = await setUpTotp(owner, now);
    expect(page.status).toBe(409);
    expect(alertOn(page)).toContain('Remove it first');
    expect(secret).not.toBe('');
  });
});

describe('Sign-in with a code', () => {
  it('grants nothing before the code, and renews the session after it', async () => {
    const account = await accountWithTotp();
    const visitor = createFormClient(server);
    const pending = await visitor.signIn(account.email, account.password, '/account/sessions');
    expect(pending.location).toBe(`${server.origin}${SECOND_FACTOR}?to=%2Faccount%2Fsessions`);
    expect((await visitor.get('/account')).location).toBe(`${server.origin}/sign-in?to=%2Faccount`);
    const cookie = visitor.cookies.get('assay-session');

    const page = await visitor.open(`${SECOND_FACTOR}?to=/account/sessions`);
    const code = totpCodeAt(account.secret, now);
    const done = await visitor.submit(page, { code: `${code.slice(0, 3)} ${code.slice(3)}` }, SECOND_FACTOR);
    expect(done.status).toBe(303);
    expect(done.location).toBe(`${server.origin}/account/sessions`);
    expect(visitor.cookies.get('assay-session')).not.toBe(cookie);
    expect((await visitor.get('/account')).status).toBe(200);

    const sessions = await server.context.db.read
      .selectFrom('sessions')
      .select(['state', 'method'])
      .where('user_id', '=', account.id)
      .orderBy('created_at', 'desc')
      .execute();
    expect(sessions[0]).toEqual({ state: 'complete', method: 'password+totp' });
    expect(sessions.some(({ state }) => state === 'pending')).toBe(false);
    now += STEP;
  });

  it('never redirects to another site', async () => {
    const account = await accountWithTotp();
    const visitor = await signInWithPassword(account);
    const page = await visitor.open(SECOND_FACTOR);
    const fields = { code: totpCodeAt(account.secret, now), to: 'https://evil.example/' };
    expect((await visitor.submit(page, fields, SECOND_FACTOR)).location).toBe(`${server.origin}/`);
  });

  it('RFC 6238, 5.2: accepts a code once, including the one of the set-up', async () => {
    const account = await createFixtures(server).account();
    const owner = createFormClient(server);
    await owner.signIn(account.email, account.password);
    const { secret } = await setUpTotp(owner, now);
    const first = await signInWithPassword(account);
    expect((await sendCode(first, 'code', totpCodeAt(secret, now))).status).toBe(401);
    now += STEP;
    expect((await sendCode(first, 'code', totpCodeAt(secret, now))).status).toBe(303);
    const second = await signInWithPassword(account);
    expect((await sendCode(second, 'code', totpCodeAt(secret, now))).status).toBe(401);
    // Codes older than an accepted one are rejected too.
    expect((await sendCode(second, 'code', totpCodeAt(secret, now - STEP))).status).toBe(401);
    expect((await sendCode(second, 'code', totpCodeAt(secret, now + STEP))).status).toBe(303);
  });

  it('RFC 6238, 5.2: accepts a clock that is one step off', async () => {
    const account = await accountWithTotp();
    const visitor = await signInWithPassword(account);
    const rejected = async (offset: number) =>
      expect((await sendCode(visitor, 'code', totpCodeAt(account.secret, now + offset))).status).toBe(401);
    await rejected(-2 * STEP);
    await rejected(2 * STEP);
    expect((await sendCode(visitor, 'code', totpCodeAt(account.secret, now - STEP))).status).toBe(303);
    const fastBrowser = await signInWithPassword(account);
    expect((await sendCode(fastBrowser, 'code', totpCodeAt(account.secret, now + STEP))).status).toBe(303);
  });

  it.each(['', '12345', '1234567', 'abcdef', '１２３４５６'])('rejects %j', async (code) => {
    const account = await accountWithTotp();
    expect((await sendCode(await signInWithPassword(account), 'code', code)).status).toBe(401);
  });

  it('accepts one of concurrent requests with the same code', async () => {
    const account = await accountWithTotp();
    const visitors = await Promise.all([1, 2, 3].map(() => signInWithPassword(account)));
    const code = totpCodeAt(account.secret, now);
    const responses = await Promise.all(visitors.map((visitor) => sendCode(visitor, 'code', code)));
    expect(responses.map(({ status }) => status).sort()).toEqual([303, 401, 401]);
  });

  it('locks for ten minutes after ten wrong codes, with the same message', async () => {
    const account = await accountWithTotp();
    const visitor = await signInWithPassword(account);
    const messages = new Set<string>();
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      const response = await sendCode(visitor, 'code', totpCodeAt(account.secret, now + 100 * STEP));
      expect(response.status).toBe(401);
      messages.add(alertOn(response));
    }
    // A new sign-in or another kind of code does not bypass the lock.
    const retried = await signInWithPassword(account);
    const locked = await sendCode(retried, 'code', totpCodeAt(account.secret, now));
    expect(locked.status).toBe(429);
    expect(locked.headers.get('retry-after')).toBe('600');
    messages.add(alertOn(locked));
    expect(messages.size).toBe(1);
    expect((await sendCode(retried, 'recovery_code', account.codes[0] ?? '')).status).toBe(429);
    const events = await eventsOf(account.id);
    const countsOf = (requestedAction: string) =>
      events.filter(({ action }) => action === requestedAction).map(({ count }) => count);
    expect(countsOf('second-factor.refuse')).toEqual([9]);
    expect(countsOf('second-factor.lock')).toEqual([1]);
    now += 600_000;
    expect((await sendCode(retried, 'code', totpCodeAt(account.secret, now))).status).toBe(303);
  });

  it('requires a recent first factor', async () => {
    const account = await accountWithTotp();
    expect((await createFormClient(server).get(SECOND_FACTOR)).location).toBe(`${server.origin}/sign-in`);
    expect((await account.owner.get(SECOND_FACTOR)).location).toBe(`${server.origin}/`);
    const slow = await signInWithPassword(account);
    const page = await slow.open(SECOND_FACTOR);
    now += 900_000;
    const lateResponse = await slow.submit(page, { code: totpCodeAt(account.secret, now) }, SECOND_FACTOR);
    expect(lateResponse.location).toBe(`${server.origin}/sign-in`);
    expect((await slow.get('/account')).status).toBe(303);
  });

  it('updates the time at which the user was last seen only if it is right', async () => {
    const account = await accountWithTotp();
    const lastSeen = async () => {
      const users = server.context.db.read.selectFrom('users').select('last_seen_at');
      return (await users.where('id', '=', account.id).executeTakeFirstOrThrow()).last_seen_at;
    };
    const before = await lastSeen();
    const visitor = await signInWithPassword(account);
    now += 120_000;
    expect((await visitor.get(SECOND_FACTOR)).status).toBe(200);
    expect(await lastSeen()).toBe(before);
    await sendCode(visitor, 'code', totpCodeAt(account.secret, now));
    expect(await lastSeen()).toBe(now);
  });
});

describe('Changing second factors', () => {
  it('requires a code ten minutes after the sign-in, and not the password', async () => {
    const account = await accountWithTotp();
    const { owner } = account;
    now += 600_000;
    const page = await owner.open(SECURITY);
    expect(page.text).toContain('Confirm your identity');
    expect(page.text).not.toContain('Remove authenticator app');
    const csrf = /name="_csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    const remove = `${SECURITY}/authenticator/remove`;
    expect((await owner.post(remove, { _csrf: csrf })).status).toBe(403);

    expect(page.text).toContain('A code from your app, or a recovery code');
    const wrong = await owner.submit(page, { proof: account.password }, `${SECURITY}/confirm`);
    expect(wrong.status).toBe(401);
    expect(wrong.text).toContain('id="proof-error"');
    expect((await owner.post(remove, { _csrf: csrf })).status).toBe(403);
    const before = owner.cookies.get('assay-session');
    const right = await owner.submit(page, { proof: totpCodeAt(account.secret, now) }, `${SECURITY}/confirm`);
    expect(right.status).toBe(303);
    expect(owner.cookies.get('assay-session')).not.toBe(before);

    const recent = await owner.open(SECURITY);
    now += 30_000;
    const otherBrowser = await signInWithPassword(account);
    await sendCode(otherBrowser, 'code', totpCodeAt(account.secret, now));
    expect((await otherBrowser.get('/account')).status).toBe(200);
    expect((await owner.submit(recent, {}, remove)).status).toBe(303);
    expect((await otherBrowser.get('/account')).status).toBe(303);
    expect((await eventsOf(account.id)).map(({ action }) => action)).toContain('totp.delete');
    expect(await createFormClient(server).signIn(account.email, account.password)).toMatchObject({
      location: `${server.origin}/`,
    });
  });

  it('requires the password of an account without a second factor', async () => {
    const account = await createFixtures(server).account();
    const owner = createFormClient(server);
    await owner.signIn(account.email, account.password);
    now += 600_000;
    const page = await owner.open(SECURITY);
    expect(page.text).toContain('Your password');
    const confirm = `${SECURITY}/confirm`;
    for (const proof of ['not the password', '000000'])
      expect((await owner.submit(page, { proof }, confirm)).status).toBe(401);
    expect((await owner.submit(page, { proof: account.password }, confirm)).status).toBe(303);
  });

  it('accepts a recovery code once', async () => {
    const account = await accountWithTotp();
    const { owner, codes } = account;
    const [proof = ''] = codes;
    const confirm = `${SECURITY}/confirm`;
    now += 600_000;
    expect((await owner.submit(await owner.open(SECURITY), { proof }, confirm)).status).toBe(303);
    now += 600_000;
    expect((await owner.submit(await owner.open(SECURITY), { proof }, confirm)).status).toBe(401);
    expect((await sendCode(await signInWithPassword(account), 'recovery_code', proof)).status).toBe(401);
  });

  it('accepts a code once', async () => {
    const account = await accountWithTotp();
    now += 600_000;
    const page = await account.owner.open(SECURITY);
    const proof = totpCodeAt(account.secret, now);
    const confirm = `${SECURITY}/confirm`;
    expect((await account.owner.submit(page, { proof }, confirm)).status).toBe(303);
    expect((await sendCode(await signInWithPassword(account), 'code', proof)).status).toBe(401);
  });

  it('counts wrong confirmations as wrong codes', async () => {
    const account = await accountWithTotp();
    now += 600_000;
    const page = await account.owner.open(SECURITY);
    const confirm = `${SECURITY}/confirm`;
    for (let attempt = 1; attempt <= 10; attempt += 1)
      expect((await account.owner.submit(page, { proof: '000000' }, confirm)).status).toBe(401);
    const [proof = ''] = account.codes;
    expect((await account.owner.submit(page, { proof }, confirm)).status).toBe(429);
  });
});
