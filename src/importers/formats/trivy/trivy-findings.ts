import { trimLines } from '../../parsing/trim-lines.ts';
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
import { extractCveIds } from '../../parsing/vulnerability-ids.ts';
import { textToMarkdown } from '../../parsing/text-to-markdown.ts';
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
  entry: JsonObject,
  result: TrivyResult,
): ReportedFinding | string {
  switch (list) {
    case 'Vulnerabilities':
      return vulnerabilityOf(entry, result);
    case 'Misconfigurations':
      return misconfigurationOf(entry, result);
    case 'Secrets':
      return secretOf(entry, result);
    case 'Licenses':
      return licenceOf(entry, result);
    default:
      return 'suppressed';
  }
}

function vulnerabilityOf(vulnerability: JsonObject, result: TrivyResult): ReportedFinding | string {
  const id = textOf(vulnerability.VulnerabilityID);
  if (id === undefined) return 'no id';
  if (textOf(vulnerability.Status) === 'not_affected') return 'not affected';
  const name = textOf(vulnerability.PkgName) ?? '';
  const installed = textOf(vulnerability.InstalledVersion);
  const fixed = textOf(vulnerability.FixedVersion);
  // The target of OS packages contains the version of the system.
  const isSystemPackage = result.class === 'os-pkgs';
  const packagePath = textOf(vulnerability.PkgPath) ?? (isSystemPackage ? result.artifact : result.target);
  return {
    ...common(vulnerability),
    rule: id,
    checks: isSystemPackage ? 'os-pkgs' : 'lang-pkgs',
    title: textOf(vulnerability.Title) ?? `${id} in ${name}`,
    description: descriptionOf(textOf(vulnerability.Description)),
    recommendedFix: fixed === undefined ? undefined : textToMarkdown(`Update ${name} to ${fixed}.`),
    category: { parent: 'Components', display: 'Vulnerable component' },
    cveIds: extractCveIds(id),
    cweIds: textsOf(vulnerability.CweIDs),
    ...cvssOf(vulnerability),
    target: {
      artifact: result.artifact,
      path: isSystemPackage ? undefined : result.target,
      package: name,
    },
    locations: [fileAt(`${packagePath}: ${name}${installed === undefined ? '' : ` ${installed}`}`)],
  };
}

/** GitHub's advisories are Markdown, and other sources are plain text; Trivy does not say which it took. */
const ADVISORY = /^#{1,6} \S|^```|\]\(https?:\/\//m;

function descriptionOf(text: string | undefined): string | undefined {
  return text === undefined || ADVISORY.test(text) ? text : textToMarkdown(text);
}

/** Trivy lists several sources; the best CVSS of any is used. */
function cvssOf(vulnerability: JsonObject): { cvssScore?: number; cvssVector?: string } {
  return bestCvss(
    Object.values(asJsonObject(vulnerability.CVSS)).flatMap((value) => {
      const cvss = asJsonObject(value);
      return [
        { vector: textOf(cvss.V40Vector), score: numberOf(cvss.V40Score), version: '4.0' },
        { vector: textOf(cvss.V3Vector), score: numberOf(cvss.V3Score), version: '3.0' },
        { vector: textOf(cvss.V2Vector), score: numberOf(cvss.V2Score), version: '2.0' },
      ];
    }),
  );
}

function misconfigurationOf(misconfiguration: JsonObject, result: TrivyResult): ReportedFinding | string {
  const id = textOf(misconfiguration.AVDID) ?? textOf(misconfiguration.ID);
  if (id === undefined) return 'no id';
  const status = textOf(misconfiguration.Status)?.toUpperCase();
  if (status === 'PASS') return 'passed';
  if (status === 'EXCEPTION') return 'suppressed';
  const cause = asJsonObject(misconfiguration.CauseMetadata);
  const code = arrayOf(asJsonObject(cause.Code).Lines)
    .map((line) => asJsonObject(line).Content ?? '')
    .filter((line) => typeof line === 'string');
  return {
    ...common(misconfiguration),
    rule: checkOf(id),
    checks: 'config',
    title: textOf(misconfiguration.Title) ?? id,
    description: markdownTextOf(misconfiguration.Description),
    recommendedFix: markdownTextOf(misconfiguration.Resolution),
    category: { parent: 'Configuration', display: 'Misconfiguration' },
    evidence: [...textsOf(misconfiguration.Message), trimLines(code.join('\n'))].filter(
      (text) => text !== '',
    ),
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
function secretOf(secret: JsonObject, result: TrivyResult): ReportedFinding | string {
  const id = textOf(secret.RuleID);
  if (id === undefined) return 'no id';
  return {
    ...common(secret),
    rule: id,
    checks: 'secret',
    title: textOf(secret.Title) ?? id,
    description: `The file contains a secret (${textToMarkdown(textOf(secret.Category) ?? id)}).`,
    recommendedFix: 'Revoke the secret, and take it out of the file and its history.',
    category: { parent: 'Secrets', display: 'Secret in a file' },
    cweIds: ['CWE-798'],
    target: { artifact: result.artifact, path: result.target },
    locations: [fileAt(result.target, secret.StartLine)],
  };
}

function licenceOf(licence: JsonObject, result: TrivyResult): ReportedFinding | string {
  const name = textOf(licence.Name);
  if (name === undefined) return 'no name';
  const component = textOf(licence.PkgName);
  const path = textOf(licence.FilePath);
  return {
    ...common(licence),
    rule: `license:${name}`,
    checks: result.class === 'license-file' ? 'license-file' : 'license',
    title: `Licence ${name}${component === undefined ? '' : ` of ${component}`}`,
    description: textToMarkdown(
      `The licence ${name} belongs to the category ${textOf(licence.Category) ?? 'unknown'}.`,
    ),
    category: { parent: 'Licences', display: 'Licence' },
    referenceUrls: textsOf(licence.Link),
    target: { artifact: result.artifact, path, package: component },
    locations: [fileAt(path ?? `${result.target}: ${component ?? name}`)],
  };
}

function common(entry: JsonObject): { severity: Severity; referenceUrls: string[] } {
  return {
    severity: parseSeverity(textOf(entry.Severity)) ?? 'Informational',
    referenceUrls: [...new Set([...textsOf(entry.PrimaryURL), ...textsOf(entry.References)])],
  };
}

function fileAt(path: string, line?: unknown, resource?: string): ReportedLocation {
  const number = numberOf(line) ?? 0;
  const value = number > 0 ? `${path}:${number}` : path;
  return { type: 'file', value: resource === undefined ? value : `${value} (${resource})` };
}
