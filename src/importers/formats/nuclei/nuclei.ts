import { withFirstCharacter } from '../../parsing/peek-first-character.ts';
import {
  isObject,
  type Members,
  membersOf,
  numberOf,
  textOf,
  textsOf,
  plainTextOf,
} from '../../parsing/json-values.ts';
import { type JsonLine, readJsonLines } from '../../parsing/json-lines.ts';
import { readJsonPieces } from '../../parsing/json-stream.ts';
import { bestCvss, severityOf } from '../../parsing/severity-and-cvss.ts';
import { timeOf } from '../../parsing/parse-time.ts';
import type { Format, Place, ReportedFinding, ReportedLocation, ReportRecord, Target } from '../../report.ts';

/**
 * Nuclei's results, an array or a line each, as its type `ResultEvent` names them (`-json-export`, `-jsonl`); before
 * version 2.6 they were `templateID`, `matched` and `matcher_name`.
 */
export const nuclei: Format = {
  name: 'nuclei',
  title: 'Nuclei JSON or JSON Lines',
  findings: true,
  emptyIsClean: true,
  recognise({ json }) {
    const first = Array.isArray(json) ? json[0] : json;
    return isObject(first) && templateOf(first) !== undefined && isObject(first.info);
  },
  async *read(source) {
    // Nothing heads the report: its time is that of its first result.
    let scannedAt: number | undefined;
    for await (const results of resultsOf(source())) {
      for (const { value, fault, at } of results) {
        const record: ReportRecord =
          fault === undefined ? recordOf(value, at) : { kind: 'skipped', reason: fault, at };
        if (record.kind === 'finding') {
          const { seenAt } = record.finding;
          if (seenAt !== undefined && (scannedAt === undefined || seenAt < scannedAt)) {
            scannedAt = seenAt;
            yield { kind: 'report', scannedAt };
          }
        }
        yield record;
      }
    }
  },
};

interface Result {
  value?: unknown;
  fault?: string;
  at: Place;
}

async function* resultsOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Iterable<Result>, void> {
  const { first, all } = await withFirstCharacter(chunks);
  if (first === '[') {
    for await (const { value, offset } of readJsonPieces(all, ['*'])) yield [{ value, at: { offset } }];
  } else for await (const lines of readJsonLines(all)) yield placed(lines);
}

function* placed(lines: Iterable<JsonLine>): Generator<Result, void> {
  for (const { line, ...result } of lines) yield { ...result, at: { line } };
}

function templateOf(result: Members): string | undefined {
  return textOf(result['template-id'] ?? result.templateID ?? result.template_id);
}

function recordOf(value: unknown, at: Place): ReportRecord {
  const result = membersOf(value);
  const template = templateOf(result);
  if (template === undefined) return { kind: 'skipped', reason: 'no template', at };
  // Written where it was asked to tell of what did not match as well.
  if (result['matcher-status'] === false) return { kind: 'skipped', reason: 'passed', at };
  return { kind: 'finding', finding: findingOf(result, template), at };
}

function findingOf(result: Members, template: string): ReportedFinding {
  const info = membersOf(result.info);
  const classification = membersOf(info.classification);
  const matcher = textOf(result['matcher-name'] ?? result.matcher_name);
  const name = textOf(info.name) ?? template;
  const { target, location } = whereOf(result);
  const cvss = bestCvss([
    {
      vector: textOf(classification['cvss-metrics']),
      score: numberOf(classification['cvss-score']),
    },
  ]);
  return {
    rule: matcher === undefined ? template : `${template}:${matcher}`,
    title: matcher === undefined ? name : `${name} (${matcher})`,
    severity: severityOf(textOf(info.severity)) ?? 'Informational',
    description: plainTextOf(info.description),
    impact: plainTextOf(info.impact),
    recommendedFix: plainTextOf(info.remediation),
    cveIds: textsOf(classification['cve-id'] ?? classification.cve_id).map((id) => id.toUpperCase()),
    cweIds: textsOf(classification['cwe-id'] ?? classification.cwe_id).map((id) => id.toUpperCase()),
    ...cvss,
    referenceUrls: linksIn(info.reference ?? info.references),
    evidence: evidenceOf(result),
    target,
    locations: location === undefined ? undefined : [location],
    seenAt: timeOf(textOf(result.timestamp)),
  };
}

/** @returns addresses: a list, one, or what older versions wrote, a list in Markdown */
function linksIn(value: unknown): string[] {
  return textsOf(value).flatMap((text) => text.match(/https?:\/\/[^\s<>"]+/g) ?? []);
}

function evidenceOf(result: Members): string[] {
  const extracted = textsOf(result['extracted-results'] ?? result.extracted_results);
  return [
    ...(extracted.length === 0 ? [] : [extracted.join('\n')]),
    ...textsOf(result.request),
    ...textsOf(result.response),
  ];
}

function whereOf(result: Members): { target?: Target; location?: ReportedLocation } {
  const matched = textOf(result['matched-at'] ?? result.matched);
  const host = textOf(result.host) ?? textOf(result.url);
  const where = matched ?? host;
  if (where === undefined) return {};
  const url = webAddressOf(where);
  if (url !== undefined) return { target: { url }, location: { type: 'url', value: where } };
  if (result.type === 'file')
    return { target: { artifact: where, path: where }, location: { type: 'file', value: where } };
  const ends = endsOf(where);
  if (ends === undefined) return {};
  const port = ends.port ?? portOf(result.port);
  const address = textOf(result.ip);
  // What is asked of the DNS is told of a name and not of an address.
  const named = result.type === 'dns' || result.type === 'whois' || address === undefined;
  return {
    target: { host: named ? ends.host : address, port, protocol: port === undefined ? undefined : 'tcp' },
    location: {
      type: 'other',
      value: where,
      ...(address === undefined ? {} : { address }),
      ...(port === undefined ? {} : { port, protocol: 'tcp' }),
    },
  };
}

function webAddressOf(text: string): string | undefined {
  const web = /^(http|ws)(s?):\/\//i.exec(text);
  if (web === null || !URL.canParse(text)) return undefined;
  return `http${(web[2] as string).toLowerCase()}://${text.slice(web[0].length)}`;
}

/** Takes `host`, `host:port`, `[v6]:port` and `scheme://host:port/…` apart. */
function endsOf(text: string): { host: string; port?: number | undefined } | undefined {
  const authority = text.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').replace(/[/?#].*$/s, '');
  if (/^[^:]*:[^:]*:.*$/.test(authority) && !authority.startsWith('[')) return { host: authority };
  const parts = /^(?:\[([^\]]+)\]|([^:\s]+))(?::(\d{1,5}))?$/.exec(authority);
  if (parts === null) return undefined;
  return { host: (parts[1] ?? parts[2]) as string, port: portOf(parts[3]) };
}

function portOf(value: unknown): number | undefined {
  const port = numberOf(value);
  return port !== undefined && Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
}
