import { isIPv4, isIPv6, SocketAddress } from 'node:net';
import { PROTOCOLS } from '../../../domain/assets/ports.ts';
import type { ScannedHost } from '../../../domain/assets/scans/apply-scans.ts';
import type { ObservedPort, PortRange } from '../../../domain/assets/scans/diff-ports.ts';
import { type HostDraft, newHostDraft } from './nmap-host-draft.ts';
import { checksOfCommand, checksOfScript, readScript } from './nmap-scripts.ts';
import {
  copyString,
  isProtocol,
  parsePortRanges,
  portAndProtocol,
  serviceName,
  toMilliseconds,
  uniquePorts,
  unknownPort,
  serviceBanner,
  type XmlAttributes,
} from './nmap-values.ts';
import type { ElementHandler, LimitedXmlParser } from '../../parsing/limited-xml-parser.ts';
import { hostDescription } from '../../parsing/scanned-hosts.ts';
import type { ReportRecord } from '../../report.ts';

/** Port states, as Nmap writes them. */
const STATES = ['open', 'closed', 'filtered', 'unfiltered', 'open|filtered', 'closed|filtered', 'unknown'];
const MAX_PORTS = PROTOCOLS.length * 65_536;
const MAX_RANGES = 100_000;
const MAX_FINDINGS = 20_000;
const MAX_NAME = 255;
const MAX_NAMES = 50;
const MAX_BANNER = 1_024;
const MAX_CPE = 512;
/** Characters of a host's XML above which its texts are copied, so that they do not keep it in memory. */
const MAX_SHARED = 1024 * 1024;

/** Handles the elements of a report; ignores unknown ones. */
export class NmapElements implements ElementHandler {
  xml!: LimitedXmlParser;
  down = 0;
  readonly #ranges: PortRange[] = [];
  #scannedPorts: readonly PortRange[] = [];
  #hosts: ScannedHost[] = [];
  #lastHostEnd = -1;
  /** Findings and scanned ports of the hosts, and how many of them belong to the last host. */
  #records: ReportRecord[] = [];
  #lastRecords = 0;
  /** Groups of vulnerability scripts that ran, so that findings they no longer report are gone. */
  #checks: readonly string[] = [];
  #startedAt: number | undefined;
  #host: HostDraft | undefined;
  /** Where the host began, in characters. */
  #hostStart = 0;
  #port: ObservedPort | undefined;
  #cpe: string | undefined;

  takeHosts(): ScannedHost[] {
    const hosts = this.#hosts;
    this.#hosts = [];
    return hosts;
  }

  /** @returns findings and scanned ports of the hosts taken */
  takeRecords(): ReportRecord[] {
    const records = this.#records;
    this.#records = [];
    this.#lastRecords = 0;
    return records;
  }

  /** @returns the same array until ranges are added */
  scannedPorts(): readonly PortRange[] {
    if (this.#scannedPorts.length < this.#ranges.length) this.#scannedPorts = [...this.#ranges];
    return this.#scannedPorts;
  }

  dropHostAt(position: number): void {
    if (this.#lastHostEnd !== position) return;
    this.#hosts.pop();
    this.#records.splice(this.#records.length - this.#lastRecords);
  }

  open(name: string, attributes: XmlAttributes, depth: number): void {
    if (depth === 1) this.#openRoot(name, attributes);
    else if (depth === 2) this.#openPart(name, attributes);
    else if (this.#port !== undefined) this.#openInPort(name, attributes, this.#port);
    else if (this.#host !== undefined) this.#openInHost(name, attributes, this.#host);
    else if (name === 'hosts' && depth === 3) this.down = Math.max(this.down, Number(attributes.down) || 0);
  }

  close(name: string, depth: number): void {
    if (depth === 2 && this.#host !== undefined) this.#endHost(this.#host);
    else if (name === 'port' && depth === 4 && this.#port !== undefined) this.#endPort(this.#port);
    else if (name === 'cpe' && this.#port !== undefined) this.#port.cpe ??= this.#clean(this.#cpe, MAX_CPE);
  }

  text(text: string): void {
    this.#cpe = (this.#cpe ?? '') + text;
  }

  #openRoot(name: string, attributes: XmlAttributes): void {
    if (name !== 'nmaprun') {
      this.xml.fail(`The report begins with <${name.slice(0, 50)}> instead of <nmaprun>.`);
    }
    this.#startedAt = toMilliseconds(attributes.start);
    this.#checks = checksOfCommand(attributes.args ?? '');
  }

  #openPart(name: string, attributes: XmlAttributes): void {
    if (name === 'scaninfo') this.#addPortSet(attributes);
    if (name !== 'host') return;
    this.#hostStart = this.xml.position;
    this.#host = newHostDraft(
      attributes.timedout === 'true',
      toMilliseconds(attributes.endtime) ?? this.#startedAt,
    );
  }

  #openInHost(name: string, attributes: XmlAttributes, host: HostDraft): void {
    switch (name) {
      case 'port':
        this.#port = this.#newPort(attributes);
        break;
      case 'status':
        host.status = attributes.state ?? '';
        break;
      case 'address':
        if (attributes.addrtype !== 'mac') host.address ??= this.#addressOf(attributes.addr);
        break;
      case 'hostname':
        this.#addName(attributes.name, host);
        break;
      case 'osmatch':
        // The likeliest comes first.
        host.system ??= this.#clean(attributes.name, MAX_NAME) ?? undefined;
        break;
      case 'ports':
        host.hasScannedPorts = true;
        break;
      case 'script':
        this.#readScript(attributes, host);
        break;
      case 'extraports':
        for (const state of STATES) if (state === attributes.state) host.unlistedStates.add(state);
        break;
    }
  }

  #addName(text: string | undefined, host: HostDraft): void {
    const name = this.#clean(text, MAX_NAME);
    if (name === null) return;
    host.name ??= name;
    if (host.names.size < MAX_NAMES) host.names.add(name);
  }

  #openInPort(name: string, attributes: XmlAttributes, port: ObservedPort): void {
    switch (name) {
      case 'state':
        port.state = this.#stateOf(attributes.state);
        break;
      case 'service':
        port.service = this.#clean(serviceName(attributes), MAX_NAME);
        port.product = this.#clean(attributes.product, MAX_NAME);
        port.version = this.#clean(attributes.version, MAX_NAME);
        port.banner ??= this.#clean(serviceBanner(attributes), MAX_BANNER);
        // A fingerprint means that the service answered in a way Nmap does not know.
        port.probed = attributes.method === 'probed' || attributes.servicefp !== undefined;
        break;
      case 'cpe':
        this.#cpe = undefined;
        this.xml.captureText();
        break;
      case 'script':
        if (attributes.id === 'banner')
          port.banner = this.#clean(attributes.output, MAX_BANNER) ?? port.banner;
        else if (this.#host !== undefined) this.#readScript(attributes, this.#host, port);
        break;
    }
  }

  #readScript({ id = '', output = '' }: XmlAttributes, host: HostDraft, port?: ObservedPort): void {
    if (!output.includes('CVE-')) return;
    const { findings, absent } = readScript(id, output);
    host.absent += absent;
    const checks = checksOfScript(id);
    for (const finding of findings) host.findings.push({ ...finding, checks, ...(port && { port }) });
    if (host.findings.length > MAX_FINDINGS)
      this.xml.fail(`The scripts report more than ${MAX_FINDINGS} findings on a host.`);
  }

  #newPort({ protocol, portid }: XmlAttributes): ObservedPort {
    const number = portid === undefined || portid === '' ? Number.NaN : Number(portid);
    if (!Number.isInteger(number) || number < 0 || number > 65_535) {
      this.xml.fail(`"${portid?.slice(0, 20) ?? ''}" is not a port number.`);
    }
    return unknownPort(protocol as ObservedPort['protocol'], number);
  }

  #endPort(port: ObservedPort): void {
    this.#port = undefined;
    const host = this.#host;
    // IP protocol scans (-sO) list protocols as ports; they are not imported.
    if (host === undefined || !isProtocol(port.protocol)) return;
    const last = host.ports.at(-1);
    if (
      last !== undefined &&
      !(last.protocol === port.protocol ? last.number < port.number : last.protocol < port.protocol)
    ) {
      host.ordered = false;
    }
    host.ports.push(port);
    if (host.ports.length > MAX_PORTS) this.xml.fail(`A host has more than ${MAX_PORTS} ports.`);
  }

  #endHost({
    address,
    name,
    names,
    system,
    status,
    timedOut,
    seenAt,
    ports,
    ordered,
    unlistedStates,
    hasScannedPorts,
    findings,
    absent,
  }: HostDraft): void {
    this.#host = undefined;
    this.#lastRecords = 0;
    if (status !== 'up') this.down += 1;
    if (status === 'down' && address !== undefined) {
      this.#hosts.push({ address, down: true, seenAt, ports: [], complete: true, unlistedStates: [] });
      this.#lastHostEnd = this.xml.position;
    }
    if (status !== 'up') return;
    if (address === undefined) this.xml.fail('The host that ends here has no IP address.');
    this.#hosts.push({
      address,
      name,
      ...hostDescription(system, names),
      seenAt,
      ports: ordered ? ports : uniquePorts(ports),
      complete: hasScannedPorts && !timedOut,
      unlistedStates: [...unlistedStates],
    });
    this.#lastHostEnd = this.xml.position;
    const before = this.#records.length;
    for (const { port, ...finding } of findings) {
      const portTarget = port === undefined || !isProtocol(port.protocol) ? {} : portAndProtocol(port);
      this.#records.push({
        kind: 'finding',
        finding: {
          ...finding,
          target: { host: address, ...portTarget },
          // A host script depends on the ports that were scanned.
          ...(port === undefined && this.#ranges.length > 0 ? { ports: this.scannedPorts() } : {}),
          seenAt,
        },
      });
    }
    for (let count = 0; count < absent; count += 1) this.#records.push({ kind: 'skipped', reason: 'absent' });
    if (this.#checks.length > 0 && hasScannedPorts && !timedOut) {
      const coverage = { ports: this.scannedPorts(), checks: this.#checks };
      this.#records.push({ kind: 'covered', target: { host: address }, ...coverage });
    }
    this.#lastRecords = this.#records.length - before;
  }

  #addPortSet({ protocol, services }: XmlAttributes): void {
    // Protocols without ports have no scan scope, and a report can name any number of them.
    if (protocol === undefined || services === undefined || !isProtocol(protocol)) return;
    for (const range of parsePortRanges(protocol, services)) {
      this.#ranges.push(range);
      if (this.#ranges.length > MAX_RANGES)
        this.xml.fail(`The scan covers more than ${MAX_RANGES} port ranges.`);
    }
  }

  #addressOf(text = ''): string {
    if (isIPv4(text)) return text;
    if (!isIPv6(text)) this.xml.fail(`"${text.slice(0, 50)}" is not an IP address.`);
    // IPv6 addresses have many spellings; one with a zone is only converted to lower case.
    return text.includes('%')
      ? text.toLowerCase()
      : new SocketAddress({ address: text, family: 'ipv6' }).address;
  }

  /** @returns the trimmed text, cut to `max` between characters; `null` if empty */
  #clean(text: string | undefined, max: number): string | null {
    const trimmed = text?.trim() ?? '';
    if (trimmed === '') return null;
    if (text === undefined || text.length <= max) {
      return this.xml.position - this.#hostStart > MAX_SHARED ? copyString(trimmed) : trimmed;
    }
    const cut = trimmed.slice(0, max);
    return copyString(cut.isWellFormed() ? cut : cut.slice(0, -1));
  }

  #stateOf(text = ''): string {
    const state = STATES.find((name) => name === text);
    if (state === undefined) this.xml.fail(`"${text.slice(0, 50)}" is not a port state.`);
    return state;
  }
}
