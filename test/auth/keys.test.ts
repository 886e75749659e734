import { describe, expect, it } from 'vitest';
import { generateSigningKey } from '../../src/auth/keys.ts';

describe('Signing key', () => {
  it('has an id that command lines do not parse as an option', async () => {
    // One thumbprint in 64 starts with a hyphen; the chance that none of these does is 1 in 10^13.
    const keys = await Promise.all(Array.from({ length: 2_000 }, generateSigningKey));
    expect(keys.filter(({ kid }) => !/^\w[\w-]{42}$/.test(kid))).toEqual([]);
  });
});
