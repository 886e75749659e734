import type { Severity } from '../../../domain/shared/statuses-and-severities.ts';
import {
  isJsonObject,
  arrayOf,
  type JsonObject,
  asJsonObject,
  numberOf,
  textOf,
  markdownTextOf,
} from '../../parsing/json-values.ts';
import { bestCvss, severityOfScore } from '../../parsing/severity-and-cvss.ts';
import { extractCveIds, extractCweIds } from '../../parsing/markdown.ts';
import type {
  SourceLocation,
  ReportedFinding,
  ReportedLocation,
  ReportRecord,
  ScanTarget,
} from '../../report.ts';
import { identifierText, type SarifRule, type SarifRun } from './sarif-runs.ts';

/** Converts a result (section 3.27) to a finding, or skips it. */
export function recordOfSarifResult(result: JsonObject, run: SarifRun, at: SourceLocation): ReportRecord {
  const reason = reasonToSkip(result);
  return reason === undefined
    ? { kind: 'finding', finding: findingOf(result, run), at }
    : { kind: 'skipped', reason, at };
}

function reasonToSkip(result: JsonObject): string | undefined {
  if (!isJsonObject(result.message) && textOf(result.ruleId) === undefined && !isJsonObject(result.rule))
    return 'no message';
  if (result.kind === 'pass') return 'passed';
  if (result.kind === 'notApplicable') return 'not applicable';
  if (result.baselineState === 'absent') return 'absent';
  const suppressions = arrayOf(result.suppressions).filter(isJsonObject);
  // A suppression that is under review or rejected has no effect (section 3.27.23).
  const open = suppressions.some(({ status }) => status === 'underReview' || status === 'rejected');
  return suppressions.length > 0 && !open ? 'suppressed' : undefined;
}

function findingOf(result: JsonObject, run: SarifRun): ReportedFinding {
  const rule = run.ruleOf(result);
  const message = messageOf(asJsonObject(result.message), rule);
  const id = textOf(result.ruleId) ?? textOf(asJsonObject(result.rule).id) ?? rule?.id;
  const title = rule?.title ?? firstLineOf(message) ?? id ?? 'Result without a message';
  const locations = arrayOf(result.locations).map((value) => locationFrom(asJsonObject(value), run));
  const first = locations[0];
  const properties = asJsonObject(result.properties);
  const identifiers = [
    id,
    rule?.identifiers,
    identifierText(properties, arrayOf(result.taxa).map(asJsonObject)),
  ].join(' ');
  const named = id ?? title.toLowerCase().replace(/\s+/g, ' ');
  return {
    rule: named,
    source: run.source,
    ...identityOf(result, named, first),
    title,
    severity: severityOf(result, rule),
    description: descriptionOf(message, rule),
    cveIds: extractCveIds(identifiers),
    cweIds: extractCweIds(identifiers),
    ...bestCvss([{ score: rule?.cvss }]),
    referenceUrls: rule?.links,
    evidence: locations.map(({ snippet }) => snippet).filter((snippet) => snippet !== undefined),
    target: targetOf(first, run),
    locations: locations.map(({ location }) => location).filter((location) => location !== undefined),
  };
}

interface Found {
  path: string | undefined;
  /** Full name of a class, function or resource. */
  name: string | undefined;
  snippet: string | undefined;
  location: ReportedLocation | undefined;
}

function locationFrom(value: JsonObject, run: SarifRun): Found {
  const physical = asJsonObject(value.physicalLocation);
  const region = asJsonObject(physical.region);
  const path = run.pathOf(asJsonObject(physical.artifactLocation));
  const snippet =
    textOf(asJsonObject(region.snippet).text) ??
    textOf(asJsonObject(asJsonObject(physical.contextRegion).snippet).text);
  const logical = arrayOf(value.logicalLocations ?? value.logicalLocation).map(asJsonObject)[0];
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
  return /^https?:\/\//i.test(path) && URL.parse(path) !== null;
}

function targetOf(first: Found | undefined, run: SarifRun): ScanTarget {
  const path = first?.path;
  return path !== undefined && isWebAddress(path) ? { url: path } : { artifact: run.artifact, path };
}

/** Uses the tool's fingerprints, else its partial ones with the path, else path and snippet. */
function identityOf(
  result: JsonObject,
  rule: string,
  first: Found | undefined,
): Pick<ReportedFinding, 'fingerprint' | 'locationKey'> {
  const path = pathWithoutQuery(first?.path);
  const own = fingerprintOf(result.fingerprints);
  if (own !== undefined) return { fingerprint: JSON.stringify([rule, own]) };
  const partial = fingerprintOf(result.partialFingerprints);
  if (partial !== undefined) return { fingerprint: JSON.stringify([rule, path, partial]) };
  return {
    locationKey: [path, first?.name, first?.snippet?.replace(/\s+/g, ' ')]
      .map((part) => part ?? '')
      .join('\n'),
  };
}

function pathWithoutQuery(path: string | undefined): string {
  return path === undefined ? '' : isWebAddress(path) ? new URL(path).pathname : path;
}

/** Placeholders of tools that compute no fingerprint. */
const NO_FINGERPRINT = /^(requires login|unknown|none|null|undefined|n\/?a|0+)$/i;

/** Uses each fingerprint's oldest version, because newer tools add versions (section 3.27.16). */
function fingerprintOf(value: unknown): [string, string][] | undefined {
  const kinds = new Map<string, { version: number; text: string }>();
  for (const [name, content] of Object.entries(asJsonObject(value))) {
    const text = textOf(content) ?? textOf(asJsonObject(content).value);
    // CodeQL adds the column.
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

/** GitHub's `security-severity`, else the level (section 3.27.10), which defaults to `warning`. */
function severityOf(result: JsonObject, rule: SarifRule | undefined): Severity {
  const score = numberOf(asJsonObject(result.properties)['security-severity']) ?? rule?.score;
  if (score !== undefined && score >= 0 && score <= 10) return severityOfScore(score);
  const kind = textOf(result.kind) ?? 'fail';
  const level = textOf(result.level) ?? (kind === 'fail' ? (rule?.level ?? 'warning') : 'none');
  return LEVELS[level] ?? 'Medium';
}

/** The message, or the rule's by id, with its arguments (section 3.11). */
function messageOf(message: JsonObject, rule: SarifRule | undefined): string | undefined {
  const named = asJsonObject(rule?.messages[textOf(message.id) ?? '']);
  const text = textOf(message.text) ?? textOf(named.text) ?? textOf(message.markdown);
  const values = arrayOf(message.arguments).map((value) => textOf(value) ?? '');
  return (
    text
      ?.replace(/\{(\d{1,3})\}/g, (placeholder, index: string) => values[Number(index)] ?? placeholder)
      // Links to related locations (section 3.11.6).
      .replace(/\[([^\]]{1,500})\]\(\d+\)/g, '$1')
  );
}

function descriptionOf(message: string | undefined, rule: SarifRule | undefined): string | undefined {
  const about = rule?.help ?? markdownTextOf(rule?.description);
  const parts = [markdownTextOf(message), about].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : [...new Set(parts)].join('\n\n');
}

function firstLineOf(text: string | undefined): string | undefined {
  return text?.split('\n', 1)[0]?.slice(0, 200);
}
