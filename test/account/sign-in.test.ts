import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { hashPassword, PasswordQueueFull } from '../../src/auth/passwords.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import { banUser } from '../../src/domain/users/ban-user.ts';
import { DeniedAttempts } from '../../src/domain/audit/denied-attempts.ts';
import { signInSubject, signInWithPassword } from '../../src/domain/sign-in/sign-in-with-password.ts';
import { blockWrites } from '../harness/block-writes.ts';
import { useOwnServer } from '../harness/server.ts';
import { createFormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

let now = Date.UTC(2026, 5, 1);
const server = await useOwnServer({}, () => now);

describe('Sign-in with a password', () => {
  it('redirects to the account page and sets an HttpOnly session cookie', async () => {
    const account = await createFixtures(server).account();
    const visitor = createFormClient(server);
    const response = await visitor.signIn(account.email, account.password);
    expect(response.status).toBe(303);
    expect(response.location).toBe(`${server.origin}/`);
    expect(response.headers.getSetCookie().join()).toMatch(
      /assay-session=\w+; Path=\/; HttpOnly; SameSite=Lax/,
    );
    const page = await visitor.get('/account');
    expect(page.status).toBe(200);
    expect(page.text).toContain(account.email);
  });

  it('locks account and address for ten minutes after ten failures, with the same message', async () => {
    const account = await createFixtures(server).account();
    const visitor = createFormClient(server);
    const words: string[] = [];
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      const response = await visitor.signIn(account.email, 'not the password');
      expect(response.status).toBe(401);
      words.push(/role="alert">(.*?)</.exec(response.text)?.[1] ?? '');
    }
    const locked = await visitor.signIn(account.email, account.password);
    expect(locked.status).toBe(429);
    expect(locked.headers.get('retry-after')).toBe('600');
    words.push(/role="alert">(.*?)</.exec(locked.text)?.[1] ?? '');
    expect(new Set(words).size).toBe(1);
    now += 600_000;
    expect((await visitor.signIn(account.email, account.password)).status).toBe(303);
  });

  it('rejects a form without its CSRF token', async () => {
    const account = await createFixtures(server).account();
    const response = await createFormClient(server).post('/sign-in', {
      email: account.email,
      password: account.password,
    });
    expect(response.status).toBe(403);
  });

  it('redirects anonymous browsers to the sign-in page', async () => {
    const page = await createFormClient(server).get('/account');
    expect(page.status).toBe(303);
    expect(page.location).toBe(`${server.origin}/sign-in?to=%2Faccount`);
  });

  it('counts failures in a sliding window', async () => {
    const account = await createFixtures(server).account();
    const visitor = createFormClient(server);
    const fail = async () => (await visitor.signIn(account.email, 'not the password')).status;
    await fail();
    now += 599_999;
    for (let attempt = 2; attempt <= 9; attempt += 1) await fail();
    now += 1;
    // The first failure no longer counts; with this one there are ten again.
    expect(await fail()).toBe(401);
    expect(await fail()).toBe(401);
    expect(await fail()).toBe(429);
    now += 599_999;
    const locked = await visitor.signIn(account.email, account.password);
    expect(locked.status).toBe(429);
    expect(locked.headers.get('retry-after')).toBe('1');
    now += 1;
    expect((await visitor.signIn(account.email, account.password)).status).toBe(303);
  });

  it('resets the failures after a success', async () => {
    const account = await createFixtures(server).account();
    const visitor = createFormClient(server);
    for (let round = 1; round <= 2; round += 1) {
      for (let attempt = 1; attempt <= 9; attempt += 1) await visitor.signIn(account.email, 'wrong');
      visitor.cookies.clear();
      expect((await visitor.signIn(account.email, account.password)).status).toBe(303);
      visitor.cookies.clear();
    }
  });

  it('verifies ten of fifty concurrent guesses on two instances', async () => {
    const account = await createFixtures(server).account();
    const { config } = server.context;
    const db = await openDatabase({ ...config, timeout: config.requestTimeout });
    const second = { db, deniedAttempts: new DeniedAttempts(db) };
    const attempt = { email: account.email, password: 'not the password', address: '192.0.2.1' };
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        signInWithPassword(index % 2 === 0 ? server.context : second, cliChangeContext(now), attempt),
      ),
    );
    const right = { ...attempt, password: account.password };
    const locked = await signInWithPassword(second, cliChangeContext(now), right);
    const signedInElsewhere = await signInWithPassword(second, cliChangeContext(now), {
      ...right,
      address: '192.0.2.2',
    });
    await second.deniedAttempts.close();
    await db.close();
    expect(outcomes.filter(({ outcome }) => outcome === 'refused')).toHaveLength(10);
    expect(outcomes.filter(({ outcome }) => outcome === 'locked')).toHaveLength(40);
    expect(locked).toEqual({ outcome: 'locked', retryAfter: 600 });
    expect(signedInElsewhere.outcome).toBe('signed-in');
  });

  it('counts the addresses of an IPv6 network together', async () => {
    const account = await createFixtures(server).account();
    const from = (address: string, password: string) =>
      signInWithPassword(server.context, cliChangeContext(now), { email: account.email, password, address });
    for (let attempt = 1; attempt <= 10; attempt += 1)
      expect((await from(`2001:db8:0:7:${attempt}::${attempt}`, 'wrong')).outcome).toBe('refused');
    const { password } = account;
    expect((await from('2001:db8:0:7:ffff:1:2:3', password)).outcome).toBe('locked');
    expect((await from('2001:db8::7:0:0:0:1', password)).outcome).toBe('locked');
    expect((await from('2001:db8:0:8::1', password)).outcome).toBe('signed-in');
  });

  it('does not count attempts that are rejected because too many passwords are queued', async () => {
    const account = await createFixtures(server).account();
    const attempt = { email: account.email, password: account.password, address: '192.0.2.3' };
    const flood = Promise.allSettled(Array.from({ length: 80 }, () => hashPassword('one of many')));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, () => signInWithPassword(server.context, cliChangeContext(now), attempt)),
    );
    await flood;
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: expect.any(PasswordQueueFull) });
    expect((await signInWithPassword(server.context, cliChangeContext(now), attempt)).outcome).toBe(
      'signed-in',
    );
  });

  it('does not count attempts whose password finds the queue full after they were counted', async () => {
    const account = await createFixtures(server).account();
    const address = '192.0.2.4';
    const attempt = { email: account.email, password: 'not the password', address };
    const unblock = await blockWrites(server);
    const attempts = Array.from({ length: 9 }, () =>
      signInWithPassword(server.context, cliChangeContext(now), attempt),
    );
    const flood = Promise.allSettled(Array.from({ length: 80 }, () => hashPassword('one of many')));
    await unblock();
    const verified = (await Promise.allSettled(attempts)).filter(({ status }) => status === 'fulfilled');
    await flood;
    const row = await server.context.db.read
      .selectFrom('throttled_attempts')
      .select('times')
      .where('subject', '=', signInSubject(account.email))
      .where('address', '=', address)
      .executeTakeFirst();
    expect(JSON.parse(row?.times ?? '[]')).toHaveLength(verified.length);
  });

  it('returns 503 while too many passwords are queued', async () => {
    const account = await createFixtures(server).account();
    const visitor = createFormClient(server);
    const page = await visitor.open('/sign-in');
    let flooding = true;
    const flood = Array.from({ length: 80 }, async () => {
      while (flooding) await hashPassword('one of many').catch(() => setImmediate());
    });
    let response;
    do response = await visitor.submit(page, { email: account.email, password: 'wrong' }, '/sign-in');
    while (response.status === 401);
    flooding = false;
    await Promise.all(flood);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('2');
    expect(response.text).toContain('Try again in 2 seconds.');
  });

  it('responds and writes the same for known and unknown accounts', async () => {
    const account = await createFixtures(server).account();
    const invited = await createFixtures(server).invited();
    const banned = await createFixtures(server).account();
    await server.context.db.write((tx) => banUser(tx, cliChangeContext(now), banned.id));
    const responses = [];
    for (const [email, password] of [
      [account.email, 'not the password'],
      ['nobody@example.com', 'not the password'],
      [invited.email, 'not the password'],
      [banned.email, banned.password],
      ['not an address', ''],
    ] as const) {
      // Denied attempts are written a second later, outside the request.
      await server.context.deniedAttempts.flush();
      const before = server.context.db.statistics().transactions;
      const { status, text } = await createFormClient(server).signIn(email, password);
      responses.push({
        status,
        text: text.replace(/value="[^"]*"/g, ''),
        writes: server.context.db.statistics().transactions - before,
      });
    }
    for (const response of responses) expect(response).toEqual(responses[0]);
    expect(responses[0]).toMatchObject({ status: 401, writes: 1 });
  });

  it('is recorded, including failures and the lock, without passwords', async () => {
    const fixtures = createFixtures(server);
    const account = await fixtures.account();
    const visitor = createFormClient(server);
    now += 60_000;
    for (let attempt = 1; attempt <= 11; attempt += 1)
      await visitor.signIn(account.email, `guess ${attempt}`);
    now += 600_000;
    await visitor.signIn(account.email, account.password);
    await createFormClient(server).signIn('a secret typed as an address', 'x');
    const events = await fixtures.auditEvents();
    const ownEvents = events
      .filter(({ object_id }) => object_id === String(account.id))
      .map(({ action, count }) => [action, count]);
    expect(ownEvents).toEqual([
      ['user.create', 1],
      ['sign-in.refuse', 9],
      ['sign-in.lock', 1],
    ]);
    const started = events.findLast(({ action }) => action === 'session.start');
    expect(started).toMatchObject({ user_id: account.id, address: '127.0.0.1' });
    const recordedText = JSON.stringify(events) + JSON.stringify(server.logs());
    expect(recordedText).not.toMatch(/guess \d|a secret typed/);
    expect(recordedText).not.toContain(account.password);
  });

  it('creates a new session id each time', async () => {
    const account = await createFixtures(server).account();
    const visitor = createFormClient(server);
    await visitor.signIn(account.email, account.password);
    const first = visitor.cookies.get('assay-session');
    const page = await createFormClient(server).open('/sign-in');
    const thief = createFormClient(server);
    thief.cookies.set('assay-session', first ?? '');
    expect(page.status).toBe(200);
    const form = await visitor.open('/account');
    const csrf = /name="_csrf" value="([^"]*)"/.exec(form.text)?.[1] ?? '';
    await visitor.post('/sign-in', { _csrf: csrf, email: account.email, password: account.password });
    expect(visitor.cookies.get('assay-session')).not.toBe(first);
    expect((await thief.get('/account')).status).toBe(303);
  });

  it('ends with a ban at the next page', async () => {
    const account = await createFixtures(server).account();
    const visitor = createFormClient(server);
    await visitor.signIn(account.email, account.password);
    expect((await visitor.get('/account')).status).toBe(200);
    await server.context.db.write((tx) => banUser(tx, cliChangeContext(now), account.id));
    expect((await visitor.get('/account')).location).toBe(`${server.origin}/sign-in?to=%2Faccount`);
    expect((await visitor.get('/oauth/authorize')).status).not.toBe(200);
  });

  it('ends when the user is deleted', async () => {
    const account = await createFixtures(server).account();
    const visitor = createFormClient(server);
    await visitor.signIn(account.email, account.password);
    await server.context.db.write((tx) => tx.deleteFrom('users').where('id', '=', account.id).execute());
    expect((await visitor.get('/account')).location).toBe(`${server.origin}/sign-in?to=%2Faccount`);
  });
});
