import { streamXmlMatches } from '../../parsing/xml-stream.ts';
import type { ReportFormat, ReportRecord } from '../../report.ts';
import {
  addHostProperties,
  type NessusHost,
  newNessusHost,
  addObservedPort,
  toScannedHost,
  targetOfHost,
} from './hosts.ts';
import { AUDIT, isOfAudit, recordOfReportItem } from './items.ts';

const HOST = 'NessusClientData_v2.Report.ReportHost';

/**
 * Nessus format version 2, also written by Tenable Vulnerability Management and its web application scanner:
 * https://static.tenable.com/documentation/nessus_v2_file_format.pdf
 */
export const nessus: ReportFormat = {
  name: 'nessus',
  title: 'Nessus',
  hasFindings: true,
  detect: ({ root }) => root?.name === 'NessusClientData_v2',
  async *read(source) {
    let latest: number | undefined;
    let host: NessusHost | undefined;
    const matches = streamXmlMatches(source(), {
      roots: ['NessusClientData_v2'],
      begins: [HOST],
      paths: [`${HOST}.HostProperties`, `${HOST}.ReportItem`],
    });
    for await (const { path, element, line } of matches) {
      if (path === HOST) {
        if (host !== undefined) yield* recordsOfHost(host);
        host = newNessusHost(element.attributes.name ?? '');
      } else if (host === undefined) {
        continue;
      } else if (element.name === 'HostProperties') {
        addHostProperties(host, element);
        const { endedAt } = host;
        if (endedAt !== undefined && !(endedAt <= (latest ?? 0))) {
          if (!Number.isNaN(endedAt)) latest = endedAt;
          yield { kind: 'report', scannedAt: endedAt };
        }
      } else {
        addObservedPort(host, element);
        const record = recordOfReportItem(element, host);
        host.isAudited ||= isOfAudit(record);
        yield { ...record, location: { line } };
      }
    }
    if (host !== undefined) yield* recordsOfHost(host);
  },
};

function* recordsOfHost(host: NessusHost): Generator<ReportRecord> {
  const scan = toScannedHost(host);
  if (scan !== undefined) yield { kind: 'host', host: scan };
  if (host.isComplete && (host.name !== '' || host.address !== undefined))
    yield { kind: 'covered', target: targetOfHost(host), checks: host.isAudited ? ['', AUDIT] : [''] };
}
