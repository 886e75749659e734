import { BlockList, isIP } from 'node:net';

/** @returns whether the text is an IP address or a CIDR block */
export function isAddressBlock(block: string): boolean {
  const [address = '', prefix, ...rest] = block.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
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
    const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
    return this.#list.check(plain, familyOf(plain));
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
