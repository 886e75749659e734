import type { DemoOrganizationSpec } from './organizations.ts';
import {
  type DemoHost,
  findingsInApplications,
  findingsAtEndpoints,
  findingsOnHosts,
  type DemoFinding,
} from './affected-locations.ts';
import { MOBILE } from './vulnerability-templates/mobile.ts';
import { NETWORK } from './vulnerability-templates/network.ts';
import { WEB } from './vulnerability-templates/web.ts';

/** What was seen, by assessment: first in the one that the demo accounts have access to. */
export function createDemoFindings(
  { domain, endpoints, assessment, vulnerabilities, furtherAssessments }: DemoOrganizationSpec,
  hosts: readonly DemoHost[],
): { assessment: string; sightings: DemoFinding[] }[] {
  let rounds = vulnerabilities;
  return [
    { assessment: assessment.uid, sightings: findingsAtEndpoints(WEB, endpoints, domain, vulnerabilities) },
    ...furtherAssessments.map(({ uid, about, findings, applications = [] }) => {
      switch (about) {
        case 'web':
          rounds += findings;
          return {
            assessment: uid,
            sightings: findingsAtEndpoints(WEB, endpoints, domain, findings, rounds - findings),
          };
        case 'hosts':
          return { assessment: uid, sightings: findingsOnHosts(NETWORK, hosts, findings) };
        case 'applications':
          return { assessment: uid, sightings: findingsInApplications(MOBILE, applications) };
      }
    }),
  ];
}
