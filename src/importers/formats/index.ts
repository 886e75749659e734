import type { Format } from '../report.ts';
import { cyclonedx } from './cyclonedx/cyclonedx.ts';
import { nmap } from './nmap/nmap.ts';
import { npmAudit } from './npm-audit/npm-audit.ts';
import { nuclei } from './nuclei/nuclei.ts';
import { sarif } from './sarif/sarif.ts';
import { testssl } from './testssl/testssl.ts';
import { trivy } from './trivy/trivy.ts';
import { wapiti } from './wapiti/wapiti.ts';

/** Every format that can be imported: one line each, in the order in which people are told of them. */
export const FORMATS: readonly Format[] = [nmap, nuclei, sarif, trivy, testssl, wapiti, cyclonedx, npmAudit];

export function formatNamed(name: string): Format | undefined {
  return FORMATS.find((format) => format.name === name);
}
