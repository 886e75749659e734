import { burp } from './burp/burp.ts';
import { cyclonedx } from './cyclonedx/cyclonedx.ts';
import { nessus } from './nessus/nessus.ts';
import { nikto } from './nikto/nikto.ts';
import { nmap } from './nmap/nmap.ts';
import { npmAudit } from './npm-audit/npm-audit.ts';
import { nuclei } from './nuclei/nuclei.ts';
import { openvas } from './openvas/openvas.ts';
import { sarif } from './sarif/sarif.ts';
import { testssl } from './testssl/testssl.ts';
import { trivy } from './trivy/trivy.ts';
import { wapiti } from './wapiti/wapiti.ts';
import { zap } from './zap/zap.ts';
import type { ReportFormat } from '../report.ts';
import { csv } from './csv/csv.ts';
import { generic } from './generic/generic.ts';
import { httpx } from './httpx/httpx.ts';
import { masscan } from './masscan/masscan.ts';
import { naabu } from './naabu/naabu.ts';

/** Every report format, in the order in which people see them. */
export const REPORT_FORMATS: readonly ReportFormat[] = [
  nmap,
  masscan,
  naabu,
  httpx,
  nuclei,
  sarif,
  zap,
  burp,
  nessus,
  openvas,
  trivy,
  nikto,
  testssl,
  wapiti,
  cyclonedx,
  npmAudit,
  generic,
  csv,
];

export function findFormat(name: string): ReportFormat | undefined {
  return REPORT_FORMATS.find((format) => format.name === name);
}
