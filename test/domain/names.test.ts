import { describe, expect, it } from 'vitest';
import { requireName, requireNewName, validateNameChange } from '../../src/domain/shared/names.ts';

const STORED = 'two\nlines';
const codeOf = (name: string, stored: string) => validateNameChange('name', name, stored)?.code;

describe('A changed name', () => {
  it('may keep characters from before the rule', () => {
    expect(requireNewName('name', ` ${STORED} `, STORED)).toBe(STORED);
    expect(codeOf('other\nlines', STORED)).toBe('control-characters');
  });

  it.each([
    ['', 'empty'],
    [' ', 'empty'],
    ['x'.repeat(256), 'too-long'],
  ])('has a valid length, also if %j is stored', (name, code) => {
    expect(codeOf(name, 'name')).toBe(code);
    expect(codeOf(name, name)).toBe(code);
  });

  it('is trimmed', () => {
    expect(requireNewName('name', ' new ', STORED)).toBe('new');
  });
});

describe('A name', () => {
  it('has no half of a surrogate pair', () => {
    expect(() => requireName('name', 'a\ud800b')).toThrow('unpaired surrogates');
    expect(requireName('name', 'a😀')).toBe('a😀');
  });
});
