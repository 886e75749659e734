import { afterAll, describe, expect, it } from 'vitest';
import { invitationUrl } from '../../src/auth/account-links.ts';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { ConfigError, loadConfig } from '../../src/config/config.ts';
import { createPasswordReset } from '../../src/domain/sign-in/password-resets.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { createFormClient, type FormClient } from '../harness/form-client.ts';
import {
  alertOn,
  recoveryCodesOn,
  SECOND_FACTOR,
  SECURITY,
  setUpTotp,
  setupKeyOn,
  totpCodeAt,
} from '../harness/second-factors.ts';
import { startSecondServer, type TestServer, useSharedServer } from '../harness/server.ts';

const SET_UP = `${SECOND_FACTOR}/set-up`;
const PASSWORD = 'correct horse battery staple';

let now = Date.UTC(2026, 5, 1);
const started: TestServer[] = [];

async function startStrict(): Promise<TestServer> {
  const strict = await startSecondServer(lax, { staffSecondFactor: 'required' });
  started.push(strict);
  return strict;
}
/** `lax` leaves the second factor of staff optional, `server` requires it. */
const lax = await useSharedServer(() => now);
const server = await startStrict();
afterAll(async () => {
  for (const running of started) await running.close();
});

/** Completes the page to which a user without a factor is redirected. */
async function setUp(visitor: FormClient) {
  const form = await visitor.open(SECOND_FACTOR);
  expect(form.url).toContain(SET_UP);
  return visitor.submit(form, { code: totpCodeAt(setupKeyOn(form), now) }, SET_UP);
}

describe('Staff who need a second factor', () => {
  it('set one up before the sign-in with a password is complete', async () => {
    const staff = await createFixtures(server).account();
    const visitor = createFormClient(server);
    const halfSignedIn = await visitor.signIn(staff.email, staff.password, '/account/sessions');
    expect(halfSignedIn.location).toBe(`${server.origin}${SECOND_FACTOR}?to=%2Faccount%2Fsessions`);
    expect((await visitor.get('/account')).status).toBe(303);
    expect(recoveryCodesOn(await setUp(visitor))).toHaveLength(10);
    expect((await visitor.get('/account')).status).toBe(200);
  });

  it('set one up after an invitation', async () => {
    const { uid } = await createFixtures(server).invited();
    const visitor = createFormClient(server);
    const page = await visitor.open(invitationUrl('', server.context.keys.secret, { uid, invitedAt: now }));
    await visitor.submit(page, { name: 'Sam', password: PASSWORD }, '/invitation');
    expect((await visitor.get('/account')).status).toBe(303);
    expect(recoveryCodesOn(await setUp(visitor))).toHaveLength(10);
  });

  it('set one up after a password reset', async () => {
    const staff = await createFixtures(server).account();
    const { secret } = await server.context.db.write((tx) =>
      createPasswordReset(tx, cliChangeContext(now), staff.id),
    );
    const visitor = createFormClient(server);
    const page = await visitor.open(`/reset-password?token=${secret}`);
    await visitor.submit(page, { password: PASSWORD }, '/reset-password');
    expect((await visitor.get('/account')).status).toBe(303);
    expect(recoveryCodesOn(await setUp(visitor))).toHaveLength(10);
  });

  it('keep their last factor', async () => {
    const staff = await createFixtures(server).account();
    const visitor = createFormClient(server);
    await visitor.signIn(staff.email, staff.password);
    await setUp(visitor);
    const rejected = await visitor.submit(
      await visitor.open(SECURITY),
      {},
      `${SECURITY}/authenticator/remove`,
    );
    expect(rejected.status).toBe(403);
    expect(alertOn(rejected)).toContain('Add another one first');
  });

  it('keep their tokens without one', async () => {
    const { token } = await createFixtures(server).user();
    expect((await server.request('GET', '/v1/organizations', { token })).status).toBe(200);
  });

  it('are signed out without one when a server that requires it starts', async () => {
    const fixtures = createFixtures(lax);
    const { uid } = await fixtures.organization();
    const accounts = [
      await fixtures.account(),
      await fixtures.account(),
      await fixtures.account({ organization: uid }),
    ];
    const visitors = await Promise.all(
      accounts.map(async ({ email, password }) => {
        const visitor = createFormClient(lax);
        await visitor.signIn(email, password);
        return visitor;
      }),
    );
    await setUpTotp(visitors[1] as FormClient, now);
    await startStrict();
    const statuses = await Promise.all(
      visitors.map(async (visitor) => (await visitor.get('/account')).status),
    );
    expect(statuses).toEqual([303, 200, 200]);
  });
});

describe('A second factor of staff', () => {
  it('is not required of users of organizations', async () => {
    const { uid } = await createFixtures(server).organization();
    const account = await createFixtures(server).account({ organization: uid });
    const signedIn = await createFormClient(server).signIn(account.email, account.password);
    expect(signedIn.location).toBe(`${server.origin}/`);
  });

  it('can be optional', async () => {
    const staff = await createFixtures(lax).account();
    const visitor = createFormClient(lax);
    expect((await visitor.signIn(staff.email, staff.password)).location).toBe(`${lax.origin}/`);
    await setUpTotp(visitor, now);
    const removed = await visitor.submit(
      await visitor.open(SECURITY),
      {},
      `${SECURITY}/authenticator/remove`,
    );
    expect(removed.status).toBe(303);
  });
});

describe('ASSAY_STAFF_SECOND_FACTOR', () => {
  const read = (value?: string) => loadConfig({}, { ASSAY_STAFF_SECOND_FACTOR: value }).staffSecondFactor;

  it('is required or optional', () => {
    expect(read('required')).toBe('required');
    expect(read('optional')).toBe('optional');
    expect(() => read('never')).toThrow(ConfigError);
  });

  it('depends on the demo data by default', () => {
    expect(read()).toBeUndefined();
  });
});
