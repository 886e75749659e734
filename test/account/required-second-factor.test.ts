import { describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { setSecondFactorRequirement } from '../../src/domain/sign-in/second-factor-requirement.ts';
import { resetSecondFactor } from '../../src/domain/sign-in/second-factors.ts';
import { passkeyOptions, SoftwareAuthenticator } from '../harness/authenticator.ts';
import {
  alertOn,
  totpCodeAt,
  recoveryCodesOn,
  setupKeyOn,
  SECOND_FACTOR,
  SECURITY,
  sendCode,
  setUpTotp,
} from '../harness/second-factors.ts';
import { useSharedServer } from '../harness/server.ts';
import { createFormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

const SET_UP = `${SECOND_FACTOR}/set-up`;

let now = Date.UTC(2026, 5, 1);
const server = await useSharedServer(() => now);

const require = (uid: string, required = true) =>
  server.context.db.write((tx) => setSecondFactorRequirement(tx, cliChangeContext(now), uid, required));

async function strictOrganization(): Promise<string> {
  const { uid } = await createFixtures(server).organization();
  await require(uid);
  return uid;
}

describe('Organizations that require a second factor', () => {
  it('require an authenticator app before the sign-in is complete', async () => {
    const account = await createFixtures(server).account({ organization: await strictOrganization() });
    const visitor = createFormClient(server);
    const halfSignedIn = await visitor.signIn(account.email, account.password, '/account/sessions');
    expect(halfSignedIn.location).toContain(SECOND_FACTOR);
    expect((await visitor.get('/account')).status).toBe(303);

    const form = await visitor.open(halfSignedIn.location ?? '');
    expect(form.url).toBe(`${server.origin}${SET_UP}?to=%2Faccount%2Fsessions`);
    const secret = setupKeyOn(form);
    const wrong = await visitor.submit(form, { code: '000000' }, SET_UP);
    expect(wrong.status).toBe(422);
    expect(setupKeyOn(wrong)).toBe(secret);
    const done = await visitor.submit(form, { code: totpCodeAt(secret, now) }, SET_UP);
    expect(done.status).toBe(200);
    expect(recoveryCodesOn(done)).toHaveLength(10);
    expect(done.text).toContain('href="/account/sessions"');
    expect((await visitor.get('/account')).status).toBe(200);

    // The next sign-in requires it.
    now += 30_000;
    const next = createFormClient(server);
    await next.signIn(account.email, account.password);
    expect((await next.open(SECOND_FACTOR)).url).toBe(`${server.origin}${SECOND_FACTOR}`);
    expect((await sendCode(next, 'code', totpCodeAt(secret, now))).status).toBe(303);
  });

  it('accept a passkey', async () => {
    const account = await createFixtures(server).account({ organization: await strictOrganization() });
    const visitor = createFormClient(server);
    await visitor.signIn(account.email, account.password);
    const device = new SoftwareAuthenticator(server);
    const rejected = await visitor.submit(
      await visitor.open(SECOND_FACTOR),
      { credential: device.make(await passkeyOptions(visitor, 'add'), { userVerified: false }) },
      `${SET_UP}/passkey`,
    );
    expect(rejected.status).toBe(422);
    const form = await visitor.open(SECOND_FACTOR);
    const credential = device.make(await passkeyOptions(visitor, 'add'));
    const done = await visitor.submit(form, { credential }, `${SET_UP}/passkey`);
    expect(recoveryCodesOn(done)).toHaveLength(10);
    expect((await visitor.get('/account')).status).toBe(200);
  });

  it('do not allow a new factor in place of an existing one', async () => {
    const account = await createFixtures(server).account({ organization: await strictOrganization() });
    const [owner, thief] = [createFormClient(server), createFormClient(server)];
    await owner.signIn(account.email, account.password);
    await thief.signIn(account.email, account.password);
    const form = await thief.open(SECOND_FACTOR);
    const early = await owner.open(SECOND_FACTOR);
    await owner.submit(early, { code: totpCodeAt(setupKeyOn(early), now) }, SET_UP);
    // The session that knew only the password has ended, and a new one must verify the factor.
    const response = await thief.submit(form, { code: totpCodeAt(setupKeyOn(form), now) }, SET_UP);
    expect(response.status).not.toBe(200);
    await thief.signIn(account.email, account.password);
    expect((await thief.open(SET_UP)).url).toContain(`${SECOND_FACTOR}?`);
    const page = await thief.open(SECOND_FACTOR);
    const csrf = /name="_csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    const credential = new SoftwareAuthenticator(server).make(await passkeyOptions(thief, 'add'));
    expect((await thief.post(`${SET_UP}/passkey`, { _csrf: csrf, credential })).status).toBe(409);
    expect((await thief.get('/account')).status).toBe(303);
  });

  it('end the sessions of users without a factor when the requirement starts', async () => {
    const fixtures = createFixtures(server);
    const { uid } = await fixtures.organization();
    const [without, having] = [
      await fixtures.account({ organization: uid }),
      await fixtures.account({ organization: uid }),
    ];
    const outsider = await fixtures.account();
    const visitors = [createFormClient(server), createFormClient(server), createFormClient(server)] as const;
    await visitors[0].signIn(without.email, without.password);
    await visitors[1].signIn(having.email, having.password);
    await setUpTotp(visitors[1], now);
    await visitors[2].signIn(outsider.email, outsider.password);
    await require(uid);
    await require(uid);
    const statuses = await Promise.all(
      visitors.map(async (visitor) => (await visitor.get('/account')).status),
    );
    expect(statuses).toEqual([303, 200, 200]);
    const events = (await fixtures.auditEvents()).filter(
      (event) => event.action === 'organization.update' && event.object_id === uid,
    );
    expect(events).toHaveLength(1);
    expect(JSON.parse(events[0]?.after ?? '')).toEqual({ require_second_factor: true });
  });

  it("keep a user's last factor while they require one", async () => {
    const fixtures = createFixtures(server);
    const organization = await strictOrganization();
    const account = await fixtures.account({ organization });
    const visitor = createFormClient(server);
    await visitor.signIn(account.email, account.password);
    const form = await visitor.open(SECOND_FACTOR);
    await visitor.submit(form, { code: totpCodeAt(setupKeyOn(form), now) }, SET_UP);
    const remove = `${SECURITY}/authenticator/remove`;
    const rejected = await visitor.submit(await visitor.open(SECURITY), {}, remove);
    expect(rejected.status).toBe(403);
    expect(alertOn(rejected)).toContain('Add another one first');
    expect((await visitor.get(SECURITY)).text).toContain('enter a code from your authenticator app');

    const device = new SoftwareAuthenticator(server);
    const page = await visitor.open(SECURITY);
    const credential = device.make(await passkeyOptions(visitor, 'add'));
    await visitor.submit(page, { credential, name: 'Phone' }, `${SECURITY}/passkeys`);
    // Only one of two concurrent removals succeeds.
    const securityPage = await visitor.open(SECURITY);
    await Promise.all([
      visitor.submit(securityPage, {}, remove),
      visitor.submit(securityPage, {}, `${SECURITY}/passkeys/remove`),
    ]);
    const { db } = server.context;
    const left = await Promise.all([
      db.read.selectFrom('totp_secrets').select('user_id').where('user_id', '=', account.id).execute(),
      db.read.selectFrom('passkeys').select('id').where('user_id', '=', account.id).execute(),
    ]);
    expect(left.flat()).toHaveLength(1);

    await require(organization, false);
    const after = createFormClient(server);
    const otherAccount = await fixtures.account({ organization });
    expect((await after.signIn(otherAccount.email, otherAccount.password)).location).toBe(
      `${server.origin}/`,
    );
  });
});

describe('Lost second factors', () => {
  it('are reset by an operator, which ends the sessions, so that the password is sufficient', async () => {
    const fixtures = createFixtures(server);
    const account = await fixtures.account();
    const visitor = createFormClient(server);
    await visitor.signIn(account.email, account.password);
    await setUpTotp(visitor, now);
    const previous = await server.context.db.write((tx) =>
      resetSecondFactor(tx, cliChangeContext(now), account.id),
    );
    expect(previous).toMatchObject({ totp: true, passkeys: 0, recoveryCodes: 10 });
    expect((await visitor.get('/account')).status).toBe(303);
    expect((await createFormClient(server).signIn(account.email, account.password)).location).toBe(
      `${server.origin}/`,
    );
    const events = await fixtures.auditEvents();
    const event = events.find(
      ({ action, object_id }) => action === 'user.reset-second-factor' && object_id === String(account.id),
    );
    expect(JSON.parse(event?.before ?? '')).toEqual({ totp: true, passkeys: 0, recovery_codes: 10 });
  });
});
