import {
  isJsonObject,
  arrayOf,
  type JsonObject,
  asJsonObject,
  numberOf,
  textOf,
  textsOf,
} from '../../parsing/json-values.ts';
import { streamJsonMatches } from '../../parsing/json-stream.ts';
import { bestCvss, parseSeverity } from '../../parsing/severity-and-cvss.ts';
import { textToMarkdown } from '../../parsing/text-to-markdown.ts';
import {
  type ReportFormat,
  type SourceLocation,
  type ReportedFinding,
  ReportError,
  type ReportRecord,
} from '../../report.ts';

/** `npm audit --json`: by advisory (npm 6), or by package (npm 7 and later, `auditReportVersion` 2). */
export const npmAudit: ReportFormat = {
  name: 'npm-audit',
  title: 'npm audit JSON',
  hasFindings: true,
  detect({ json }) {
    if (!isJsonObject(json)) return false;
    return (
      'auditReportVersion' in json ||
      Object.values(asJsonObject(json.vulnerabilities)).some((entry) => 'via' in asJsonObject(entry)) ||
      ('advisories' in json && ('muted' in json || 'actions' in json || 'metadata' in json))
    );
  },
  async *read(source) {
    for await (const { path, value, offset } of streamJsonMatches(source(), [
      'advisories.*',
      'vulnerabilities.*',
      'error',
    ])) {
      const location = { offset };
      if (path === 'error') {
        // A failed audit must not count as one without findings.
        if (isJsonObject(value)) throw new ReportError(`The audit failed: ${summaryOf(value)}`, location);
      } else if (path === 'advisories.*') yield recordOf(advisoryOf(asJsonObject(value)), location);
      else yield* recordsOfPackage(asJsonObject(value), location);
    }
  },
};

function summaryOf(error: JsonObject): string {
  return (textOf(error.summary) ?? textOf(error.code) ?? 'npm gives no reason').slice(0, 200);
}

function recordOf(finding: ReportedFinding | undefined, location: SourceLocation): ReportRecord {
  return finding === undefined
    ? { kind: 'unreadable', reason: 'no id', location }
    : { kind: 'finding', finding, location };
}

/** npm 6, type `Advisory`. */
function advisoryOf(advisory: JsonObject): ReportedFinding | undefined {
  const component = textOf(advisory.module_name) ?? textOf(advisory.module);
  const rule = ruleOf(textOf(advisory.github_advisory_id) ?? textOf(advisory.url), advisory.id);
  if (rule === undefined || component === undefined) return undefined;
  const cvss = asJsonObject(advisory.cvss);
  const paths = arrayOf(advisory.findings).flatMap((value) => {
    const { version, paths: reportedPaths } = asJsonObject(value);
    return textsOf(reportedPaths).map(
      (path) => `${path}${textOf(version) === undefined ? '' : `@${textOf(version)}`}`,
    );
  });
  return {
    rule,
    title: `${component}: ${textOf(advisory.title) ?? rule}`,
    severity: parseSeverity(textOf(advisory.severity)) ?? 'Informational',
    // Already Markdown.
    description: textOf(advisory.overview),
    recommendedFix: textOf(advisory.recommendation),
    category: CATEGORY,
    cveIds: textsOf(advisory.cves),
    cweIds: textsOf(advisory.cwe),
    ...bestCvss([{ vector: textOf(cvss.vectorString), score: numberOf(cvss.score) }]),
    referenceUrls: [
      ...textsOf(advisory.url),
      ...textsOf(advisory.references).flatMap((text) => text.match(/https?:\/\/[^\s<>"()]+/g) ?? []),
    ],
    target: { artifact: LOCK, package: component },
    locations: (paths.length === 0 ? [component] : paths).map((value) => ({ type: 'file', value })),
  };
}

/** A package's own advisories, and the names of packages that pass theirs on. */
function* recordsOfPackage(entry: JsonObject, location: SourceLocation): Generator<ReportRecord> {
  const nodes = textsOf(entry.nodes);
  for (const value of arrayOf(entry.via)) {
    if (isJsonObject(value)) yield recordOf(viaOf(value, entry, nodes), location);
    else yield { kind: 'skipped', reason: 'reported for another package', location };
  }
}

function viaOf(via: JsonObject, entry: JsonObject, nodes: readonly string[]): ReportedFinding | undefined {
  const component = textOf(via.dependency) ?? textOf(via.name) ?? textOf(entry.name);
  const url = textOf(via.url);
  const rule = ruleOf(url, via.source);
  if (rule === undefined || component === undefined) return undefined;
  const cvss = asJsonObject(via.cvss);
  const range = textOf(via.range) ?? textOf(entry.range);
  return {
    rule,
    title: `${component}: ${textOf(via.title) ?? rule}`,
    severity: parseSeverity(textOf(via.severity) ?? textOf(entry.severity)) ?? 'Informational',
    description: range === undefined ? undefined : textToMarkdown(`${component} ${range} is vulnerable.`),
    recommendedFix: fixOf(component, entry.fixAvailable),
    category: CATEGORY,
    cweIds: textsOf(via.cwe),
    // npm writes 0 for an unknown score.
    ...bestCvss([{ vector: textOf(cvss.vectorString), score: numberOf(cvss.score) || undefined }]),
    referenceUrls: textsOf(url),
    target: { artifact: LOCK, package: component },
    locations: (nodes.length === 0 ? [component] : nodes).map((node) => ({ type: 'file', value: node })),
  };
}

function fixOf(component: string, fix: unknown): string | undefined {
  if (fix === true) return 'Run `npm audit fix`.';
  if (!isJsonObject(fix)) return undefined;
  const breaks = fix.isSemVerMajor === true ? ', which is a breaking change' : '';
  return textToMarkdown(
    `Update ${textOf(fix.name) ?? component} to ${textOf(fix.version) ?? 'a later version'}${breaks}.`,
  );
}

const CATEGORY = { parent: 'Components', display: 'Vulnerable component' };
/** npm does not name the audited project. */
const LOCK = 'package-lock.json';

/** @returns the GitHub advisory id if there is one, because npm reassigns its numbers */
function ruleOf(text: string | undefined, number: unknown): string | undefined {
  const advisory = /GHSA(?:-[23456789cfghjmpqrvwx]{4}){3}/i.exec(text ?? '')?.[0];
  if (advisory !== undefined) return `GHSA${advisory.slice(4).toLowerCase()}`;
  const id = textOf(number);
  return id === undefined ? undefined : `npm-${id}`;
}
