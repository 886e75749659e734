import { findingOfTrivy, type TrivyResult } from './trivy-findings.ts';
import { collectMatches, type JsonMatch, streamJsonMatches } from '../../parsing/json-stream.ts';
import { arrayOf, asJsonObject, isJsonObject, type JsonObject, textOf } from '../../parsing/json-values.ts';
import { parseTime } from '../../parsing/parse-time.ts';
import { cutSharedName } from '../../targets.ts';
import type { ByteSource, ReportError, ReportFormat, ReportRecord } from '../../report.ts';

/**
 * Trivy's JSON for images, file systems, repositories and clusters: schema version 2, and the bare list of results
 * before 0.20.
 */
export const trivy: ReportFormat = {
  name: 'trivy',
  title: 'Trivy JSON',
  hasFindings: true,
  detect({ json }) {
    if (Array.isArray(json)) return json.some(isResult);
    if (!isJsonObject(json)) return false;
    return (
      ('ArtifactName' in json && ('SchemaVersion' in json || 'Results' in json || 'ArtifactType' in json)) ||
      ('ClusterName' in json && ('Resources' in json || 'Findings' in json || 'Vulnerabilities' in json)) ||
      arrayOf(json.Results).some(isResult)
    );
  },
  async *read(source) {
    const header = await readHeader(source);
    const lists = RESULTS.flatMap((result) => LISTS.map((list) => `${result}.${list}.*`));
    for await (const { keys, value, offset } of streamJsonMatches(source(), lists)) {
      const location = { offset };
      const result = header.resultAt(keys.slice(0, -2));
      if (result === undefined) {
        if (header.failure !== undefined) throw header.failure;
        yield { kind: 'unreadable', reason: 'no target', location };
        continue;
      }
      const findingOrReason = findingOfTrivy(String(keys.at(-2)), asJsonObject(value), result);
      if (typeof findingOrReason !== 'string') header.addChecks(result.artifact, findingOrReason.checks);
      yield typeof findingOrReason === 'string'
        ? {
            kind: findingOrReason.startsWith('no ') ? 'unreadable' : 'skipped',
            reason: findingOrReason,
            location,
          }
        : { kind: 'finding', finding: findingOrReason, location };
    }
    yield* header.records();
  },
};

/** In a report, in a cluster report of any version, and in the bare list. */
const RESULTS = [
  'Results.*',
  'Resources.*.Results.*',
  'Findings.*.Results.*',
  'Vulnerabilities.*.Results.*',
  'Misconfigurations.*.Results.*',
  '*',
];
const LISTS = [
  'Vulnerabilities',
  'Misconfigurations',
  'Secrets',
  'Licenses',
  'ExperimentalModifiedFindings',
  'ModifiedFindings',
];
const OF_RESULT = ['Target', 'Class'];
const OF_RESOURCE = ['Namespace', 'Kind', 'Name'];
/** Results and resources per report. */
const MAX_RESULTS = 100_000;

function isResult(value: unknown): boolean {
  const result = asJsonObject(value);
  return (
    'Target' in result && (LISTS.some((list) => list in result) || 'Type' in result || 'Class' in result)
  );
}

class TrivyHeader {
  failure: ReportError | undefined;
  #artifact = '';
  #scannedAt: number | undefined;
  readonly #results = new Map<string, JsonObject>();
  readonly #resources = new Map<string, JsonObject>();
  /** Groups of checks that ran, by artifact. */
  readonly #checks = new Map<string, Set<string>>();

  take({ path, keys, value }: JsonMatch): void {
    const text = cutSharedName(textOf(value) ?? '');
    if (path === 'CreatedAt') this.#scannedAt = parseTime(value);
    else if (path === 'ArtifactName' || path === 'ClusterName') this.#artifact = nameOf(text);
    else {
      const name = keys.at(-1) as string;
      const entries = OF_RESULT.includes(name) ? this.#results : this.#resources;
      const key = keys.slice(0, -1).join('.');
      const entry = entries.get(key);
      if (entry !== undefined || entries.size < MAX_RESULTS) entries.set(key, { ...entry, [name]: text });
    }
  }

  resultAt(keys: readonly (string | number)[]): TrivyResult | undefined {
    const result = this.#results.get(keys.join('.'));
    const target = textOf(result?.Target);
    if (target === undefined) return undefined;
    const artifact = this.#artifactOf(this.#resources.get(keys.slice(0, 2).join('.')));
    // Before 0.20 only the target names image and system.
    const hasSystem = artifact === '' && target.endsWith(')');
    const image = hasSystem ? /^([^(]+) \([a-z]\S* /i.exec(target)?.[1] : undefined;
    if (image !== undefined) return { artifact: nameOf(image), target, class: 'os-pkgs' };
    return { artifact, target: nameOf(target), class: textOf(result?.Class) };
  }

  /** Results before 0.20 have no class; what they contain tells which checks ran. */
  addChecks(artifact: string, checks: string | undefined): void {
    const artifactChecks = this.#checks.get(artifact);
    if (checks === undefined || artifactChecks?.has(checks) === true) return;
    if (artifactChecks === undefined) this.#checks.set(artifact, new Set([checks]));
    else artifactChecks.add(checks);
  }

  /** An artifact is covered by the classes of its results, also by those without findings. */
  *records(): Generator<ReportRecord> {
    if (this.#scannedAt !== undefined) yield { kind: 'report', scannedAt: this.#scannedAt };
    for (const [key, result] of this.#results) {
      const artifact = this.#artifactOf(this.#resources.get(key.split('.').slice(0, 2).join('.')));
      this.addChecks(artifact, textOf(result.Class));
    }
    for (const [artifact, checks] of this.#checks)
      if (artifact !== '') yield { kind: 'covered', target: { artifact }, checks: [...checks] };
  }

  /** Each resource of a cluster is an artifact. */
  #artifactOf(resource: JsonObject | undefined): string {
    const parts = [this.#artifact, ...OF_RESOURCE.map((name) => textOf(resource?.[name]))];
    return parts.filter((part) => part !== undefined && part !== '').join('/');
  }
}

async function readHeader(source: ByteSource): Promise<TrivyHeader> {
  const header = new TrivyHeader();
  const resources = RESULTS.filter((path) => path.endsWith('.Results.*')).map((path) => path.split('.')[0]);
  const paths = [
    'ArtifactName',
    'ClusterName',
    'CreatedAt',
    ...RESULTS.flatMap((result) => OF_RESULT.map((name) => `${result}.${name}`)),
    ...resources.flatMap((list) => OF_RESOURCE.map((name) => `${list}.*.${name}`)),
  ];
  header.failure = await collectMatches(source(), paths, (match) => header.take(match));
  return header;
}

/** @returns the image name without its digest, which changes with every build */
function nameOf(artifact: string): string {
  return artifact.replace(/@sha256:[0-9a-f]{64}/i, '');
}
