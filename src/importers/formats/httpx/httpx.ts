import { isObject, listOf, membersOf, type Members, textOf } from '../../parsing/json-values.ts';
import { readJsonLines } from '../../parsing/json-lines.ts';
import {
  addressOf,
  hostNameOf,
  hostOfPorts,
  observedPort,
  portNumberOf,
} from '../../parsing/scanned-hosts.ts';
import { timeOf } from '../../parsing/parse-time.ts';
import type { Format, Place, ReportRecord } from '../../report.ts';

/** httpx of ProjectDiscovery, JSON Lines (`-json`), after its type `Result`; older versions write `status-code`. */
export const httpx: Format = {
  name: 'httpx',
  title: 'httpx JSON Lines',
  findings: false,
  emptyIsClean: true,
  recognise({ json }) {
    if (!isObject(json) || json.info !== undefined || typeof json.url !== 'string') return false;
    const probed = ['status_code', 'status-code', 'failed', 'webserver'].some(
      (name) => json[name] !== undefined,
    );
    return probed && (json.input !== undefined || json.scheme !== undefined);
  },
  async *read(source) {
    for await (const lines of readJsonLines(source())) {
      for (const found of lines) {
        const at = { line: found.line };
        if ('fault' in found) yield { kind: 'skipped', reason: found.fault, at };
        else yield recordOf(membersOf(found.value), at);
      }
    }
  },
};

function recordOf(line: Members, at: Place): ReportRecord {
  if (line.failed === true) return { kind: 'skipped', reason: 'no answer', at };
  const text = textOf(line.url) ?? '';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const address = [line.host_ip, line.ip, line.host, ...listOf(line.a), ...listOf(line.aaaa), url?.hostname]
    .map(addressOf)
    .find((found) => found !== undefined);
  if (address === undefined) return { kind: 'skipped', reason: 'no address', at };
  const scheme = textOf(line.scheme) ?? url?.protocol.slice(0, -1);
  const usual = scheme === 'https' ? 443 : scheme === 'http' ? 80 : undefined;
  const number = portNumberOf(line.port) ?? portNumberOf(url?.port) ?? usual;
  if (number === undefined) return { kind: 'skipped', reason: 'no port', at };
  const server = textOf(line.webserver) ?? textOf(line.server);
  const [, product = server, version] = /^([^/()]{1,200})\/(\S{1,200})/.exec(server ?? '') ?? [];
  // As Nmap names them, so that one port is told alike by both.
  const service = scheme === 'https' ? 'ssl/http' : scheme;
  const port = observedPort('tcp', number, { service, banner: server, product, version });
  const more = {
    name: [url?.hostname, line.host, line.input].map(hostNameOf).find((found) => found !== undefined),
    seenAt: timeOf(line.timestamp),
  };
  return { kind: 'host', host: hostOfPorts(address, [{ ...port, probed: true }], more) };
}
