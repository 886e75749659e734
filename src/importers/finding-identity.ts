import { hash } from 'node:crypto';
import { normalizeLocation } from '../domain/assets/asset-locations.ts';
import type { ReportedFinding, ReportedLocation, ScanTarget } from './report.ts';

/** What names an asset within its organization. */
export interface TargetAsset {
  type: 'host' | 'webapp';
  location: string;
}

/** @returns the asset of a target: a web application at its origin, or a host; `undefined` where there is none */
export function resolveAsset(target: ScanTarget | undefined): TargetAsset | undefined {
  if (target === undefined || 'artifact' in target) return undefined;
  if ('host' in target) return parseHost(target.host);
  const origin = webOriginOf(target.url);
  return origin === undefined ? undefined : { type: 'webapp', location: origin };
}

function parseHost(text: string): TargetAsset | undefined {
  // A zone names a network card of the machine that scanned.
  const found = normalizeLocation('host', text.replace(/^\[(.*)\]$/, '$1').replace(/%[^]*/, ''));
  return 'location' in found ? { type: 'host', location: found.location } : undefined;
}

/** @returns `https://host:8443/`, without a default port; `undefined` for what is no URL of http or https */
export function webOriginOf(url: string): string | undefined {
  const text = url.trim();
  // Reports name the same few sites again and again, and nothing behind the host changes the origin.
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
 * @returns what tells a finding from others of the same rule and asset: port and protocol on a host, path and package in
 *   an artifact, nothing more on a site; the format's own word wins
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
 * Identities of one asset begin alike, so that what is written in their order lies together.
 * @param source the format, or the tool that a finding names
 * @param asset of its target
 * @returns what is the same for instances of one finding, and in every report of it: 22 characters of base64url
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

/** What stands for an asset where a target names none that is one: `localhost:8080`, `ftp://host/`. */
function locationWithoutAsset(target: ScanTarget | undefined): string {
  if (target === undefined || 'artifact' in target) return '';
  return 'url' in target ? canonicalUrl(target.url) : target.host.trim().toLowerCase();
}

/** What a report covers, by which what it no longer has is gone. */
export interface TargetCoverage {
  /** `site:https://host/`, `host:192.0.2.1`, `artifact:name`; empty for what is covered by nothing. */
  coverKey: string;
  /** The address or the name of the host, of a site as well; empty where there is none. */
  coverHost: string;
}

/** @returns what of coverage a finding of this target, or a target that is covered, stands for */
export function targetCoverageOf(target: ScanTarget | undefined): TargetCoverage {
  if (target === undefined) return { coverKey: '', coverHost: '' };
  if ('artifact' in target) return { coverKey: `artifact:${target.artifact}`, coverHost: '' };
  const asset = resolveAsset(target);
  if (asset === undefined) return { coverKey: '', coverHost: '' };
  if (asset.type === 'host') return { coverKey: `host:${asset.location}`, coverHost: asset.location };
  const host = parseHost(new URL(asset.location).hostname)?.location ?? '';
  return { coverKey: `site:${asset.location}`, coverHost: host };
}

/** @returns the target that a person means: a URL, else an address or a host name; `undefined` for what is none */
export function parseTarget(text: string): ScanTarget | undefined {
  const trimmed = text.trim();
  if (/^https?:\/\//i.test(trimmed)) return webOriginOf(trimmed) === undefined ? undefined : { url: trimmed };
  const asset = parseHost(trimmed);
  return asset === undefined ? undefined : { host: asset.location };
}

/** @returns where a finding was seen when its report names no more than a target */
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

/** Names of parameters that are another in every session, or against forgery; compared without regard to case, `-` and `_`. */
const VOLATILE_PARAMETERS = new Set(
  (
    'jsessionid phpsessid aspsessionid aspnetsessionid cfid cftoken sid sessid session sessionid sessiontoken nonce ' +
    'csrf csrftoken xsrf xsrftoken csrfmiddlewaretoken authenticitytoken requestverificationtoken viewstate ' +
    'eventvalidation timestamp ts cachebuster cb rand random state'
  ).split(' '),
);

/**
 * A URL as it is the same in every scan: without fragment, user, default port, session and nonce; its parameters in the
 * order of their names.
 * @returns what is no URL as it is
 */
export function canonicalUrl(url: string): string {
  const text = url.trim();
  if (!URL.canParse(text)) return text;
  const parsed = new URL(text);
  parsed.hash = '';
  parsed.username = '';
  parsed.password = '';
  // Servers of Java write the session into the path.
  parsed.pathname = parsed.pathname.replace(/;(?:jsessionid|phpsessid|sid)=[^;/]*/gi, '');
  const kept = [...parsed.searchParams].filter(([name]) => !isVolatile(name));
  kept.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  parsed.search = new URLSearchParams(kept).toString();
  return parsed.href;
}

const isVolatile = (name: string): boolean =>
  VOLATILE_PARAMETERS.has(name.toLowerCase().replace(/[-_.]/g, ''));
