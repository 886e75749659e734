import type { Severity } from '../../../domain/shared/statuses-and-severities.ts';
import { collectMatches, streamJsonMatches } from '../../parsing/json-stream.ts';
import {
  arrayOf,
  asJsonObject,
  isJsonObject,
  type JsonObject,
  markdownTextOf,
  numberOf,
  textOf,
  textsOf,
} from '../../parsing/json-values.ts';
import { extractCveIds, extractCweIds } from '../../parsing/vulnerability-ids.ts';
import { parseTime } from '../../parsing/parse-time.ts';
import { parseSeverity } from '../../parsing/severity-and-cvss.ts';
import { cutSharedName } from '../../targets.ts';
import type { ReportedFinding, ReportFormat, ReportRecord } from '../../report.ts';
import { parseUntrustedUrl } from '../../../lib/parse-untrusted-url.ts';

/** Wapiti 3.0 to 3.2, JSON (`-f json`). Read twice, because the site comes last. */
export const wapiti: ReportFormat = {
  name: 'wapiti',
  title: 'Wapiti JSON',
  hasFindings: true,
  detect({ json }) {
    if (!isJsonObject(json)) return false;
    const hasWapitiVersion = /^wapiti/i.test(textOf(asJsonObject(json.infos).version) ?? '');
    return hasWapitiVersion || ('classifications' in json && 'vulnerabilities' in json);
  },
  async *read(source) {
    const infos: Record<string, unknown> = {};
    const categories = new Map<string, Category>();
    const failure = await collectMatches(
      source(),
      ['infos.*', 'classifications.*'],
      ({ path, keys, value }) => {
        const name = cutSharedName(String(keys[1]));
        if (path === 'infos.*') {
          if (INFO_KEYS.includes(name)) infos[name] = value;
        } else if (categories.size < MAX_CATEGORIES) categories.set(name, categoryOf(asJsonObject(value)));
      },
    );
    const target = textOf(infos.target);
    const base = target === undefined ? undefined : cutSharedName(target);
    for await (const { keys, value, offset } of streamJsonMatches(source(), FINDING_PATHS)) {
      const location = { offset };
      const category = cutSharedName(String(keys[1]));
      const url = urlOf(asJsonObject(value), base);
      if (failure !== undefined && (url === undefined || !categories.has(category))) throw failure;
      yield url === undefined
        ? { kind: 'unreadable', reason: 'no address', location }
        : {
            kind: 'finding',
            finding: findingOf(category, asJsonObject(value), url, categories.get(category)),
            location,
          };
    }
    const scannedAt = parseTime(infos.date);
    if (scannedAt !== undefined) yield { kind: 'report', scannedAt };
    yield* scopeRecords(base, textOf(infos.scope), [...categories.keys()]);
  },
};

const FINDING_PATHS = ['vulnerabilities.*.*', 'anomalies.*.*', 'additionals.*.*'];
const INFO_KEYS = ['target', 'date', 'scope', 'version'];
const MAX_CATEGORIES = 1_000;
const LEVELS: readonly Severity[] = ['Informational', 'Low', 'Medium', 'High', 'Critical'];

/** A scan of one page or folder does not cover its site, and none covers a category that it does not name. */
function* scopeRecords(
  base: string | undefined,
  scope: string | undefined,
  checks: readonly string[],
): Generator<ReportRecord> {
  const url = parseUntrustedUrl(base ?? '');
  if (base === undefined || url === null) return;
  const isComplete = scope === 'domain' || scope === 'subdomain' || scope === 'punk';
  if (isComplete || (scope === 'folder' && url.pathname === '/'))
    yield { kind: 'covered', target: { url: base }, checks };
}

/** @returns the URL without its query, which contains the payload */
function urlOf(entry: JsonObject, base: string | undefined): string | undefined {
  const path = textOf(entry.path);
  const sent = /https?:\/\/[^\s"']+/.exec(textOf(entry.curl_command) ?? '')?.[0];
  const requestUrl = [sent, base, path].find((url) => parseUntrustedUrl(url ?? '') !== null);
  if (requestUrl === undefined || path === undefined) return requestUrl?.replace(QUERY, '');
  return parseUntrustedUrl(path, requestUrl)?.href.replace(QUERY, '');
}

const QUERY = /[?#][^]*/;

type Category = Pick<ReportedFinding, 'description' | 'recommendedFix' | 'cweIds' | 'referenceUrls'>;

function categoryOf(description: JsonObject): Category {
  const links = linksOf(description);
  return {
    description: markdownTextOf(description.desc),
    recommendedFix: markdownTextOf(description.sol),
    cweIds: extractCweIds(links.map(([name]) => name).join(' ')),
    referenceUrls: links.map(([, link]) => link),
  };
}

function findingOf(
  category: string,
  entry: JsonObject,
  url: string,
  shared: Category | undefined,
): ReportedFinding {
  const info = textOf(entry.info);
  const parameter = textOf(entry.parameter);
  return {
    rule: category,
    checks: category,
    title: category,
    severity: levelOf(entry.level),
    description: shared?.description,
    recommendedFix: shared?.recommendedFix,
    category: { parent: 'Web application', display: category },
    cveIds: extractCveIds(info ?? ''),
    cweIds: [...new Set([...extractCweIds(info ?? ''), ...(shared?.cweIds ?? [])])],
    referenceUrls: shared?.referenceUrls,
    evidence: [...textsOf(info), ...textsOf(entry.http_request)],
    target: { url },
    locations: [
      { type: 'url', value: parameter === undefined ? url : `${url}?${encodeURIComponent(parameter)}` },
    ],
  };
}

function linksOf(description: JsonObject | undefined): [string, string][] {
  return Object.entries(asJsonObject(description?.ref)).flatMap(([name, link]) =>
    arrayOf(link).flatMap((url): [string, string][] => {
      const text = textOf(url);
      return text === undefined ? [] : [[name, text]];
    }),
  );
}

function levelOf(level: unknown): Severity {
  return LEVELS[numberOf(level) ?? -1] ?? parseSeverity(level) ?? 'Informational';
}
