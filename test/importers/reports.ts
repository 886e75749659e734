import { readFileSync } from 'node:fs';
import type { ScannedHost } from '../../src/domain/assets/scans/apply-scans.ts';
import { type NmapBatch, streamNmapReport } from '../../src/importers/formats/nmap/nmap.ts';
import { ReportError } from '../../src/importers/report.ts';

/** Reports of `nmap -sV --script banner` on loopback; one service was stopped before the second scan. */
export const FIRST = fixture('loopback-first');
export const SECOND = fixture('loopback-second');

export function fixture(name: string): string {
  return readFileSync(new URL(`../fixtures/nmap/${name}.xml`, import.meta.url), 'utf8');
}

/** Default time of the hosts below, in seconds since 1970. */
export const SEEN = 1_700_000_000;

export function port(number: number, state = 'open', inner = '', protocol = 'tcp'): string {
  return `<port protocol="${protocol}" portid="${number}"><state state="${state}"/>${inner}</port>`;
}

export function host(
  address: string,
  ports: string,
  { seen: seenAt = SEEN, attributes = '', inner = '' } = {},
): string {
  return (
    `<host starttime="1" endtime="${seenAt}"${attributes}><status state="up"/>` +
    `<address addr="${address}" addrtype="${address.includes(':') ? 'ipv6' : 'ipv4'}"/>${inner}` +
    `<ports>${ports}</ports></host>\n`
  );
}

export function report(
  hosts: string,
  scaninfo = '<scaninfo type="syn" protocol="tcp" services="1-1000"/>',
): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE nmaprun>\n<nmaprun start="1600000000">\n${scaninfo}\n${hosts}</nmaprun>\n`;
}

export async function* inChunks(bytes: string | Uint8Array, size = 65_536): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.from(bytes as Uint8Array);
  for (let start = 0; start < buffer.length; start += size) yield buffer.subarray(start, start + size);
}

/** Returns everything that a report yielded before it ended or failed. */
export async function read(bytes: string | Uint8Array, size?: number) {
  const hosts: ScannedHost[] = [];
  let last: NmapBatch | undefined;
  let error: Error | undefined;
  try {
    for await (const piece of streamNmapReport(inChunks(bytes, size))) {
      hosts.push(...piece.hosts);
      last = piece;
    }
  } catch (caught) {
    error = caught as Error;
    if (error instanceof ReportError && error.location.line !== undefined)
      error.message = `line ${error.location.line}: ${error.message}`;
  }
  return {
    hosts,
    error: error?.message,
    name: error?.name,
    down: last?.down,
    scannedPorts: last?.scannedPorts,
  };
}
