import { isIP } from 'node:net';
import { normalizeLocation } from '../domain/assets/asset-locations.ts';
import type { PortRange } from '../domain/assets/scans/diff-ports.ts';
import { scanScopeKeyOfChecks } from '../domain/imports/scan-scopes.ts';
import { formatPorts } from '../domain/assets/port-sets.ts';
import type { AssetLocation, ScanScopeKey } from '../domain/imports/finding-detections.ts';
import { memoize } from '../lib/memoize.ts';
import type { ReportedLocation, ScanTarget, ReportedFinding } from './report.ts';
import { parseUntrustedUrl } from '../lib/parse-untrusted-url.ts';
import { hash } from 'node:crypto';

export type HostTarget = Extract<ScanTarget, { host: string }>;

/** Entries per cache. */
const CACHE_SIZE = 20_000;

const cachedAsset = memoize(resolveAsset, cacheKeyOf, CACHE_SIZE);
const cachedScanScope = memoize(resolveScanScope, cacheKeyOf, CACHE_SIZE);
const cachedPrefix = memoize(
  (checks: string) => scanScopeKeyOfChecks(checks, ''),
  (checks) => checks,
  CACHE_SIZE,
);
const cachedOrigin = memoize(parseOrigin, (site) => site, CACHE_SIZE);

/** Characters; a location has no more. */
const MAX_SHARED_NAME = 2_048;

/**
 * Limits the length of a name that a report gives once for many findings (a host, site, artifact or check), because
 * each of these findings parses and hashes it.
 */
export function cutSharedName(name: string): string {
  return name.slice(0, MAX_SHARED_NAME);
}

/** @returns the asset of a target: a host, or a web application at its origin; `null` if it has no asset */
export function assetOfTarget(target: ScanTarget | undefined): AssetLocation | null {
  return target === undefined ? null : cachedAsset(target);
}

/**
 * @param ports limits a host target that names no port
 * @param checks the group of checks
 * @returns what a report must cover for a missing finding of this target to be gone; `null` if nothing covers it
 */
export function scanScopeKeyOf(
  target: ScanTarget | undefined,
  ports?: readonly PortRange[],
  checks = '',
): ScanScopeKey | null {
  const scanScope = target === undefined ? null : scanScopeAt(target, ports);
  return scanScope === null || checks === ''
    ? scanScope
    : { ...scanScope, key: `${cachedPrefix(checks)}${scanScope.key}` };
}

function scanScopeAt(target: ScanTarget, ports: readonly PortRange[] | undefined): ScanScopeKey | null {
  const scanScope = cachedScanScope(target);
  if (
    scanScope === null ||
    ports === undefined ||
    scanScope.ports !== '' ||
    !scanScope.key.startsWith('host:')
  )
    return scanScope;
  const text = cachedPorts(ports);
  // A finding without any port cannot be covered.
  return text === '' ? null : { ...scanScope, ports: text };
}

/** @returns the origin as `https://host:8443/`, without a default port; `undefined` if the URL is not http or https */
export function webOriginOf(url: string): string | undefined {
  const text = url.trim();
  // Reports repeat the same few sites, and nothing after the host changes the origin.
  const site = siteOf(text);
  return site === undefined ? parseOrigin(text) : cachedOrigin(site);
}

/** @returns the target that a user names: a URL, an address or a host name; `undefined` if it is none of these */
export function parseTarget(text: string): ScanTarget | undefined {
  const trimmed = text.trim();
  if (/^https?:\/\//i.test(trimmed)) return webOriginOf(trimmed) === undefined ? undefined : { url: trimmed };
  const asset = parseHost(trimmed);
  return asset === undefined ? undefined : { host: asset.location };
}

/** @returns the location of a finding whose report names only a target */
export function locationOfTarget(target: ScanTarget): ReportedLocation {
  if ('url' in target) return { type: 'url', value: target.url };
  if ('artifact' in target) {
    return { type: 'file', value: [target.artifact, target.path].filter(Boolean).join(': ') };
  }
  return locationOfHost(target);
}

/** @returns the location of a host, or of a port on it: `ip` for an address, `other` for a host name */
export function locationOfHost({ host, port, protocol = 'tcp' }: HostTarget): ReportedLocation {
  const address = parseHost(host)?.location ?? host;
  const isAddress = isIP(address) !== 0;
  if (port === undefined) return { type: isAddress ? 'ip' : 'other', value: address, address };
  const value = `${address.includes(':') ? `[${address}]` : address}:${port}`;
  const parts = { address, port, protocol };
  return isAddress
    ? { type: 'ip', value: `${protocol}://${value}`, ...parts }
    : { type: 'other', value, ...parts };
}

function resolveAsset(target: ScanTarget): AssetLocation | null {
  if ('artifact' in target) return null;
  if ('host' in target) return parseHost(target.host) ?? null;
  const origin = webOriginOf(target.url);
  return origin === undefined ? null : { type: 'webapp', location: origin };
}

function resolveScanScope(target: ScanTarget): ScanScopeKey | null {
  if ('artifact' in target) return { key: `artifact:${target.artifact}`, host: null, ports: '' };
  const asset = assetOfTarget(target);
  if (asset === null) return null;
  const { type, location } = asset;
  if (type === 'webapp') {
    const host = parseHost(new URL(location).hostname)?.location ?? null;
    return { key: `site:${location}`, host, ports: '' };
  }
  const port =
    'host' in target && target.port !== undefined ? `${target.protocol ?? 'tcp'}/${target.port}` : '';
  return { key: `host:${location}`, host: location, ports: port };
}

/** Caches the text of a port list, because reports repeat the same list for every host. */
const portTexts = new WeakMap<readonly PortRange[], string>();

function cachedPorts(ranges: readonly PortRange[]): string {
  const text = portTexts.get(ranges) ?? formatPorts(ranges);
  portTexts.set(ranges, text);
  return text;
}

function cacheKeyOf(target: ScanTarget): string {
  if ('url' in target) return `url ${siteOf(target.url) ?? target.url}`;
  if ('artifact' in target) return `artifact ${target.artifact}`;
  return hostKey(target);
}

export function hostKey({ host, port, protocol }: HostTarget): string {
  return `host ${protocol ?? ''}/${port ?? ''} ${host}`;
}

/** @returns scheme and authority, if the URL has no user and no unusual characters in them */
function siteOf(url: string): string | undefined {
  return /^https?:\/\/[\w.:-]{1,255}(?=[/?#]|$)/.exec(url)?.[0];
}

function parseOrigin(text: string): string | undefined {
  const url = parseUntrustedUrl(text);
  if (url === null) return undefined;
  const { protocol, origin } = url;
  const isWeb = protocol === 'http:' || protocol === 'https:';
  return isWeb && origin.length <= 2_000 ? `${origin}/` : undefined;
}

function parseHost(text: string): AssetLocation | undefined {
  // A zone names a network interface of the scanning machine.
  const normalized = normalizeLocation('host', text.replace(/^\[(.*)\]$/, '$1').replace(/%[^]*/, ''));
  return 'location' in normalized ? { type: 'host', location: normalized.location } : undefined;
}

/**
 * @returns what distinguishes findings of the same rule and asset: port and protocol on a host, path and package in an
 *   artifact, nothing on a site. A key from the format takes precedence.
 */
export function locationKeyOf({
  locationKey,
  target,
}: Pick<ReportedFinding, 'locationKey' | 'target'>): string {
  if (locationKey !== undefined) return locationKey;
  if (target === undefined || 'url' in target) return '';
  if ('host' in target) return target.port === undefined ? '' : `${target.protocol ?? 'tcp'}/${target.port}`;
  return JSON.stringify([target.artifact, target.path ?? '', target.package ?? '']);
}

/**
 * Computes the identity that all instances of a finding share, in every report. Without fingerprints, identities of one
 * asset share a prefix, so that writes in their order touch neighbouring pages.
 * @param source the format, or the tool that the finding names
 * @param asset of the finding's target
 * @returns 22 characters of base64url
 */
export function identityOf(
  finding: Partial<ReportedFinding> & Pick<ReportedFinding, 'rule'>,
  source: string,
  asset: AssetLocation | null = assetOfTarget(finding.target),
): string {
  const { fingerprint, rule, target } = finding;
  if (fingerprint !== undefined)
    return sha256(JSON.stringify(['fingerprint', source, fingerprint])).slice(0, 22);
  const location = asset?.location ?? locationWithoutAsset(target);
  const parts = ['rule', source, rule, asset?.type ?? '', location, locationKeyOf(finding)];
  return cachedLocationPrefix(location) + sha256(JSON.stringify(parts)).slice(0, 18);
}

const sha256 = (text: string): string => hash('sha256', text, 'base64url');

const cachedLocationPrefix = memoize(
  (location: string) => sha256(location).slice(0, 4),
  (location) => location,
  CACHE_SIZE,
);

/** Stands in for the asset of a target that has none: `localhost:8080`, `ftp://host/`. */
function locationWithoutAsset(target: ScanTarget | undefined): string {
  if (target === undefined || 'artifact' in target) return '';
  return 'url' in target ? canonicalUrl(target.url) : target.host.trim().toLowerCase();
}

/**
 * Session and anti-forgery parameters, whose values change with every scan. Compared without case, `-`, `_` and `.`.
 */
const VOLATILE_PARAMETERS = new Set(
  (
    'jsessionid phpsessid aspsessionid aspnetsessionid cfid cftoken sid sessid session sessionid sessiontoken nonce ' +
    'csrf csrftoken xsrf xsrftoken csrfmiddlewaretoken authenticitytoken requestverificationtoken viewstate ' +
    'eventvalidation timestamp ts cachebuster cb rand random state'
  ).split(' '),
);

/**
 * Removes the parts of a URL that vary between scans (fragment, user, default port, session ids, nonces), and sorts its
 * parameters.
 * @returns the text unchanged if it is not a URL
 */
export function canonicalUrl(url: string): string {
  const text = url.trim();
  const parsed = parseUntrustedUrl(text);
  if (parsed === null) return text;
  parsed.hash = '';
  parsed.username = '';
  parsed.password = '';
  // Java servers put the session into the path.
  parsed.pathname = parsed.pathname.replace(/;(?:jsessionid|phpsessid|sid)=[^;/]*/gi, '');
  const parameters = [...parsed.searchParams].filter(([name]) => !isVolatile(name));
  parameters.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  parsed.search = new URLSearchParams(parameters).toString();
  return parsed.href;
}

const isVolatile = (name: string): boolean =>
  VOLATILE_PARAMETERS.has(name.toLowerCase().replace(/[-_.]/g, ''));
