import { BlockList, isIP, SocketAddress } from 'node:net';

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
  // The zone after a percent sign is local to the machine that wrote it (RFC 4007, section 11).
  const address = unmapIpv4((bracketed ?? dotted ?? text).replace(/%[^]*/, ''));
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
  const ranges = outer.map(rangeOf).sort((one, other) => (one.first < other.first ? -1 : 1));
  return inner.find((block) => {
    const { first, last } = rangeOf(block);
    // The end of the gapless range so far.
    let covered = first - 1n;
    for (const range of ranges) {
      if (range.first <= covered + 1n && range.last > covered) covered = range.last;
    }
    return covered < last;
  });
}

/** The first and the last address of a block as numbers, IPv4 as IPv4-mapped IPv6 (RFC 4291, section 2.5.5.2). */
function rangeOf(block: string): { first: bigint; last: bigint } {
  const [address = '', prefix] = block.split('/');
  const plain = unmapIpv4(address);
  const isV4 = familyOf(plain) === 'ipv4';
  const number = isV4 ? 0xffff_0000_0000n + ipv4ToNumber(plain) : ipv6ToNumber(plain);
  // The prefix of an IPv4-mapped block counts IPv6 bits.
  const bits = prefix === undefined ? 128 : Number(prefix) + (isV4 && plain === address ? 96 : 0);
  const size = 1n << BigInt(128 - bits);
  const first = (number / size) * size;
  return { first, last: first + size - 1n };
}

function ipv4ToNumber(address: string): bigint {
  return address.split('.').reduce((number, part) => number * 256n + BigInt(part), 0n);
}

function ipv6ToNumber(address: string): bigint {
  const dotted = address.slice(address.lastIndexOf(':') + 1);
  const text = dotted.includes('.')
    ? address.slice(0, -dotted.length) +
      [ipv4ToNumber(dotted) >> 16n, ipv4ToNumber(dotted) & 0xffffn].map((part) => part.toString(16)).join(':')
    : address;
  const [head = [], tail = []] = text.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...tail].reduce((number, part) => number * 65_536n + BigInt(`0x${part}`), 0n);
}

/**
 * Returns the key for rate limits by address: an IPv4 address itself, and the /64 network of an IPv6 address, as a single
 * customer has at least that many addresses.
 */
export function networkPrefix(address: string): string {
  const plain = unmapIpv4(address).replace(/%[^]*/, '');
  if (familyOf(plain) === 'ipv4') return plain;
  const [head = [], tail] = plain.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const start = [...head];
  // Without `::`, at least four groups precede an IPv4 address at the end.
  if (tail !== undefined) {
    const written = start.length + tail.length + (tail.at(-1)?.includes('.') === true ? 1 : 0);
    start.push(...Array<string>(8 - written).fill('0'), ...tail);
  }
  const groups = start.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${groups.join(':')}::/64`;
}

function unmapIpv4(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
