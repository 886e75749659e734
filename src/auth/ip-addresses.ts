import { BlockList, isIP, isIPv4, isIPv6, SocketAddress } from 'node:net';

/** @returns whether the text is an IP address or a CIDR block */
export function isAddressBlock(block: string): boolean {
  const [address = '', prefix, ...rest] = block.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0 || address.includes('%')) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}

/**
 * Parses an IP address as proxies write it, with or without a port: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
 * @returns the address in canonical form, an IPv4-mapped IPv6 address as IPv4; `undefined` if it is invalid
 */
export function parseAddress(text: string): string | undefined {
  const [, bracketed] = /^\[([^\]:]*:[^\]]*)\](?::\d{1,5})?$/.exec(text) ?? [];
  const [, dotted] = /^([\d.]{7,15}):\d{1,5}$/.exec(text) ?? [];
  const address = unmapIpv4(withoutZone(bracketed ?? dotted ?? text));
  switch (isIP(address)) {
    case 0:
      return undefined;
    case 4:
      return address;
    default:
      return unmapIpv4(new SocketAddress({ address, family: 'ipv6' }).address);
  }
}

/** A set of addresses, from blocks that `isAddressBlock` accepts. */
export class AddressSet {
  readonly #list = new BlockList();

  constructor(blocks: readonly string[]) {
    for (const block of blocks) {
      const [address = '', prefix] = block.split('/');
      const family = familyOf(address);
      this.#list.addSubnet(
        address,
        prefix === undefined ? (family === 'ipv4' ? 32 : 128) : Number(prefix),
        family,
      );
    }
  }

  /** Treats an IPv4-mapped IPv6 address as IPv4. */
  has(address: string): boolean {
    const plain = unmapIpv4(address);
    return this.#list.check(plain, familyOf(plain));
  }
}

/**
 * Returns the first inner block with an address outside all outer blocks; `undefined` if there is none.
 * @param outer blocks that `isAddressBlock` accepts, like `inner`
 */
export function firstBlockOutside(outer: readonly string[], inner: readonly string[]): string | undefined {
  const ranges = outer.map(addressRange).sort((one, other) => (one.first < other.first ? -1 : 1));
  return inner.find((block) => {
    const { first, last } = addressRange(block);
    // The end of the gapless range so far.
    let coveredUntil = first - 1n;
    for (const range of ranges) {
      if (range.first <= coveredUntil + 1n && range.last > coveredUntil) coveredUntil = range.last;
    }
    return coveredUntil < last;
  });
}

/**
 * @returns the 16 bytes of an IP address in hexadecimal, IPv4 as IPv4-mapped IPv6, without its zone; `null` for
 *   anything else
 */
export function addressKey(text: string): string | null {
  if (isIPv4(text)) return IPV4_MAPPED_PREFIX + ipv4Hex(text);
  if (!isIPv6(text)) return null;
  // Parsed here, as `ipaddr.js` takes `::192.0.2.1` for an IPv4-mapped address, and octal numbers for IPv4.
  const address = withoutZone(text);
  const end = address.slice(address.lastIndexOf(':') + 1);
  const groups = end.includes('.')
    ? address.slice(0, -end.length) + ipv4Hex(end).replace(/^.{4}/, '$&:')
    : address;
  const [head = [], tail = []] = groups.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...tail]
    .map((group) => group.padStart(4, '0'))
    .join('')
    .toLowerCase();
}

/** RFC 4291, section 2.5.5.2. */
const IPV4_MAPPED_PREFIX = `${'0'.repeat(20)}ffff`;

const ipv4Hex = (address: string) =>
  address
    .split('.')
    .map((part) => Number(part).toString(16).padStart(2, '0'))
    .join('');

/**
 * Returns the first and the last address of a block as the numbers of their keys.
 * @param block one that `isAddressBlock` accepts. The prefix of an IPv4-mapped block counts IPv6 bits.
 */
export function addressRange(block: string): { first: bigint; last: bigint } {
  const [address = '', prefix] = block.split('/');
  const bits = prefix === undefined ? 128 : Number(prefix) + (isIPv4(address) ? 96 : 0);
  const free = BigInt(128 - bits);
  const first = (BigInt(`0x${addressKey(address)}`) >> free) << free;
  return { first, last: first | ((1n << free) - 1n) };
}

/**
 * Returns the key for rate limits by address: an IPv4 address itself, and the /64 network of an IPv6 address, as a
 * single customer has at least that many addresses.
 */
export function networkPrefix(address: string): string {
  const plain = withoutZone(unmapIpv4(address));
  const key = isIPv6(plain) ? addressKey(plain) : null;
  if (key === null) return plain;
  const groups = [0, 4, 8, 12].map((start) => Number.parseInt(key.slice(start, start + 4), 16).toString(16));
  return `${groups.join(':')}::/64`;
}

function unmapIpv4(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

/** The zone after a percent sign is local to the machine that wrote it (RFC 4007, section 11). */
function withoutZone(address: string): string {
  return address.replace(/%[^]*/, '');
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4';
}
