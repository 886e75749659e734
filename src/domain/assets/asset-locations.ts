import { isIPv4, isIPv6, SocketAddress } from 'node:net';
import { domainToASCII } from 'node:url';
import { addressRange, isAddressBlock } from '../../auth/ip-addresses.ts';
import type { FieldErrorReason } from '../shared/errors.ts';
import type { ASSET_TYPES } from './asset-enums.ts';
import { parseUntrustedUrl } from '../../lib/parse-untrusted-url.ts';

export const MAX_LOCATION_LENGTH = 2_048;

/** A normalized location, or its error. */
export type NormalizedLocation = { location: string } | { error: FieldErrorReason };

/**
 * Normalizes the location that identifies an asset within its organization and type (docs/companions.md, section 6):
 * the address of a host, the URL of a web application, the name of any other.
 */
export function normalizeLocation(type: (typeof ASSET_TYPES)[number], text: string): NormalizedLocation {
  const trimmed = text.trim();
  if (type === 'host') return normalizeHost(trimmed);
  return type === 'webapp' ? normalizeUrl(trimmed) : { location: trimmed };
}

/** Characters of a host name before its conversion to Punycode, after which it has at most 253. */
const MAX_HOST_INPUT = 1_000;
const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
/** `192.0.2.1-20`, which would be a host name, and `192.0.2.0/24`. */
const ADDRESS_RANGE = /^\d+(?:\.\d+){3}-[\d.]+$|^[\d.:a-f]+\/\d+$/i;
const INVALID_HOST_CHARACTERS = /[\s/\\?#@:%[\]]/;
/** A host whose last label is a number is an IPv4 address, or invalid (WHATWG URL, section 3.5). */
const ENDS_IN_NUMBER = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/;

function normalizeHost(text: string): NormalizedLocation {
  if (isIPv4(text)) return { location: text };
  // RFC 5952. A zone names an interface of the machine that wrote it.
  if (isIPv6(text) && !text.includes('%'))
    return { location: new SocketAddress({ address: text, family: 'ipv6' }).address };
  if (ADDRESS_RANGE.test(text)) return { error: { code: 'not-one-host' } };
  const bare = text.replace(/\.$/, '');
  // `domainToASCII` accepts more than host names, parses numbers as addresses, and takes quadratic time.
  const name =
    bare.length > MAX_HOST_INPUT ||
    INVALID_HOST_CHARACTERS.test(bare) ||
    ENDS_IN_NUMBER.test(bare.toLowerCase())
      ? ''
      : domainToASCII(bare);
  return HOST_NAME.test(name) && !ENDS_IN_NUMBER.test(name)
    ? { location: name }
    : { error: { code: 'not-a-host' } };
}

function normalizeUrl(text: string): NormalizedLocation {
  const url = parseUntrustedUrl(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    return { error: { code: 'not-a-web-url' } };
  if (url.username !== '' || url.password !== '') return { error: { code: 'url-with-credentials' } };
  url.hash = '';
  return url.href.length > MAX_LOCATION_LENGTH
    ? { error: { code: 'too-long', params: { max: MAX_LOCATION_LENGTH } } }
    : { location: url.href };
}

/**
 * The addresses of a block as ranges of keys. An IPv6 block has IPv4 addresses only if it consists of IPv4-mapped ones:
 * of a larger one, the keys of IPv4 are left out.
 * @param block an address or a CIDR block
 * @returns at most two ranges; `undefined` for an invalid block
 */
export function addressKeyRanges(block: string): (readonly [first: string, last: string])[] | undefined {
  if (!isAddressBlock(block)) return undefined;
  const { first, last } = addressRange(block);
  const ipv4 = addressRange('0.0.0.0/0');
  const ranges =
    first < ipv4.first && ipv4.last <= last
      ? [[first, ipv4.first - 1n] as const, [ipv4.last + 1n, last] as const]
      : [[first, last] as const];
  return ranges.map(([start, end]) => [toKey(start), toKey(end)] as const);
}

const toKey = (key: bigint) => key.toString(16).padStart(32, '0');
