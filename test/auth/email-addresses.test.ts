import { expect, it } from 'vitest';
import { emailHost, normalizeEmail, isEmail } from '../../src/auth/email-addresses.ts';
import { isVisibleText, replaceHiddenCharacters } from '../../src/auth/visible-text.ts';
import { isLinear } from '../harness/growth.ts';

const repeatedLetter = (length: number) => 'a'.repeat(length);

it.each([
  ['ada@example.com', 'ada@example.com'],
  ['  Ada.Lovelace@Example.COM ', 'ada.lovelace@example.com'],
  ["!#$&'*+-=?^_`{|}~@example.com", "!#$&'*+-=?^_`{|}~@example.com"],
  ['a@localhost', 'a@localhost'],
  ['a@xn--bcher-kva.example', 'a@xn--bcher-kva.example'],
  ['a@1.2.example', 'a@1.2.example'],
  [`${repeatedLetter(64)}@example.com`, `${repeatedLetter(64)}@example.com`],
  [`a@${repeatedLetter(63)}.example`, `a@${repeatedLetter(63)}.example`],
])('accepts the email address %j', (text, key) => {
  expect(normalizeEmail(text)).toBe(key);
  expect(isEmail(text.trim())).toBe(true);
});

it.each([
  '',
  '@',
  'a',
  'a@',
  '@example.com',
  'a@b@example.com',
  '.a@example.com',
  'a.@example.com',
  'a..b@example.com',
  'a/b@example.com',
  'a%b@example.com',
  'a%00b@example.com',
  'a\0@example.com',
  'a\nb@example.com',
  'a\u202eb@example.com',
  'a\u200bb@example.com',
  '"a b"@example.com',
  'a b@example.com',
  'ä@example.com',
  'a@bücher.example',
  'a@example.com.',
  'a@.example.com',
  'a@exam_ple.com',
  'a@-example.com',
  'a@example-.com',
  'a@exam%70le.com',
  'a@example.com/x',
  'a@example.com\0',
  'a@[192.0.2.1]',
  // The Kelvin sign has an ASCII lower case.
  'a@\u212aelvin.example',
  `${repeatedLetter(65)}@example.com`,
  `a@${repeatedLetter(64)}.example`,
  `${repeatedLetter(64)}@${`${repeatedLetter(60)}.`.repeat(3)}${repeatedLetter(10)}`,
])('rejects the email address %j', (text) => {
  expect(isEmail(text)).toBe(false);
  expect(emailHost(text)).toBe('');
});

it('rejects long hostile email addresses in linear time', () => {
  for (const part of ['a.', 'a-', '-', '.', 'a@']) {
    const textOf = (length: number) => `${part.repeat(length / part.length)}!@example.com`;
    expect(normalizeEmail(textOf(1_000_000))).toBe('');
    expect(isLinear(normalizeEmail, textOf, 1_000_000)).toBe(true);
  }
});

it('isVisibleText rejects invisible characters, and replaceHiddenCharacters replaces them', () => {
  for (const text of ['Ada', 'عادل', 'می‌خواهم', '👩‍💻']) expect(isVisibleText(text, 255)).toBe(true);
  for (const text of ['', 'a\0', 'a\u202e', 'a\u2066', '\ud800', 'a\u2028', repeatedLetter(256)])
    expect(isVisibleText(text, 255)).toBe(false);
  expect(replaceHiddenCharacters('a\u202e\0b\u2029')).toBe('a b ');
});
