import { BlockList, isIP, SocketAddress } from 'node:net';

/** @returns whether the text is an IP address or a CIDR block */
export function isAddressBlock(block: string): boolean {
  const [address = '', prefix, ...rest] = block.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0 || address.includes('%')) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}

/**
 * @param text an IP address as proxies write it, with or without a port: `192.0.2.1:4711`, `[2001:db8::1]:4711`
 * @returns the address alone, in one form of those that IPv6 has, an IPv4 address that arrived over IPv6 as what it is;
 *   `undefined` for what is none
 */
export function toAddress(text: string): string | undefined {
  const [, bracketed] = /^\[([^\]:]*:[^\]]*)\](?::\d{1,5})?$/.exec(text) ?? [];
  const [, dotted] = /^([\d.]{7,15}):\d{1,5}$/.exec(text) ?? [];
  // What follows a percent sign names a network card of the machine that wrote it (RFC 4007, section 11).
  const address = plainAddress((bracketed ?? dotted ?? text).replace(/%.*$/s, ''));
  switch (isIP(address)) {
    case 0:
      return undefined;
    case 4:
      return address;
    default:
      return plainAddress(new SocketAddress({ address, family: 'ipv6' }).address);
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

  /** An IPv4 address that arrived over IPv6 counts as what it is. */
  has(address: string): boolean {
    const plain = plainAddress(address);
    return this.#list.check(plain, familyOf(plain));
  }
}

/**
 * @param address an IP address
 * @returns what stands for whoever sends from there where attempts are counted: an IPv4 address itself, and of an IPv6
 *   address the network of 64 bits, as a single customer has at least all of that
 */
export function networkOf(address: string): string {
  const plain = plainAddress(address).replace(/%.*$/s, '');
  if (familyOf(plain) === 'ipv4') return plain;
  const [head = [], tail] = plain.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const start = [...head];
  // Without a gap there are four groups at least before an IPv4 address at the end.
  if (tail !== undefined) {
    const written = start.length + tail.length + (tail.at(-1)?.includes('.') === true ? 1 : 0);
    start.push(...Array<string>(8 - written).fill('0'), ...tail);
  }
  const groups = start.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${groups.join(':')}::/64`;
}

function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
