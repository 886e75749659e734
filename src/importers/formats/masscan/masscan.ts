import type { ObservedPort } from '../../../domain/assets/scans/diff-ports.ts';
import { peekStart } from '../../parsing/encodings.ts';
import { isJsonObject, arrayOf, asJsonObject, textOf } from '../../parsing/json-values.ts';
import { readJsonRecords } from '../../parsing/json-lines.ts';
import { streamJsonMatches } from '../../parsing/json-stream.ts';
import {
  readAddress,
  hostWithPorts,
  buildObservedPort,
  portNumberOf,
  protocolOf,
} from '../../parsing/scanned-hosts.ts';
import { parseTime } from '../../parsing/parse-time.ts';
import { streamXmlMatches, type XmlElement } from '../../parsing/xml-stream.ts';
import type { ReportFormat, SourceLocation, ReportRecord } from '../../report.ts';

const STATES = ['open', 'closed'];

/**
 * Masscan's XML (`-oX`), JSON (`-oJ`) and JSON Lines (`-oD`), as in its `out-xml.c`, `out-json.c` and `out-ndjson.c`.
 * The JSON may have a trailing comma; old versions end it with the invalid `{finished: 1}`.
 */
export const masscan: ReportFormat = {
  name: 'masscan',
  title: 'Masscan XML or JSON',
  hasFindings: false,
  detect({ root, json, records }) {
    if (root !== undefined) return root.name === 'nmaprun' && root.attributes.scanner === 'masscan';
    return records.some(
      (record) =>
        isJsonObject(record) &&
        readAddress(record.ip) !== undefined &&
        (Array.isArray(json) ? Array.isArray(record.ports) : record.rec_type !== undefined),
    );
  },
  async *read(source) {
    const { start, all } = await peekStart(source());
    if (start.startsWith('<')) yield* readXml(all);
    else if (start.startsWith('[')) yield* readJson(all);
    else yield* readJsonRecords(all, recordOfLine);
  },
};

async function* readXml(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ReportRecord, void> {
  for await (const { element, line } of streamXmlMatches(chunks, {
    roots: ['nmaprun'],
    paths: ['nmaprun.host'],
  })) {
    const child = (parent: XmlElement | undefined, name: string) =>
      parent?.children.find((candidate) => candidate.name === name);
    const ports = child(element, 'ports')?.children.map((port) => {
      const service = child(port, 'service')?.attributes;
      return portOf(
        port.attributes.portid,
        port.attributes.protocol,
        child(port, 'state')?.attributes.state,
        service?.name,
        service?.banner,
      );
    });
    const { addr } = child(element, 'address')?.attributes ?? {};
    yield recordOf(addr, ports ?? [], element.attributes.endtime, { line });
  }
}

async function* readJson(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ReportRecord, void> {
  const options = { trailingCommas: true, parse: parseRecord };
  for await (const { value, offset } of streamJsonMatches(chunks, ['*'], options)) {
    const host = asJsonObject(value);
    if (host.finished !== undefined) continue;
    const ports = arrayOf(host.ports).map((port) => {
      const { port: number, proto, status, service } = asJsonObject(port);
      const { name, banner } = asJsonObject(service);
      return portOf(number, proto, status, name, banner);
    });
    yield recordOf(host.ip, ports, host.timestamp, { offset });
  }
}

function recordOfLine(value: unknown, location: SourceLocation): ReportRecord {
  const { ip, timestamp, port, proto, data } = asJsonObject(value);
  const { status, service_name: name, banner } = asJsonObject(data);
  return recordOf(ip, [portOf(port, proto, status, name, banner)], timestamp, location);
}

function parseRecord(text: string): unknown {
  return /^\{\s*finished\s*:/.test(text) ? { finished: 1 } : JSON.parse(text);
}

function portOf(
  number: unknown,
  protocol: unknown,
  state: unknown,
  service: unknown,
  banner: unknown,
): ObservedPort | undefined {
  const port = portNumberOf(number);
  const transport = protocolOf(protocol);
  if (port === undefined || transport === undefined) return undefined;
  const status = textOf(state) ?? 'open';
  if (!STATES.includes(status)) return undefined;
  // A page title is not a service.
  const serviceName = textOf(service) === 'title' ? 'http' : textOf(service);
  return buildObservedPort(transport, port, { state: status, service: serviceName, banner: textOf(banner) });
}

function recordOf(
  ip: unknown,
  ports: readonly (ObservedPort | undefined)[],
  time: unknown,
  location: SourceLocation,
): ReportRecord {
  const address = readAddress(ip);
  if (address === undefined) return { kind: 'unreadable', reason: 'no address', location };
  const knownPorts = ports.filter((port) => port !== undefined);
  if (knownPorts.length === 0) return { kind: 'skipped', reason: 'no port', location };
  return { kind: 'host', host: hostWithPorts(address, knownPorts, { seenAt: parseTime(time) }) };
}
