import type { PROTOCOLS, Port } from '../ports.ts';

/** One port as a scan reports it; `null` stands for what the scan does not say. */
export interface ObservedPort {
  protocol: (typeof PROTOCOLS)[number];
  number: number;
  state: string;
  service: string | null;
  /** Whether the service answered a probe. Otherwise its name is only the one that is usual for the number. */
  probed: boolean;
  banner: string | null;
  product: string | null;
  version: string | null;
  cpe: string | null;
}

/** Ports from the first to the last, both included. */
export type PortRange = readonly [protocol: ObservedPort['protocol'], first: number, last: number];

/** Which ports a scan covers. */
export class PortCoverage {
  readonly #looked = new Map<string, Uint8Array>();

  constructor(ranges: readonly PortRange[]) {
    for (const [protocol, first, last] of ranges) {
      const ports = this.#looked.get(protocol) ?? new Uint8Array(65_536);
      this.#looked.set(protocol, ports.fill(1, first, last + 1));
    }
  }

  has(protocol: string, number: number): boolean {
    return this.#looked.get(protocol)?.[number] === 1;
  }
}

/** What one scan saw of the ports of one host. */
export interface HostObservation {
  /** Each port once. */
  ports: readonly ObservedPort[];
  /** Whether the scan looked at all ports that it covers; not so when it gave the host up, or looked at none. */
  complete: boolean;
  /** The states of the ports that it looked at and does not list one by one. */
  unlistedStates: readonly string[];
}

interface HostDiff {
  /** Rows to write, whole: new, changed, or only seen again. */
  rows: Port[];
  /** The changed ports, as the audit log tells them: what was known, and what is known now. */
  before: object[];
  after: object[];
  /** The same for what counts and tells of ports: each that is new, or of which anything but the times has changed. */
  portChanges: PortChange[];
  /** How many known ports are closed now and were not before. */
  closed: number;
}

/** What became of a port; `null` where nothing was known of it. */
export interface PortChange {
  before: Port | null;
  after: Port;
}

/** @returns a port that nothing is known of yet */
export function firstObservation(port: ObservedPort, seenAt: number): Port {
  return {
    protocol: port.protocol,
    number: port.number,
    observed_state: port.state,
    service_name: port.service,
    service_banner: port.banner,
    product_name: port.product,
    product_version: port.version,
    cpe: port.cpe,
    first_seen: seenAt,
    last_seen: seenAt,
  };
}

/**
 * Compares what is known of a host's ports with what a scan saw at `seenAt`. Port by port, the later observation
 * stands, so reports may be imported in any order. A port that the scan covered and does not list is in one of its
 * unlisted states: it keeps its own if that is one of them, and is closed otherwise.
 */
export function diffPorts(
  known: readonly Port[],
  { ports, complete, unlistedStates }: HostObservation,
  coverage: Pick<PortCoverage, 'has'>,
  seenAt: number,
): HostDiff {
  const changes: HostDiff = { rows: [], before: [], after: [], portChanges: [], closed: 0 };
  const unlisted = new Map(known.map((port) => [portName(port), port]));
  for (const port of ports) {
    const key = portName(port);
    const old = unlisted.get(key);
    unlisted.delete(key);
    addToDiff(
      changes,
      old,
      old === undefined ? firstObservation(port, seenAt) : mergeObservation(old, port, seenAt),
    );
  }
  if (!complete) return changes;
  for (const old of unlisted.values()) {
    if (seenAt < old.last_seen || !coverage.has(old.protocol, old.number)) continue;
    const observed_state = unlistedStates.includes(old.observed_state) ? old.observed_state : 'closed';
    addToDiff(changes, old, { ...old, observed_state, last_seen: seenAt });
  }
  return changes;
}

/** @returns a new port as the audit log tells it: what is unknown is left out */
function auditedPort(port: Port): object {
  return {
    port: portName(port),
    observed_state: port.observed_state,
    service_name: port.service_name ?? undefined,
    service_banner: port.service_banner ?? undefined,
    product_name: port.product_name ?? undefined,
    product_version: port.product_version ?? undefined,
    cpe: port.cpe ?? undefined,
  };
}

function mergeObservation(old: Port, port: ObservedPort, seenAt: number): Port {
  const first_seen = Math.min(old.first_seen, seenAt);
  if (seenAt < old.last_seen) return { ...old, first_seen };
  const seen = firstObservation(port, seenAt);
  if (port.probed) return { ...seen, first_seen };
  // What no probe asked for is not gone, and a guess by the number does not replace what a probe found.
  return {
    ...seen,
    service_name: old.service_name ?? port.service,
    service_banner: port.banner ?? old.service_banner,
    product_name: old.product_name ?? port.product,
    product_version: old.product_version ?? port.version,
    cpe: old.cpe ?? port.cpe,
    first_seen,
  };
}

/** Being seen again is no change that the audit log tells. */
const AUDITED_FIELDS = [
  'observed_state',
  'service_name',
  'service_banner',
  'product_name',
  'product_version',
  'cpe',
  'first_seen',
] as const;

function addToDiff(changes: HostDiff, old: Port | undefined, now: Port): void {
  if (old === undefined) {
    changes.rows.push(now);
    changes.after.push(auditedPort(now));
    changes.portChanges.push({ before: null, after: now });
    return;
  }
  const changed = AUDITED_FIELDS.filter((field) => old[field] !== now[field]);
  if (changed.some((field) => field !== 'first_seen')) changes.portChanges.push({ before: old, after: now });
  if (changed.length > 0) {
    const port = portName(now);
    changes.before.push({ port, ...pick(old, changed) });
    changes.after.push({ port, ...pick(now, changed) });
  }
  if (now.observed_state === 'closed' && old.observed_state !== 'closed') changes.closed += 1;
  if (changed.length > 0 || now.last_seen !== old.last_seen) changes.rows.push(now);
}

function pick(port: Port, fields: readonly (keyof Port)[]): object {
  return Object.fromEntries(fields.map((field) => [field, port[field]]));
}

function portName({ protocol, number }: Pick<Port, 'protocol' | 'number'>): string {
  return `${number}/${protocol}`;
}
