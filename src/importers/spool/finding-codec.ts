import { hash } from 'node:crypto';
import type { SightedColumns } from '../../domain/imports/sighting.ts';
import { SEVERITIES, type Severity } from '../../domain/vulnerabilities/statuses-and-severities.ts';
import { MAX_FINDING } from '../../domain/vulnerabilities/vulnerability-fields.ts';
import type { ExploitableLocation } from '../../domain/vulnerabilities/exploitable-locations.ts';
import { cutText, type SettledFinding } from '../normalize-finding.ts';

/**
 * What a finding says as the spool keeps it: texts nearly as its row will have them, one behind the other, with their
 * lengths before them. A column for each would take twice the time, and so would JSON of all.
 */
type Texts = readonly [
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
const EVIDENCE = 12;

const listText = (list: readonly unknown[]) => (list.length === 0 ? '[]' : JSON.stringify(list));

/** @returns whether it was cut, the length of the evidence, the other lengths, a line end, and the texts */
export function packed(finding: SettledFinding): string {
  const texts: Texts = [
    finding.score === null ? '' : String(finding.score),
    finding.vector ?? '',
    finding.title,
    finding.description,
    finding.impact,
    finding.fix,
    finding.category[0],
    finding.category[1],
    listText(finding.cves),
    listText(finding.cwes),
    listText(finding.urls),
    listText(finding.locations),
    listText(finding.evidence),
  ];
  let lengths = '';
  let text = '';
  for (let index = 0; index < EVIDENCE; index += 1) {
    const one = texts[index] as string;
    lengths += `${one.length},`;
    text += one;
  }
  return `${finding.cut ? 'cut' : ''},${texts[EVIDENCE].length};${lengths}\n${text}${texts[EVIDENCE]}`;
}

function unpacked(body: string): Texts {
  const begin = body.indexOf(';');
  const end = body.indexOf('\n');
  const evidence = body.slice(body.indexOf(',') + 1, begin);
  const others = body.slice(begin + 1, end);
  const lengths = others.split(',');
  const texts: string[] = [];
  let at = end + 1;
  for (let index = 0; index < EVIDENCE; index += 1) {
    const next = at + Number(lengths[index]);
    texts.push(body.slice(at, next));
    at = next;
  }
  texts.push(body.slice(at, at + Number(evidence)));
  return texts as unknown as Texts;
}

export const severityOf = (rank: number): Severity =>
  SEVERITIES[SEVERITIES.length - 1 - rank] ?? 'Informational';

export const wasCut = (body: string): boolean => body.startsWith('cut');

export function settledOf(rank: number, body: string): SettledFinding {
  const [score, vector, title, description, impact, fix, parent, display, ...lists] = unpacked(body);
  const [cves, cwes, urls, locations, evidence] = lists.map((text) => JSON.parse(text) as unknown) as [
    string[],
    string[],
    string[],
    ExploitableLocation[],
    string[],
  ];
  return {
    title,
    severity: severityOf(rank),
    description,
    impact,
    fix,
    category: [parent, display],
    cves,
    cwes,
    score: score === '' ? null : Number(score),
    vector: vector === '' ? null : vector,
    urls,
    evidence,
    locations,
    located: locations.length,
    cut: wasCut(body),
  };
}

/** Characters below which a finding cannot have more bytes than its limit. */
const SMALL = MAX_FINDING / 3;

/**
 * @param body as `packed` makes it
 * @returns the same, cut to the limit of a finding
 */
export function cutToLimit(rank: number, body: string): string {
  if (body.length <= SMALL) return body;
  const settled = settledOf(rank, body);
  return cutToSize(settled) ? packed({ ...settled, cut: true }) : body;
}

/** @returns a digest of all that the scanner says but the evidence */
export function contentOf(rank: number, body: string, located: number): string {
  const begin = body.indexOf(';');
  const said = body.slice(begin, body.length - Number(body.slice(body.indexOf(',') + 1, begin)));
  return hash('sha256', `${rank} ${located}${said}`, 'base64url').slice(0, 22);
}

/** @param located how many locations the report has */
export function columnsOf(rank: number, body: string, located: number): SightedColumns {
  const [score, vector, title, description, impact, fix, parent, display, ...lists] = unpacked(body);
  const [cves, cwes, urls, locations, evidence] = lists;
  return {
    title,
    severity: severityOf(rank),
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
    location_count: located,
    reference_urls: urls,
    http_requests: evidence,
  };
}

/** Cuts what is over the limit of a finding in all: evidence, then locations, then texts. @returns whether it did */
function cutToSize(finding: SettledFinding): boolean {
  // As JSON it is larger than what counts; mostly that says enough.
  let over = Buffer.byteLength(JSON.stringify(finding)) - MAX_FINDING;
  if (over <= 0) return false;
  for (const list of [finding.evidence, finding.locations]) {
    while (over > 0 && list.length > 0) over -= Buffer.byteLength(JSON.stringify(list.pop()));
  }
  for (const member of ['description', 'impact', 'fix'] as const) {
    if (over <= 0) break;
    const before = finding[member];
    finding[member] = cutText(before, 16_384);
    over -= Buffer.byteLength(before) - Buffer.byteLength(finding[member]);
  }
  return true;
}
