import { expect, it } from 'vitest';
import { foldCase, foldName } from '../../src/lib/fold-case.ts';
import { isLinear } from '../harness/growth.ts';

it.each([
  ['ASCII', 'Cross-Site SCRIPTING [x]', 'cross-site scripting [x]'],
  ['the final sigma', 'ΔΟΣ δος', 'δοσ δοσ'],
  ['sharp s, small and capital', 'Straße STRAẞE', 'strasse strasse'],
  ['a capital that has only a decomposed lower case', 'İ', 'i\u0307'],
  ['a letter without a capital', 'ı', 'ı'],
  ['ligatures', 'ﬁnding', 'finding'],
  ['Cherokee, which folds to capitals', '\uAB70', '\u13A0'],
  ['letters outside of the Basic Multilingual Plane', '\u{10400}', '\u{10428}'],
  ['a decomposed text', 'e\u0301', 'é'],
  ['a letter whose folding is decomposed', '\u0390', '\u0390'],
  ['a lone surrogate', '\uD800A', '\uD800a'],
])('Folds %s', (_what, text, folded) => expect(foldCase(text)).toBe(folded));

it('Folds each character as it folds its capital and its lower case', () => {
  // Unicode's three exceptions, whose upper and lower case differ in Turkic languages.
  const exceptions = new Set(['ı', 'İ']);
  for (let code = 0; code <= 0x10_ff_ff; code += 1) {
    const character = String.fromCodePoint(code);
    if (exceptions.has(character) || character.toUpperCase() === character.toLowerCase()) continue;
    const folded = foldCase(character);
    expect.soft([foldCase(folded), foldCase(character.toUpperCase())]).toEqual([folded, folded]);
  }
});

it('Folds a name without outer space', () => expect(foldName('  Große  Tür ')).toBe('grosse  tür'));

it('Folds marks in a row in linear time', () => {
  const marks = '\u0323\u0301';
  expect(isLinear(foldCase, (length) => marks.repeat(length / marks.length))).toBe(true);
  expect(foldCase(`e${marks}`)).toBe(foldCase('e\u0301\u0323'));
});
