import { expect, it } from 'vitest';
import { networkOf } from '../../src/auth/addresses.ts';

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:a:b:c:d:e:f', '2001:db8:a:b::/64'],
  ['2001:DB8:000a:b::1', '2001:db8:a:b::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8::b:0:0:0:1', '2001:db8:0:b::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['1:2:3:4:5:6:192.0.2.1', '1:2:3:4::/64'],
  ['1::', '1:0:0:0::/64'],
])('The network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
