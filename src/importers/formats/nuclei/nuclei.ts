import { isIP } from 'node:net';
import {
  isJsonObject,
  type JsonObject,
  asJsonObject,
  numberOf,
  textOf,
  textsOf,
  markdownTextOf,
} from '../../parsing/json-values.ts';
import { readJsonRecords } from '../../parsing/json-lines.ts';
import { bestCvss, parseSeverity } from '../../parsing/severity-and-cvss.ts';
import { parseTime } from '../../parsing/parse-time.ts';
import { locationOfHost } from '../../targets.ts';
import type {
  ReportFormat,
  SourceLocation,
  ReportedFinding,
  ReportedLocation,
  ReportRecord,
  ScanTarget,
} from '../../report.ts';
import { parseUntrustedUrl } from '../../../lib/parse-untrusted-url.ts';

/**
 * Nuclei results as an array or as JSON Lines (`-json-export`, `-jsonl`), its type ResultEvent. Before 2.6 the names
 * were `templateID`, `matched` and `matcher_name`.
 */
export const nuclei: ReportFormat = {
  name: 'nuclei',
  title: 'Nuclei JSON or JSON Lines',
  hasFindings: true,
  allowsEmpty: true,
  detect: ({ records }) =>
    records.some(
      (record) => isJsonObject(record) && templateOf(record) !== undefined && isJsonObject(record.info),
    ),
  read(source) {
    // There is no header: the report's time is that of its earliest result.
    let scannedAt: number | undefined;
    return readJsonRecords(source(), (value, location) => {
      const record = recordOf(value, location);
      const { seenAt = NaN } = record.kind === 'finding' ? record.finding : {};
      if (Number.isNaN(seenAt) || (scannedAt !== undefined && seenAt >= scannedAt)) return record;
      scannedAt = seenAt;
      return [{ kind: 'report', scannedAt }, record];
    });
  },
};

function templateOf(result: JsonObject): string | undefined {
  return textOf(result['template-id'] ?? result.templateID ?? result.template_id);
}

function recordOf(value: unknown, location: SourceLocation): ReportRecord {
  const result = asJsonObject(value);
  const template = templateOf(result);
  if (template === undefined) return { kind: 'unreadable', reason: 'no template', location };
  // Written with `-matcher-status` for checks that did not match.
  if (result['matcher-status'] === false) return { kind: 'skipped', reason: 'passed', location };
  return { kind: 'finding', finding: findingOf(result, template), location };
}

function findingOf(result: JsonObject, template: string): ReportedFinding {
  const info = asJsonObject(result.info);
  const classification = asJsonObject(info.classification);
  const matcher = textOf(result['matcher-name'] ?? result.matcher_name);
  const name = textOf(info.name) ?? template;
  const { target, location } = targetAndLocation(result);
  const cvss = bestCvss([
    {
      vector: textOf(classification['cvss-metrics']),
      score: numberOf(classification['cvss-score']),
    },
  ]);
  return {
    rule: matcher === undefined ? template : `${template}:${matcher}`,
    checks: checksOf(result),
    title: matcher === undefined ? name : `${name} (${matcher})`,
    severity: parseSeverity(textOf(info.severity)) ?? 'Informational',
    description: markdownTextOf(info.description),
    impact: markdownTextOf(info.impact),
    recommendedFix: markdownTextOf(info.remediation),
    cveIds: textsOf(classification['cve-id'] ?? classification.cve_id).map((id) => id.toUpperCase()),
    cweIds: textsOf(classification['cwe-id'] ?? classification.cwe_id).map((id) => id.toUpperCase()),
    referenceUrls: linksIn(info.reference ?? info.references),
    evidence: evidenceOf(result),
    target,
    locations: location === undefined ? undefined : [location],
    seenAt: parseTime(textOf(result.timestamp)),
    ...cvss,
  };
}

/** @returns the folder of the template, without years: `http/cves`; else the protocol */
function checksOf(result: JsonObject): string {
  const path =
    textOf(result.template) ?? textOf(result['template-path'])?.replace(/^.*\/nuclei-templates\//, '');
  const folders =
    path
      ?.split('/')
      .slice(0, -1)
      .filter((name) => !/^\d{4}$/.test(name)) ?? [];
  return folders.length === 0 ? (textOf(result.type) ?? '') : folders.slice(0, 2).join('/');
}

/** Older versions write a Markdown list in place of an array. */
function linksIn(value: unknown): string[] {
  return textsOf(value).flatMap((text) => text.match(/https?:\/\/[^\s<>"]+/g) ?? []);
}

function evidenceOf(result: JsonObject): string[] {
  const extracted = textsOf(result['extracted-results'] ?? result.extracted_results);
  return [
    ...(extracted.length === 0 ? [] : [extracted.join('\n')]),
    ...textsOf(result.request),
    ...textsOf(result.response),
  ];
}

function targetAndLocation(result: JsonObject): { target?: ScanTarget; location?: ReportedLocation } {
  const matched = textOf(result['matched-at'] ?? result.matched);
  const host = textOf(result.host) ?? textOf(result.url);
  const matchedAt = matched ?? host;
  if (matchedAt === undefined) return {};
  const url = webAddressOf(matchedAt);
  if (url !== undefined) return { target: { url }, location: { type: 'url', value: matchedAt } };
  if (result.type === 'file')
    return { target: { artifact: matchedAt, path: matchedAt }, location: { type: 'file', value: matchedAt } };
  const hostPort = parseHostPort(matchedAt);
  if (hostPort === undefined) return {};
  const port = hostPort.port ?? portOf(result.port);
  const address = textOf(result.ip);
  // DNS and whois results are about a name, not an address.
  const isAboutName = result.type === 'dns' || result.type === 'whois' || address === undefined;
  const target = {
    host: isAboutName ? hostPort.host : address,
    port,
    protocol: port === undefined ? undefined : ('tcp' as const),
  };
  const location = locationOfHost({ ...target, host: address ?? hostPort.host });
  // The name that the template matched at says more than its address.
  const value = isIP(hostPort.host) === 0 ? matchedAt : location.value;
  return {
    target,
    location: { ...location, type: value === location.value ? location.type : 'other', value },
  };
}

function webAddressOf(text: string): string | undefined {
  const web = /^(http|ws)(s?):\/\//i.exec(text);
  if (web === null || parseUntrustedUrl(text) === null) return undefined;
  return `http${(web[2] as string).toLowerCase()}://${text.slice(web[0].length)}`;
}

/** Splits `host`, `host:port`, `[v6]:port` and `scheme://host:port/…`. */
function parseHostPort(text: string): { host: string; port?: number | undefined } | undefined {
  const authority = text.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').replace(/[/?#][^]*/, '');
  if (/^[^:]*:[^:]*:.*$/.test(authority) && !authority.startsWith('[')) return { host: authority };
  const parts = /^(?:\[([^\]]+)\]|([^:\s]+))(?::(\d{1,5}))?$/.exec(authority);
  if (parts === null) return undefined;
  return { host: (parts[1] ?? parts[2]) as string, port: portOf(parts[3]) };
}

function portOf(value: unknown): number | undefined {
  const port = numberOf(value);
  return port !== undefined && Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
}
