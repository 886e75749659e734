import type { ScannedHost } from '../../../domain/assets/scans/apply-scans.ts';
import type { ObservedPort } from '../../../domain/assets/scans/diff-ports.ts';
import { parseTime } from '../../parsing/parse-time.ts';
import { hostDescription, normalizeAddress, portAndProtocolOf } from '../../parsing/scanned-hosts.ts';
import { elementsAt, ownText, textAt, type XmlAncestor, type XmlElement } from '../../parsing/xml-stream.ts';
import type { ReportRecord } from '../../report.ts';

/** Ports buffered until their hosts follow, far behind. */
const MAX_BUFFERED_PORTS = 50_000;
const TIMES = ['timestamp', 'scan_start', 'scan_end'];

/** Collects the time, hosts, ports and completeness of a report. */
export class OpenvasReport {
  readonly element: XmlAncestor | undefined;
  /** Results read so far. */
  results = 0;
  /** Groups of checks that found something: tests (`''`), and the CVE scanner. */
  readonly ran = new Set<string>();
  scannedAt: number | undefined;
  #timeRank = -1;
  #isTimeUnclear = false;
  #isComplete = true;
  readonly #ports = new Map<string, Map<string, ObservedPort>>();
  #buffered = 0;
  readonly #covered: string[] = [];

  /** @param element the report element; `undefined` for results without a report */
  constructor(element: XmlAncestor | undefined) {
    this.element = element;
  }

  *take(element: XmlElement, ancestors: readonly XmlAncestor[]): Generator<ReportRecord> {
    switch (element.name) {
      case 'scan_run_status':
        if (element.text.trim() !== '' && element.text.trim() !== 'Done') this.#isComplete = false;
        break;
      case 'filters':
        if (hidesFindings(textAt(element, 'term') ?? '')) this.#isComplete = false;
        break;
      case 'result_count':
        if (Number(textAt(element, 'filtered') ?? 0) > this.results) this.#isComplete = false;
        break;
      case 'port':
        // The element of a port contains its host: after the port, or before it in older reports.
        yield* this.#takePort(element);
        break;
      case 'host':
        if (ancestors.at(-1) === this.element) yield* this.#takeHost(element);
        break;
      default:
        this.#takeTime(element);
    }
  }

  /** An unfinished or filtered report covers nothing. */
  *end(): Generator<ReportRecord> {
    yield* this.#releasePorts();
    if (this.scannedAt === undefined && this.#isTimeUnclear) yield { kind: 'report', scannedAt: Number.NaN };
    if (!this.#isComplete) return;
    // The report does not name its scanner; without any result it is that of the tests.
    const checks = this.ran.size === 0 ? [''] : [...this.ran];
    for (const host of this.#covered) yield { kind: 'covered', target: { host }, checks };
  }

  #takeTime({ name, text }: XmlElement): void {
    const rank = TIMES.indexOf(name);
    const time = parseTime(text.trim());
    if (Number.isNaN(time)) this.#isTimeUnclear = true;
    if (time === undefined || Number.isNaN(time) || rank < this.#timeRank) return;
    this.#timeRank = rank;
    this.scannedAt = time;
  }

  *#takePort(element: XmlElement): Generator<ReportRecord> {
    const address = normalizeAddress(textAt(element, 'host'));
    const port = portAndProtocolOf(ownText(element));
    if (address === undefined || port === undefined) return;
    const ports = this.#ports.get(address) ?? new Map<string, ObservedPort>();
    const key = `${port.protocol}/${port.port}`;
    if (!ports.has(key)) this.#buffered += 1;
    ports.set(key, {
      protocol: port.protocol,
      number: port.port,
      state: 'open',
      service: null,
      probed: false,
      banner: null,
      product: null,
      version: null,
      cpe: null,
    });
    this.#ports.set(address, ports);
    if (this.#buffered >= MAX_BUFFERED_PORTS) yield* this.#releasePorts();
  }

  *#takeHost(element: XmlElement): Generator<ReportRecord> {
    const address = normalizeAddress(textAt(element, 'ip'));
    if (address === undefined) return;
    const [start, end] = [textAt(element, 'start'), textAt(element, 'end')];
    if (end !== undefined || start === undefined) this.#covered.push(address);
    yield { kind: 'host', host: this.#hostOf(address, element, parseTime(end)) };
  }

  *#releasePorts(): Generator<ReportRecord> {
    for (const address of this.#ports.keys()) yield { kind: 'host', host: this.#hostOf(address) };
  }

  #hostOf(address: string, element?: XmlElement, seenAt?: number): ScannedHost {
    const [names, [system]] = [detailsOf(element, 'hostname'), detailsOf(element, 'best_os_txt')];
    const [name] = names;
    const ports = [...(this.#ports.get(address)?.values() ?? [])];
    this.#ports.delete(address);
    this.#buffered -= ports.length;
    return {
      address,
      ...(name === undefined ? {} : { name }),
      ...hostDescription(system, names),
      ...(seenAt === undefined ? {} : { seenAt }),
      ports,
      // The report does not say which ports were scanned.
      complete: false,
      unlistedStates: [],
    };
  }
}

/** @returns the values of a host detail */
function detailsOf(host: XmlElement | undefined, name: string): string[] {
  if (host === undefined) return [];
  return elementsAt(host, 'detail').flatMap((detail) =>
    textAt(detail, 'name') === name ? (textAt(detail, 'value') ?? []) : [],
  );
}

/** @param term a filter: `levels=hml min_qod=70`; it may omit the level Log, which needs no fix */
function hidesFindings(term: string): boolean {
  const [, levels] = /(?:^|\s)levels="?([a-z]+)/.exec(term) ?? [];
  if (levels !== undefined && ['h', 'm', 'l'].some((level) => !levels.includes(level))) return true;
  const [, above] = /(?:^|\s)severity>=?"?(\d+(?:\.\d+)?)/.exec(term) ?? [];
  return above !== undefined && Number(above) > 0.1;
}
