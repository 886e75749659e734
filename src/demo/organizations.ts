import type { DemoEndpoint } from './affected-locations.ts';
import { lazyDemoData } from './data.ts';
import type { DemoPerson } from './people.ts';

export interface DemoOrganizationSpec {
  organization: { uid: string; name: string };
  domain: string;
  seed: number;
  /** Second octet of the organization's IP addresses. */
  network: number;
  /** Whether its own members test it; otherwise, platform staff do. */
  selfTested: boolean;
  /** Number of days between the start of the first organization and of this one. */
  later: number;
  group: string;
  /** The further assessments are assigned to these groups round robin. */
  furtherGroups: readonly [string, ...string[]];
  assessment: AssessmentSpec;
  /** Of the demo accounts, only the admin and staff have access to these assessments. */
  furtherAssessments: readonly (AssessmentSpec & {
    about: 'web' | 'hosts' | 'applications';
    findings: number;
    applications?: readonly string[];
  })[];
  products: readonly string[];
  endpoints: readonly DemoEndpoint[];
  /** Members of the assessment group in addition to the demo accounts. */
  colleagues: number;
  /** Number of assets, and how many of them the assessment lists. */
  assets: number;
  listed: number;
  vulnerabilities: number;
  manyPorts: boolean;
  /** Fixed uids, because the examples of the API description refer to them. */
  uids?: { assets: readonly string[]; unlisted: string; tags: readonly string[] };
}

interface AssessmentSpec {
  uid: string;
  name: string;
  description: string;
  type: 'web' | 'host' | 'api' | 'mobile';
  state: 'pending' | 'active' | 'paused' | 'completed';
}

/** Roles of the accounts. The one that is only invited cannot sign in. */
export type DemoRole = 'admin' | 'member' | 'outsider' | 'spare' | 'invited';

export const organizationData = lazyDemoData('organizations.json') as () => {
  organizations: readonly [main: DemoOrganizationSpec, other: DemoOrganizationSpec];
  staff: readonly [DemoPerson, DemoPerson];
  accounts: Readonly<Record<DemoRole, { name: string }>>;
};
