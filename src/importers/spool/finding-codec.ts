import { hash } from 'node:crypto';
import type { ScannerColumns, AssetLocation, ScanScopeKey } from '../../domain/imports/finding-detections.ts';
import { severityOfRank } from '../../domain/shared/statuses-and-severities.ts';
import { MAX_VULNERABILITY_BYTES } from '../../domain/vulnerabilities/vulnerability-fields.ts';
import type { ExploitableLocation } from '../../domain/vulnerabilities/exploitable-locations.ts';
import { truncateText, type NormalizedFinding } from '../normalize-finding.ts';

/** The part of a finding that is not its content: identity, source, asset, scan scope, time and tags. */
export interface FindingHeader {
  identity: string;
  source: string;
  asset: AssetLocation | null;
  scanScope: ScanScopeKey | null;
  /** Milliseconds since 1970; `null` if only the report has a time. */
  seenAt: number | null;
  /** Whether it has a time that is not understood. */
  isTimeUnclear: boolean;
  /** Names of the tags that it gets when it is created. */
  tags: readonly string[];
}

/** The part of a header that is stored as JSON. The rest has columns of its own. */
type JsonHeader = Omit<FindingHeader, 'identity' | 'seenAt'>;

type HeaderTuple = [
  source: string,
  type: AssetLocation['type'] | null,
  location: string,
  key: string | null,
  host: string | null,
  ports: string,
  isTimeUnclear: 0 | 1,
  ...tags: string[],
];

export function encodeHeader({ source, asset, scanScope, isTimeUnclear, tags }: JsonHeader): string {
  return JSON.stringify([
    source,
    asset?.type ?? null,
    asset?.location ?? null,
    scanScope?.key ?? null,
    scanScope?.host ?? null,
    scanScope?.ports ?? '',
    isTimeUnclear ? 1 : 0,
    ...tags,
  ]);
}

export function decodeHeader(text: string): JsonHeader {
  const [source, type, location, key, host, ports, isTimeUnclear, ...tags] = JSON.parse(text) as HeaderTuple;
  return {
    source,
    asset: type === null ? null : { type, location },
    scanScope: key === null ? null : { key, host, ports },
    isTimeUnclear: isTimeUnclear === 1,
    tags,
  };
}

/**
 * The texts of a spooled finding, nearly in the form of its row. They are concatenated behind a header with their
 * lengths: a column for each, or JSON, would take twice as long.
 */
type Texts = [
  score: string,
  vector: string,
  title: string,
  description: string,
  impact: string,
  fix: string,
  parent: string,
  display: string,
  cves: string,
  cwes: string,
  urls: string,
  locations: string,
  evidence: string,
];
const EVIDENCE_INDEX = 12;

const encodeList = (list: readonly unknown[]) => (list.length === 0 ? '[]' : JSON.stringify(list));

/** Encodes as `cut?,<length of evidence>;<other lengths>\n<texts>`. */
export function encodeFinding(finding: NormalizedFinding): string {
  const texts: Texts = [
    finding.cvssScore === null ? '' : String(finding.cvssScore),
    finding.cvssVector ?? '',
    finding.title,
    finding.description,
    finding.impact,
    finding.recommendedFix,
    finding.category[0],
    finding.category[1],
    encodeList(finding.cveIds),
    encodeList(finding.cweIds),
    encodeList(finding.referenceUrls),
    encodeList(finding.locations),
    encodeList(finding.evidence),
  ];
  let lengths = '';
  let text = '';
  for (let index = 0; index < EVIDENCE_INDEX; index += 1) {
    const part = texts[index] as string;
    lengths += `${part.length},`;
    text += part;
  }
  return `${finding.isTruncated ? 'cut' : ''},${texts[EVIDENCE_INDEX].length};${lengths}\n${text}${texts[EVIDENCE_INDEX]}`;
}

function decodeTexts(body: string): Texts {
  const begin = body.indexOf(';');
  const end = body.indexOf('\n');
  const evidenceLength = body.slice(body.indexOf(',') + 1, begin);
  const otherLengths = body.slice(begin + 1, end);
  const lengths = otherLengths.split(',');
  const texts: string[] = [];
  let offset = end + 1;
  for (let index = 0; index < EVIDENCE_INDEX; index += 1) {
    const next = offset + Number(lengths[index]);
    texts.push(body.slice(offset, next));
    offset = next;
  }
  texts.push(body.slice(offset, offset + Number(evidenceLength)));
  return texts as Texts;
}

export const isTruncated = (body: string): boolean => body.startsWith('cut');

export function decodeFinding(rank: number, body: string): NormalizedFinding {
  const [score, vector, title, description, impact, recommendedFix, parent, display, ...lists] =
    decodeTexts(body);
  const [cveIds, cweIds, referenceUrls, locations, evidence] = lists.map(
    (text) => JSON.parse(text) as unknown,
  ) as [string[], string[], string[], ExploitableLocation[], string[]];
  return {
    title,
    severity: severityOfRank(rank),
    description,
    impact,
    recommendedFix,
    category: [parent, display],
    cveIds,
    cweIds,
    cvssScore: score === '' ? null : Number(score),
    cvssVector: vector === '' ? null : vector,
    referenceUrls,
    evidence,
    locations,
    locationCount: locations.length,
    isTruncated: isTruncated(body),
  };
}

/** Characters; shorter bodies cannot exceed the limit in bytes. */
const MAX_SURELY_WITHIN_LIMIT = MAX_VULNERABILITY_BYTES / 3;

/**
 * @param body from `encodeFinding`
 * @returns the body, cut to the size limit of a finding
 */
export function truncateToLimit(rank: number, body: string): string {
  if (body.length <= MAX_SURELY_WITHIN_LIMIT) return body;
  const finding = decodeFinding(rank, body);
  return truncateToSize(finding) ? encodeFinding({ ...finding, isTruncated: true }) : body;
}

/** Hashes everything that the scanner reports, except for evidence. */
export function hashContent(rank: number, body: string, locationCount: number): string {
  const begin = body.indexOf(';');
  const reported = body.slice(begin, body.length - Number(body.slice(body.indexOf(',') + 1, begin)));
  return hash('sha256', `${rank} ${locationCount}${reported}`, 'base64url').slice(0, 22);
}

/** @param locationCount number of reported locations, including those not stored */
export function toColumns(rank: number, body: string, locationCount: number): ScannerColumns {
  const [score, vector, title, description, impact, fix, parent, display, ...lists] = decodeTexts(body);
  const [cves, cwes, urls, locations, evidence] = lists;
  return {
    title,
    severity: severityOfRank(rank),
    description,
    cvss_score: score === '' ? null : Number(score),
    cvss_vector: vector === '' ? null : vector,
    impact,
    recommended_fix: fix,
    category_parent: parent,
    category_display: display,
    cve_ids: cves,
    cwe_ids: cwes,
    exploitable_locations: locations,
    location_count: locationCount,
    reference_urls: urls,
    http_requests: evidence,
  };
}

/** Cuts a finding to the size limit: evidence first, then locations, references and texts. @returns whether it cut anything */
function truncateToSize(finding: NormalizedFinding): boolean {
  // The JSON is larger than the stored form, so it is an upper bound.
  let excess = Buffer.byteLength(JSON.stringify(finding)) - MAX_VULNERABILITY_BYTES;
  if (excess <= 0) return false;
  for (const list of [finding.evidence, finding.locations, finding.referenceUrls]) {
    while (excess > 0 && list.length > 0) excess -= Buffer.byteLength(JSON.stringify(list.pop()));
  }
  for (const member of ['description', 'impact', 'recommendedFix'] as const) {
    if (excess <= 0) break;
    const before = finding[member];
    finding[member] = truncateText(before, 16_384);
    excess -= Buffer.byteLength(before) - Buffer.byteLength(finding[member]);
  }
  return true;
}
