import { describe, expect, it } from 'vitest';
import { validatePassword } from '../../src/auth/password-strength.ts';
import { hashPassword } from '../../src/auth/passwords.ts';

const words = ['ada.lovelace@example.com', 'Ada Lovelace', 'Zoë Müller'.normalize('NFD')];

const [MIN_ROUNDS, MAX_ROUNDS] = [5, 50];

describe('validatePassword', () => {
  it.each([
    'correct horse battery',
    'Tr0ub4dor&3xyz',
    'vier zufällige wörter hier',
    '火曜日の朝に電車で本を読むのが好き',
    'tulip anvil Lovelace nickel',
    'x9!k'.concat('Qz7 '.repeat(30)),
  ])('accepts %s', async (password) => {
    expect(await validatePassword(password, words)).toBeUndefined();
  });

  it.each([
    ['short one', 'at least 12'],
    ['x'.repeat(257), 'at most 256'],
    ['éàôüñç'.normalize('NFD'), 'at least 12'],
    ['password1234', 'too easy'],
    ['123456789012', 'too easy'],
    ['qwertyuiop123', 'too easy'],
    ['aaaaaaaaaaaaaaaa', 'too easy'],
    ['administrator', 'too easy'],
    ['adalovelace1', 'too easy'],
    ['ada.lovelace@example.com', 'too easy'],
    ['assaysecurity', 'too easy'],
    ['Ada.Lovelace1', 'too easy'],
    ['ada-lovelace-2026', 'too easy'],
    ['Lovelace_Ada_99!', 'too easy'],
    ['L0v3l4ce*4da*1', 'too easy'],
    ['ecalevol.ada12', 'too easy'],
    ['example.com/Ada1!', 'too easy'],
    ['Lovelace1815Lovelace', 'too easy'],
    ['assay-testing-1', 'too easy'],
    ['Zoë-Müller-99!', 'too easy'],
    ['Zoë-Müller-99!'.normalize('NFD'), 'too easy'],
  ])('rejects %s', async (password, reason) => {
    expect(await validatePassword(password, words)).toContain(reason);
  });

  it.each([
    ['one digit', '1'],
    ['letters written as digits', '@4({[<3€69&#'],
    ['a word', 'p4ssw0rd'],
    ['words written in several ways', '@831!|$5+7%2069'],
  ])(
    'costs less than four times as much as hashing, as it blocks the event loop: %s',
    async (_what, part) => {
      await validatePassword('loads the lists of words', words);
      const worst = part.repeat(100).slice(0, 256);
      const names = ['abc '.repeat(60), 'a b c 4831 '.repeat(20)];
      let [judged, hashed] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
      // A busy machine slows some rounds down, but not all.
      for (let round = 0; round < MAX_ROUNDS && (round < MIN_ROUNDS || judged >= 4 * hashed); round += 1) {
        judged = Math.min(judged, await processorTime(() => validatePassword(worst, names)));
        hashed = Math.min(hashed, await processorTime(() => hashPassword(worst)));
      }
      expect(judged).toBeLessThan(4 * hashed);
    },
  );
});

/** @returns the processor time of this process in microseconds */
async function processorTime(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
