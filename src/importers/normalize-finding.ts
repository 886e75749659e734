import type { Severity } from '../domain/vulnerabilities/statuses-and-severities.ts';
import { scoreOf } from '../domain/vulnerabilities/cvss.ts';
import { cveOf, cweOf, isWebAddress, UNCATEGORIZED } from '../domain/vulnerabilities/vulnerability-fields.ts';
import {
  type ExploitableLocation,
  type LocationInput,
  readLocations,
} from '../domain/vulnerabilities/exploitable-locations.ts';
import { MAX_NAME_LENGTH } from '../domain/shared/names.ts';
import { locationOfTarget } from './finding-identity.ts';
import type { ReportedFinding } from './report.ts';

/** The most characters of a text, and the most locations and pieces of evidence that are kept. */
const MAX_TEXT = 65_536;
export const MAX_LOCATIONS = 1_000;
export const MAX_EVIDENCE = 20;
/** The most ids and references of a finding. */
const MAX_IDS = 1_000;
/** A place is no text. */
const MAX_VALUE = 2_048;

/** An instance of a finding in the form in which it is kept. */
export interface SettledFinding {
  title: string;
  severity: Severity;
  description: string;
  impact: string;
  fix: string;
  category: readonly [parent: string, display: string];
  cves: string[];
  cwes: string[];
  score: number | null;
  vector: string | null;
  urls: string[];
  evidence: string[];
  locations: ExploitableLocation[];
  /** How many the report has, kept or not. */
  located: number;
  /** Whether a part of it was left out as it is over a limit. */
  cut: boolean;
}

/**
 * Brings a finding of a report into the form in which it is kept (docs/companions.md, section 7): NUL and halves of
 * surrogate pairs become U+FFFD, texts over their limit are cut, and what is no CVE, CWE or web address is dropped.
 */
export function settleFinding(finding: ReportedFinding): SettledFinding {
  let wasCut = false;
  const text = (value: string | undefined, most = MAX_TEXT): string => {
    if (value === undefined) return '';
    const short = value.length > most ? cutText(value, most) : value;
    if (short.length < value.length) wasCut = true;
    return cleanText(short);
  };
  const some = <T>(values: readonly T[] | undefined, most: number): readonly T[] => {
    if (values === undefined) return [];
    if (values.length > most) wasCut = true;
    return values.length > most ? values.slice(0, most) : values;
  };
  const name = (value: string): string => text(value.trim(), MAX_NAME_LENGTH).trim();
  const { category } = finding;
  const [parent, display] = category === undefined ? [] : [name(category.parent), name(category.display)];
  const named = parent && display ? ([parent, display] as const) : UNCATEGORIZED_PAIR;
  const locations: readonly LocationInput[] =
    finding.locations ?? (finding.target === undefined ? [] : [locationOfTarget(finding.target)]);
  const { cvssVector } = finding;
  const followed = cvssVector === undefined ? undefined : scoreOf(cvssVector);
  const settled = {
    title: name(finding.title.replaceAll(/\s+/g, ' ')) || name(finding.rule) || 'Untitled',
    severity: finding.severity,
    description: text(finding.description),
    impact: text(finding.impact),
    fix: text(finding.recommendedFix),
    category: named,
    cves: idsOf(some(finding.cveIds, MAX_IDS), rememberedCve),
    cwes: idsOf(some(finding.cweIds, MAX_IDS), rememberedCwe),
    score: followed ?? scoreIn(finding.cvssScore),
    vector: followed === undefined ? null : (cvssVector as string),
    urls: idsOf(some(finding.referenceUrls, MAX_IDS), rememberedUrl),
    evidence: some(finding.evidence, MAX_EVIDENCE).flatMap((piece) => text(piece) || []),
    locations: some(locations, MAX_LOCATIONS).flatMap(settleLocation),
    located: locations.length,
  };
  return { ...settled, cut: wasCut };
}

const UNCATEGORIZED_PAIR = [UNCATEGORIZED.parent, UNCATEGORIZED.display] as const;

/** @returns at most so many units of a text, without half of a character at its end */
export function cutText(text: string, most: number): string {
  return text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '');
}

export function cleanText(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes('\0') ? whole.replaceAll('\0', '\uFFFD') : whole;
}

function idsOf(values: readonly string[], idOf: (value: string) => string | undefined): string[] {
  if (values.length === 0) return [];
  const ids = new Set<string>();
  for (const value of values) {
    const id = value.length > MAX_VALUE ? undefined : idOf(value);
    if (id !== undefined) ids.add(id);
  }
  return [...ids];
}

/** Reports tell the same few ids and addresses again and again. */
const REMEMBERED = 5_000;
const LONGEST_REMEMBERED = 256;

function remembering(idOf: (value: string) => string | undefined): (value: string) => string | undefined {
  const known = new Map<string, { id: string | undefined }>();
  return (value) => {
    if (value.length > LONGEST_REMEMBERED) return idOf(value);
    let found = known.get(value);
    if (found === undefined) {
      if (known.size >= REMEMBERED) known.clear();
      found = { id: idOf(value) };
      known.set(value, found);
    }
    return found.id;
  };
}

const rememberedCve = remembering(cveOf);
const rememberedCwe = remembering(cweOf);
const rememberedUrl = remembering(urlOf);

function urlOf(value: string): string | undefined {
  const url = cleanText(value.trim());
  return isWebAddress(url) ? url : undefined;
}

function scoreIn(score: number | undefined): number | null {
  if (score === undefined || !(score >= 0 && score <= 10)) return null;
  return Math.round(score * 10) / 10;
}

function settleLocation(location: LocationInput): ExploitableLocation[] {
  const { value, address, protocol, port } = location;
  const short = {
    type: location.type,
    ...(value === undefined ? {} : { value: cleanText(cutText(value, MAX_VALUE)) }),
    ...(address === undefined ? {} : { address: cleanText(cutText(address, MAX_VALUE)) }),
    ...(protocol === undefined ? {} : { protocol: cleanText(cutText(protocol, MAX_VALUE)) }),
    ...(port === undefined ? {} : { port }),
  };
  const faults: Parameters<typeof readLocations>[1] = [];
  const [settled] = readLocations([short], faults);
  if (settled !== undefined && faults.length === 0) return [settled];
  // What is no address is told all the same.
  const told = short.value?.trim() || short.address?.trim();
  return told ? [{ type: 'other', value: told, address: null, port: null, protocol: null }] : [];
}

/** What is said of a finding in more than one instance: the texts of the first, and of all what can be told together. */
export function mergeFindings(first: SettledFinding, other: SettledFinding): SettledFinding {
  const union = (one: string[], two: string[], most: number) => [...new Set([...one, ...two])].slice(0, most);
  return {
    ...first,
    cves: union(first.cves, other.cves, MAX_IDS),
    cwes: union(first.cwes, other.cwes, MAX_IDS),
    urls: union(first.urls, other.urls, MAX_IDS),
    evidence: union(first.evidence, other.evidence, MAX_EVIDENCE),
    cut: first.cut || other.cut,
  };
}
