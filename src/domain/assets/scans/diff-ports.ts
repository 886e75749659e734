import type { PROTOCOLS, Port } from '../ports.ts';

/** A port in a scan; `null` means not reported. */
export interface ObservedPort {
  protocol: (typeof PROTOCOLS)[number];
  number: number;
  state: string;
  service: string | null;
  /** Whether the service answered a probe. Otherwise its name is only the default of the number. */
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

/** The ports of one host in one scan. */
export interface HostObservation {
  /** Each port once. */
  ports: readonly ObservedPort[];
  /** Whether the scan finished all ports that it covers. */
  complete: boolean;
  /** The states of covered ports that it does not list one by one. */
  unlistedStates: readonly string[];
}

interface HostDiff {
  /** Complete rows to write: new, changed, or only seen again. */
  rows: Port[];
  /** Changed ports for the audit log. */
  before: object[];
  after: object[];
  /** New ports, and ports of which more than the times changed. */
  portChanges: PortChange[];
  /** Known ports that became closed. */
  closed: number;
}

/** `before` is `null` for a new port. */
export interface PortChange {
  before: Port | null;
  after: Port;
}

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
 * Compares the known ports of a host with a scan at `seenAt`. For each port the later observation wins, so reports
 * can be imported in any order. A covered port that the scan does not list is in one of its unlisted states: it
 * keeps its state if that is one of them, and is closed otherwise.
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

/** For the audit log: unknown fields are absent. */
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
  // Without a probe, missing details are not gone, and a name guessed from the number does not replace a detected
  // one.
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

/** `last_seen` is not audited. */
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
