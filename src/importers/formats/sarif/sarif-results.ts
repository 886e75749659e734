import { trimLines } from '../../parsing/trim-lines.ts';
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
import { extractCveIds, extractCweIds } from '../../parsing/vulnerability-ids.ts';
import type {
  SourceLocation,
  ReportedFinding,
  ReportedLocation,
  ReportRecord,
  ScanTarget,
} from '../../report.ts';
import {
  identityOfSarifResult,
  isWebAddress,
  mainLocationOf,
  type ResultLocation,
} from './sarif-identity.ts';
import type { SarifMessages } from './sarif-messages.ts';
import { identifierText, type SarifRule } from './sarif-rules.ts';
import type { SarifRun } from './sarif-runs.ts';
import { type SarifText, sarifText } from './sarif-text.ts';
import { foldCase } from '../../../lib/fold-case.ts';

/**
 * Converts a result (section 3.27) to a finding, or skips it.
 * @param messages of the results before it
 */
export function recordOfSarifResult(
  result: JsonObject,
  run: SarifRun,
  messages: SarifMessages,
  location: SourceLocation,
): ReportRecord {
  const reason = reasonToSkip(result);
  return reason === undefined
    ? { kind: 'finding', finding: findingOf(result, run, messages), location }
    : { kind: reason === NO_MESSAGE ? 'unreadable' : 'skipped', reason, location };
}

const NO_MESSAGE = 'no message';

function reasonToSkip(result: JsonObject): string | undefined {
  const { message, rule, ruleId, ruleIndex } = result;
  const hasMessageOrRule =
    isJsonObject(message) || isJsonObject(rule) || (textOf(ruleId) ?? textOf(ruleIndex)) !== undefined;
  if (!hasMessageOrRule) return NO_MESSAGE;
  if (result.kind === 'pass') return 'passed';
  if (result.kind === 'notApplicable') return 'not applicable';
  if (result.baselineState === 'absent') return 'absent';
  const suppressions = arrayOf(result.suppressions).filter(isJsonObject);
  // One that is under review or rejected has no effect, nor have the others then (section 3.27.23).
  const isAccepted = suppressions.every(({ status }) => (status ?? 'accepted') === 'accepted');
  return suppressions.length > 0 && isAccepted ? 'suppressed' : undefined;
}

function findingOf(result: JsonObject, run: SarifRun, messages: SarifMessages): ReportedFinding {
  const rule = run.ruleOf(result);
  const text = textOfMessage(result.message, run, rule, result);
  const message = text?.plain;
  const id = textOf(result.ruleId) ?? textOf(asJsonObject(result.rule).id) ?? rule?.id;
  const title = rule?.title ?? firstLineOf(message) ?? id ?? 'Result without a message';
  const locations = locationsOf(result).map((value) => locationFrom(value, run, rule, result));
  const main = mainLocationOf(locations);
  const properties = asJsonObject(result.properties);
  const identifiers = [
    id,
    rule?.tags,
    run.taxaOf(rule?.taxa ?? []),
    identifierText(properties),
    run.taxaOf(arrayOf(result.taxa)),
  ].join(' ');
  const ruleId = id ?? foldCase(title).replace(/\s+/g, ' ');
  const evidence = evidenceOf(locations, message);
  const finding: ReportedFinding = {
    rule: ruleId,
    checks: rule?.id ?? ruleId,
    source: run.source,
    ...identityOfSarifResult(result, ruleId, main, message),
    title,
    severity: severityOf(result, run, rule),
    description: descriptionOf(text, rule),
    cveIds: extractCveIds(identifiers),
    cweIds: extractCweIds(identifiers),
    ...bestCvss([{ score: rule?.cvss }]),
    referenceUrls: rule?.links,
    evidence,
    target: targetOf(main, run),
    locations: locations.map(({ location }) => location).filter((location) => location !== undefined),
  };
  // The description of a finding is that of its first result.
  if (message !== undefined && messages.isOther(finding, message)) evidence.unshift(message);
  return finding;
}

/** Characters of a message and of a text that is searched for in it: searching for long texts takes quadratic time. */
const [MAX_COMPARED, MAX_PART] = [16_384, 250];

/** @returns the messages of locations that the result's message does not contain, then the snippets */
function evidenceOf(locations: readonly ResultLocation[], message: string | undefined): string[] {
  const comparedMessage = message?.slice(0, MAX_COMPARED) ?? '';
  const messages = locations
    .map((location) => location.message)
    .filter((text = '') => text !== '' && (text.length > MAX_PART || !comparedMessage.includes(text)));
  return [...messages, ...locations.map(({ snippet }) => snippet)].filter((text) => text !== undefined);
}

/** @returns the locations of a result; if it has none, its analysis target (section 3.27.13) */
function locationsOf({ locations, analysisTarget }: JsonObject): JsonObject[] {
  const listed = arrayOf(locations).map(asJsonObject);
  if (listed.length > 0 || !isJsonObject(analysisTarget)) return listed;
  return [{ physicalLocation: { artifactLocation: analysisTarget } }];
}

function locationFrom(
  value: JsonObject,
  run: SarifRun,
  rule: SarifRule | undefined,
  result: JsonObject,
): ResultLocation {
  const physical = asJsonObject(value.physicalLocation);
  const region = asJsonObject(physical.region);
  const path = run.pathOf(asJsonObject(physical.artifactLocation));
  const snippet = snippetOf(region) ?? snippetOf(asJsonObject(physical.contextRegion));
  const logical = arrayOf(value.logicalLocations ?? value.logicalLocation).map(asJsonObject)[0];
  const name = logical === undefined ? undefined : run.logicalNameOf(logical);
  const line = numberOf(region.startLine);
  const message = textOfMessage(value.message, run, rule, result)?.plain;
  const hasLine = line !== undefined && line >= 1 && !isPlaceholder(region);
  return { path, name, hasLine, snippet, message, location: locationOf(path, name, line) };
}

/** @returns the code of a region, with its indentation */
function snippetOf(region: JsonObject): string | undefined {
  const { text } = asJsonObject(region.snippet);
  return (typeof text === 'string' && trimLines(text)) || undefined;
}

/** Scanners of packages point at nothing at the beginning of the file, because some readers need a line. */
function isPlaceholder(region: JsonObject): boolean {
  const { startLine, startColumn, endLine, endColumn } = region;
  return [startLine, startColumn, endLine, endColumn].every((number) => number === 1);
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

function targetOf(main: ResultLocation | undefined, run: SarifRun): ScanTarget {
  const path = main?.path;
  return path !== undefined && isWebAddress(path) ? { url: path } : { artifact: run.artifact, path };
}

const LEVELS: Readonly<Record<string, Severity>> = {
  error: 'High',
  warning: 'Medium',
  note: 'Low',
  none: 'Informational',
};

/**
 * GitHub's `security-severity`, else the level of the result, of the invocation for its rule, or of the rule (section
 * 3.27.10), which defaults to `warning`.
 */
function severityOf(result: JsonObject, run: SarifRun, rule: SarifRule | undefined): Severity {
  const score = numberOf(asJsonObject(result.properties)['security-severity']) ?? rule?.score;
  if (score !== undefined && score >= 0 && score <= 10) return severityOfScore(score);
  const kind = textOf(result.kind) ?? 'fail';
  const level =
    textOf(result.level) ?? (kind === 'fail' ? (run.overrideOf(result, rule) ?? rule?.level) : 'none');
  return LEVELS[level ?? 'warning'] ?? 'Medium';
}

/** The message, or that of the rule or its component by id, with its arguments (section 3.11). */
function textOfMessage(
  value: unknown,
  run: SarifRun,
  rule: SarifRule | undefined,
  result: JsonObject,
): SarifText | undefined {
  if (value === undefined) return undefined;
  const message = asJsonObject(value);
  const id = textOf(message.id);
  const template = id === undefined ? {} : run.messageStringOf(id, rule, result);
  const text =
    textOf(message.text) ?? textOf(template.text) ?? textOf(message.markdown) ?? textOf(template.markdown);
  const values = arrayOf(message.arguments).map((argument) => textOf(argument) ?? '');
  return text === undefined ? undefined : sarifText(text, values);
}

function descriptionOf(message: SarifText | undefined, rule: SarifRule | undefined): string | undefined {
  const ruleText = rule?.help ?? markdownTextOf(rule?.description);
  const parts = [message?.markdown, ruleText].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : [...new Set(parts)].join('\n\n');
}

function firstLineOf(text: string | undefined): string | undefined {
  return text?.split('\n', 1)[0]?.slice(0, 200);
}
