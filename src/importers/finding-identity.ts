import { hash } from 'node:crypto';
import { normalizeLocation } from '../domain/assets/asset-locations.ts';
import type { ReportedFinding, ReportedLocation, ScanTarget } from './report.ts';

export interface TargetAsset {
  type: 'host' | 'webapp';
  location: string;
}

/** @returns the asset of a target: a host, or a web application at its origin; `undefined` if there is none */
export function resolveAsset(target: ScanTarget | undefined): TargetAsset | undefined {
  if (target === undefined || 'artifact' in target) return undefined;
  if ('host' in target) return parseHost(target.host);
  const origin = webOriginOf(target.url);
  return origin === undefined ? undefined : { type: 'webapp', location: origin };
}

function parseHost(text: string): TargetAsset | undefined {
  // A zone names a network interface of the scanning machine.
  const found = normalizeLocation('host', text.replace(/^\[(.*)\]$/, '$1').replace(/%[^]*/, ''));
  return 'location' in found ? { type: 'host', location: found.location } : undefined;
}

/** @returns the origin as `https://host:8443/`, without a default port; `undefined` if the URL is not http or https */
export function webOriginOf(url: string): string | undefined {
  const text = url.trim();
  // Reports repeat few sites, and nothing after the host changes the origin.
  const site = /^https?:\/\/[\w.:-]{1,255}(?=[/?#]|$)/.exec(text)?.[0];
  if (site === undefined) return parseOrigin(text);
  const known = origins.get(site);
  if (known !== undefined) return known.origin;
  const origin = parseOrigin(site);
  if (origins.size >= MAX_ORIGINS) origins.clear();
  origins.set(site, { origin });
  return origin;
}

const origins = new Map<string, { origin: string | undefined }>();
const MAX_ORIGINS = 20_000;

function parseOrigin(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, origin } = new URL(text);
  const known = protocol === 'http:' || protocol === 'https:';
  return known && origin.length <= 2_000 ? `${origin}/` : undefined;
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
 * Computes the identity that all instances of a finding share, in every report. Identities of one asset share a prefix,
 * so that writes in their order touch neighbouring pages.
 * @param source the format, or the tool that the finding names
 * @param asset of the finding's target
 * @returns 22 characters of base64url
 */
export function identityOf(
  finding: ReportedFinding,
  source: string,
  asset: TargetAsset | null = resolveAsset(finding.target) ?? null,
): string {
  const { fingerprint, rule, target } = finding;
  if (fingerprint !== undefined)
    return sha256(JSON.stringify(['fingerprint', source, fingerprint])).slice(0, 22);
  const location = asset?.location ?? locationWithoutAsset(target);
  const parts = ['rule', source, rule, asset?.type ?? '', location, locationKeyOf(finding)];
  return sha256(location).slice(0, 4) + sha256(JSON.stringify(parts)).slice(0, 18);
}

const sha256 = (text: string): string => hash('sha256', text, 'base64url');

/** Stands in for the asset of a target that has none: `localhost:8080`, `ftp://host/`. */
function locationWithoutAsset(target: ScanTarget | undefined): string {
  if (target === undefined || 'artifact' in target) return '';
  return 'url' in target ? canonicalUrl(target.url) : target.host.trim().toLowerCase();
}

export interface TargetCoverage {
  /** `site:https://host/`, `host:192.0.2.1`, `artifact:name`; empty if nothing covers it. */
  coverKey: string;
  /** Host of a site or a host target; empty if there is none. */
  coverHost: string;
}

/** @returns what a report must cover to cover this target */
export function targetCoverageOf(target: ScanTarget | undefined): TargetCoverage {
  if (target === undefined) return { coverKey: '', coverHost: '' };
  if ('artifact' in target) return { coverKey: `artifact:${target.artifact}`, coverHost: '' };
  const asset = resolveAsset(target);
  if (asset === undefined) return { coverKey: '', coverHost: '' };
  if (asset.type === 'host') return { coverKey: `host:${asset.location}`, coverHost: asset.location };
  const host = parseHost(new URL(asset.location).hostname)?.location ?? '';
  return { coverKey: `site:${asset.location}`, coverHost: host };
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
  const asset = parseHost(target.host);
  const address = asset?.location ?? target.host;
  return {
    type: 'ip',
    value:
      target.port === undefined
        ? address
        : `${address.includes(':') ? `[${address}]` : address}:${target.port}`,
    address,
    ...(target.port === undefined ? {} : { port: target.port, protocol: target.protocol ?? 'tcp' }),
  };
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
 * Reduces a URL to what is the same in every scan: without fragment, user, default port, session ids and nonces, with
 * sorted parameters.
 * @returns the text unchanged if it is not a URL
 */
export function canonicalUrl(url: string): string {
  const text = url.trim();
  if (!URL.canParse(text)) return text;
  const parsed = new URL(text);
  parsed.hash = '';
  parsed.username = '';
  parsed.password = '';
  // Java servers put the session into the path.
  parsed.pathname = parsed.pathname.replace(/;(?:jsessionid|phpsessid|sid)=[^;/]*/gi, '');
  const kept = [...parsed.searchParams].filter(([name]) => !isVolatile(name));
  kept.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  parsed.search = new URLSearchParams(kept).toString();
  return parsed.href;
}

const isVolatile = (name: string): boolean =>
  VOLATILE_PARAMETERS.has(name.toLowerCase().replace(/[-_.]/g, ''));
