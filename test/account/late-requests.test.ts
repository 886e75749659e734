import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cliAttribution } from '../../src/auth/callers.ts';
import { hashPassword } from '../../src/auth/passwords.ts';
import { setPassword } from '../../src/domain/sign-in/passwords.ts';
import { secondFactorsOf, endOtherSessionsAndRotate } from '../../src/domain/sign-in/second-factors.ts';
import { endSessions } from '../../src/domain/sign-in/end-sessions.ts';
import { SessionEnded } from '../../src/domain/sign-in/sessions.ts';
import { signInSubject } from '../../src/domain/sign-in/sign-in-with-password.ts';
import { addTotp, generateTotpSecret } from '../../src/domain/sign-in/totp.ts';
import { type TestServer, useSharedServer } from '../harness/server.ts';
import { createFormClient, type FormPage, type FormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

const OWNERS = 'what the owner chose by the link';
const THIEFS = 'what the thief would like to have';

let server: TestServer;
let now = Date.UTC(2026, 5, 1);
let account: Awaited<ReturnType<ReturnType<typeof createFixtures>['account']>>;
let ownersHash: string;
beforeAll(async () => {
  server = await useSharedServer(() => now);
  ownersHash = await hashPassword(OWNERS);
});
afterAll(() => server.close());
beforeEach(async () => {
  account = await createFixtures(server).account();
});

const owner = () => ({ userId: account.id, organizationId: null });

interface Held {
  /** Resolves once a request has looked at all that it wants to know, and is about to change something. */
  inside: Promise<void>;
  /** Lets it go on. */
  release(): void;
}

/**
 * Holds back what the server writes once an attempt of the subject is counted, as if the database were slow to take it.
 * A request counts its attempt first; what it writes then, it writes for what it saw before.
 */
function holdWrites(subject: string): Held {
  const { db } = server.context;
  const { write } = db;
  let enter: () => void = () => undefined;
  let release = enter;
  const inside = new Promise<void>((resolve) => (enter = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  db.write = async (unit) => {
    const counted = await db.read
      .selectFrom('throttled_attempts')
      .select('subject')
      .where('subject', '=', subject)
      .executeTakeFirst();
    if (counted !== undefined) {
      enter();
      await released;
    }
    return write(unit);
  };
  return {
    inside: inside.finally(() => {
      // What the owner does meanwhile is not held.
      db.write = write;
    }),
    release,
  };
}

/** What a link for a new password does. */
const resetPassword = () =>
  server.context.db.write(async (tx) => {
    await setPassword(tx, cliAttribution(now), account.id, ownersHash);
    await endSessions(tx, cliAttribution(now), owner(), null);
  });

async function signedIn(): Promise<FormClient> {
  const visitor = createFormClient(server);
  await visitor.signIn(account.email, account.password);
  return visitor;
}

/** It leads to the sign-in page: its password was right, and what it was to be right for is gone. */
function expectRefused({ status, location }: FormPage): void {
  expect({ status, location }).toEqual({ status: 303, location: `${server.origin}/sign-in` });
}

describe('While a request waits', () => {
  it('a password that is replaced signs nobody in any more', async () => {
    const thief = createFormClient(server);
    const page = await thief.open('/sign-in');
    const { email, password } = account;
    const held = holdWrites(signInSubject(email));
    const late = thief.submit(page, { email, password }, '/sign-in');
    await held.inside;
    await resetPassword();
    held.release();
    expectRefused(await late);
    expect((await thief.get('/account')).location).toBe(`${server.origin}/sign-in?to=%2Faccount`);
  });

  it('a password that an organization refuses from now on signs nobody in any more', async () => {
    const organization = await createFixtures(server).organization();
    const { email, password } = await createFixtures(server).account({ organization: organization.uid });
    const visitor = createFormClient(server);
    const page = await visitor.open('/sign-in');
    const held = holdWrites(signInSubject(email));
    const late = visitor.submit(page, { email, password }, '/sign-in');
    await held.inside;
    await createFixtures(server).ssoOnly(organization.uid);
    held.release();
    expectRefused(await late);
    expect((await visitor.get('/account')).location).toBe(`${server.origin}/sign-in?to=%2Faccount`);
  });

  it('a session that ends changes no password any more', async () => {
    const thief = await signedIn();
    const page = await thief.open('/account/password');
    const fields = { current: account.password, password: THIEFS };
    const held = holdWrites(signInSubject(account.email));
    const late = thief.submit(page, fields, '/account/password');
    await held.inside;
    await resetPassword();
    held.release();
    expectRefused(await late);
    expect((await createFormClient(server).signIn(account.email, THIEFS)).status).toBe(401);
    expect((await createFormClient(server).signIn(account.email, OWNERS)).status).toBe(303);
  });

  it('a session that ends does not come back by confirming it', async () => {
    const thief = await signedIn();
    now += 600_000;
    const page = await thief.open('/account/security');
    const held = holdWrites(`second-factor:${account.id}`);
    const late = thief.submit(page, { proof: account.password }, '/account/security/confirm');
    await held.inside;
    await server.context.db.write((tx) => endSessions(tx, cliAttribution(now), owner(), null));
    held.release();
    expectRefused(await late);
    expect((await thief.get('/account')).location).toBe(`${server.origin}/sign-in?to=%2Faccount`);
  });

  it('a session that ends changes no second factor any more', async () => {
    await signedIn();
    const { db, keys } = server.context;
    const { id } = await db.read
      .selectFrom('sessions')
      .select('id')
      .where('user_id', '=', account.id)
      .executeTakeFirstOrThrow();
    await db.write((tx) => endSessions(tx, cliAttribution(now), owner(), null));
    const late = db.write(async (tx) => {
      const secret = generateTotpSecret();
      await addTotp(tx, cliAttribution(now), owner(), keys.secret, { secret, step: 1 });
      return endOtherSessionsAndRotate(tx, cliAttribution(now), { ...owner(), id });
    });
    await expect(late).rejects.toThrow(SessionEnded);
    expect((await secondFactorsOf(db.read, account.id)).totp).toBe(false);
  });
});
