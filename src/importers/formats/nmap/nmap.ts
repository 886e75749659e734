import type { ReportFormat, ReportRecord, ByteSource } from '../../report.ts';
import { streamNmapReport } from './nmap-stream.ts';

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
  let told: unknown;
  for await (const piece of streamNmapReport(source())) {
    if (piece.hosts.length > 0 && piece.coverage !== told) {
      told = piece.coverage;
      yield { kind: 'ports', ranges: piece.coverage };
    }
    for (const host of piece.hosts) yield { kind: 'host', host };
    yield* piece.records;
  }
}
