import { describe, expect, it } from 'vitest';
import { passwordFault } from '../../src/auth/password-strength.ts';

const words = ['ada.lovelace@example.com', 'Ada Lovelace'];

describe('A new password', () => {
  it.each([
    'correct horse battery',
    'Tr0ub4dor&3xyz',
    'vier zufällige wörter hier',
    '火曜日の朝に電車で本を読むのが好き',
    'x9!k'.concat('Qz7 '.repeat(30)),
  ])('may be %s', async (password) => {
    expect(await passwordFault(password, words)).toBeUndefined();
  });

  it.each([
    ['short one', 'at least 12'],
    ['x'.repeat(257), 'at most 256'],
    ['password1234', 'too easy'],
    ['123456789012', 'too easy'],
    ['qwertyuiop123', 'too easy'],
    ['aaaaaaaaaaaaaaaa', 'too easy'],
    ['administrator', 'too easy'],
    ['adalovelace1', 'too easy'],
    ['ada.lovelace@example.com', 'too easy'],
    ['assaysecurity', 'too easy'],
  ])('may not be %s', async (password, reason) => {
    expect(await passwordFault(password, words)).toContain(reason);
  });
});
