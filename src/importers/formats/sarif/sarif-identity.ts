import { asJsonObject, type JsonObject, textOf } from '../../parsing/json-values.ts';
import type { ReportedFinding, ReportedLocation } from '../../report.ts';
import { withoutVersions } from '../../parsing/versions.ts';
import { parseUntrustedUrl } from '../../../lib/parse-untrusted-url.ts';

/** A location of a result (section 3.28). */
export interface ResultLocation {
  path: string | undefined;
  /** Full name of a class, function or resource. */
  name: string | undefined;
  hasLine: boolean;
  snippet: string | undefined;
  /** Plain text. */
  message: string | undefined;
  location: ReportedLocation | undefined;
}

/** @returns the location that identifies a result, whatever their order: the one with the smallest path */
export function mainLocationOf(locations: readonly ResultLocation[]): ResultLocation | undefined {
  const first = locations[0];
  if (first === undefined || locations.length === 1) return first;
  return locations.reduce((one, other) => (keyOf(other) < keyOf(one) ? other : one), first);
}

function keyOf({ path, name, snippet, message }: ResultLocation): string {
  // Files precede locations that have only a name.
  const parts = [path ?? '\uFFFF', name ?? '', snippet?.trim() ?? '', message ?? ''];
  return parts.join('\n');
}

/**
 * Identifies a result by the first of these that it has: `fingerprints`; `partialFingerprints`, or `fingerprints` that
 * only hash code, with the path or else name and subject; path, name and snippet, with the subject if there is one.
 * @param message of the result, as plain text
 */
export function identityOfSarifResult(
  result: JsonObject,
  rule: string,
  location: ResultLocation | undefined,
  message: string | undefined,
): Pick<ReportedFinding, 'fingerprint' | 'locationKey'> {
  const path = pathWithoutQuery(location?.path);
  const fingerprints = fingerprintOf(result.fingerprints);
  const isOfCode = fingerprints?.every(([kind]) => CODE_HASH.test(kind)) === true;
  if (fingerprints !== undefined && !isOfCode) return { fingerprint: JSON.stringify([rule, fingerprints]) };
  const subject = subjectOf(location, message);
  const partial = fingerprints ?? fingerprintOf(result.partialFingerprints);
  if (partial !== undefined) {
    const parts = path === '' ? [location?.name ?? '', subject ?? ''] : [];
    return { fingerprint: JSON.stringify([rule, path, partial, ...parts]) };
  }
  const key = [path, location?.name ?? '', location?.snippet?.trim().replace(/\s+/g, ' ') ?? ''];
  return { locationKey: [...key, ...(subject === undefined ? [] : [subject])].join('\n') };
}

/**
 * @returns the package or setting that a message names, without version or value: the message of the location, else
 *   that of the result if no code locates it
 */
function subjectOf(location: ResultLocation | undefined, message: string | undefined): string | undefined {
  const hasCode = location !== undefined && (location.hasLine || location.snippet !== undefined);
  const text = location?.message ?? (hasCode ? undefined : message);
  const subject = text === undefined ? '' : withoutVersions(text);
  return subject === '' ? undefined : subject;
}

export function isWebAddress(path: string): boolean {
  return /^https?:\/\//i.test(path) && parseUntrustedUrl(path) !== null;
}

function pathWithoutQuery(path: string | undefined): string {
  return path === undefined ? '' : isWebAddress(path) ? new URL(path).pathname : path;
}

/** Placeholders of tools that compute no fingerprint. */
const NO_FINGERPRINT = /^(requires login|unknown|none|null|undefined|n\/?a|0+)$/i;
/** Fingerprints of a line of code, which other files may have too: Flawfinder's `contextHash`. */
const CODE_HASH = /(?:context|contextRegion|line|snippet)Hash$/i;

/** Uses each fingerprint's oldest version, because newer tools add versions (section 3.27.16). */
function fingerprintOf(value: unknown): [kind: string, text: string][] | undefined {
  const kinds = new Map<string, { version: number; text: string }>();
  for (const [name, content] of Object.entries(asJsonObject(value))) {
    const text = textOf(content) ?? textOf(asJsonObject(content).value);
    // CodeQL adds the column.
    if (text === undefined || NO_FINGERPRINT.test(text) || /column/i.test(name)) continue;
    const parts = /^(.*?)(?:\/v(\d+))?$/s.exec(name);
    const kind = parts?.[1] ?? name;
    const version = Number(parts?.[2] ?? 0);
    const previous = kinds.get(kind);
    if (previous === undefined || version < previous.version) kinds.set(kind, { version, text });
  }
  if (kinds.size === 0) return undefined;
  return [...kinds]
    .map(([kind, { text }]): [string, string] => [kind, text])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
