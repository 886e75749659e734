import type { Severity } from '../../../domain/vulnerabilities/statuses-and-severities.ts';
import {
  isObject,
  listOf,
  type Members,
  membersOf,
  numberOf,
  textOf,
  plainTextOf,
} from '../../parsing/json-values.ts';
import { bestCvss, severityOfScore } from '../../parsing/severity-and-cvss.ts';
import { cvesIn, cwesIn } from '../../parsing/markdown.ts';
import type { Place, ReportedFinding, ReportedLocation, ReportRecord, Target } from '../../report.ts';
import { marksOf, type Rule, type Run } from './sarif-runs.ts';

/** A result (section 3.27): a finding, or why it is none. */
export function recordOf(result: Members, run: Run, at: Place): ReportRecord {
  const reason = reasonToSkip(result);
  return reason === undefined
    ? { kind: 'finding', finding: findingOf(result, run), at }
    : { kind: 'skipped', reason, at };
}

function reasonToSkip(result: Members): string | undefined {
  if (!isObject(result.message) && textOf(result.ruleId) === undefined && !isObject(result.rule))
    return 'no message';
  if (result.kind === 'pass') return 'passed';
  if (result.kind === 'notApplicable') return 'not applicable';
  if (result.baselineState === 'absent') return 'absent';
  const suppressions = listOf(result.suppressions).filter(isObject);
  // One that is under review, or was rejected, does not suppress it (section 3.27.23).
  const open = suppressions.some(({ status }) => status === 'underReview' || status === 'rejected');
  return suppressions.length > 0 && !open ? 'suppressed' : undefined;
}

function findingOf(result: Members, run: Run): ReportedFinding {
  const rule = run.ruleOf(result);
  const message = messageOf(membersOf(result.message), rule);
  const id = textOf(result.ruleId) ?? textOf(membersOf(result.rule).id) ?? rule?.id;
  const title = rule?.title ?? firstLineOf(message) ?? id ?? 'A result without a message';
  const locations = listOf(result.locations).map((value) => locationFrom(membersOf(value), run));
  const first = locations[0];
  const properties = membersOf(result.properties);
  const marks = [id, rule?.marks, marksOf(properties, listOf(result.taxa).map(membersOf))].join(' ');
  const named = id ?? title.toLowerCase().replace(/\s+/g, ' ');
  return {
    rule: named,
    source: run.source,
    ...identityOf(result, named, first),
    title,
    severity: severityOf(result, rule),
    description: descriptionOf(message, rule),
    cveIds: cvesIn(marks),
    cweIds: cwesIn(marks),
    ...bestCvss([{ score: rule?.cvss }]),
    referenceUrls: rule?.links,
    evidence: locations.map(({ snippet }) => snippet).filter((snippet) => snippet !== undefined),
    target: targetOf(first, run),
    locations: locations.map(({ location }) => location).filter((location) => location !== undefined),
  };
}

interface Found {
  path: string | undefined;
  /** The full name of a class, a function, a resource. */
  name: string | undefined;
  snippet: string | undefined;
  location: ReportedLocation | undefined;
}

function locationFrom(value: Members, run: Run): Found {
  const physical = membersOf(value.physicalLocation);
  const region = membersOf(physical.region);
  const path = run.pathOf(membersOf(physical.artifactLocation));
  const snippet =
    textOf(membersOf(region.snippet).text) ??
    textOf(membersOf(membersOf(physical.contextRegion).snippet).text);
  const logical = listOf(value.logicalLocations ?? value.logicalLocation).map(membersOf)[0];
  const name = textOf(logical?.fullyQualifiedName) ?? textOf(logical?.name);
  return { path, name, snippet, location: locationOf(path, name, numberOf(region.startLine)) };
}

function locationOf(
  path: string | undefined,
  name: string | undefined,
  line: number | undefined,
): ReportedLocation | undefined {
  if (path === undefined) return name === undefined ? undefined : { type: 'app-location', value: name };
  if (isWebAddress(path)) return { type: 'url', value: path };
  return { type: 'file', value: line === undefined || line < 1 ? path : `${path}:${line}` };
}

function isWebAddress(path: string): boolean {
  return /^https?:\/\//i.test(path) && URL.canParse(path);
}

function targetOf(first: Found | undefined, run: Run): Target {
  const path = first?.path;
  return path !== undefined && isWebAddress(path) ? { url: path } : { artifact: run.artifact, path };
}

/** The tool's own fingerprints, else the parts of one with the path, else the path and what stands there. */
function identityOf(
  result: Members,
  rule: string,
  first: Found | undefined,
): { fingerprint?: string; place?: string } {
  const path = pathWithoutQuery(first?.path);
  const own = fingerprintOf(result.fingerprints);
  if (own !== undefined) return { fingerprint: JSON.stringify([rule, own]) };
  const partial = fingerprintOf(result.partialFingerprints);
  if (partial !== undefined) return { fingerprint: JSON.stringify([rule, path, partial]) };
  return {
    place: [path, first?.name, first?.snippet?.replace(/\s+/g, ' ')].map((part) => part ?? '').join('\n'),
  };
}

function pathWithoutQuery(path: string | undefined): string {
  return path === undefined ? '' : isWebAddress(path) ? new URL(path).pathname : path;
}

/** What some tools write where they have none. */
const NO_FINGERPRINT = /^(requires login|unknown|none|null|undefined|n\/?a|0+)$/i;

/** @returns each kind of fingerprint in its oldest version, as a newer tool adds newer ones (section 3.27.16) */
function fingerprintOf(value: unknown): [string, string][] | undefined {
  const kinds = new Map<string, { version: number; text: string }>();
  for (const [name, content] of Object.entries(membersOf(value))) {
    const text = textOf(content) ?? textOf(membersOf(content).value);
    // CodeQL tells the column beside its fingerprint.
    if (text === undefined || NO_FINGERPRINT.test(text) || /column/i.test(name)) continue;
    const parts = /^(.*?)(?:\/v(\d+))?$/s.exec(name);
    const kind = parts?.[1] ?? name;
    const version = Number(parts?.[2] ?? 0);
    const known = kinds.get(kind);
    if (known === undefined || version < known.version) kinds.set(kind, { version, text });
  }
  if (kinds.size === 0) return undefined;
  return [...kinds]
    .map(([kind, { text }]): [string, string] => [kind, text])
    .sort(([one], [other]) => (one < other ? -1 : 1));
}

const LEVELS: Readonly<Record<string, Severity>> = {
  error: 'High',
  warning: 'Medium',
  note: 'Low',
  none: 'Informational',
};

/** GitHub's `security-severity` where there is one, else the level (section 3.27.10), which is `warning` unless told. */
function severityOf(result: Members, rule: Rule | undefined): Severity {
  const score = numberOf(membersOf(result.properties)['security-severity']) ?? rule?.score;
  if (score !== undefined && score >= 0 && score <= 10) return severityOfScore(score);
  const kind = textOf(result.kind) ?? 'fail';
  const level = textOf(result.level) ?? (kind === 'fail' ? (rule?.level ?? 'warning') : 'none');
  return LEVELS[level] ?? 'Medium';
}

/** Section 3.11: the text, or that of the rule by its name, with its arguments. */
function messageOf(message: Members, rule: Rule | undefined): string | undefined {
  const named = membersOf(rule?.messages[textOf(message.id) ?? '']);
  const text = textOf(message.text) ?? textOf(named.text) ?? textOf(message.markdown);
  const values = listOf(message.arguments).map((value) => textOf(value) ?? '');
  return (
    text
      ?.replace(/\{(\d{1,3})\}/g, (whole, index: string) => values[Number(index)] ?? whole)
      // Links to places that are told beside it (section 3.11.6).
      .replace(/\[([^\]]{1,500})\]\(\d+\)/g, '$1')
  );
}

function descriptionOf(message: string | undefined, rule: Rule | undefined): string | undefined {
  const about = rule?.help ?? plainTextOf(rule?.description);
  const parts = [plainTextOf(message), about].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : [...new Set(parts)].join('\n\n');
}

function firstLineOf(text: string | undefined): string | undefined {
  return text?.split('\n', 1)[0]?.slice(0, 200);
}
