/** The most addresses of a range that `expandAddressRange` accepts by default. */
export const MAX_RANGE_ADDRESSES = 1_024;
/** Characters; two IPv6 addresses have fewer. Bounds the time for other texts. */
const MAX_LENGTH = 100;

/** The addresses of a range, or why it has none. */
export type ExpandedRange = { addresses: string[] } | { error: 'invalid' | 'reversed' | 'too-many' };

const IPV4 = /^(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/;

interface Address {
  value: bigint;
  bits: 32 | 128;
}

/**
 * Expands a range of addresses, for operation 74, which takes one address per asset. All addresses of a block count,
 * also those of the network and for broadcasts.
 * @param text a CIDR block (`192.0.2.0/24`, `2001:db8::/120`), two addresses (`192.0.2.1-192.0.2.20`), or an IPv4
 *   address and the last number of another (`192.0.2.1-20`)
 * @param max the most addresses
 * @returns `undefined` if the text is no range; the addresses in ascending order, IPv6 in the form of RFC 5952
 */
export function expandAddressRange(text: string, max = MAX_RANGE_ADDRESSES): ExpandedRange | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const [, block, prefix] = /^([\d.:a-f]+)\/(\d+)$/i.exec(text) ?? [];
  if (block !== undefined && prefix !== undefined) {
    const address = parseAddress(block);
    if (address === undefined || Number(prefix) > address.bits) return { error: 'invalid' };
    const size = 1n << BigInt(address.bits - Number(prefix));
    const first = address.value - (address.value % size);
    return addressesBetween(first, first + size - 1n, address.bits, max);
  }
  const [, from = '', to = ''] = /^(\d+(?:\.\d+){3}|[\d.:a-f]*:[\d.:a-f]*)-([\d.:a-f]+)$/i.exec(text) ?? [];
  if (to === '') return undefined;
  const first = parseAddress(from);
  const last = parseAddress(
    first?.bits === 32 && /^\d+$/.test(to) ? from.replace(/\d+$/, String(Number(to))) : to,
  );
  if (first === undefined || last?.bits !== first.bits) return { error: 'invalid' };
  return addressesBetween(first.value, last.value, first.bits, max);
}

function addressesBetween(first: bigint, last: bigint, bits: Address['bits'], max: number): ExpandedRange {
  if (last < first) return { error: 'reversed' };
  if (last - first >= max) return { error: 'too-many' };
  return {
    addresses: Array.from({ length: Number(last - first) + 1 }, (_, index) =>
      formatAddress(first + BigInt(index), bits),
    ),
  };
}

function parseAddress(text: string): Address | undefined {
  if (IPV4.test(text))
    return { value: text.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n), bits: 32 };
  if (!text.includes(':') || !URL.canParse(`http://[${text}]/`)) return undefined;
  // The URL parser writes an address without its IPv4 notation.
  const { hostname } = new URL(`http://[${text}]/`);
  const [head = [], tail = []] = hostname
    .slice(1, -1)
    .split('::')
    .map((part) => (part === '' ? [] : part.split(':')));
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  const digits = [...head, ...zeros, ...tail].map((group) => group.padStart(4, '0')).join('');
  return { value: BigInt(`0x${digits}`), bits: 128 };
}

function formatAddress(value: bigint, bits: Address['bits']): string {
  if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
  const groups = value.toString(16).padStart(32, '0').match(/.{4}/g) ?? [];
  return new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1);
}
