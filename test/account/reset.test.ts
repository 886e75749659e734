import { beforeEach, describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { hashSecret, randomText } from '../../src/auth/secrets.ts';
import { banUser } from '../../src/domain/users/ban-user.ts';
import { createPasswordReset } from '../../src/domain/sign-in/password-resets.ts';
import { type TestServer, useSharedServer } from '../harness/server.ts';
import { createFormClient, type FormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

const HOUR = 3_600_000;
const NEXT = 'a wholly different pass phrase';
const DEAD = 'This link is no longer valid';

let now = Date.UTC(2026, 5, 1);
let account: Awaited<ReturnType<ReturnType<typeof createFixtures>['account']>>;
const server = await useSharedServer(() => now);
const fixtures = createFixtures(server);
beforeEach(async () => {
  account = await fixtures.account();
});

const write: TestServer['context']['db']['write'] = (transaction) => server.context.db.write(transaction);

/** @returns the path of a link as the command line creates it */
async function newLink(userId = account.id): Promise<string> {
  const { secret } = await write((tx) => createPasswordReset(tx, cliChangeContext(now), userId));
  return `/reset-password?token=${secret}`;
}

/** @returns the path of a link as it is mailed */
async function mailedLink(userId = account.id): Promise<string> {
  const { secret } = await write((tx) => createPasswordReset(tx, cliChangeContext(now), userId, 'mail'));
  return `/reset-password?token=${secret}`;
}

async function follow(path: string, password = NEXT, visitor: FormClient = createFormClient(server)) {
  return visitor.submit(await visitor.open(path), { password }, '/reset-password');
}

describe('Password reset link', () => {
  it('opens a page with the account and the consequences', async () => {
    const page = await createFormClient(server).get(await newLink());
    expect(page.status).toBe(200);
    expect(page.text).toContain(account.email);
    expect(page.text).toContain('Personal access tokens keep working');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.text).toContain('/assets/clean-address.js');
  });

  it('sets the password, signs in, and ends all previous sessions', async () => {
    const before = createFormClient(server);
    await before.signIn(account.email, account.password);
    const visitor = createFormClient(server);
    const response = await follow(await newLink(), NEXT, visitor);
    expect(response.status).toBe(303);
    expect(response.location).toBe(`${server.origin}/`);
    expect((await visitor.get('/account')).text).toContain(account.email);
    expect((await before.get('/account')).status).toBe(303);
    expect((await createFormClient(server).signIn(account.email, account.password)).status).toBe(401);
    expect((await createFormClient(server).signIn(account.email, NEXT)).status).toBe(303);
  });

  it('is stored as a hash and not logged', async () => {
    const path = await newLink();
    const secret = path.split('token=')[1] ?? '';
    const { read } = server.context.db;
    expect(
      await read.selectFrom('password_resets').selectAll().where('user_id', '=', account.id).execute(),
    ).toEqual([
      { user_id: account.id, secret_hash: hashSecret(secret), made_by: 'hand', expires_at: now + HOUR },
    ]);
    await follow(path);
    const recordedText = JSON.stringify(await fixtures.auditEvents()) + JSON.stringify(server.logs());
    for (const secretText of [secret, NEXT]) expect(recordedText).not.toContain(secretText);
  });

  it('is recorded when it is created and used, by the user', async () => {
    const otherAccount = await fixtures.account();
    const visitor = createFormClient(server);
    await visitor.signIn(otherAccount.email, otherAccount.password);
    const path = await newLink();
    await follow(path, NEXT, visitor);
    const events = (await fixtures.auditEvents()).filter(
      ({ object_type, object_id }) => object_type === 'user' && object_id === String(account.id),
    );
    expect(events.slice(1)).toMatchObject([
      { action: 'password-reset.create', user_id: null, after: JSON.stringify({ expires_at: now + HOUR }) },
      { action: 'password-reset.use', user_id: account.id },
      { action: 'user.set-password', user_id: account.id },
    ]);
    expect((await fixtures.auditEvents()).at(-1)).toMatchObject({
      action: 'session.start',
      user_id: account.id,
      after: JSON.stringify({ user: account.id, method: 'reset' }),
    });
  });

  it('of an admin is not revoked by mailed ones, and all are revoked when one is used', async () => {
    const adminLink = await newLink();
    const mailed = await mailedLink();
    for (const path of [adminLink, mailed])
      expect((await createFormClient(server).get(path)).status).toBe(200);
    const renewed = await newLink();
    expect((await createFormClient(server).get(adminLink)).status).toBe(404);
    expect((await createFormClient(server).get(mailed)).status).toBe(200);
    expect((await follow(mailed)).status).toBe(303);
    expect((await createFormClient(server).get(renewed)).status).toBe(404);
  });

  it('is limited to twenty valid mailed ones', async () => {
    const adminLink = await newLink();
    const mailed: string[] = [];
    for (let count = 0; count <= 20; count += 1) {
      now += 1;
      mailed.push(await mailedLink());
    }
    const states = [];
    for (const path of [adminLink, ...mailed]) states.push((await createFormClient(server).get(path)).status);
    expect(states).toEqual([200, 404, ...Array.from({ length: 20 }, () => 200)]);
  });

  it('can be used once', async () => {
    const path = await newLink();
    const lateBrowser = createFormClient(server);
    const page = await lateBrowser.open(path);
    await follow(path);
    const response = await lateBrowser.submit(
      page,
      { password: 'not any more, my friend' },
      '/reset-password',
    );
    expect(response.status).toBe(404);
    expect(response.text).toContain(DEAD);
    expect((await createFormClient(server).signIn(account.email, NEXT)).status).toBe(303);
  });

  it('can be used once when submitted concurrently', async () => {
    const path = await newLink();
    const passwords = Array.from({ length: 4 }, (_, index) => `${NEXT} number ${index}`);
    const visitors = passwords.map(() => createFormClient(server));
    const pages = await Promise.all(visitors.map((visitor) => visitor.open(path)));
    const responses = await Promise.all(
      visitors.map((visitor, index) =>
        visitor.submit(pages[index]!, { password: passwords[index]! }, '/reset-password'),
      ),
    );
    const winners = responses.flatMap(({ status }, index) => (status === 303 ? [index] : []));
    expect(winners).toHaveLength(1);
    for (const { status } of responses) expect([303, 404, 410]).toContain(status);
    expect((await createFormClient(server).signIn(account.email, passwords[winners[0]!]!)).status).toBe(303);
  });

  it('expires after an hour', async () => {
    const path = await newLink();
    now += HOUR - 1;
    const visitor = createFormClient(server);
    const page = await visitor.open(path);
    expect(page.status).toBe(200);
    now += 1;
    expect((await visitor.submit(page, { password: NEXT }, '/reset-password')).status).toBe(410);
    expect((await visitor.get(path)).status).toBe(410);
  });

  it('is revoked by a newer one', async () => {
    const older = await newLink();
    const newer = await newLink();
    expect((await createFormClient(server).get(older)).status).toBe(404);
    expect((await follow(newer)).status).toBe(303);
  });

  it('is revoked by a ban', async () => {
    const path = await newLink();
    const visitor = createFormClient(server);
    const page = await visitor.open(path);
    await write((tx) => banUser(tx, cliChangeContext(now), account.id));
    expect((await visitor.submit(page, { password: NEXT }, '/reset-password')).status).toBe(410);
    expect((await visitor.get(path)).status).toBe(410);
  });

  it('returns the same 404 for every guess', async () => {
    for (const token of [randomText(43), '', '%00', 'x'.repeat(200)]) {
      const page = await createFormClient(server).get(`/reset-password?token=${token}`);
      expect(page.status).toBe(404);
      expect(page.text).toContain(DEAD);
    }
    expect((await createFormClient(server).get('/reset-password')).status).toBe(404);
  });

  it('revokes the access of applications, and keeps personal access tokens', async () => {
    const client = `client${account.id}`;
    await write(async (tx) => {
      await tx
        .insertInto('oauth_clients')
        .values({
          id: client,
          name: 'Reporter',
          kind: 'public',
          secret_hash: null,
          redirect_uris: '[]',
          implicit: 0,
          user_id: null,
          created_at: now,
        })
        .execute();
      const key = { user_id: account.id, client_id: client };
      await tx
        .insertInto('oauth_consents')
        .values({ ...key, scopes: 'api', created_at: now })
        .execute();
      const grantRow = { ...key, scopes: 'api', grant_id: 'g', created_at: now, expires_at: now + HOUR };
      await tx
        .insertInto('refresh_tokens')
        .values({
          ...grantRow,
          id: `r${account.id}`,
          secret_hash: `r${account.id}`,
          grant_expires_at: now + HOUR,
          used_at: null,
          revoked_at: null,
        })
        .execute();
      await tx
        .insertInto('tokens')
        .values({
          ...grantRow,
          id: `a${account.id}`,
          kind: 'jwt',
          secret_hash: null,
          allowed_addresses: null,
          revoked_at: null,
          last_used_at: null,
          last_used_from: null,
          name: null,
        })
        .execute();
    });
    const ownToken = await fixtures.token(account.id);
    await follow(await newLink());
    const { read } = server.context.db;
    const ownTokens = await read
      .selectFrom('tokens')
      .select(['id', 'revoked_at'])
      .where('user_id', '=', account.id)
      .orderBy('client_id')
      .execute();
    expect(Object.fromEntries(ownTokens.map((token) => [token.id, token.revoked_at]))).toEqual({
      [`a${account.id}`]: now,
      [ownToken.id]: null,
    });
    const refresh = read.selectFrom('refresh_tokens').select('revoked_at').where('client_id', '=', client);
    expect(await refresh.execute()).toEqual([{ revoked_at: now }]);
    expect(
      await read.selectFrom('oauth_consents').selectAll().where('user_id', '=', account.id).execute(),
    ).toEqual([]);
    const response = await server.request('GET', '/v1/assessments/nothing/testing_hours', {
      token: ownToken.token,
    });
    expect(response.status).toBe(404);
  });

  it('unlocks the account', async () => {
    for (let attempt = 1; attempt <= 10; attempt += 1)
      await createFormClient(server).signIn(account.email, 'not the password');
    expect((await createFormClient(server).signIn(account.email, account.password)).status).toBe(429);
    await follow(await newLink());
    expect((await createFormClient(server).signIn(account.email, NEXT)).status).toBe(303);
  });

  it('does not replace the second factor', async () => {
    const organization = await fixtures.organization();
    await write((tx) =>
      tx
        .updateTable('organizations')
        .set({ require_second_factor: 1 })
        .where('id', '=', organization.id)
        .execute(),
    );
    const user = await fixtures.account({ organization: organization.uid });
    const visitor = createFormClient(server);
    const response = await follow(await newLink(user.id), NEXT, visitor);
    expect(response.location).toBe(`${server.origin}/sign-in/second-factor?to=%2F`);
    expect((await visitor.get('/account')).status).toBe(303);
  });

  it.each([
    ['short', 'at least 12'],
    ['password1234', 'too easy to guess'],
  ])('stays valid after %s is rejected', async (password, words) => {
    const path = await newLink();
    const response = await follow(path, password);
    expect(response.status).toBe(422);
    expect(response.text).toContain(words);
    expect(response.text).not.toContain(`"${password}"`);
    expect((await follow(path)).status).toBe(303);
  });

  it('is not created for users who cannot use it', async () => {
    const invited = await fixtures.invited();
    await expect(newLink(invited.id)).rejects.toMatchObject({ kind: 'forbidden' });
    await write((tx) => banUser(tx, cliChangeContext(now), account.id));
    await expect(newLink()).rejects.toMatchObject({ kind: 'forbidden' });
    await expect(newLink(999_999)).rejects.toMatchObject({ kind: 'not-found' });
  });

  it('is not valid for accounts of an organization with single sign-on only', async () => {
    const organization = await fixtures.organization();
    const user = await fixtures.account({ organization: organization.uid });
    const path = await newLink(user.id);
    await fixtures.ssoOnly(organization.uid);
    expect((await createFormClient(server).get(path)).status).toBe(410);
    await expect(newLink(user.id)).rejects.toMatchObject({ kind: 'forbidden' });
    expect((await createFormClient(server).signIn(user.email, user.password)).status).toBe(401);
  });
});

describe('Password reset without a mail server', () => {
  it('asks the user to contact an admin', async () => {
    const visitor = createFormClient(server);
    expect((await visitor.open('/sign-in')).text).toContain('href="/reset-password/request"');
    const page = await visitor.open('/reset-password/request');
    expect(page.text).toContain('Ask an admin');
    expect(page.text).not.toContain('name="email"');
  });
});
