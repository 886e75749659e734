import type { DemoOrganizationSpec } from './organizations.ts';
import {
  type DemoHost,
  findingsInApplications,
  findingsAtEndpoints,
  findingsOnHosts,
  type DemoFinding,
} from './affected-locations.ts';
import { hostTemplates, mobileTemplates, webTemplates } from './vulnerability-templates.ts';

/**
 * Returns the findings by assessment. The first is the main assessment, to which the admin, the member and the spare
 * account have access.
 */
export function createDemoFindings(
  { domain, endpoints, assessment, vulnerabilities, furtherAssessments }: DemoOrganizationSpec,
  hosts: readonly DemoHost[],
): { assessment: string; findings: DemoFinding[] }[] {
  let rounds = vulnerabilities;
  return [
    {
      assessment: assessment.uid,
      findings: findingsAtEndpoints(webTemplates(), endpoints, domain, vulnerabilities),
    },
    ...furtherAssessments.map(({ uid, about, findings: count, applications = [] }) => {
      switch (about) {
        case 'web':
          rounds += count;
          return {
            assessment: uid,
            findings: findingsAtEndpoints(webTemplates(), endpoints, domain, count, rounds - count),
          };
        case 'hosts':
          return { assessment: uid, findings: findingsOnHosts(hostTemplates(), hosts, count) };
        case 'applications':
          return { assessment: uid, findings: findingsInApplications(mobileTemplates(), applications) };
      }
    }),
  ];
}
