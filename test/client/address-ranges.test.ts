import { describe, expect, it } from 'vitest';
import { expandAddressRange } from '../../client/src/address-ranges.ts';
import { isLinear } from '../harness/growth.ts';

const countOf = (text: string) => {
  const range = expandAddressRange(text);
  return range !== undefined && 'addresses' in range ? range.addresses.length : range?.error;
};

describe('expandAddressRange', () => {
  it.each([
    ['10.1.1.254-255', ['10.1.1.254', '10.1.1.255']],
    ['10.1.1.7-7', ['10.1.1.7']],
    ['10.1.1.254-10.1.2.1', ['10.1.1.254', '10.1.1.255', '10.1.2.0', '10.1.2.1']],
    ['192.0.2.5/30', ['192.0.2.4', '192.0.2.5', '192.0.2.6', '192.0.2.7']],
    ['192.0.2.5/32', ['192.0.2.5']],
    ['2001:DB8:0::fffe/127', ['2001:db8::fffe', '2001:db8::ffff']],
    ['2001:db8::ffff-2001:db8::1:0', ['2001:db8::ffff', '2001:db8::1:0']],
    ['255.255.255.254-255', ['255.255.255.254', '255.255.255.255']],
  ])('expands %s', (text, addresses) => {
    expect(expandAddressRange(text)).toEqual({ addresses });
  });

  it.each([
    ['10.0.0.0/22', 1_024],
    ['10.0.0.0/21', 'too-many'],
    ['0.0.0.0/0', 'too-many'],
    ['::/0', 'too-many'],
    ['2001:db8::/118', 1_024],
    ['10.0.0.1-10.0.4.0', 1_024],
    ['10.0.0.1-10.0.4.1', 'too-many'],
    ['10.0.0.20-1', 'reversed'],
    ['10.0.0.1-256', 'invalid'],
    ['10.0.0.1/33', 'invalid'],
    ['10.0.0.256/24', 'invalid'],
    ['10.0.0.1-2001:db8::1', 'invalid'],
    ['2001:db8::1-20', 'invalid'],
    ['10.0.0.1-', undefined],
    ['10.0.0.1', undefined],
    ['shop-1.example', undefined],
    ['10.0.0.1-shop.example', undefined],
    ['https://shop.example/24', undefined],
    ['2001:db8::1', undefined],
    ['::ffff:192.0.2.0/120', 256],
    ['[2001:db8::]/120', undefined],
    ['fe80::1%eth0-2', undefined],
  ])('returns for %s: %s', (text, expected) => {
    expect(countOf(text)).toBe(expected);
  });

  it('takes the most addresses from the caller', () => {
    expect(expandAddressRange('192.0.2.0/30', 3)).toEqual({ error: 'too-many' });
    expect(expandAddressRange('192.0.2.0/30', 4)).toMatchObject({ addresses: { length: 4 } });
    expect(expandAddressRange('192.0.2.7/32', 0)).toEqual({ error: 'too-many' });
  });

  it.each([':', '1', '1.1.1.1-', 'a:', '/'])('takes linear time for repeated %j', (part) => {
    expect(isLinear(expandAddressRange, (length) => part.repeat(length / part.length), 200_000)).toBe(true);
  });
});
