import { readXmlPieces } from '../../parsing/xml-stream.ts';
import type { Format, ReportRecord } from '../../report.ts';
import { describeHost, type Host, hostNamed, notePort, scanOf, targetOf } from './hosts.ts';
import { recordOfItem } from './items.ts';

const HOST = 'NessusClientData_v2.Report.ReportHost';

/**
 * Reports of Nessus, and of what else writes version 2 of its format (Tenable Vulnerability Management, its scanner of
 * web applications): https://static.tenable.com/documentation/nessus_v2_file_format.pdf
 */
export const nessus: Format = {
  name: 'nessus',
  title: 'Nessus',
  findings: true,
  recognise: ({ root }) => root?.name === 'NessusClientData_v2',
  async *read(source) {
    let latest: number | undefined;
    let host: Host | undefined;
    const pieces = readXmlPieces(source(), {
      roots: ['NessusClientData_v2'],
      begins: [HOST],
      paths: [`${HOST}.HostProperties`, `${HOST}.ReportItem`],
    });
    for await (const { path, element, line } of pieces) {
      if (path === HOST) {
        if (host !== undefined) yield* recordsOfHost(host);
        host = hostNamed(element.attributes.name ?? '');
      } else if (host === undefined) {
        continue;
      } else if (element.name === 'HostProperties') {
        describeHost(host, element);
        if (host.endedAt !== undefined && host.endedAt > (latest ?? 0)) {
          latest = host.endedAt;
          yield { kind: 'report', scannedAt: latest };
        }
      } else {
        notePort(host, element);
        yield { ...recordOfItem(element, host), at: { line } };
      }
    }
    if (host !== undefined) yield* recordsOfHost(host);
  },
};

function* recordsOfHost(host: Host): Generator<ReportRecord> {
  const scan = scanOf(host);
  if (scan !== undefined) yield { kind: 'host', host: scan };
  if (host.whole && (host.name !== '' || host.address !== undefined))
    yield { kind: 'covered', target: targetOf(host) };
}
