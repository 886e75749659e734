import type { ObservedPort, PortRange } from '../../../domain/assets/scans/diff-ports.ts';
import { PROTOCOLS } from '../../../domain/assets/ports.ts';

export type XmlAttributes = Readonly<Record<string, string>>;

/** The end of the year 9999, in seconds. */
const MAX_SECONDS = 253_402_300_799;

export function unknownPort(protocol: ObservedPort['protocol'], number: number): ObservedPort {
  return {
    protocol,
    number,
    state: 'unknown',
    service: null,
    probed: false,
    banner: null,
    product: null,
    version: null,
    cpe: null,
  };
}

export function isProtocol(text: string): text is ObservedPort['protocol'] {
  return PROTOCOLS.some((protocol) => protocol === text);
}

export const portAndProtocol = ({ number, protocol }: ObservedPort) => ({ port: number, protocol });

/** Removes duplicate ports; keeps the last of each. */
export function uniquePorts(ports: readonly ObservedPort[]): ObservedPort[] {
  return [...new Map(ports.map((port) => [`${port.number}/${port.protocol}`, port])).values()];
}

export function serviceName({ name, tunnel }: XmlAttributes): string | undefined {
  return tunnel === undefined || name === undefined ? name : `${tunnel}/${name}`;
}

export function serviceBanner({ product, version, extrainfo }: XmlAttributes): string {
  let line = product ?? '';
  if (version !== undefined) line += ` ${version}`;
  if (extrainfo !== undefined) line += ` (${extrainfo})`;
  return line;
}

/** Copies a text, because V8 keeps the whole parent of a substring in memory. */
export function copyString(text: string): string {
  return Buffer.from(text).toString();
}

/** Converts seconds since 1970 to milliseconds; `undefined` if invalid. */
export function toMilliseconds(seconds: string | undefined): number | undefined {
  const number = /^\d{1,12}$/.test(seconds ?? '') ? Number(seconds) : Number.NaN;
  return number <= MAX_SECONDS ? number * 1_000 : undefined;
}

/** @param portList `1,3-4`; invalid parts are ignored */
export function* parsePortRanges(protocol: ObservedPort['protocol'], portList: string): Generator<PortRange> {
  for (const range of portList.split(',')) {
    const [, first, last = first] = /^\s*(\d{1,5})(?:-(\d{1,5}))?\s*$/.exec(range) ?? [];
    if (first !== undefined) yield [protocol, Number(first), Number(last)];
  }
}
