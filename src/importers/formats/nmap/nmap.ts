import type { Format, ReportRecord, ReportSource } from '../../report.ts';
import { readNmapReport } from './nmap-stream.ts';

/** `nmap -oX` (nmap.org/book/app-nmap-dtd.html). */
export const nmap: Format = {
  name: 'nmap',
  title: 'Nmap XML',
  findings: false,
  // Masscan writes the same root and names itself.
  recognise: ({ root }) => root?.name === 'nmaprun' && root.attributes.scanner !== 'masscan',
  read: readNmap,
};

async function* readNmap(source: ReportSource): AsyncGenerator<ReportRecord, void> {
  let told: unknown;
  for await (const piece of readNmapReport(source())) {
    if (piece.hosts.length > 0 && piece.coverage !== told) {
      told = piece.coverage;
      yield { kind: 'ports', ranges: piece.coverage };
    }
    for (const host of piece.hosts) yield { kind: 'host', host };
    yield* piece.records;
  }
}
