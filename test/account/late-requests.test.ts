import { beforeEach, describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { hashPassword } from '../../src/auth/passwords.ts';
import { setPassword } from '../../src/domain/sign-in/passwords.ts';
import { setSecondFactorRequirement } from '../../src/domain/sign-in/second-factor-requirement.ts';
import { secondFactorsOf } from '../../src/domain/sign-in/second-factors.ts';
import { endSessions } from '../../src/domain/sign-in/end-sessions.ts';
import { endOtherSessionsAndRotate, SessionEnded } from '../../src/domain/sign-in/sessions.ts';
import { signInSubject } from '../../src/domain/sign-in/sign-in-with-password.ts';
import { addTotp, generateTotpSecret } from '../../src/domain/sign-in/totp.ts';
import { gate } from '../harness/gate.ts';
import { useSharedServer } from '../harness/server.ts';
import { createFormClient, type FormPage, type FormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { SECOND_FACTOR } from '../harness/second-factors.ts';

const OWNERS = 'what the owner chose by the link';
const THIEFS = 'what the thief would like to have';

let now = Date.UTC(2026, 5, 1);
let account: Awaited<ReturnType<ReturnType<typeof createFixtures>['account']>>;
const server = await useSharedServer(() => now);
const ownersHash = await hashPassword(OWNERS);
beforeEach(async () => {
  account = await createFixtures(server).account();
});

const owner = () => ({ userId: account.id, organizationId: null });

interface DelayedWrites {
  /** Resolves when a request has read everything it needs and is about to write. */
  inside: Promise<void>;
  release(): void;
}

/**
 * Delays the server's writes after an attempt of the subject is counted, like a slow database. A request
 * counts its attempt first; later writes are based on what it read before.
 */
function delayWrites(subject: string): DelayedWrites {
  const { db } = server.context;
  const { write } = db;
  const inside = gate();
  const end = gate();
  db.write = async (transaction) => {
    const counted = await db.read
      .selectFrom('throttled_attempts')
      .select('subject')
      .where('subject', '=', subject)
      .executeTakeFirst();
    if (counted !== undefined) {
      inside.open();
      await end.opened;
    }
    return write(transaction);
  };
  return {
    inside: inside.opened.finally(() => {
      // Writes of the owner meanwhile are not delayed.
      db.write = write;
    }),
    release: end.open,
  };
}

/** Resets the password as a reset link does. */
const resetPassword = () =>
  server.context.db.write(async (tx) => {
    await setPassword(tx, cliChangeContext(now), account.id, ownersHash);
    await endSessions(tx, cliChangeContext(now), owner(), null);
  });

async function signedIn(): Promise<FormClient> {
  const visitor = createFormClient(server);
  await visitor.signIn(account.email, account.password);
  return visitor;
}

/** Expects a redirect to the sign-in page: the password was right, but is no longer valid. */
function expectRejected({ status, location }: FormPage): void {
  expect({ status, location }).toEqual({ status: 303, location: `${server.origin}/sign-in` });
}

describe('Changes while a request waits', () => {
  it('reject a sign-in with a replaced password', async () => {
    const thief = createFormClient(server);
    const page = await thief.open('/sign-in');
    const { email, password } = account;
    const delayed = delayWrites(signInSubject(email));
    const lateResponse = thief.submit(page, { email, password }, '/sign-in');
    await delayed.inside;
    await resetPassword();
    delayed.release();
    expectRejected(await lateResponse);
    expect((await thief.get('/account')).location).toBe(`${server.origin}/sign-in?to=%2Faccount`);
  });

  it('reject a sign-in with a password after the organization disables passwords', async () => {
    const organization = await createFixtures(server).organization();
    const { email, password } = await createFixtures(server).account({ organization: organization.uid });
    const visitor = createFormClient(server);
    const page = await visitor.open('/sign-in');
    const delayed = delayWrites(signInSubject(email));
    const lateResponse = visitor.submit(page, { email, password }, '/sign-in');
    await delayed.inside;
    await createFixtures(server).ssoOnly(organization.uid);
    delayed.release();
    expectRejected(await lateResponse);
    expect((await visitor.get('/account')).location).toBe(`${server.origin}/sign-in?to=%2Faccount`);
  });

  it('let a sign-in with a password wait for a second factor that was set up', async () => {
    const { email, password } = account;
    const { db, keys } = server.context;
    const visitor = createFormClient(server);
    const page = await visitor.open('/sign-in');
    const delayed = delayWrites(signInSubject(email));
    const lateResponse = visitor.submit(page, { email, password }, '/sign-in');
    await delayed.inside;
    await db.write((tx) =>
      addTotp(tx, cliChangeContext(now), owner(), keys.secret, { secret: generateTotpSecret(), step: 1 }),
    );
    delayed.release();
    expect((await lateResponse).location).toContain(SECOND_FACTOR);
    expect((await visitor.get('/account')).status).toBe(303);
  });

  it('let a sign-in with a password wait for a second factor that the organization requires', async () => {
    const { uid } = await createFixtures(server).organization();
    const { email, password } = await createFixtures(server).account({ organization: uid });
    const visitor = createFormClient(server);
    const page = await visitor.open('/sign-in');
    const delayed = delayWrites(signInSubject(email));
    const lateResponse = visitor.submit(page, { email, password }, '/sign-in');
    await delayed.inside;
    await server.context.db.write((tx) => setSecondFactorRequirement(tx, cliChangeContext(now), uid, true));
    delayed.release();
    expect((await lateResponse).location).toContain(SECOND_FACTOR);
    expect((await visitor.get('/account')).status).toBe(303);
  });

  it('reject a change of the password by an ended session', async () => {
    const thief = await signedIn();
    const page = await thief.open('/account/password');
    const fields = { current: account.password, password: THIEFS };
    const delayed = delayWrites(signInSubject(account.email));
    const lateResponse = thief.submit(page, fields, '/account/password');
    await delayed.inside;
    await resetPassword();
    delayed.release();
    expectRejected(await lateResponse);
    expect((await createFormClient(server).signIn(account.email, THIEFS)).status).toBe(401);
    expect((await createFormClient(server).signIn(account.email, OWNERS)).status).toBe(303);
  });

  it('reject the confirmation of an ended session', async () => {
    const thief = await signedIn();
    now += 600_000;
    const page = await thief.open('/account/security');
    const delayed = delayWrites(`second-factor:${account.id}`);
    const lateResponse = thief.submit(page, { proof: account.password }, '/account/security/confirm');
    await delayed.inside;
    await server.context.db.write((tx) => endSessions(tx, cliChangeContext(now), owner(), null));
    delayed.release();
    expectRejected(await lateResponse);
    expect((await thief.get('/account')).location).toBe(`${server.origin}/sign-in?to=%2Faccount`);
  });

  it('reject a change of second factors by an ended session', async () => {
    await signedIn();
    const { db, keys } = server.context;
    const { id } = await db.read
      .selectFrom('sessions')
      .select('id')
      .where('user_id', '=', account.id)
      .executeTakeFirstOrThrow();
    await db.write((tx) => endSessions(tx, cliChangeContext(now), owner(), null));
    const lateWrite = db.write(async (tx) => {
      const secret = generateTotpSecret();
      await addTotp(tx, cliChangeContext(now), owner(), keys.secret, { secret, step: 1 });
      return endOtherSessionsAndRotate(tx, cliChangeContext(now), { ...owner(), id });
    });
    await expect(lateWrite).rejects.toThrow(SessionEnded);
    expect((await secondFactorsOf(db.read, account.id)).totp).toBe(false);
  });
});
