import { describe, expect, it } from 'vitest';
import { generateSigningKey } from '../../src/auth/keys.ts';

describe('A signing key', () => {
  it('has an id that a command line takes for no option', async () => {
    // One thumbprint in 64 begins with a hyphen: of so many, none does once in 10^13 runs by chance.
    const keys = await Promise.all(Array.from({ length: 2_000 }, generateSigningKey));
    expect(keys.filter(({ kid }) => !/^\w[\w-]{42}$/.test(kid))).toEqual([]);
  });
});
