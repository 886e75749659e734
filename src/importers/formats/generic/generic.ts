import { assetOfTarget } from '../../targets.ts';
import {
  isJsonObject,
  arrayOf,
  asJsonObject,
  type JsonObject,
  numberOf,
  textOf,
  textsOf,
} from '../../parsing/json-values.ts';
import { streamJsonMatches } from '../../parsing/json-stream.ts';
import { bestCvss, parseSeverity, severityOfScore } from '../../parsing/severity-and-cvss.ts';
import { parseTime } from '../../parsing/parse-time.ts';
import type {
  ReportFormat,
  SourceLocation,
  ReportedFinding,
  ReportedLocation,
  ReportRecord,
  ScanTarget,
} from '../../report.ts';
import { endpointOf } from './endpoints.ts';
import { foldCase } from '../../../lib/fold-case.ts';

/** Flags of findings that are not imported; the first one set is the reason. */
const SKIP_REASONS = {
  false_p: 'false positive',
  duplicate: 'duplicate',
  out_of_scope: 'out of scope',
  risk_accepted: 'risk accepted',
  is_mitigated: 'mitigated',
};

/**
 * DefectDojo's "Generic Findings Import" JSON, and pages of findings from its API (`/api/v2/findings/`). Texts are
 * Markdown.
 */
export const generic: ReportFormat = {
  name: 'generic',
  title: 'Generic findings JSON (DefectDojo)',
  hasFindings: true,
  detect({ json }) {
    if (!isJsonObject(json)) return false;
    if (Array.isArray(json.findings)) return json.findings.length === 0 || json.findings.some(isFinding);
    return arrayOf(json.results).some(
      (result) => isFinding(result) && asJsonObject(result).numerical_severity !== undefined,
    );
  },
  async *read(source) {
    for await (const { value, offset } of streamJsonMatches(source(), ['findings.*', 'results.*']))
      yield* recordsOf(asJsonObject(value), { offset });
  },
};

function isFinding(value: unknown): boolean {
  const { title, severity } = asJsonObject(value);
  return typeof title === 'string' && typeof severity === 'string';
}

function* recordsOf(item: JsonObject, location: SourceLocation): Generator<ReportRecord> {
  const title = textOf(item.title);
  // Exports of spreadsheets write booleans as texts.
  const isSet = (name: string, text: string): boolean => String(item[name]).toLowerCase() === text;
  const skipFlag = Object.entries(SKIP_REASONS).find(([name]) => isSet(name, 'true'));
  if (skipFlag !== undefined || isSet('active', 'false')) {
    yield { kind: 'skipped', reason: skipFlag?.[1] ?? 'inactive', location };
  } else if (title === undefined) {
    yield { kind: 'unreadable', reason: 'no title', location };
  } else {
    const finding = findingOf(item, title);
    for (const placement of placementsOf(item))
      yield { kind: 'finding', finding: { ...finding, ...placement }, location };
    // Screenshots and other files, in base64.
    if (arrayOf(item.files).length > 0) yield { kind: 'partial', reason: 'files not imported', location };
  }
}

function findingOf(item: JsonObject, title: string): ReportedFinding {
  const cvss = bestCvss([
    { vector: item.cvssv4, score: item.cvssv4_score, version: '4.0' },
    { vector: item.cvssv3, score: item.cvssv3_score, version: '3.0' },
  ]);
  const fingerprint = textOf(item.unique_id_from_tool);
  const evidence = [item.param, item.payload].map(textOf).filter((text) => text !== undefined);
  return {
    rule: textOf(item.vuln_id_from_tool) ?? ruleOfTitle(title, textOf(item.component_version)),
    ...(fingerprint === undefined ? {} : { fingerprint }),
    title,
    severity:
      parseSeverity(item.severity) ??
      (cvss.cvssScore === undefined ? 'Informational' : severityOfScore(cvss.cvssScore)),
    description: descriptionOf(item),
    impact: textOf(item.impact),
    recommendedFix: textOf(item.mitigation),
    cveIds: [...textsOf(item.cve), ...identifiersOf(item.vulnerability_ids)],
    cweIds: [...textsOf(item.cwe), ...identifiersOf(item.cwes)].map((text) =>
      text.replace(/^(?=\d+$)/, 'CWE-'),
    ),
    ...cvss,
    referenceUrls: textsOf(item.references).flatMap(
      (text) => text.match(/\bhttps?:\/\/[^\s<>()"'\]]{1,2000}/g) ?? [],
    ),
    evidence,
    seenAt: parseTime(item.date),
    ...(item.tags === undefined ? {} : { tags: textsOf(item.tags) }),
  };
}

/** Characters. The time to remove a version from a title grows with the product of their lengths. */
const MAX_VERSION_LENGTH = 200;

/**
 * @returns a rule for a finding without one: its title in folded case, without extra white space and the package
 *   version
 */
export function ruleOfTitle(title: string, version?: string): string {
  const canRemoveVersion =
    version !== undefined && version.length >= 2 && version.length <= MAX_VERSION_LENGTH;
  const text = canRemoveVersion ? title.replaceAll(version, '') : title;
  return foldCase(text).replace(/\s+/g, ' ').trim() || foldCase(title);
}

function descriptionOf(item: JsonObject): string | undefined {
  const parts = [textOf(item.description)];
  const steps = textOf(item.steps_to_reproduce);
  if (steps !== undefined) parts.push(`**Steps to reproduce**\n\n${steps}`);
  const reasons = textOf(item.severity_justification);
  if (reasons !== undefined) parts.push(`**Why this severity**\n\n${reasons}`);
  const texts = parts.filter((part) => part !== undefined);
  return texts.length === 0 ? undefined : texts.join('\n\n');
}

/** @returns the identifiers in a list of texts, or of objects as in DefectDojo's API */
function identifiersOf(value: unknown): string[] {
  return arrayOf(value).flatMap((identifier) =>
    isJsonObject(identifier) ? textsOf(identifier.vulnerability_id ?? identifier.cwe) : textsOf(identifier),
  );
}

type FindingPlacement = Pick<ReportedFinding, 'target' | 'locations'>;

/**
 * @returns a placement per asset, protocol and port, with its locations; an empty one if the finding names no target
 */
function placementsOf(item: JsonObject): FindingPlacement[] {
  const placements = new Map<string, { target: ScanTarget; locations: ReportedLocation[] }>();
  for (const endpoint of arrayOf(item.endpoints)) {
    const parsed = endpointOf(endpoint);
    if (parsed === undefined) continue;
    const asset = assetOfTarget(parsed.target);
    const { port = '', protocol = '' } = 'host' in parsed.target ? parsed.target : {};
    const key = `${asset?.location ?? ''} ${protocol} ${port}`;
    const placement = placements.get(key);
    if (placement === undefined) placements.set(key, { target: parsed.target, locations: [parsed.location] });
    else placement.locations.push(parsed.location);
  }
  if (placements.size > 0) return [...placements.values()];
  const path = textOf(item.file_path);
  const component = textOf(item.component_name);
  const artifact = textOf(item.service) ?? path ?? component;
  if (artifact === undefined) return [{}];
  const line = numberOf(item.line);
  const fileOrComponent = path ?? [component, textOf(item.component_version)].filter(Boolean).join(' ');
  return [
    {
      target: { artifact, path, package: component },
      locations: [
        {
          type: 'file',
          value: line === undefined || path === undefined ? fileOrComponent || artifact : `${path}:${line}`,
        },
      ],
    },
  ];
}
