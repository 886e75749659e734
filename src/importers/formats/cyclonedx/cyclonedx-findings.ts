import type { Severity } from '../../../domain/shared/statuses-and-severities.ts';
import { severityRank } from '../../../domain/shared/statuses-and-severities.ts';
import {
  isJsonObject,
  arrayOf,
  type JsonObject,
  asJsonObject,
  numberOf,
  textOf,
  textsOf,
} from '../../parsing/json-values.ts';
import { bestCvss, parseSeverity, severityOfScore } from '../../parsing/severity-and-cvss.ts';
import { extractCveIds } from '../../parsing/vulnerability-ids.ts';
import { parseWebUrl } from '../../parsing/urls.ts';
import type { ReportedFinding, ReportedLocation, ReportRecord, SourceLocation } from '../../report.ts';
import { artifactOf, type Bom, type Component } from './bom.ts';

/** Analysis states (VEX) of vulnerabilities that do not, or no longer, affect the subject. */
const CLOSED: Readonly<Record<string, string>> = {
  not_affected: 'not affected',
  false_positive: 'false positive',
  resolved: 'resolved',
  resolved_with_pedigree: 'resolved',
};

/** Yields a finding per affected package. */
export function* recordsOf(
  vulnerability: JsonObject,
  bom: Bom,
  location: SourceLocation,
): Generator<ReportRecord> {
  const id = textOf(vulnerability.id);
  if (id === undefined) {
    yield { kind: 'unreadable', reason: 'no id', location };
    return;
  }
  const reason = reasonToSkip(vulnerability);
  if (reason !== undefined) {
    yield { kind: 'skipped', reason, location };
    return;
  }
  const affected = affectedBy(vulnerability, bom);
  if (affected.length === 0) yield { kind: 'skipped', reason: 'not affected', location };
  const shared = commonOf(id, vulnerability);
  const artifact = artifactOf(bom.subject);
  for (const component of affected)
    yield {
      kind: 'finding',
      location,
      finding: {
        ...shared,
        checks: bom.checks,
        title: component === undefined ? id : `${id} in ${component.name.replace(/^pkg:/, '')}`,
        target: { artifact, package: component?.name },
        locations: locationsOf(artifact, component),
      },
    };
}

function reasonToSkip({ analysis, rejected }: JsonObject): string | undefined {
  const state = textOf(asJsonObject(analysis).state)?.toLowerCase() ?? '';
  if (Object.hasOwn(CLOSED, state)) return CLOSED[state];
  return textOf(rejected) === undefined ? undefined : 'rejected';
}

/** @returns the affected components; one that is `undefined` if the vulnerability names none */
function affectedBy(vulnerability: JsonObject, { components }: Bom): (Component | undefined)[] {
  const refs = new Map<string, boolean>();
  for (const { ref, versions } of arrayOf(vulnerability.affects).map(asJsonObject)) {
    const name = textOf(ref);
    if (name === undefined) continue;
    const isAffected = isVersionAffected(components.find(name).version, arrayOf(versions).map(asJsonObject));
    refs.set(name, isAffected || refs.get(name) === true);
  }
  if (refs.size === 0) return [undefined];
  return [...refs].flatMap(([ref, isAffected]) => (isAffected ? components.find(ref) : []));
}

/** @param versions with a status each, `affected` by default; a range is not evaluated */
function isVersionAffected(version: string | undefined, versions: readonly JsonObject[]): boolean {
  const isUnaffected = ({ status }: JsonObject): boolean => textOf(status)?.toLowerCase() === 'unaffected';
  const sameVersion = versions.filter((entry) => version !== undefined && textOf(entry.version) === version);
  const entries = sameVersion.length > 0 ? sameVersion : versions;
  return entries.length === 0 || !entries.every(isUnaffected);
}

function locationsOf(artifact: string, component: Component | undefined): ReportedLocation[] {
  if (component === undefined) return [{ type: 'file', value: artifact }];
  const urls = component.endpoints.filter((endpoint) => parseWebUrl(endpoint) !== undefined);
  if (urls.length > 0) return urls.map((value) => ({ type: 'url', value }));
  const version = component.version === undefined ? '' : ` ${component.version}`;
  return [{ type: 'file', value: `${artifact}: ${component.name}${version}` }];
}

function commonOf(id: string, vulnerability: JsonObject): Omit<ReportedFinding, 'title'> {
  const relatedIds = arrayOf(vulnerability.references).map((item) => textOf(asJsonObject(item).id) ?? '');
  const ratings = arrayOf(vulnerability.ratings).map(asJsonObject);
  const cvss = bestCvss(ratings.map(claimOf).filter((claim) => claim !== undefined));
  return {
    rule: id,
    severity: severityFrom(ratings),
    description: textPartsOf([vulnerability.description, vulnerability.detail]),
    recommendedFix: textPartsOf([vulnerability.recommendation, vulnerability.workaround]),
    category: { parent: 'Components', display: 'Vulnerable component' },
    cveIds: extractCveIds([id, ...relatedIds].join(' ')),
    cweIds: textsOf(vulnerability.cwes).map((cwe) => (/^\d+$/.test(cwe) ? `CWE-${cwe}` : cwe)),
    ...cvss,
    referenceUrls: [
      ...textsOf(asJsonObject(vulnerability.source).url),
      ...arrayOf(vulnerability.advisories).flatMap((link) => textsOf(isJsonObject(link) ? link.url : link)),
    ],
  };
}

/** Other methods (OWASP, SSVC) contribute only their severity. */
function claimOf(rating: JsonObject): { vector?: string; score?: number; version?: string } | undefined {
  const version = /^CVSSv(2|3|31|4)$/i.exec(textOf(rating.method) ?? '')?.[1];
  const vector = textOf(rating.vector);
  const score = numberOf(rating.score);
  if (version === undefined && vector?.startsWith('CVSS:') !== true) return undefined;
  const number = { '2': '2.0', '3': '3.0', '31': '3.1', '4': '4.0' }[version ?? ''];
  return {
    ...(vector === undefined ? {} : { vector }),
    ...(score === undefined ? {} : { score }),
    ...(number === undefined ? {} : { version: number }),
  };
}

/** @returns the highest severity of the ratings, by word or by CVSS score */
function severityFrom(ratings: readonly JsonObject[]): Severity {
  const severities = ratings.flatMap((rating) => {
    const { cvssScore } = bestCvss([claimOf(rating) ?? {}]);
    return parseSeverity(rating.severity) ?? (cvssScore === undefined ? [] : severityOfScore(cvssScore));
  });
  return severities.sort((one, other) => severityRank(other) - severityRank(one))[0] ?? 'Informational';
}

function textPartsOf(values: readonly unknown[]): string | undefined {
  const parts = values.map(textOf).filter((text) => text !== undefined);
  // The schema defines these texts as Markdown.
  return parts.length === 0 ? undefined : [...new Set(parts)].join('\n\n');
}
