import type { Severity } from '../../../domain/shared/statuses-and-severities.ts';
import {
  arrayOf,
  type JsonObject,
  asJsonObject,
  numberOf,
  textOf,
  textsOf,
  markdownTextOf,
} from '../../parsing/json-values.ts';
import { bestCvss, parseSeverity } from '../../parsing/severity-and-cvss.ts';
import { extractCveIds, textToMarkdown } from '../../parsing/markdown.ts';
import type { ReportedFinding, ReportedLocation } from '../../report.ts';

/** Where findings are: a file, or the packages of an operating system or a language. */
export interface TrivyResult {
  artifact: string;
  target: string;
  class: string | undefined;
}

/**
 * Converts a vulnerability, misconfiguration, secret or licence (types DetectedVulnerability and so on in Trivy's
 * source).
 * @param list the member of the result that contains it
 * @returns the reason if it is skipped
 */
export function findingOfTrivy(
  list: string,
  found: JsonObject,
  result: TrivyResult,
): ReportedFinding | string {
  switch (list) {
    case 'Vulnerabilities':
      return vulnerabilityOf(found, result);
    case 'Misconfigurations':
      return misconfigurationOf(found, result);
    case 'Secrets':
      return secretOf(found, result);
    case 'Licenses':
      return licenceOf(found, result);
    default:
      return 'suppressed';
  }
}

function vulnerabilityOf(found: JsonObject, result: TrivyResult): ReportedFinding | string {
  const id = textOf(found.VulnerabilityID);
  if (id === undefined) return 'no id';
  if (textOf(found.Status) === 'not_affected') return 'not affected';
  const name = textOf(found.PkgName) ?? '';
  const installed = textOf(found.InstalledVersion);
  const fixed = textOf(found.FixedVersion);
  // The target of OS packages contains the version of the system.
  const ofSystem = result.class === 'os-pkgs';
  const at = textOf(found.PkgPath) ?? (ofSystem ? result.artifact : result.target);
  return {
    ...common(found),
    rule: id,
    checks: ofSystem ? 'os-pkgs' : 'lang-pkgs',
    title: textOf(found.Title) ?? `${id} in ${name}`,
    description: markdownTextOf(found.Description),
    recommendedFix: fixed === undefined ? undefined : textToMarkdown(`Update ${name} to ${fixed}.`),
    category: { parent: 'Components', display: 'Vulnerable component' },
    cveIds: extractCveIds(id),
    cweIds: textsOf(found.CweIDs),
    ...cvssOf(found),
    target: {
      artifact: result.artifact,
      path: ofSystem ? undefined : result.target,
      package: name,
    },
    locations: [fileAt(`${at}: ${name}${installed === undefined ? '' : ` ${installed}`}`)],
  };
}

/** Trivy lists several sources; the best CVSS of any is used. */
function cvssOf(found: JsonObject): { cvssScore?: number; cvssVector?: string } {
  return bestCvss(
    Object.values(asJsonObject(found.CVSS)).flatMap((value) => {
      const cvss = asJsonObject(value);
      return [
        { vector: textOf(cvss.V40Vector), score: numberOf(cvss.V40Score), version: '4.0' },
        { vector: textOf(cvss.V3Vector), score: numberOf(cvss.V3Score), version: '3.0' },
        { vector: textOf(cvss.V2Vector), score: numberOf(cvss.V2Score), version: '2.0' },
      ];
    }),
  );
}

function misconfigurationOf(found: JsonObject, result: TrivyResult): ReportedFinding | string {
  const id = textOf(found.AVDID) ?? textOf(found.ID);
  if (id === undefined) return 'no id';
  const status = textOf(found.Status)?.toUpperCase();
  if (status === 'PASS') return 'passed';
  if (status === 'EXCEPTION') return 'suppressed';
  const cause = asJsonObject(found.CauseMetadata);
  const code = arrayOf(asJsonObject(cause.Code).Lines)
    .map((line) => textOf(asJsonObject(line).Content))
    .filter((line) => line !== undefined);
  return {
    ...common(found),
    rule: checkOf(id),
    checks: 'config',
    title: textOf(found.Title) ?? id,
    description: markdownTextOf(found.Description),
    recommendedFix: markdownTextOf(found.Resolution),
    category: { parent: 'Configuration', display: 'Misconfiguration' },
    evidence: [...textsOf(found.Message), ...(code.length === 0 ? [] : [code.join('\n')])],
    target: { artifact: result.artifact, path: result.target },
    locations: [fileAt(result.target, cause.StartLine, textOf(cause.Resource))],
  };
}

/** `AVD-DS-0002`, `DS-0002` and `DS002` are the same check in different versions. */
function checkOf(id: string): string {
  const parts = /^(?:AVD-)?([A-Z]+)-?0*(0|[1-9]\d*)$/.exec(id);
  return parts === null ? id : `${parts[1]}-${(parts[2] as string).padStart(4, '0')}`;
}

/** Omits the text around a secret, which may not be masked completely. */
function secretOf(found: JsonObject, result: TrivyResult): ReportedFinding | string {
  const id = textOf(found.RuleID);
  if (id === undefined) return 'no id';
  return {
    ...common(found),
    rule: id,
    checks: 'secret',
    title: textOf(found.Title) ?? id,
    description: `The file contains a secret (${textToMarkdown(textOf(found.Category) ?? id)}).`,
    recommendedFix: 'Revoke the secret, and take it out of the file and its history.',
    category: { parent: 'Secrets', display: 'Secret in a file' },
    cweIds: ['CWE-798'],
    target: { artifact: result.artifact, path: result.target },
    locations: [fileAt(result.target, found.StartLine)],
  };
}

function licenceOf(found: JsonObject, result: TrivyResult): ReportedFinding | string {
  const name = textOf(found.Name);
  if (name === undefined) return 'no name';
  const component = textOf(found.PkgName);
  const path = textOf(found.FilePath);
  return {
    ...common(found),
    rule: `license:${name}`,
    checks: result.class === 'license-file' ? 'license-file' : 'license',
    title: `Licence ${name}${component === undefined ? '' : ` of ${component}`}`,
    description: textToMarkdown(
      `The licence ${name} belongs to the category ${textOf(found.Category) ?? 'unknown'}.`,
    ),
    category: { parent: 'Licences', display: 'Licence' },
    referenceUrls: textsOf(found.Link),
    target: { artifact: result.artifact, path, package: component },
    locations: [fileAt(path ?? `${result.target}: ${component ?? name}`)],
  };
}

function common(found: JsonObject): { severity: Severity; referenceUrls: string[] } {
  return {
    severity: parseSeverity(textOf(found.Severity)) ?? 'Informational',
    referenceUrls: [...new Set([...textsOf(found.PrimaryURL), ...textsOf(found.References)])],
  };
}

function fileAt(path: string, line?: unknown, resource?: string): ReportedLocation {
  const number = numberOf(line) ?? 0;
  const value = number > 0 ? `${path}:${number}` : path;
  return { type: 'file', value: resource === undefined ? value : `${value} (${resource})` };
}
