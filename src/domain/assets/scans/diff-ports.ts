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
export interface PortObservations {
  /** Each port once. */
  ports: readonly ObservedPort[];
  /** Whether the scan looked at all ports that it covers; not so when it gave the host up, or looked at none. */
  complete: boolean;
  /** The states of the ports that it looked at and does not list one by one. */
  unlistedStates: readonly string[];
}

interface PortChanges {
  /** Rows to write, whole: new, changed, or only seen again. */
  rows: Port[];
  /** The changed ports, as the audit log tells them: what was known, and what is known now. */
  before: object[];
  after: object[];
  /** The same for what counts and tells of ports: each that is new, or of which anything but the times has changed. */
  steps: PortStep[];
  /** How many known ports are closed now and were not before. */
  closed: number;
}

/** What became of a port; `null` where nothing was known of it. */
export interface PortStep {
  before: Port | null;
  after: Port;
}

/** @returns a port that nothing is known of yet */
export function firstSight(port: ObservedPort, seenAt: number): Port {
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
export function observe(
  known: readonly Port[],
  { ports, complete, unlistedStates }: PortObservations,
  coverage: Pick<PortCoverage, 'has'>,
  seenAt: number,
): PortChanges {
  const changes: PortChanges = { rows: [], before: [], after: [], steps: [], closed: 0 };
  const unlisted = new Map(known.map((port) => [nameOf(port), port]));
  for (const port of ports) {
    const key = nameOf(port);
    const old = unlisted.get(key);
    unlisted.delete(key);
    note(changes, old, old === undefined ? firstSight(port, seenAt) : seenAgain(old, port, seenAt));
  }
  if (!complete) return changes;
  for (const old of unlisted.values()) {
    if (seenAt < old.last_seen || !coverage.has(old.protocol, old.number)) continue;
    const observed_state = unlistedStates.includes(old.observed_state) ? old.observed_state : 'closed';
    note(changes, old, { ...old, observed_state, last_seen: seenAt });
  }
  return changes;
}

/** @returns a new port as the audit log tells it: what is unknown is left out */
function describePort(port: Port): object {
  return {
    port: nameOf(port),
    observed_state: port.observed_state,
    service_name: port.service_name ?? undefined,
    service_banner: port.service_banner ?? undefined,
    product_name: port.product_name ?? undefined,
    product_version: port.product_version ?? undefined,
    cpe: port.cpe ?? undefined,
  };
}

function seenAgain(old: Port, port: ObservedPort, seenAt: number): Port {
  const first_seen = Math.min(old.first_seen, seenAt);
  if (seenAt < old.last_seen) return { ...old, first_seen };
  const seen = firstSight(port, seenAt);
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
const TOLD = [
  'observed_state',
  'service_name',
  'service_banner',
  'product_name',
  'product_version',
  'cpe',
  'first_seen',
] as const;

function note(changes: PortChanges, old: Port | undefined, now: Port): void {
  if (old === undefined) {
    changes.rows.push(now);
    changes.after.push(describePort(now));
    changes.steps.push({ before: null, after: now });
    return;
  }
  const changed = TOLD.filter((field) => old[field] !== now[field]);
  if (changed.some((field) => field !== 'first_seen')) changes.steps.push({ before: old, after: now });
  if (changed.length > 0) {
    const port = nameOf(now);
    changes.before.push({ port, ...pick(old, changed) });
    changes.after.push({ port, ...pick(now, changed) });
  }
  if (now.observed_state === 'closed' && old.observed_state !== 'closed') changes.closed += 1;
  if (changed.length > 0 || now.last_seen !== old.last_seen) changes.rows.push(now);
}

function pick(port: Port, fields: readonly (keyof Port)[]): object {
  return Object.fromEntries(fields.map((field) => [field, port[field]]));
}

function nameOf({ protocol, number }: Pick<Port, 'protocol' | 'number'>): string {
  return `${number}/${protocol}`;
}
