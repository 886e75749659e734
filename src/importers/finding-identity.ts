import { hash } from 'node:crypto';
import type { AssetLocation } from '../domain/imports/detection.ts';
import type { ReportedFinding, ScanTarget } from './report.ts';
import { assetOfTarget } from './targets.ts';
import { parseUntrustedUrl } from '../lib/parse-untrusted-url.ts';

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
  finding: Partial<ReportedFinding> & Pick<ReportedFinding, 'rule'>,
  source: string,
  asset: AssetLocation | null = assetOfTarget(finding.target),
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
