import type { ScannedHost } from '../../../domain/assets/scans/apply-scans.ts';
import type { PortRange } from '../../../domain/assets/scans/diff-ports.ts';
import type { ReportRecord } from '../../report.ts';
import { LimitedXmlParser } from '../../parsing/limited-xml-parser.ts';
import { NmapElements } from './nmap-elements.ts';

/** What one more piece of a report told. */
export interface NmapBatch {
  /** The hosts that ended in it, and whether they were up or down. */
  hosts: ScannedHost[];
  /** What scripts found on them, and what was covered. */
  records: ReportRecord[];
  /** The ports that the scan covers, as far as the report has told. */
  coverage: readonly PortRange[];
  /** How many hosts are not up, so far. */
  down: number;
  /** How much of the report was read, so far. */
  bytes: number;
}

/**
 * Reads a report of `nmap -oX` as it comes in, and holds no more of it than a piece and the host that it ends in.
 *
 * A host is its IPv4 or IPv6 address. A service's banner is the output of the script `banner` where it ran, and
 * otherwise what Nmap prints as the version: product, version, and the rest in parentheses. A service behind TLS is
 * named as Nmap prints it, `ssl/http`. Of several CPE names the first stands.
 * @throws ReportError that says where the report cannot be used; every host that ended before that was yielded
 */
export async function* streamNmapReport(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<NmapBatch, void> {
  const elements = new NmapElements();
  const xml = new LimitedXmlParser(elements, ['nmaprun'], 'This is not the XML that "nmap -oX" writes.');
  elements.xml = xml;
  let bytes = 0;
  const piece = (): NmapBatch => ({
    hosts: elements.takeHosts(),
    records: elements.takeRecords(),
    coverage: elements.coverage(),
    down: elements.down,
    bytes,
  });
  try {
    for await (const chunk of chunks) {
      xml.write(chunk);
      bytes += chunk.length;
      yield piece();
    }
    xml.end();
  } catch (error) {
    // A host whose closing tag is the error did not end.
    elements.dropHostAt(xml.position);
    yield piece();
    throw error;
  }
  yield piece();
}
