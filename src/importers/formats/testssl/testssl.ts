import { codeBlock } from '../../parsing/escape-markdown.ts';
import { peekStart } from '../../parsing/encodings.ts';
import {
  isJsonObject,
  arrayOf,
  type JsonObject,
  asJsonObject,
  numberOf,
  textOf,
  markdownTextOf,
} from '../../parsing/json-values.ts';
import { streamJsonMatches } from '../../parsing/json-stream.ts';
import { parseSeverity } from '../../parsing/severity-and-cvss.ts';
import { extractCveIds, extractCweIds } from '../../parsing/vulnerability-ids.ts';
import { parseTime } from '../../parsing/parse-time.ts';
import { locationOfHost } from '../../targets.ts';
import type {
  ReportFormat,
  SourceLocation,
  ReportedLocation,
  ReportRecord,
  ScanTarget,
} from '../../report.ts';

/** testssl.sh 2.9 to 3.2, flat JSON (`--jsonfile`) or structured (`--jsonfile-pretty`). */
export const testssl: ReportFormat = {
  name: 'testssl',
  title: 'testssl.sh JSON',
  hasFindings: true,
  detect({ json, records }) {
    if (Array.isArray(json))
      return records.some((record) => isEntry(record) && typeof asJsonObject(record).ip === 'string');
    if (!isJsonObject(json) || !('scanResult' in json)) return false;
    return 'Invocation' in json || 'targetHost' in asJsonObject(arrayOf(json.scanResult)[0]);
  },
  async *read(source) {
    const { start, all } = await peekStart(source());
    const scanScope = new ServerScanScope();
    if (start.startsWith('[')) {
      for await (const { value, offset } of streamJsonMatches(all, ['*'])) {
        const entry = asJsonObject(value);
        const [name, address] = splitAddress(textOf(entry.ip) ?? '');
        yield recordOf(entry, { name, address, port: portOf(entry.port) }, scanScope, { offset });
      }
    } else {
      for await (const { path, value, offset } of streamJsonMatches(all, ['startTime', 'scanResult.*'])) {
        const scannedAt = path === 'startTime' ? parseTime(textOf(value)) : undefined;
        if (scannedAt !== undefined) yield { kind: 'report', scannedAt };
        if (path !== 'startTime') yield* recordsOf(asJsonObject(value), scanScope, { offset });
      }
    }
    yield* scanScope.records();
  },
};

/** Groups per server. */
const MAX_CHECKS = 1_000;

interface Server {
  name: string | undefined;
  address: string | undefined;
  port: number | undefined;
}

/** Collects the servers whose tests completed, and which tests ran. */
class ServerScanScope {
  readonly #targets = new Map<string, { target: ScanTarget; checks: Set<string> }>();
  readonly #broken = new Set<string>();

  add(target: ScanTarget, checks: string): void {
    const key = JSON.stringify(target);
    const scanned = this.#targets.get(key);
    if (scanned === undefined) this.#targets.set(key, { target, checks: new Set([checks]) });
    else if (scanned.checks.size < MAX_CHECKS) scanned.checks.add(checks);
  }

  /** @param target if absent, no single server is affected */
  break(target: ScanTarget | undefined): void {
    if (target !== undefined) this.#broken.add(JSON.stringify(target));
  }

  *records(): Generator<ReportRecord> {
    for (const [key, { target, checks }] of this.#targets)
      if (!this.#broken.has(key)) yield { kind: 'covered', target, checks: [...checks] };
  }
}

function isEntry(value: unknown): boolean {
  const { id, severity, finding } = asJsonObject(value);
  return typeof id === 'string' && typeof severity === 'string' && finding !== undefined;
}

/** Yields the results of one server, or a problem before any was reached. */
function* recordsOf(
  result: JsonObject,
  scanScope: ServerScanScope,
  location: SourceLocation,
): Generator<ReportRecord> {
  const server: Server = {
    name: textOf(result.targetHost),
    address: textOf(result.ip)?.replace(/^\[|\]$/g, ''),
    port: portOf(result.port),
  };
  if (isEntry(result)) {
    yield recordOf(result, server, scanScope, location);
    return;
  }
  for (const section of Object.values(result)) {
    if (!Array.isArray(section)) continue;
    for (const entry of arrayOf(section)) yield recordOf(asJsonObject(entry), server, scanScope, location);
  }
}

function recordOf(
  entry: JsonObject,
  server: Server,
  scanScope: ServerScanScope,
  location: SourceLocation,
): ReportRecord {
  const id = textOf(entry.id);
  const skipped = (reason: string): ReportRecord => ({ kind: 'skipped', reason, location });
  if (id === undefined) return { kind: 'unreadable', reason: 'no id', location };
  const target = targetOf(server);
  const checks = checksOfTest(id);
  switch (textOf(entry.severity)?.toUpperCase()) {
    case 'OK':
      if (target !== undefined) scanScope.add(target, checks);
      return skipped('passed');
    case 'FATAL':
      scanScope.break(target);
      return skipped('scan problem');
    case 'WARN':
      return { kind: 'untested', finding: { rule: id, target }, reason: 'not tested', location };
    case 'DEBUG':
      return skipped('scan metadata');
  }
  if (id === 'scanTime') return skipped('scan metadata');
  if (target === undefined) return { kind: 'unreadable', reason: 'no host', location };
  scanScope.add(target, checks);
  const text = textOf(entry.finding);
  const result = text === '--' ? undefined : text;
  const isShort = result !== undefined && result.length <= 80 && !result.includes('\n');
  return {
    kind: 'finding',
    location,
    finding: {
      rule: id,
      checks,
      title: isShort ? `${id}: ${result}` : id,
      severity: parseSeverity(textOf(entry.severity)) ?? 'Informational',
      description: isCertificate(result) ? codeBlock(certificateLines(result)) : markdownTextOf(result),
      cveIds: extractCveIds(textOf(entry.cve) ?? ''),
      cweIds: extractCweIds(textOf(entry.cwe) ?? ''),
      recommendedFix: markdownTextOf(entry.hint),
      target,
      locations: [locationOf(server)],
    },
  };
}

function isCertificate(text: string | undefined): text is string {
  return text?.startsWith('-----BEGIN CERTIFICATE') === true;
}

/** testssl.sh writes spaces in place of the line breaks of PEM (RFC 7468). */
function certificateLines(text: string): string {
  return text.replace(/ (?!CERTIFICATE)/g, '\n');
}

function targetOf({ name, address, port }: Server): ScanTarget | undefined {
  const host = address ?? name;
  return host === undefined ? undefined : { host, port, protocol: port === undefined ? undefined : 'tcp' };
}

/** Uses the requested name, because a server may answer differently per name. */
function locationOf({ name, address, port }: Server): ReportedLocation {
  const location = locationOfHost({ host: name ?? (address as string), port });
  return address === undefined || location.type === 'ip' ? location : { ...location, address };
}

/** Splits `name/address`; problems of the scan itself have `/`. */
function splitAddress(text: string): [string | undefined, string | undefined] {
  const slash = text.indexOf('/');
  const name = slash < 0 ? text : text.slice(0, slash);
  const address = slash < 0 ? '' : text.slice(slash + 1).replace(/^\[|\]$/g, '');
  return [name === '' ? undefined : name, address === '' ? undefined : address];
}

function portOf(value: unknown): number | undefined {
  const port = numberOf(value);
  return port !== undefined && Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
}

/** Ids by the part of testssl.sh that reports them (its functions `run_*`), each of which has an option of its own. */
const PARTS: readonly (readonly [part: string, ids: RegExp])[] = [
  ['protocols', /^(?:SSLv[23]|TLS1(?:_\d)?|NPN|ALPN(?:_HTTP2)?|QUIC)$/],
  ['ciphers', /^cipherlist_/],
  ['forward-secrecy', /^(?:P?FS(?:_|$)|DH_groups)/],
  ['server-preferences', /^(?:cipher_?order|cipher_negotiated|protocol_negotiated|prioritize_)/],
  [
    'server-defaults',
    /^(?:TLS_|SSL_sessionID|sessionresumption|cert|OCSP|DNS_CAA|clientAuth|intermediate_cert)/,
  ],
  [
    'headers',
    /^(?:HTTP_|HSTS|HPKP|banner_|cookie_|security_headers|ipv4_in_header|[A-Z][A-Za-z]*(?:-[A-Z][A-Za-z]+)+$)/,
  ],
  ['rating', /^(?:rating_|overall_grade|grade_cap|[a-z_]+_score$|[a-z_]+_score_weighted$)/],
  ['cipher-tests', /^cipher[-_]/],
  ['client-simulations', /^clientsimulation-/],
];

/** @returns the group of a test; each vulnerability is one of its own: `BEAST` for `BEAST_CBC_TLS1` */
function checksOfTest(id: string): string {
  return PARTS.find(([, ids]) => ids.test(id))?.[0] ?? id.replace(/[_\s-][^]*/, '');
}
