import { isIP } from 'node:net';
import { normalizeLocation } from '../../domain/assets/asset-locations.ts';
import { PROTOCOLS } from '../../domain/assets/ports.ts';
import type { ScannedHost } from '../../domain/assets/scans/apply-scans.ts';
import type { ObservedPort } from '../../domain/assets/scans/diff-ports.ts';
import { numberOf, textOf } from './json-values.ts';

const MAX_NAME = 255;
const MAX_BANNER = 1_024;

/** @returns an IP address in canonical form; `undefined` if the value is not an IP address */
export function readAddress(value: unknown): string | undefined {
  const text = textOf(value)?.replace(/^\[(.*)\]$/, '$1') ?? '';
  const normalized = isIP(text) === 0 ? undefined : normalizeLocation('host', text);
  return normalized !== undefined && 'location' in normalized ? normalized.location : undefined;
}

/** @returns a host name in canonical form; `undefined` for an address and anything else */
export function hostNameOf(value: unknown): string | undefined {
  const text = textOf(value) ?? '';
  const normalized = isIP(text) === 0 ? normalizeLocation('host', text) : undefined;
  return normalized !== undefined && 'location' in normalized && normalized.location.length <= MAX_NAME
    ? normalized.location
    : undefined;
}

/** @returns the port number, also if it is quoted */
export function portNumberOf(value: unknown): number | undefined {
  const number = numberOf(value);
  return number !== undefined && Number.isInteger(number) && number >= 0 && number <= 65_535
    ? number
    : undefined;
}

/** @returns the protocol; `tcp` by default, `undefined` for one without ports */
export function protocolOf(value: unknown): ObservedPort['protocol'] | undefined {
  const name = textOf(value)?.toLowerCase() ?? 'tcp';
  return PROTOCOLS.find((protocol) => protocol === name);
}

/** `443/tcp`, or before 2013 `https (443/tcp)` (OpenVAS). */
const PORT = /(?:^|\()(\d{1,5})\/(tcp|udp|sctp)\b/i;

/**
 * @param port a number, or a number with its protocol: `443/tcp`
 * @param protocol of a port that is a number alone; `tcp` by default
 * @returns `undefined` if the text names no port, such as `general/tcp`
 */
export function portAndProtocolOf(
  port: unknown,
  protocol?: unknown,
): { port: number; protocol: ObservedPort['protocol'] } | undefined {
  const [, digits, name] = PORT.exec(textOf(port) ?? '') ?? [];
  const number = portNumberOf(digits ?? port);
  if (number === undefined || number === 0) return undefined;
  return { port: number, protocol: protocolOf(name ?? protocol) ?? 'tcp' };
}

/** Host names per description. */
const MAX_HOST_NAMES = 50;

/**
 * @returns a description for the asset of a host: its operating system, and its names if there are several; empty
 *   without either
 */
export function hostDescription(
  operatingSystem: string | undefined,
  names: Iterable<string>,
): { description?: string } {
  const system = truncate(operatingSystem?.trim(), MAX_NAME);
  const all = [...new Set(names)].filter((name) => name !== '').slice(0, MAX_HOST_NAMES);
  const lines = [
    ...(system ? [`Operating system: ${system}`] : []),
    ...(all.length > 1 ? [`Host names: ${all.map((name) => truncate(name, MAX_NAME)).join(', ')}`] : []),
  ];
  return lines.length === 0 ? {} : { description: lines.join('\n') };
}

/** Builds an observed port; it is open unless `details` has another state. */
export function buildObservedPort(
  protocol: ObservedPort['protocol'],
  number: number,
  details: { [Name in 'state' | 'service' | 'banner' | 'product' | 'version']?: string | undefined } = {},
): ObservedPort {
  const { state = 'open', service, banner, product, version } = details;
  return {
    protocol,
    number,
    state,
    service: truncate(service, MAX_NAME),
    probed: banner !== undefined || product !== undefined,
    banner: truncate(banner, MAX_BANNER),
    product: truncate(product, MAX_NAME),
    version: truncate(version, MAX_NAME),
    cpe: null,
  };
}

/** Builds a host of which only single ports were scanned. */
export function hostWithPorts(
  address: string,
  ports: readonly ObservedPort[],
  { name, seenAt }: { name?: string | undefined; seenAt?: number | undefined } = {},
): ScannedHost {
  return { address, name, seenAt, ports, complete: false, unlistedStates: [] };
}

function truncate(text: string | undefined, max: number): string | null {
  const trimmed = text?.replaceAll('\0', '\uFFFD').trim() ?? '';
  if (trimmed === '') return null;
  return trimmed.slice(0, max).toWellFormed();
}

/** @returns an IP address in canonical form; `undefined` if the text is not an IP address */
export function normalizeAddress(text: string | undefined): string | undefined {
  const trimmed = text?.trim() ?? '';
  if (isIP(trimmed) === 0) return undefined;
  const normalized = normalizeLocation('host', trimmed);
  return 'location' in normalized ? normalized.location : undefined;
}
