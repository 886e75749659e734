import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { commandLine } from '../../src/auth/callers.ts';
import { hashPassword } from '../../src/auth/passwords.ts';
import { setPassword } from '../../src/domain/sign-in/passwords.ts';
import { secondFactorsOf, settleSessions } from '../../src/domain/sign-in/second-factors.ts';
import { endSessions } from '../../src/domain/sign-in/session-ends.ts';
import { SessionEnded } from '../../src/domain/sign-in/sessions.ts';
import { signInSubject } from '../../src/domain/sign-in/sign-ins.ts';
import { addTotp, newTotpSecret } from '../../src/domain/sign-in/totp.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { newVisitor, type Visit, type Visitor } from '../harness/visitor.ts';
import { worldOf } from '../harness/world.ts';

const OWNERS = 'what the owner chose by the link';
const THIEFS = 'what the thief would like to have';

let server: TestServer;
let now = Date.UTC(2026, 5, 1);
let account: Awaited<ReturnType<ReturnType<typeof worldOf>['account']>>;
let ownersHash: string;
beforeAll(async () => {
  server = await startTestServer({}, () => now);
  ownersHash = await hashPassword(OWNERS);
});
afterAll(() => server.close());
beforeEach(async () => {
  account = await worldOf(server).account();
});

const owner = () => ({ userId: account.id, organizationId: null });

/** Lets so many passwords wait that what is sent now is looked at a moment later. */
const delayPasswords = () => Promise.all(Array.from({ length: 30 }, () => hashPassword('in front')));

/** Resolves once an attempt of the kind is counted, and so its password waits. */
async function attemptCounted(subject: string): Promise<void> {
  const attempts = () =>
    server.context.db.read
      .selectFrom('attempts')
      .select('subject')
      .where('subject', '=', subject)
      .executeTakeFirst();
  while ((await attempts()) === undefined) await setImmediate();
  await setImmediate();
}

/** What a link for a new password does. */
const resetPassword = () =>
  server.context.db.write(async (tx) => {
    await setPassword(tx, commandLine(now), account.id, ownersHash);
    await endSessions(tx, commandLine(now), owner(), null);
  });

async function signedIn(): Promise<Visitor> {
  const visitor = newVisitor(server);
  await visitor.signIn(account.email, account.password);
  return visitor;
}

/** It leads to the sign-in page; or, when the database was asked only after the change, the password is wrong. */
function expectRefused({ status, location }: Visit): void {
  if (status === 303) expect(location).toBe(`${server.origin}/sign-in`);
  else expect([401, 422]).toContain(status);
}

describe('While a request waits', () => {
  it('a password that is replaced signs nobody in any more', async () => {
    const thief = newVisitor(server);
    const page = await thief.open('/sign-in');
    const delay = delayPasswords();
    const { email, password } = account;
    const late = thief.submit(page, { email, password }, '/sign-in');
    await attemptCounted(signInSubject(email));
    await resetPassword();
    expectRefused(await late);
    expect((await thief.get('/account')).location).toBe(`${server.origin}/sign-in`);
    await delay;
  });

  it('a session that ends changes no password any more', async () => {
    const thief = await signedIn();
    const page = await thief.open('/account/password');
    const delay = delayPasswords();
    const fields = { current: account.password, password: THIEFS };
    const late = thief.submit(page, fields, '/account/password');
    await attemptCounted(signInSubject(account.email));
    await resetPassword();
    expectRefused(await late);
    expect((await newVisitor(server).signIn(account.email, THIEFS)).status).toBe(401);
    expect((await newVisitor(server).signIn(account.email, OWNERS)).status).toBe(303);
    await delay;
  });

  it('a session that ends does not come back by confirming it', async () => {
    const thief = await signedIn();
    now += 600_000;
    const page = await thief.open('/account/security');
    const delay = delayPasswords();
    const late = thief.submit(page, { proof: account.password }, '/account/security/confirm');
    await attemptCounted(`second-factor:${account.id}`);
    await server.context.db.write((tx) => endSessions(tx, commandLine(now), owner(), null));
    expectRefused(await late);
    expect((await thief.get('/account')).location).toBe(`${server.origin}/sign-in`);
    await delay;
  });

  it('a session that ends changes no second factor any more', async () => {
    await signedIn();
    const { db, keys } = server.context;
    const { id } = await db.read
      .selectFrom('sessions')
      .select('id')
      .where('user_id', '=', account.id)
      .executeTakeFirstOrThrow();
    await db.write((tx) => endSessions(tx, commandLine(now), owner(), null));
    const late = db.write(async (tx) => {
      const secret = newTotpSecret();
      await addTotp(tx, commandLine(now), owner(), keys.secret, { secret, step: 1 });
      return settleSessions(tx, commandLine(now), { ...owner(), id });
    });
    await expect(late).rejects.toThrow(SessionEnded);
    expect((await secondFactorsOf(db.read, account.id)).totp).toBe(false);
  });
});
