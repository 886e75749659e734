import { isJsonObject, asJsonObject, type JsonObject } from '../../parsing/json-values.ts';
import { readJsonRecords } from '../../parsing/json-lines.ts';
import {
  readAddress,
  hostNameOf,
  hostWithPorts,
  buildObservedPort,
  portNumberOf,
  protocolOf,
} from '../../parsing/scanned-hosts.ts';
import { parseTime } from '../../parsing/parse-time.ts';
import type { ReportFormat, SourceLocation, ReportRecord } from '../../report.ts';

/** The numbers of its package `protocol`, for ports written as objects. */
const PROTOCOLS = ['tcp', 'udp'];

/** Naabu's JSON Lines (`-json`), one port per line. Before 2.1.6 the port was an object. */
export const naabu: ReportFormat = {
  name: 'naabu',
  title: 'Naabu JSON Lines',
  hasFindings: false,
  allowsEmpty: true,
  detect: ({ records }) => records.some((record) => isJsonObject(record) && isPort(record)),
  read: (source) => readJsonRecords(source(), (value, location) => recordOf(asJsonObject(value), location)),
};

/** Members that only the records of other tools have; these may name a host and a port, too. */
const OF_OTHER_TOOLS =
  'url rec_type template-id templateID info banner vulnerabilities id severity ports'.split(' ');

function isPort(line: JsonObject): boolean {
  const isNamed = typeof line.ip === 'string' || typeof line.host === 'string';
  return isNamed && portOf(line) !== undefined && !OF_OTHER_TOOLS.some((name) => line[name] !== undefined);
}

function portOf(line: JsonObject) {
  const { Port, Protocol } = asJsonObject(line.port);
  const number = portNumberOf(Port ?? line.port);
  const name = typeof Protocol === 'number' ? PROTOCOLS[Protocol] : (Protocol ?? line.protocol);
  const protocol = protocolOf(name);
  return number === undefined || protocol === undefined ? undefined : buildObservedPort(protocol, number);
}

function recordOf(line: JsonObject, location: SourceLocation): ReportRecord {
  const address = readAddress(line.ip) ?? readAddress(line.host);
  if (address === undefined) return { kind: 'unreadable', reason: 'no address', location };
  const port = portOf(line);
  if (port === undefined) return { kind: 'unreadable', reason: 'no port', location };
  const nameAndTime = { name: hostNameOf(line.host), seenAt: parseTime(line.timestamp) };
  return { kind: 'host', host: hostWithPorts(address, [port], nameAndTime) };
}
