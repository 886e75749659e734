import type { ScannedHost } from '../../../domain/assets/scans/apply-scans.ts';
import type { PortRange } from '../../../domain/assets/scans/diff-ports.ts';
import { NmapElements } from './nmap-elements.ts';
import { LimitedXmlParser } from '../../parsing/limited-xml-parser.ts';
import type { ByteSource, ReportFormat, ReportRecord } from '../../report.ts';

/** `nmap -oX` (nmap.org/book/app-nmap-dtd.html). */
export const nmap: ReportFormat = {
  name: 'nmap',
  title: 'Nmap XML',
  hasFindings: false,
  // Masscan writes the same root with its own name as scanner.
  detect: ({ root }) => root?.name === 'nmaprun' && root.attributes.scanner !== 'masscan',
  read: readNmap,
};

async function* readNmap(source: ByteSource): AsyncGenerator<ReportRecord, void> {
  let lastScannedPorts: unknown;
  for await (const batch of streamNmapReport(source())) {
    if (batch.hosts.length > 0 && batch.scannedPorts !== lastScannedPorts) {
      lastScannedPorts = batch.scannedPorts;
      yield { kind: 'ports', ranges: batch.scannedPorts };
    }
    for (const host of batch.hosts) yield { kind: 'host', host };
    yield* batch.records;
  }
}

/** The hosts and findings that a chunk of a report added. */
export interface NmapBatch {
  /** Hosts that are complete, up or down. */
  hosts: ScannedHost[];
  /** Script findings and scanned ports of these hosts. */
  records: ReportRecord[];
  /** Scanned ports so far. */
  scannedPorts: readonly PortRange[];
  /** Hosts that are not up so far. */
  down: number;
  /** Bytes read so far. */
  bytes: number;
}

/**
 * Streams a report of `nmap -oX`, with at most one incomplete host in memory.
 *
 * A host is identified by its IPv4 or IPv6 address. A service's banner is the output of the `banner` script, or else
 * Nmap's version line: product, version, and extra information in parentheses. A service behind TLS is named
 * `ssl/http`, as Nmap prints it. Of several CPE names the first is used.
 * @throws ReportError with the position; yields the hosts before it first
 */
export async function* streamNmapReport(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<NmapBatch, void> {
  const elements = new NmapElements();
  const xml = new LimitedXmlParser(elements, {
    roots: ['nmaprun'],
    hint: 'The file is not the output of "nmap -oX".',
  });
  elements.xml = xml;
  let bytes = 0;
  const batch = (): NmapBatch => ({
    hosts: elements.takeHosts(),
    records: elements.takeRecords(),
    scannedPorts: elements.scannedPorts(),
    down: elements.down,
    bytes,
  });
  try {
    for await (const chunk of chunks) {
      xml.write(chunk);
      bytes += chunk.length;
      yield batch();
    }
    xml.end();
  } catch (error) {
    // The host is incomplete if its end tag is the error.
    elements.dropHostAt(xml.position);
    yield batch();
    throw error;
  }
  yield batch();
}
