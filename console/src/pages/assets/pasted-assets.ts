import type { AssetType } from '../../queries/assets.ts';

/** What a pasted line names, in the form in which the server keeps it. */
export interface PastedAsset {
  /** Counted from 1. */
  line: number;
  assetType: AssetType;
  location: string;
  name: string;
}

/** What is wrong with which line. */
export interface InvalidLine {
  line: number;
  text: string;
  error: string;
}

export interface ParsedAssets {
  assets: PastedAsset[];
  invalid: InvalidLine[];
  /** Lines that name again what a line before them names. */
  duplicates: number;
}

const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
const IPV4 = /^(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/;
const ENDS_IN_NUMBER = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/i;

/**
 * Reads a list of hosts and URLs, one a line; a name may follow, behind a comma, a semicolon or a tab. Lines that are empty
 * or begin with `#` are passed over.
 */
export function parsePastedAssets(text: string): ParsedAssets {
  const pasted: ParsedAssets = { assets: [], invalid: [], duplicates: 0 };
  const known = new Set<string>();
  for (const [index, whole] of text.split(/\r?\n/).entries()) {
    const trimmed = whole.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const [, first = '', name = ''] = /^([^\t,;]*)(?:[\t,;]\s*(.*))?$/.exec(trimmed) ?? [];
    const line = index + 1;
    const read = parseLocation(first.trim());
    if ('wrong' in read) {
      pasted.invalid.push({ line, text: trimmed, error: read.wrong });
      continue;
    }
    const key = `${read.assetType} ${read.location}`;
    if (known.has(key)) pasted.duplicates += 1;
    else pasted.assets.push({ line, ...read, name: name.trim() });
    known.add(key);
  }
  return pasted;
}

type ParsedLocation = Pick<PastedAsset, 'assetType' | 'location'> | { wrong: string };

function parseLocation(text: string): ParsedLocation {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return parseWebApplication(text);
  const bare = text.replace(/^\[(.*)\]$/, '$1');
  if (IPV4.test(bare)) return { assetType: 'host', location: bare };
  if (/^[0-9a-f:.]+\/\d+$/i.test(bare)) return { wrong: 'is a network; write its hosts, one a line' };
  if (bare.includes(':') && URL.canParse(`http://[${bare}]/`))
    return { assetType: 'host', location: new URL(`http://[${bare}]/`).hostname.slice(1, -1) };
  if (/:\d+$/.test(bare))
    return { wrong: 'has a port; write a URL for a web application, or the host alone' };
  if (/[/?#]/.test(bare)) return { wrong: 'has a path; a URL begins with https:// or http://' };
  const name = bare.replace(/\.$/, '');
  if (/[\s\\@%[\]:]/.test(name) || ENDS_IN_NUMBER.test(name) || !URL.canParse(`http://${name}/`))
    return { wrong: 'is neither an IP address nor a host name' };
  const { hostname } = new URL(`http://${name}/`);
  return HOST_NAME.test(hostname)
    ? { assetType: 'host', location: hostname }
    : { wrong: 'is neither an IP address nor a host name' };
}

function parseWebApplication(text: string): ParsedLocation {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return { wrong: 'is no URL' };
  if (!/^https?:$/.test(url.protocol)) return { wrong: 'must begin with https:// or http://' };
  if (url.username !== '' || url.password !== '')
    return { wrong: 'must not have a user name or a password in it' };
  url.hash = '';
  return url.href.length > 2_048
    ? { wrong: 'must have at most 2,048 characters' }
    : { assetType: 'webapp', location: url.href };
}
