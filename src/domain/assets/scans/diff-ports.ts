import { comparePorts, PROTOCOLS, type Port } from '../ports.ts';

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

export class ScannedPorts {
  readonly #scanned = new Map<string, Uint8Array>();
  readonly ranges: readonly PortRange[];

  constructor(ranges: readonly PortRange[]) {
    this.ranges = ranges;
    for (const [protocol, first, last] of ranges) {
      const ports = this.#scanned.get(protocol) ?? new Uint8Array(65_536);
      this.#scanned.set(protocol, ports.fill(1, first, last + 1));
    }
  }

  has(protocol: string, number: number): boolean {
    return this.#scanned.get(protocol)?.[number] === 1;
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
  /** The host did not respond: it has no open port. */
  down?: boolean | undefined;
  /** Absent: no ports. */
  scannedPorts?: ScannedPorts | undefined;
}

/** `before` is `null` for a new port. */
export interface PortChange {
  before: Port | null;
  after: Port;
}

/** Inclusive. */
export interface PortNumberRange {
  first: number;
  last: number;
}

/**
 * The ports of a host, as one observation after the other leaves them. For each port the later observation wins, so
 * reports can be imported in any order. A covered port that the scan does not list is in one of its unlisted states: it
 * keeps its state if that is one of them, and is closed otherwise.
 */
export class HostPorts {
  readonly #ports: Map<number, Port>;
  /** Ports that an observation changed or saw again, as they were at first. */
  readonly #stored = new Map<number, Port | undefined>();

  constructor(stored: readonly Port[]) {
    this.#ports = new Map(stored.map((port) => [portKey(port), port]));
  }

  /**
   * @param numbers the range of port numbers to observe; all by default
   * @returns new ports, and ports that changed in more than their times
   */
  observe(observation: HostObservation, seenAt: number, numbers?: PortNumberRange): PortChange[] {
    const { ports, complete, unlistedStates, scannedPorts, down } = observation;
    const changes: PortChange[] = [];
    const listed = new Set<number>();
    for (const port of ports) {
      if (numbers !== undefined && !isInRange(port.number, numbers)) continue;
      const key = portKey(port);
      if (complete) listed.add(key);
      const before = this.#ports.get(key);
      this.#put(
        changes,
        key,
        before,
        before === undefined ? firstObservation(port, seenAt) : mergeObservation(before, port, seenAt),
      );
    }
    if (!complete) return changes;
    for (const [key, before] of this.#ports) {
      const { protocol, number, last_seen } = before;
      if (listed.has(key) || seenAt < last_seen) continue;
      if (numbers !== undefined && !isInRange(number, numbers)) continue;
      if (down !== true && scannedPorts?.has(protocol, number) !== true) continue;
      const observed_state = unlistedStates.includes(before.observed_state)
        ? before.observed_state
        : 'closed';
      this.#put(changes, key, before, { ...before, observed_state, last_seen: seenAt });
    }
    return changes;
  }

  #put(changes: PortChange[], key: number, before: Port | undefined, after: Port): void {
    const isChanged = before === undefined || !looksLike(before, after);
    if (isChanged) changes.push({ before: before ?? null, after });
    else if (before.last_seen === after.last_seen && before.first_seen === after.first_seen) return;
    if (!this.#stored.has(key)) this.#stored.set(key, before);
    this.#ports.set(key, after);
  }

  /** @returns the states in which the host has exactly the ports of an observation; `undefined` if it has others */
  statesOf({ ports }: HostObservation): string[] | undefined {
    if (ports.length === 0) return undefined;
    const states = new Set<string>();
    for (const port of ports) {
      const current = this.#ports.get(portKey(port));
      if (current === undefined || !looksLike(current, firstObservation(port, 0))) return undefined;
      states.add(port.state);
    }
    let count = 0;
    for (const { observed_state } of this.#ports.values()) if (states.has(observed_state)) count += 1;
    return count === ports.length ? [...states].sort() : undefined;
  }

  /** Adds ports that were known before the first observation that is stored. */
  restore(ports: readonly Port[]): void {
    for (const port of ports) {
      const key = portKey(port);
      const current = this.#ports.get(key);
      const first_seen = Math.min(port.first_seen, current?.first_seen ?? port.first_seen);
      this.#ports.set(key, {
        ...(current !== undefined && current.last_seen > port.last_seen ? current : port),
        first_seen,
      });
    }
  }

  /** @returns how the ports differ from those that were known at first */
  diff(): PortsDiff {
    return diffPairs([...this.#stored].map(([key, before]) => [before, this.#ports.get(key) as Port]));
  }

  /** @returns the ports, each once */
  list(): Port[] {
    return [...this.#ports.values()];
  }
}

const isInRange = (number: number, { first, last }: PortNumberRange): boolean =>
  number >= first && number <= last;

function firstObservation(port: ObservedPort, seenAt: number): Port {
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

function mergeObservation(previous: Port, port: ObservedPort, seenAt: number): Port {
  const first_seen = Math.min(previous.first_seen, seenAt);
  if (seenAt < previous.last_seen) return { ...previous, first_seen };
  const merged = firstObservation(port, seenAt);
  merged.first_seen = first_seen;
  if (port.probed) return merged;
  // A scan without a probe does not remove details that it lacks or replace a detected name with one guessed from the
  // number.
  merged.service_name = previous.service_name ?? port.service;
  merged.service_banner = port.banner ?? previous.service_banner;
  merged.product_name = previous.product_name ?? port.product;
  merged.product_version = previous.product_version ?? port.version;
  merged.cpe = previous.cpe ?? port.cpe;
  return merged;
}

/** @returns the combined observation of a port, as `mergeObservation` would apply them one after another */
export function mergeObservedPorts(earlier: ObservedPort, later: ObservedPort): ObservedPort {
  if (later.probed) return later;
  return {
    ...later,
    service: earlier.service ?? later.service,
    banner: later.banner ?? earlier.banner,
    product: earlier.product ?? later.product,
    version: earlier.version ?? later.version,
    cpe: earlier.cpe ?? later.cpe,
    probed: earlier.probed,
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

/** Whether a scan could not distinguish the ports. Imports call it for each port: a loop over the fields is slower. */
const looksLike = (one: Port, other: Port): boolean =>
  one.observed_state === other.observed_state &&
  one.service_name === other.service_name &&
  one.service_banner === other.service_banner &&
  one.product_name === other.product_name &&
  one.product_version === other.product_version &&
  one.cpe === other.cpe;

/** How the ports of a host differ from those that are stored. */
export interface PortsDiff {
  /** Complete rows to write: new, changed, or only seen again. */
  rows: Port[];
  before: object[];
  after: object[];
  /** New ports, and ports that changed in more than `last_seen`. */
  changes: PortChange[];
  /** Stored ports that are no longer known. */
  removed: Port[];
}

export function diffPorts(stored: readonly Port[], now: readonly Port[]): PortsDiff {
  const storedByKey = new Map(stored.map((port) => [portKey(port), port]));
  const diff = diffPairs(now.map((port) => [storedByKey.get(portKey(port)), port]));
  const keys = new Set(now.map(portKey));
  for (const port of stored) {
    if (keys.has(portKey(port))) continue;
    diff.before.push({ port: portName(port), observed_state: port.observed_state });
    diff.removed.push(port);
  }
  return diff;
}

function diffPairs(pairs: (readonly [before: Port | undefined, after: Port])[]): PortsDiff {
  const diff: PortsDiff = { rows: [], before: [], after: [], changes: [], removed: [] };
  pairs.sort(([, one], [, other]) => comparePorts(one, other));
  for (const [before, after] of pairs) {
    if (before === undefined) {
      diff.rows.push(after);
      diff.after.push(auditedPort(after));
      diff.changes.push({ before: null, after });
      continue;
    }
    const isChanged = before.first_seen !== after.first_seen || !looksLike(before, after);
    if (isChanged) {
      const fields = AUDITED_FIELDS.filter((field) => before[field] !== after[field]);
      const port = portName(after);
      diff.before.push({ port, ...pick(before, fields) });
      diff.after.push({ port, ...pick(after, fields) });
      diff.changes.push({ before, after });
    }
    if (isChanged || before.last_seen !== after.last_seen) diff.rows.push(after);
  }
  return diff;
}

/** Returns a port as the audit log records it, without unknown fields. */
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

function pick(port: Port, fields: readonly (keyof Port)[]): object {
  return Object.fromEntries(fields.map((field) => [field, port[field]]));
}

/** Identifies a port of a host. Maps find numbers faster than texts. */
const portKey = ({ protocol, number }: Pick<Port, 'protocol' | 'number'>): number =>
  number * PROTOCOLS.length + PROTOCOLS.indexOf(protocol as (typeof PROTOCOLS)[number]);

export function portName({ protocol, number }: Pick<Port, 'protocol' | 'number'>): string {
  return `${number}/${protocol}`;
}
