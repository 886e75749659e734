import { streamXmlMatches } from '../../parsing/xml-stream.ts';
import type { ReportFormat, ReportSample } from '../../report.ts';
import { OpenvasReport } from './scan-report.ts';
import { recordOfResult } from './results.ts';

const ROOTS = ['report', 'get_reports_response', 'get_results_response'];
/** The manager wraps the report in one that names its format, and GMP in a response. */
const REPORTS = [
  'report',
  'report.report',
  'get_reports_response.report',
  'get_reports_response.report.report',
];
const PARTS =
  'scan_run_status filters timestamp scan_start scan_end ports.port results.result result_count host'.split(
    ' ',
  );
const PATHS = [
  ...REPORTS.flatMap((report) => PARTS.map((part) => `${report}.${part}`)),
  'get_results_response.result',
];

/**
 * Greenbone and OpenVAS reports, alone or in a response of GMP (https://docs.greenbone.net/API/GMP/gmp.html) or its
 * predecessor OMP.
 */
export const openvas: ReportFormat = {
  name: 'openvas',
  title: 'Greenbone (OpenVAS) XML',
  hasFindings: true,
  detect: isReport,
  async *read(source) {
    let report: OpenvasReport | undefined;
    let latest: number | undefined;
    for await (const { path, element, ancestors, line } of streamXmlMatches(source(), {
      roots: ROOTS,
      paths: PATHS,
    })) {
      const reportElement = ancestors.findLast(({ name }) => name === 'report');
      if (report === undefined || report.element !== reportElement) {
        if (report !== undefined) yield* report.end();
        report = new OpenvasReport(reportElement);
      }
      if (path.endsWith('.result')) {
        report.results += 1;
        const record = recordOfResult(element);
        if (record.kind === 'finding') report.ran.add(record.finding.checks ?? '');
        yield { ...record, location: { line } };
      } else {
        yield* report.take(element, ancestors);
      }
      if (report.scannedAt !== undefined && report.scannedAt > (latest ?? 0)) {
        latest = report.scannedAt;
        yield { kind: 'report', scannedAt: latest };
      }
    }
    if (report !== undefined) yield* report.end();
  },
};

function isReport({ root, text }: ReportSample): boolean {
  if (root === undefined || !ROOTS.includes(root.name)) return false;
  return (
    root.name !== 'report' ||
    'format_id' in root.attributes ||
    /<(gmp|omp|nvt|scan_run_status|results)[\s>]/.test(text)
  );
}
