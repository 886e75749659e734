import { isObject, membersOf, type Members } from '../../parsing/json-values.ts';
import { readJsonLines } from '../../parsing/json-lines.ts';
import {
  addressOf,
  hostNameOf,
  hostOfPorts,
  observedPort,
  portNumberOf,
  protocolOf,
} from '../../parsing/scanned-hosts.ts';
import { timeOf } from '../../parsing/parse-time.ts';
import type { Format, Place, ReportRecord } from '../../report.ts';

/** Of its package `protocol`, when a port was an object with numbers in it. */
const PROTOCOLS = ['tcp', 'udp'];

/** Naabu's JSON Lines (`-json`), a port a line; before version 2.1.6 the port was an object. */
export const naabu: Format = {
  name: 'naabu',
  title: 'Naabu JSON Lines',
  findings: false,
  emptyIsClean: true,
  recognise({ json }) {
    if (!isObject(json) || json.url !== undefined || json.rec_type !== undefined) return false;
    const named = typeof json.ip === 'string' || typeof json.host === 'string';
    return (
      named && portOf(json) !== undefined && json['template-id'] === undefined && json.info === undefined
    );
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

function portOf(line: Members) {
  const { Port, Protocol } = membersOf(line.port);
  const number = portNumberOf(Port ?? line.port);
  const told = typeof Protocol === 'number' ? PROTOCOLS[Protocol] : (Protocol ?? line.protocol);
  const protocol = protocolOf(told);
  return number === undefined || protocol === undefined ? undefined : observedPort(protocol, number);
}

function recordOf(line: Members, at: Place): ReportRecord {
  const address = addressOf(line.ip) ?? addressOf(line.host);
  if (address === undefined) return { kind: 'skipped', reason: 'no address', at };
  const port = portOf(line);
  if (port === undefined) return { kind: 'skipped', reason: 'no port', at };
  const more = { name: hostNameOf(line.host), seenAt: timeOf(line.timestamp) };
  return { kind: 'host', host: hostOfPorts(address, [port], more) };
}
