import { hash } from 'node:crypto';
import { formatPorts, parsePorts, portSetKey } from '../port-sets.ts';
import { comparePorts, type Port, STORED_PORT_FIELDS } from '../ports.ts';
import { type HostObservation, type ObservedPort, ScannedPorts, type PortNumberRange } from './diff-ports.ts';

/** The observation of a host by a scan, or of a range of its port numbers. */
export interface StoredObservation extends HostObservation {
  numbers?: PortNumberRange | undefined;
  /** Its ports are those that the host has in these states. Absent: the host may have others. */
  states?: readonly string[] | undefined;
}

export interface PortBaseline {
  baseline: readonly Port[];
  /** Id of the last port event from before. */
  lastEvent: number;
}

/** Characters. Longer observations are stored once for each host, under their hash. */
const MAX_INLINE_LENGTH = 40;

type Values = (string | number | null)[];

/** Absent members have their most common value. */
interface Packed {
  /** Ports without the nulls at their ends. */
  p?: Values[];
  /** Instead of `p`: the states of the host's ports that they are. */
  s?: readonly string[];
  /** Whether the ports in `s` answered a probe: 1 if all did, or 1 or 0 for each in the order of `comparePorts`. */
  v?: 1 | string;
  /** The key of the covered ports. */
  c?: string;
  /** 1: the host is down. */
  d?: 1;
  u?: readonly string[];
  n?: readonly [first: number, last: number];
  /** A baseline. */
  b?: Values[];
  e?: number;
}

/** @returns the value that `host_detections` stores: the observation, or its name if it is long */
export function observationName(text: string): string {
  return text.length <= MAX_INLINE_LENGTH ? text : `#${hash('sha256', text, 'base64url').slice(0, 22)}`;
}

/** @param scannedPorts the key of the covered ports */
export function packObservation(
  { ports, complete, unlistedStates, down, numbers, states }: StoredObservation,
  scannedPorts: string,
): string {
  const encoded: Packed = {
    ...(ports.length === 0
      ? {}
      : states === undefined
        ? { p: ports.map(packPort) }
        : packStates(ports, states)),
    ...(complete && down !== true ? { c: scannedPorts } : {}),
    ...(down === true ? { d: 1 } : {}),
    ...(unlistedStates.length === 0 ? {} : { u: unlistedStates }),
    ...(numbers === undefined ? {} : { n: [numbers.first, numbers.last] }),
  };
  return JSON.stringify(encoded);
}

function packStates(ports: readonly ObservedPort[], states: readonly string[]): Packed {
  if (ports.every(({ probed }) => probed)) return { s: states, v: 1 };
  if (!ports.some(({ probed }) => probed)) return { s: states };
  const bits = ports.toSorted(comparePorts).map(({ probed }) => (probed ? '1' : '0'));
  return { s: states, v: bits.join('') };
}

/**
 * @param text a packed observation with `states`
 * @param hostPorts the ports of the host
 * @returns the packed observation with its ports in place of the states
 */
export function packCurrentPorts(text: string, hostPorts: readonly Port[]): string {
  const { s = [], v = '', ...rest } = JSON.parse(text) as Packed;
  const ports = hostPorts
    .filter((port) => s.includes(port.observed_state))
    .sort(comparePorts)
    .map((port, index) => packPort(observedPort(port, v === 1 || v[index] === '1')));
  return JSON.stringify({ p: ports, ...rest } satisfies Packed);
}

const observedPort = (port: Port, probed: boolean): ObservedPort => ({
  protocol: port.protocol as ObservedPort['protocol'],
  number: port.number,
  state: port.observed_state,
  service: port.service_name,
  probed,
  banner: port.service_banner,
  product: port.product_name,
  version: port.product_version,
  cpe: port.cpe,
});

export function packBaseline({ baseline, lastEvent }: PortBaseline): string {
  return JSON.stringify({
    b: baseline.map((port) => STORED_PORT_FIELDS.map((field) => port[field])),
    e: lastEvent,
  });
}

function packPort(port: ObservedPort): Values {
  const { number, protocol, state, service, probed, banner, product, version, cpe } = port;
  const values: Values = [number, protocol, state, service, probed ? 1 : null, banner, product, version, cpe];
  let length = values.length;
  while (values[length - 1] === null) length -= 1;
  return values.slice(0, length);
}

/** @returns the key of the covered ports of a packed observation, if it needs them */
export function scannedPortsKey(text: string): string | undefined {
  return (JSON.parse(text) as Packed).c;
}

/** @param portSets the covered ports by their keys */
export function unpackObservation(
  text: string,
  portSets: ReadonlyMap<string, ScannedPorts>,
): StoredObservation | PortBaseline {
  const { p = [], c, d, u = [], n, b, e = 0 } = JSON.parse(text) as Packed;
  if (b !== undefined)
    return {
      baseline: b.map(
        (values) =>
          // `packBaseline` wrote the values in this order.
          Object.fromEntries(
            STORED_PORT_FIELDS.map((field, index) => [field, values[index]]),
          ) as unknown as Port,
      ),
      lastEvent: e,
    };
  return {
    ports: p.map(unpackPort),
    complete: c !== undefined || d === 1,
    unlistedStates: u,
    down: d === 1,
    scannedPorts: c === undefined ? undefined : portSets.get(c),
    numbers: n === undefined ? undefined : { first: n[0], last: n[1] },
  };
}

function unpackPort(values: Values): ObservedPort {
  const [
    number,
    protocol,
    state,
    service = null,
    probed,
    banner = null,
    product = null,
    version = null,
    cpe = null,
  ] = values as [number, ObservedPort['protocol'], string, ...(string | null)[]];
  return {
    number,
    protocol,
    state,
    service,
    probed: probed !== undefined && probed !== null,
    banner,
    product,
    version,
    cpe,
  };
}

const keys = new WeakMap<ScannedPorts, { key: string; text: string }>();

/** @returns the covered ports in canonical form with their key */
export function scannedPortsText(scannedPorts: ScannedPorts): { key: string; text: string } {
  const cached = keys.get(scannedPorts);
  if (cached !== undefined) return cached;
  const text = formatPorts(scannedPorts.ranges);
  const portSet = { key: portSetKey(text), text };
  keys.set(scannedPorts, portSet);
  return portSet;
}

export function scannedPortsFromText(text: string): ScannedPorts {
  return new ScannedPorts(text === '' ? [] : parsePorts(text));
}
