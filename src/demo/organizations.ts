import type { DemoEndpoint } from './affected-locations.ts';
import { lazyDemoData } from './data.ts';
import type { DemoPerson } from './people.ts';

/** An organization of the demo data. */
export interface DemoOrganizationSpec {
  organization: { uid: string; name: string };
  domain: string;
  seed: number;
  /** Second octet of its IP addresses. */
  network: number;
  /** Starts this many days after the first organization. */
  later: number;
  group: string;
  /** Further groups, to which the further assessments are assigned round robin. */
  furtherGroups: readonly [string, ...string[]];
  assessment: AssessmentSpec;
  /** Further assessments, to which the demo accounts have no access. */
  furtherAssessments: readonly (AssessmentSpec & {
    about: 'web' | 'hosts' | 'applications';
    findings: number;
    applications?: readonly string[];
  })[];
  products: readonly string[];
  endpoints: readonly DemoEndpoint[];
  /** Members of the assessment group in addition to the demo accounts. */
  colleagues: number;
  /** Number of all assets, and of those that the assessment lists. */
  assets: number;
  listed: number;
  vulnerabilities: number;
  manyPorts: boolean;
  /** Fixed uids, to which the examples of the API description refer. */
  uids?: { assets: readonly string[]; unlisted: string; tags: readonly string[] };
}

interface AssessmentSpec {
  uid: string;
  name: string;
  description: string;
  type: 'web' | 'host' | 'api' | 'mobile';
  state: 'pending' | 'active' | 'paused' | 'completed';
}

/** The roles of accounts that can sign in, and of the one that was only invited. */
export type DemoRole = 'admin' | 'member' | 'outsider' | 'spare' | 'invited';

export const organizationData = lazyDemoData('organizations.json') as () => {
  organizations: readonly [main: DemoOrganizationSpec, other: DemoOrganizationSpec];
  staff: readonly [DemoPerson, DemoPerson];
  accounts: Readonly<Record<DemoRole, { name: string }>>;
};
