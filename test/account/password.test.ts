import { beforeEach, describe, expect, it } from 'vitest';
import { randomText } from '../../src/auth/secrets.ts';
import { useSharedServer } from '../harness/server.ts';
import { createFormClient, type FormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { SECURITY, setUpTotp, totpCodeAt } from '../harness/second-factors.ts';

const NEXT = 'vier zufällige wörter hier';

let now = Date.UTC(2026, 5, 1);
let account: Awaited<ReturnType<ReturnType<typeof createFixtures>['account']>>;
let visitor: FormClient;
const server = await useSharedServer(() => now);
const fixtures = createFixtures(server);
beforeEach(async () => {
  account = await fixtures.account({ name: 'Grace Hopper' });
  visitor = createFormClient(server);
  await visitor.signIn(account.email, account.password);
});

async function change(current: string, password: string) {
  return visitor.submit(await visitor.open('/account/password'), { current, password }, '/account/password');
}

describe('Changing the password', () => {
  it('ends every other session and renews the current one', async () => {
    const otherBrowser = createFormClient(server);
    await otherBrowser.signIn(account.email, account.password);
    const before = new Map(visitor.cookies);
    const response = await change(account.password, NEXT);
    expect(response.status).toBe(303);
    expect((await visitor.open(response.location ?? '')).text).toContain('Password changed');
    expect((await otherBrowser.get('/account')).status).toBe(303);

    const thief = createFormClient(server);
    for (const [name, value] of before) thief.cookies.set(name, value);
    expect((await thief.get('/account')).status).toBe(303);
    expect((await createFormClient(server).signIn(account.email, account.password)).status).toBe(401);
    expect((await createFormClient(server).signIn(account.email, NEXT)).status).toBe(303);
  });

  describe('of an account with a second factor', () => {
    let secret: string;
    beforeEach(async () => {
      ({ secret } = await setUpTotp(visitor, now));
      now += 600_000;
    });
    const confirmationPath = '/account/security?to=%2Faccount%2Fpassword';

    it('requires a recent confirmation, which leads back to it', async () => {
      expect((await visitor.get('/account/password')).location).toBe(`${server.origin}${confirmationPath}`);
      const page = await visitor.open('/account/password');
      expect(page.text).toContain('Confirm your identity');
      expect(page.text).not.toContain('Authenticator app');
      const wrong = await visitor.submit(page, { proof: '000000' }, `${SECURITY}/confirm`);
      expect(wrong.status).toBe(401);
      const sameForm = { ...wrong, url: page.url };
      const right = await visitor.submit(sameForm, { proof: totpCodeAt(secret, now) }, `${SECURITY}/confirm`);
      expect(right.location).toBe(`${server.origin}/account/password`);
      const changed = await change(account.password, NEXT);
      expect(changed.location).toBe(`${server.origin}/account/password?done=changed`);
    });

    it('requires a recent confirmation, even if the current password is correct', async () => {
      // Opens the form just before the confirmation expires.
      now -= 1;
      const page = await visitor.open('/account/password');
      now += 1;
      for (const current of [account.password, 'not the password']) {
        const rejected = await visitor.submit(page, { current, password: NEXT }, '/account/password');
        expect(rejected.location).toBe(`${server.origin}${confirmationPath}`);
      }
      expect((await createFormClient(server).signIn(account.email, NEXT)).status).toBe(401);
    });

    it('does not redirect to another site after the confirmation', async () => {
      const page = await visitor.open(`${SECURITY}?to=https%3A%2F%2Felsewhere.example%2F`);
      const right = await visitor.submit(page, { proof: totpCodeAt(secret, now) }, `${SECURITY}/confirm`);
      expect(right.location).toBe(`${server.origin}/`);
    });
  });

  it('requires only the password of an account without a second factor', async () => {
    now += 600_000;
    const changed = await change(account.password, NEXT);
    expect(changed.location).toBe(`${server.origin}/account/password?done=changed`);
  });

  it('keeps personal access tokens', async () => {
    const { token } = await fixtures.token(account.id);
    await change(account.password, NEXT);
    const response = await server.request('GET', '/v1/assessments/nothing/testing_hours', { token });
    expect(response.status).toBe(404);
  });

  it('is recorded without either password', async () => {
    await change(account.password, NEXT);
    const events = (await fixtures.auditEvents()).filter(
      ({ object_id, action }) => action === 'user.set-password' && object_id === String(account.id),
    );
    expect(events).toMatchObject([{ user_id: account.id, before: null, after: null }]);
    const recordedText = JSON.stringify(await fixtures.auditEvents()) + JSON.stringify(server.logs());
    expect(recordedText).not.toContain(NEXT);
    expect(recordedText).not.toContain(account.password);
  });

  it('revokes pending reset links', async () => {
    await server.context.db.write((tx) =>
      tx
        .insertInto('password_resets')
        .values(
          (['hand', 'mail'] as const).map((made_by) => ({
            user_id: account.id,
            secret_hash: `hash of ${account.id} by ${made_by}`,
            made_by,
            expires_at: now + 1_000,
          })),
        )
        .execute(),
    );
    await change(account.password, NEXT);
    const { read } = server.context.db;
    expect(
      await read.selectFrom('password_resets').selectAll().where('user_id', '=', account.id).execute(),
    ).toEqual([]);
  });

  it('accepts every Unicode composition of a password', async () => {
    await change(account.password, NEXT.normalize('NFD'));
    expect((await createFormClient(server).signIn(account.email, NEXT.normalize('NFC'))).status).toBe(303);
    expect((await createFormClient(server).signIn(account.email, NEXT.normalize('NFD'))).status).toBe(303);
  });

  it('uses every character of a long password', async () => {
    const longPassword = randomText(256);
    expect((await change(account.password, longPassword)).status).toBe(303);
    expect((await createFormClient(server).signIn(account.email, longPassword.slice(0, -1))).status).toBe(
      401,
    );
    expect((await createFormClient(server).signIn(account.email, longPassword)).status).toBe(303);
  });

  it('counts a wrong current password as a failed sign-in, and locks the account', async () => {
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      const response = await change('not the password', NEXT);
      expect(response.status).toBe(422);
      expect(response.text).toContain('The current password is wrong.');
    }
    const locked = await change(account.password, NEXT);
    expect(locked.status).toBe(429);
    expect(locked.headers.get('retry-after')).toBe('600');
    expect((await createFormClient(server).signIn(account.email, account.password)).status).toBe(429);
    now += 600_000;
    expect((await change(account.password, NEXT)).status).toBe(303);
  });

  it.each([
    ['short', 'at least 12 characters'],
    ['x'.repeat(257), 'at most 256 characters'],
    ['qwertyuiop123', 'too easy to guess'],
    ['gracehopper1', 'too easy to guess'],
    ['assayassayassay', 'too easy to guess'],
  ])('rejects %s and does not show it', async (password, words) => {
    const response = await change(account.password, password);
    expect(response.status).toBe(422);
    expect(response.text).toContain(words);
    expect(response.text).not.toContain(account.password);
    expect(response.text).not.toContain(`"${password}"`);
    expect((await createFormClient(server).signIn(account.email, account.password)).status).toBe(303);
  });

  it('rejects the current password', async () => {
    expect((await change(account.password, account.password)).text).toContain('your current password');
  });

  it('is unavailable to an account without a password', async () => {
    const { db } = server.context;
    await db.write((tx) =>
      tx.updateTable('users').set({ password_hash: null }).where('id', '=', account.id).execute(),
    );
    const page = await visitor.open('/account/password');
    expect(page.text).toContain('Your account has no password');
    expect(page.text).not.toContain('name="current"');
  });

  it('requires a session and a CSRF token', async () => {
    expect((await createFormClient(server).get('/account/password')).location).toBe(
      `${server.origin}/sign-in?to=%2Faccount%2Fpassword`,
    );
    const forged = await visitor.post('/account/password', { current: account.password, password: NEXT });
    expect(forged.status).toBe(403);
  });
});
