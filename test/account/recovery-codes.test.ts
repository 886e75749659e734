import { describe, expect, it } from 'vitest';
import {
  totpCodeAt,
  recoveryCodesOn,
  SECOND_FACTOR,
  SECURITY,
  sendCode,
  setUpTotp,
} from '../harness/second-factors.ts';
import { useSharedServer } from '../harness/server.ts';
import { createFormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

let now = Date.UTC(2026, 5, 1);
const server = await useSharedServer(() => now);

async function accountWithCodes() {
  const account = await createFixtures(server).account();
  const owner = createFormClient(server);
  await owner.signIn(account.email, account.password);
  const { secret, codes } = await setUpTotp(owner, now);
  now += 60_000;
  return { ...account, owner, secret, codes };
}

async function recover(account: { email: string; password: string }, code: string) {
  const visitor = createFormClient(server);
  await visitor.signIn(account.email, account.password);
  return sendCode(visitor, 'recovery_code', code);
}

const storedCodes = (userId: number) =>
  server.context.db.read.selectFrom('recovery_codes').selectAll().where('user_id', '=', userId).execute();

describe('Recovery codes', () => {
  it('are ten distinct codes of 120 random bits, stored as hashes', async () => {
    const { id, codes } = await accountWithCodes();
    expect(codes).toHaveLength(10);
    expect(new Set(codes).size).toBe(10);
    // 24 characters of five bits each.
    for (const code of codes) expect(code).toMatch(/^[0-9a-hj-km-np-tv-z]{4}(-[0-9a-hj-km-np-tv-z]{4}){5}$/);
    const stored = JSON.stringify(await storedCodes(id));
    const logged = JSON.stringify(await createFixtures(server).auditEvents()) + JSON.stringify(server.logs());
    for (const code of codes) {
      expect(stored).not.toContain(code.replaceAll('-', ''));
      expect(logged).not.toContain(code);
    }
  });

  it('sign in once each', async () => {
    const account = await accountWithCodes();
    const [first = '', second = ''] = account.codes;
    expect((await recover(account, first)).location).toBe(`${server.origin}/`);
    expect((await recover(account, first)).status).toBe(401);
    expect((await recover(account, second)).status).toBe(303);
    expect((await account.owner.get(SECURITY)).text).toContain('8 codes left');
    const sessions = await server.context.db.read
      .selectFrom('sessions')
      .select('method')
      .where('user_id', '=', account.id)
      .execute();
    expect(sessions).toContainEqual({ method: 'password+recovery' });
    const events = await createFixtures(server).auditEvents();
    const uses = events.filter((event) => event.action === 'recovery-code.use');
    expect(uses.filter((event) => event.object_id === String(account.id))).toHaveLength(2);
  });

  it.each([
    ['in capitals', (code: string) => code.toUpperCase()],
    ['without dashes', (code: string) => code.replaceAll('-', '')],
    ['with spaces', (code: string) => ` ${code.replaceAll('-', ' ')}\t`],
    ['with letters in place of digits', (code: string) => code.replaceAll('0', 'O').replaceAll('1', 'l')],
  ])('are accepted %s', async (_how, typed) => {
    const account = await accountWithCodes();
    expect((await recover(account, typed(account.codes[0] ?? ''))).status).toBe(303);
  });

  it('of another account are rejected', async () => {
    const [first, second] = [await accountWithCodes(), await accountWithCodes()];
    expect((await recover(first, second.codes[0] ?? '')).status).toBe(401);
  });

  it('are accepted once when submitted concurrently', async () => {
    const account = await accountWithCodes();
    const responses = await Promise.all([1, 2, 3].map(() => recover(account, account.codes[0] ?? '')));
    expect(responses.map(({ status }) => status).sort()).toEqual([303, 401, 401]);
  });

  /** Submits several codes concurrently for one pending sign-in. */
  const recoverAtOnce = async (
    account: { id: number; email: string; password: string },
    codes: readonly string[],
  ) => {
    const visitor = createFormClient(server);
    await visitor.signIn(account.email, account.password);
    const page = await visitor.open(SECOND_FACTOR);
    const responses = await Promise.all(
      codes.map((code) => visitor.submit(page, { recovery_code: code }, `${SECOND_FACTOR}/recovery`)),
    );
    const sessions = await server.context.db.read
      .selectFrom('sessions')
      .select('id')
      .where('user_id', '=', account.id)
      .where('method', '=', 'password+recovery')
      .execute();
    const used = (await storedCodes(account.id)).filter(({ used_at: usedAt }) => usedAt !== null);
    return {
      accepted: responses.filter(({ location }) => location === `${server.origin}/`).length,
      sessions: sessions.length,
      used: used.length,
    };
  };

  it('complete one sign-in with one code when the same code is submitted three times at once', async () => {
    const account = await accountWithCodes();
    const [code = ''] = account.codes;
    const result = await recoverAtOnce(account, [code, code, code]);
    expect(result).toEqual({ accepted: 1, sessions: 1, used: 1 });
  });

  it('complete one sign-in with one code when three are submitted at once', async () => {
    const account = await accountWithCodes();
    const result = await recoverAtOnce(account, account.codes.slice(0, 3));
    expect(result).toEqual({ accepted: 1, sessions: 1, used: 1 });
    expect((await recover(account, account.codes[3] ?? '')).status).toBe(303);
  });

  it('can be replaced', async () => {
    const account = await accountWithCodes();
    const { owner } = account;
    const otherBrowser = createFormClient(server);
    await otherBrowser.signIn(account.email, account.password);
    await sendCode(otherBrowser, 'code', totpCodeAt(account.secret, now));
    expect((await otherBrowser.get('/account')).status).toBe(200);
    const page = await owner.submit(await owner.open(SECURITY), {}, `${SECURITY}/recovery-codes`);
    const codes = recoveryCodesOn(page);
    expect(codes).toHaveLength(10);
    expect((await otherBrowser.get('/account')).status).toBe(303);
    expect((await owner.get(SECURITY)).text).toContain('10 codes left');
    expect((await recover(account, account.codes[0] ?? '')).status).toBe(401);
    expect((await recover(account, codes[0] ?? '')).status).toBe(303);
  });

  it('are deleted with the last factor', async () => {
    const account = await accountWithCodes();
    const { owner } = account;
    await owner.submit(await owner.open(SECURITY), {}, `${SECURITY}/authenticator/remove`);
    expect(await storedCodes(account.id)).toEqual([]);
    const page = await owner.open(SECURITY);
    expect(page.text).not.toContain('codes left');
    const csrf = /name="_csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    expect((await owner.post(`${SECURITY}/recovery-codes`, { _csrf: csrf })).status).toBe(409);
  });
});
