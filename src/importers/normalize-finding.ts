import { markdownToPlainText, unlinkAttachments } from './parsing/escape-markdown.ts';
import type { Severity } from '../domain/shared/statuses-and-severities.ts';
import { calculateCvssScore } from '../domain/vulnerabilities/cvss.ts';
import {
  normalizeCve,
  normalizeCwe,
  isHttpUrl,
  UNCATEGORIZED,
} from '../domain/vulnerabilities/vulnerability-fields.ts';
import {
  type ExploitableLocation,
  type LocationInput,
  validateLocations,
} from '../domain/vulnerabilities/exploitable-locations.ts';
import { MAX_NAME_LENGTH, replaceControlCharacters } from '../domain/shared/names.ts';
import { memoize } from '../lib/memoize.ts';
import { type HostTarget, hostKey, locationOfTarget } from './targets.ts';
import type { ReportedFinding, ScanTarget } from './report.ts';

/** Characters per text; locations and evidence per finding. */
const MAX_TEXT = 65_536;
export const MAX_STORED_LOCATIONS = 1_000;
export const MAX_EVIDENCE = 20;
/** Ids and references per finding. */
const MAX_IDS = 1_000;
/** Begins an image in evidence. The attachments are ours, and a report shows none of them. */
const EMBEDDED = '](attachment:';
/** Characters per location value. */
const MAX_VALUE = 2_048;

/** A reported finding within the limits and in the form that is stored. */
export interface NormalizedFinding {
  title: string;
  severity: Severity;
  description: string;
  impact: string;
  recommendedFix: string;
  category: readonly [parent: string, display: string];
  cveIds: string[];
  cweIds: string[];
  cvssScore: number | null;
  cvssVector: string | null;
  referenceUrls: string[];
  evidence: string[];
  locations: ExploitableLocation[];
  /** Number of reported locations, including those not stored. */
  locationCount: number;
  /** Whether a limit cut something off. */
  isTruncated: boolean;
}

/**
 * Normalizes a reported finding: replaces NUL and lone surrogates by U+FFFD, truncates texts, breaks links to
 * attachments, and drops invalid CVE and CWE ids and web addresses.
 */
export function normalizeFinding(finding: ReportedFinding): NormalizedFinding {
  let isTruncated = false;
  const text = (value: string | undefined, max = MAX_TEXT): string => {
    if (value === undefined) return '';
    const truncated = value.length > max ? truncateText(value, max) : value;
    if (truncated.length < value.length) isTruncated = true;
    return sanitizeText(truncated);
  };
  const markdown = (value = ''): string => text(unlinkAttachments(value));
  const limited = <T>(values: readonly T[] | undefined, max: number): readonly T[] => {
    if (values === undefined) return [];
    if (values.length > max) isTruncated = true;
    return values.length > max ? values.slice(0, max) : values;
  };
  const name = (value: string): string =>
    text(replaceControlCharacters(value).trim(), MAX_NAME_LENGTH).trim();
  const { category } = finding;
  const [parent, display] = category === undefined ? [] : [name(category.parent), name(category.display)];
  const names = parent && display ? ([parent, display] as const) : UNCATEGORIZED_PAIR;
  const reported = finding.locations === undefined ? undefined : distinctLocations(finding.locations);
  const locations =
    reported === undefined
      ? locationsOfTarget(finding.target)
      : limited(reported, MAX_STORED_LOCATIONS).flatMap(toStoredLocation);
  const { cvssVector } = finding;
  const calculatedScore = cvssVector === undefined ? undefined : calculateCvssScore(cvssVector);
  return {
    title:
      name(replaceControlCharacters(finding.title).replaceAll(/\s+/g, ' ')) ||
      name(finding.rule) ||
      'Untitled',
    severity: finding.severity,
    description: markdown(finding.description),
    impact: markdown(finding.impact),
    recommendedFix: markdown(finding.recommendedFix),
    category: names,
    cveIds: uniqueIds(limited(finding.cveIds, MAX_IDS), cachedCve),
    cweIds: uniqueIds(limited(finding.cweIds, MAX_IDS), cachedCwe),
    cvssScore: calculatedScore ?? validScore(finding.cvssScore),
    cvssVector: calculatedScore === undefined ? null : (cvssVector as string),
    referenceUrls: uniqueIds(limited(finding.referenceUrls, MAX_IDS), cachedUrl),
    evidence: limited(finding.evidence, MAX_EVIDENCE).flatMap(
      (item) => text(item.replaceAll(EMBEDDED, '$& ')) || [],
    ),
    locations,
    locationCount: (reported ?? locations).length,
    // Evaluated last, because the members above set it.
    isTruncated,
  };
}

const UNCATEGORIZED_PAIR = [UNCATEGORIZED.parent, UNCATEGORIZED.display] as const;

/** @returns at most `max` UTF-16 units, never ending in half a surrogate pair */
export function truncateText(text: string, max: number): string {
  return text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '');
}

export function sanitizeText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\uFFFD') : wellFormed;
}

function uniqueIds(values: readonly string[], idOf: (value: string) => string | undefined): string[] {
  if (values.length === 0) return [];
  const ids = new Set<string>();
  for (const value of values) {
    const id = value.length > MAX_VALUE ? undefined : idOf(value);
    if (id !== undefined) ids.add(id);
  }
  return [...ids];
}

/** Entries per cache. */
const CACHE_SIZE = 5_000;
const itself = (value: string): string => value;
const cachedCve = memoize(normalizeCve, itself, CACHE_SIZE);
const cachedCwe = memoize(knownCwe, itself, CACHE_SIZE);
const cachedUrl = memoize(validUrl, itself, CACHE_SIZE);

/** Some tools write 0 for none. */
function knownCwe(value: string): string | undefined {
  const id = normalizeCwe(value);
  return id === 'CWE-0' ? undefined : id;
}

function validUrl(value: string): string | undefined {
  const url = sanitizeText(value.trim());
  return isHttpUrl(url) ? url : undefined;
}

function validScore(score: number | undefined): number | null {
  if (score === undefined || !(score >= 0 && score <= 10)) return null;
  return Math.round(score * 10) / 10;
}

function distinctLocations(locations: readonly LocationInput[]): readonly LocationInput[] {
  if (locations.length < 2) return locations;
  const keys = new Set<string>();
  // Most findings repeat no location, and keep their list.
  const distinct = locations.filter((location) => {
    const sizeBefore = keys.size;
    keys.add(keyOfLocation(location));
    return keys.size > sizeBefore;
  });
  return distinct.length === locations.length ? locations : distinct;
}

function keyOfLocation({ type, value, address, port, protocol }: LocationInput): string {
  return address === undefined && port === undefined
    ? `${type} ${value}`
    : JSON.stringify([type, value, address, port, protocol]);
}

/** @returns the location, with the type `other` if it is invalid for its own type */
function toStoredLocation(location: LocationInput): ExploitableLocation[] {
  const { value, address, protocol, port } = location;
  const truncated = {
    type: location.type,
    ...(value === undefined ? {} : { value: sanitizeText(truncateText(value, MAX_VALUE)) }),
    ...(address === undefined ? {} : { address: sanitizeText(truncateText(address, MAX_VALUE)) }),
    ...(protocol === undefined ? {} : { protocol: sanitizeText(truncateText(protocol, MAX_VALUE)) }),
    ...(port === undefined ? {} : { port }),
  };
  const valid = truncated.type === 'ip' ? cachedEndpoint(truncated) : validLocation(truncated);
  if (valid !== undefined) return [valid];
  const text = truncated.value?.trim() || truncated.address?.trim();
  return text
    ? [
        {
          type: 'other',
          value: text,
          address: truncated.address ?? null,
          port: port ?? null,
          protocol: truncated.protocol ?? null,
        },
      ]
    : [];
}

function validLocation(location: LocationInput): ExploitableLocation | undefined {
  const errors: Parameters<typeof validateLocations>[1] = [];
  const [valid] = validateLocations([location], errors);
  return errors.length === 0 ? valid : undefined;
}

/** @returns the location of a finding that names only a target */
function locationsOfTarget(target: ScanTarget | undefined): ExploitableLocation[] {
  if (target === undefined) return [];
  return 'host' in target ? [...cachedHostLocations(target)] : toStoredLocation(locationOfTarget(target));
}

/** Reports repeat the same few hosts and ports. */
const cachedHostLocations = memoize(
  (target: HostTarget) => toStoredLocation(locationOfTarget(target)),
  hostKey,
  CACHE_SIZE,
);
const cachedEndpoint = memoize(
  validLocation,
  ({ value, address, port, protocol }) => `${value} ${address} ${protocol}/${port}`,
  CACHE_SIZE,
);

/**
 * Merges two instances of a finding: keeps the texts of the first, and the ids, references and evidence of both. If the
 * second has another description and no evidence, the description becomes evidence.
 */
export function mergeFindings(first: NormalizedFinding, second: NormalizedFinding): NormalizedFinding {
  const isDifferent = second.description !== '' && second.description !== first.description;
  const evidence =
    isDifferent && second.evidence.length === 0 ? [markdownToPlainText(second.description)] : second.evidence;
  const union = (a: string[], b: string[], max: number) => [...new Set([...a, ...b])].slice(0, max);
  return {
    ...first,
    cveIds: union(first.cveIds, second.cveIds, MAX_IDS),
    cweIds: union(first.cweIds, second.cweIds, MAX_IDS),
    referenceUrls: union(first.referenceUrls, second.referenceUrls, MAX_IDS),
    evidence: union(first.evidence, evidence, MAX_EVIDENCE),
    isTruncated: first.isTruncated || second.isTruncated,
  };
}
