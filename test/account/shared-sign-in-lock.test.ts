import { describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { signInWithPassword } from '../../src/domain/sign-in/sign-in-with-password.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { useSharedServer } from '../harness/server.ts';

const now = Date.UTC(2026, 5, 1);
const wrong = { password: 'not the password' };

const server = await useSharedServer(() => now);

const attempt = async (address: string, account: { email: string; password: string }) =>
  (await signInWithPassword(server.context, cliChangeContext(now), { ...account, address })).outcome;

/** Fails to sign in to a hundred accounts, each with a lock of its own. Further accounts at the address share one. */
async function tryHundredAccounts(address: string): Promise<void> {
  for (let index = 0; index < 100; index += 1)
    expect(await attempt(address, { email: `${index}@a.example`, ...wrong })).toBe('refused');
}

describe('The lock that further accounts share at an address', () => {
  it('does not count successes', async () => {
    const address = '203.0.113.240';
    const account = await createFixtures(server).account();
    await tryHundredAccounts(address);
    for (let index = 1; index <= 11; index += 1) expect(await attempt(address, account)).toBe('signed-in');
    for (let index = 1; index <= 9; index += 1)
      expect(await attempt(address, { email: `${index}@b.example`, ...wrong })).toBe('refused');
    // The tenth attempt locks only if it fails.
    expect(await attempt(address, account)).toBe('signed-in');
    expect(await attempt(address, { email: '10@b.example', ...wrong })).toBe('refused');
    expect(await attempt(address, account)).toBe('locked');
  });

  it('keeps the failures of other accounts after a success', async () => {
    const address = '203.0.113.241';
    const [attackerAccount, attackedAccount] = [
      await createFixtures(server).account(),
      await createFixtures(server).account(),
    ];
    await tryHundredAccounts(address);
    for (let index = 1; index <= 10; index += 1) {
      expect(await attempt(address, attackerAccount)).toBe('signed-in');
      expect(await attempt(address, { ...attackedAccount, ...wrong })).toBe('refused');
    }
    expect(await attempt(address, attackedAccount)).toBe('locked');
  });

  it('counts exactly the failures of concurrent attempts', async () => {
    const address = '203.0.113.242';
    const [attackerAccount, attackedAccount] = [
      await createFixtures(server).account(),
      await createFixtures(server).account(),
    ];
    await tryHundredAccounts(address);
    const concurrent = await Promise.all(
      Array.from({ length: 4 }, () => [
        attempt(address, attackerAccount),
        attempt(address, { ...attackedAccount, ...wrong }),
      ]).flat(),
    );
    expect(concurrent.filter((outcome) => outcome === 'signed-in')).toHaveLength(4);
    for (let index = 5; index <= 10; index += 1)
      expect(await attempt(address, { ...attackedAccount, ...wrong })).toBe('refused');
    expect(await attempt(address, attackerAccount)).toBe('locked');
  });
});
