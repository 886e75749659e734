import { expect, it } from 'vitest';
import {
  AddressSet,
  addressKey,
  firstBlockOutside,
  isAddressBlock,
  networkPrefix,
  parseAddress,
} from '../../src/auth/ip-addresses.ts';

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
])('networkPrefix: %s is in %s', (address, network) => {
  expect(networkPrefix(address)).toBe(network);
});

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:4711', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['[::ffff:192.0.2.1]:80', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['2001:DB8:0:0::1', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[2001:db8::1]:4711', '2001:db8::1'],
  ['2001:db8::1:4711', '2001:db8::1:4711'],
  ['fe80::1%eth0', 'fe80::1'],
  ['[fe80::1%eth0]:443', 'fe80::1'],
])('parseAddress: parses %s as %s', (text, address) => {
  expect(parseAddress(text)).toBe(address);
});

it.each([
  '',
  'unknown',
  '_hidden',
  'example.com',
  '192.0.2.1:',
  '192.0.2.1:port',
  '192.0.2.256:80',
  '192.0.2.1:4711:4711',
  '[192.0.2.1]:80',
  '[2001:db8::1]x',
  '[2001:db8::1',
  '192.0.2.0/24',
  '"192.0.2.1"',
])('parseAddress: rejects %j', (text) => {
  expect(parseAddress(text)).toBeUndefined();
});

it.each(['192.0.2.1', '192.0.2.0/24', '2001:db8::/32', '::1'])('isAddressBlock: accepts %s', (block) => {
  expect(isAddressBlock(block)).toBe(true);
  expect(() => new AddressSet([block])).not.toThrow();
});

it.each(['fe80::1%eth0', '192.0.2.0/33', '::/129', '192.0.2.1/', '192.0.2.1/24/24', '192.0.2.1:80'])(
  'isAddressBlock: rejects %s',
  (block) => {
    expect(isAddressBlock(block)).toBe(false);
  },
);

it.each<[string[], string[], string | undefined]>([
  [['10.0.0.0/8'], ['10.1.0.0/16', '10.255.255.255'], undefined],
  [['10.0.0.0/8'], ['10.1.0.0/16', '11.0.0.0/8'], '11.0.0.0/8'],
  [['10.0.0.0/8'], ['10.0.0.0/7'], '10.0.0.0/7'],
  [['10.0.0.128/25', '10.0.0.0/25'], ['10.0.0.0/24'], undefined],
  [['10.0.0.0/25', '10.0.0.192/26'], ['10.0.0.0/24'], '10.0.0.0/24'],
  [['192.0.2.1'], ['192.0.2.1/32', '::ffff:192.0.2.1', '::ffff:192.0.2.1/128'], undefined],
  // An IPv6 prefix length: this block contains every address with 32 leading zeros.
  [['192.0.2.1'], ['::ffff:192.0.2.1/32'], '::ffff:192.0.2.1/32'],
  [['0.0.0.0/0'], ['255.255.255.255', '::/0'], '::/0'],
  [['2001:db8::/32'], ['2001:DB8:ffff::/48', '2001:db8::192.0.2.1'], undefined],
  [['2001:db8::/32'], ['2001:db9::/48'], '2001:db9::/48'],
  [['::/0'], ['192.0.2.0/24', '1:2:3:4:5:6:7:8'], undefined],
  [['1:2:3:4:5:6:7:8'], ['1:2:3:4:5:6:7:9'], '1:2:3:4:5:6:7:9'],
  // IPv4-compatible, not IPv4-mapped.
  [['192.0.2.1'], ['::192.0.2.1'], '::192.0.2.1'],
])('firstBlockOutside: %j contains %j except %s', (outer, inner, outside) => {
  expect(firstBlockOutside(outer, inner)).toBe(outside);
});

it.each([
  ['192.0.2.1', '00000000000000000000ffffc0000201'],
  ['::ffff:192.0.2.1', '00000000000000000000ffffc0000201'],
  ['::FFFF:C000:201', '00000000000000000000ffffc0000201'],
  ['::192.0.2.1', '000000000000000000000000c0000201'],
  ['1:2:3:4:5:6:192.0.2.1', '000100020003000400050006c0000201'],
  ['2001:DB8::1%eth0', '20010db8000000000000000000000001'],
  ['::', '00000000000000000000000000000000'],
  ['1::', '00010000000000000000000000000000'],
  ['192.0.2.01', null],
  ['0xc0.0.2.1', null],
  ['192.0.513', null],
  ['example.com', null],
])('addressKey: %s has the key %s', (address, key) => {
  expect(addressKey(address)).toBe(key);
});
