import { isJsonObject, arrayOf, asJsonObject, type JsonObject, textOf } from '../../parsing/json-values.ts';
import { readJsonRecords } from '../../parsing/json-lines.ts';
import {
  readAddress,
  hostNameOf,
  hostWithPorts,
  buildObservedPort,
  portNumberOf,
} from '../../parsing/scanned-hosts.ts';
import { parseTime } from '../../parsing/parse-time.ts';
import type { ReportFormat, SourceLocation, ReportRecord } from '../../report.ts';
import { parseUntrustedUrl } from '../../../lib/parse-untrusted-url.ts';

/** ProjectDiscovery's httpx, JSON Lines (`-json`), type `Result`. Older versions write `status-code`. */
export const httpx: ReportFormat = {
  name: 'httpx',
  title: 'httpx JSON Lines',
  hasFindings: false,
  allowsEmpty: true,
  detect: ({ records }) => records.some((record) => isJsonObject(record) && isProbe(record)),
  read: (source) => readJsonRecords(source(), (value, location) => recordOf(asJsonObject(value), location)),
};

function isProbe(line: JsonObject): boolean {
  if (line.info !== undefined || typeof line.url !== 'string') return false;
  const probed = ['status_code', 'status-code', 'failed', 'webserver'].some(
    (name) => line[name] !== undefined,
  );
  return probed && (line.input !== undefined || line.scheme !== undefined);
}

function recordOf(line: JsonObject, location: SourceLocation): ReportRecord {
  if (line.failed === true) return { kind: 'skipped', reason: 'no response', location };
  const text = textOf(line.url) ?? '';
  const url = parseUntrustedUrl(text);
  const address = [line.host_ip, line.ip, line.host, ...arrayOf(line.a), ...arrayOf(line.aaaa), url?.hostname]
    .map(readAddress)
    .find((ipAddress) => ipAddress !== undefined);
  if (address === undefined) return { kind: 'unreadable', reason: 'no address', location };
  const scheme = textOf(line.scheme) ?? url?.protocol.slice(0, -1);
  const defaultPort = scheme === 'https' ? 443 : scheme === 'http' ? 80 : undefined;
  const number = portNumberOf(line.port) ?? portNumberOf(url?.port) ?? defaultPort;
  if (number === undefined) return { kind: 'unreadable', reason: 'no port', location };
  const server = textOf(line.webserver) ?? textOf(line.server);
  const [, product = server, version] = /^([^/()]{1,200})\/(\S{1,200})/.exec(server ?? '') ?? [];
  // Uses Nmap's service names, so that both report a port alike.
  const service = scheme === 'https' ? 'ssl/http' : scheme;
  const port = buildObservedPort('tcp', number, { service, banner: server, product, version });
  const nameAndTime = {
    name: [url?.hostname, line.host, line.input].map(hostNameOf).find((hostName) => hostName !== undefined),
    seenAt: parseTime(line.timestamp),
  };
  return { kind: 'host', host: hostWithPorts(address, [{ ...port, probed: true }], nameAndTime) };
}
