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
import { extractCveIds } from '../../parsing/markdown.ts';
import type { SourceLocation, ReportedFinding, ReportRecord } from '../../report.ts';

interface Component {
  /** Without version, so that an update stays the same package. */
  name: string;
  version: string | undefined;
}

const MAX_COMPONENTS = 300_000;
const MAX_DEPTH = 50;
const MAX_NAME = 500;

/** The components of a BOM by reference. */
export class ComponentIndex {
  readonly #byRef = new Map<string, Component>();
  #listed = false;

  addList(values: readonly unknown[], depth = 0): void {
    for (const value of values) {
      if (!isJsonObject(value)) continue;
      this.#listed = true;
      this.add(value);
      if (depth < MAX_DEPTH) this.addList(arrayOf(value.components), depth + 1);
    }
  }

  add(component: JsonObject): void {
    const ref = textOf(component['bom-ref']);
    if (ref === undefined || ref.length > MAX_NAME || this.#byRef.size >= MAX_COMPONENTS) return;
    this.#byRef.set(ref, {
      name: nameOf(component) ?? ref,
      version: textOf(component.version)?.slice(0, 100),
    });
  }

  has(ref: string | undefined): boolean {
    return ref !== undefined && (this.#byRef.has(ref) || ref.startsWith('pkg:'));
  }

  /** @param ref of a component, possibly of another document (BOM-Link, `urn:cdx:…#ref`), or a package URL */
  find(ref: string): Component {
    const known = this.#byRef.get(ref);
    if (known !== undefined) return known;
    const inside = ref.startsWith('urn:cdx:') && ref.includes('#') ? ref.slice(ref.indexOf('#') + 1) : ref;
    const decoded = inside.startsWith('pkg%3A') ? decodeURIComponent(inside) : inside;
    const other = this.#byRef.get(decoded);
    if (other !== undefined) return other;
    const name = packageOf(decoded);
    return { name: name ?? decoded, version: name === undefined ? undefined : versionOf(decoded) };
  }

  /** A BOM that lists components covers its subject. */
  *coverage(subject: JsonObject): Generator<ReportRecord> {
    if (this.#listed && nameOf(subject) !== undefined)
      yield { kind: 'covered', target: { artifact: artifactOf(subject) } };
  }
}

function nameOf(component: JsonObject): string | undefined {
  const named = packageOf(textOf(component.purl) ?? '');
  if (named !== undefined) return named;
  const parts = [textOf(component.group), textOf(component.name)].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join('/').slice(0, MAX_NAME);
}

/** @returns the package URL without version and qualifiers (`pkg:npm/%40scope/name`) */
function packageOf(purl: string): string | undefined {
  const parts = /^pkg:[^@?#]+/.exec(purl);
  return parts?.[0].slice(0, MAX_NAME);
}

function versionOf(purl: string): string | undefined {
  return /^pkg:[^@?#]+@([^?#]+)/.exec(purl)?.[1];
}

/** @returns the subject's name without its version */
export function artifactOf(subject: JsonObject): string {
  const parts = [textOf(subject.group), textOf(subject.name)].filter((part) => part !== undefined);
  return parts.length === 0 ? 'bom' : parts.join('/').replace(/@sha256:[0-9a-f]{64}$/i, '');
}

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
  components: ComponentIndex,
  subject: JsonObject,
  at: SourceLocation,
): Generator<ReportRecord> {
  const id = textOf(vulnerability.id);
  const state = textOf(asJsonObject(vulnerability.analysis).state)?.toLowerCase() ?? '';
  const reason = id === undefined ? 'no id' : Object.hasOwn(CLOSED, state) ? CLOSED[state] : undefined;
  if (id === undefined || reason !== undefined) {
    yield { kind: 'skipped', reason: reason ?? 'no id', at };
    return;
  }
  const affects = arrayOf(vulnerability.affects).map(asJsonObject);
  const refs = affects.map(({ ref }) => textOf(ref)).filter((ref) => ref !== undefined);
  const found = (refs.length === 0 ? [undefined] : [...new Set(refs)]).map((ref) =>
    ref === undefined ? undefined : components.find(ref),
  );
  const shared = commonOf(id, vulnerability);
  for (const component of found) {
    const artifact = artifactOf(subject);
    const version = component?.version === undefined ? '' : ` ${component.version}`;
    yield {
      kind: 'finding',
      at,
      finding: {
        ...shared,
        title: component === undefined ? id : `${id} in ${component.name.replace(/^pkg:/, '')}`,
        target: { artifact, package: component?.name },
        locations: [
          {
            type: 'file',
            value: component === undefined ? artifact : `${artifact}: ${component.name}${version}`,
          },
        ],
      },
    };
  }
}

function commonOf(id: string, vulnerability: JsonObject): Omit<ReportedFinding, 'title'> {
  const others = arrayOf(vulnerability.references).map((one) => textOf(asJsonObject(one).id) ?? '');
  const ratings = arrayOf(vulnerability.ratings).map(asJsonObject);
  const cvss = bestCvss(ratings.map(claimOf).filter((claim) => claim !== undefined));
  return {
    rule: id,
    severity: severityFrom(ratings),
    description: textPartsOf([vulnerability.description, vulnerability.detail]),
    recommendedFix: textPartsOf([vulnerability.recommendation, vulnerability.workaround]),
    category: { parent: 'Components', display: 'Vulnerable component' },
    cveIds: extractCveIds([id, ...others].join(' ')),
    cweIds: textsOf(vulnerability.cwes).map((cwe) => (/^\d+$/.test(cwe) ? `CWE-${cwe}` : cwe)),
    ...cvss,
    referenceUrls: [
      ...textsOf(asJsonObject(vulnerability.source).url),
      ...arrayOf(vulnerability.advisories).flatMap((one) => textsOf(isJsonObject(one) ? one.url : one)),
    ],
  };
}

/** Other methods (OWASP, SSVC) contribute only their severity. Vectors may lack the `CVSS:` prefix. */
function claimOf(rating: JsonObject): { vector?: string; score?: number; version?: string } | undefined {
  const version = /^CVSSv(2|3|31|4)$/i.exec(textOf(rating.method) ?? '')?.[1];
  const vector = textOf(rating.vector);
  const score = numberOf(rating.score);
  const hasPrefix = vector?.startsWith('CVSS:') === true;
  if (version === undefined && !hasPrefix) return undefined;
  const number = { '2': '2.0', '3': '3.0', '31': '3.1', '4': '4.0' }[version ?? ''];
  const completeVector =
    vector === undefined || hasPrefix || version === '2' || number === undefined
      ? vector
      : `CVSS:${number}/${vector}`;
  return {
    ...(completeVector === undefined ? {} : { vector: completeVector }),
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
