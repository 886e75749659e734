import { expandAddressRange, MAX_RANGE_ADDRESSES } from '../../../../client/src/address-ranges.ts';
import type { Asset } from '../../../../client/src/openapi-types.ts';
import { pastedLineErrors } from './messages.ts';

/** An asset of a pasted line, normalised as the server stores it. */
export interface PastedAsset {
  /** Counted from 1. */
  line: number;
  assetType: Asset['assetType'];
  location: string;
  name: string;
}

/** A line that names no asset, and why. */
export interface InvalidLine {
  line: number;
  text: string;
  error: string;
}

interface ParsedAssets {
  assets: PastedAsset[];
  invalid: InvalidLine[];
  /** Number of lines that repeat an earlier one. */
  duplicates: number;
}

const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
const IPV4 = /^(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/;
const ENDS_IN_NUMBER = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/i;

/** The most addresses of all ranges of a list. A few hundred lines could name more than the page can hold. */
const MAX_ADDRESSES = 16_384;

/**
 * Parses a list of hosts, ranges of addresses and URLs, one per line; a name may follow after a comma, a semicolon or a
 * tab. Skips empty lines and comments (`#`).
 */
export function parsePastedAssets(text: string): ParsedAssets {
  const pasted: ParsedAssets = { assets: [], invalid: [], duplicates: 0 };
  const seenKeys = new Set<string>();
  let addressesLeft = MAX_ADDRESSES;
  for (const [index, content] of text.split(/\r?\n/).entries()) {
    const trimmed = content.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const [, first = '', name = ''] = /^([^\t,;]*)(?:[\t,;](.*))?$/.exec(trimmed) ?? [];
    const line = index + 1;
    const locations = parseLocations(first.trim(), addressesLeft);
    if (locations.length > 1) addressesLeft -= locations.length;
    for (const read of locations) {
      if ('error' in read) {
        pasted.invalid.push({ line, text: trimmed, error: read.error });
        continue;
      }
      const key = `${read.assetType} ${read.location}`;
      if (seenKeys.has(key)) pasted.duplicates += 1;
      else pasted.assets.push({ line, ...read, name: name.trim() });
      seenKeys.add(key);
    }
  }
  return pasted;
}

type ParsedLocation = Pick<PastedAsset, 'assetType' | 'location'> | { error: string };

/**
 * @param addressesLeft the most addresses of a range
 * @returns the host of each address of a range, or one location
 */
function parseLocations(text: string, addressesLeft: number): ParsedLocation[] {
  const range = expandAddressRange(text, Math.min(addressesLeft, MAX_RANGE_ADDRESSES));
  if (range === undefined) return [parseLocation(text)];
  if (!('error' in range)) return range.addresses.map((location) => ({ assetType: 'host', location }));
  const isFull = range.error === 'too-many' && addressesLeft < MAX_RANGE_ADDRESSES;
  return [{ error: pastedLineErrors.range[isFull ? 'tooManyInAll' : range.error] }];
}

function parseLocation(text: string): ParsedLocation {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return parseWebApplication(text);
  const bare = text.replace(/^\[(.*)\]$/, '$1');
  if (IPV4.test(bare)) return { assetType: 'host', location: bare };
  if (bare.includes(':') && URL.canParse(`http://[${bare}]/`))
    return { assetType: 'host', location: new URL(`http://[${bare}]/`).hostname.slice(1, -1) };
  if (/:\d+$/.test(bare)) return { error: pastedLineErrors.port };
  if (/[/?#]/.test(bare)) return { error: pastedLineErrors.path };
  const name = bare.replace(/\.$/, '');
  if (/[\s\\@%[\]:]/.test(name) || ENDS_IN_NUMBER.test(name) || !URL.canParse(`http://${name}/`))
    return { error: pastedLineErrors.host };
  const { hostname } = new URL(`http://${name}/`);
  return HOST_NAME.test(hostname)
    ? { assetType: 'host', location: hostname }
    : { error: pastedLineErrors.host };
}

function parseWebApplication(text: string): ParsedLocation {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return { error: pastedLineErrors.url };
  if (!/^https?:$/.test(url.protocol)) return { error: pastedLineErrors.scheme };
  if (url.username !== '' || url.password !== '') return { error: pastedLineErrors.credentials };
  url.hash = '';
  return url.href.length > 2_048
    ? { error: pastedLineErrors.length }
    : { assetType: 'webapp', location: url.href };
}

/** Parses scope rules, one per line. */
export function parseScopeRules(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
