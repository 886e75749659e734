import type { DemoEndpoint } from './affected-locations.ts';

/** One organization of the demo, and how much of everything it has. */
export interface DemoOrganizationSpec {
  organization: { uid: string; name: string };
  domain: string;
  seed: number;
  /** The second number of its addresses. */
  network: number;
  /** How many days after the first one it began. */
  later: number;
  group: string;
  /** Other groups, in which the further assessments are by turns. */
  furtherGroups: readonly [string, ...string[]];
  assessment: AssessmentSpec;
  /** Other assessments, to which the demo accounts have no access, and what was found there. */
  furtherAssessments: readonly (AssessmentSpec & {
    about: 'web' | 'hosts' | 'applications';
    findings: number;
    applications?: readonly string[];
  })[];
  products: readonly string[];
  endpoints: readonly DemoEndpoint[];
  /** Members of the assessment group beside the demo accounts. */
  colleagues: number;
  /** All of its assets, and those of them that the assessment lists. */
  assets: number;
  listed: number;
  vulnerabilities: number;
  manyPorts: boolean;
  /** Of its first assets and tags, which the examples of the API description name. */
  uids?: { assets: readonly string[]; unlisted: string; tags: readonly string[] };
}

interface AssessmentSpec {
  uid: string;
  name: string;
  description: string;
  type: 'web' | 'host' | 'api' | 'mobile';
  state: 'pending' | 'active' | 'paused' | 'completed';
}

export const DEMO_ORGANIZATIONS: readonly [main: DemoOrganizationSpec, other: DemoOrganizationSpec] = [
  {
    organization: { uid: 'acme', name: 'Acme Freight' },
    domain: 'acme.example',
    seed: 2_026,
    network: 20,
    later: 0,
    group: 'Web programme',
    furtherGroups: ['Mobile programme', 'Internal networks'],
    assessment: {
      uid: 'acme-web-2026',
      name: 'Web programme 2026',
      description:
        'All that customers, partners and drivers reach from outside. **Tell us before you load-test anything.**',
      type: 'web',
      state: 'active',
    },
    furtherAssessments: [
      {
        uid: 'acme-mobile-2026',
        name: 'Driver apps 2026',
        description: 'The applications of drivers, with the API behind them.',
        type: 'mobile',
        state: 'active',
        about: 'applications',
        findings: 12,
        applications: ['Driver for Android', 'Driver for iOS'],
      },
      {
        uid: 'acme-internal-2025',
        name: 'Internal network 2025',
        description: 'Put off, and done a year later.',
        type: 'host',
        state: 'paused',
        about: 'hosts',
        findings: 0,
      },
      {
        uid: 'acme-internal-2026',
        name: 'Internal network 2026',
        description: 'Servers in Amsterdam and Frankfurt, from a place in the office.',
        type: 'host',
        state: 'completed',
        about: 'hosts',
        findings: 22,
      },
    ],
    products: [
      'Tracking',
      'Booking',
      'Customs',
      'Driver',
      'Billing',
      'Partner Portal',
      'Fleet',
      'Careers',
      'Status',
      'Identity',
    ],
    endpoints: [
      {
        name: 'shipment tracking',
        product: 'Tracking',
        path: '/track',
        parameter: 'reference',
        record: 'shipment',
      },
      {
        name: 'the booking form',
        product: 'Booking',
        path: '/api/v2/bookings',
        parameter: 'comment',
        record: 'booking',
      },
      {
        name: 'customs declarations',
        product: 'Customs',
        path: '/api/declarations',
        parameter: 'goods',
        record: 'declaration',
      },
      {
        name: 'invoice download',
        product: 'Billing',
        path: '/invoices/download',
        parameter: 'number',
        record: 'invoice',
      },
      {
        name: 'the partner portal',
        product: 'Partner Portal',
        path: '/partners/profile',
        parameter: 'company',
        record: 'partner',
      },
      { name: 'driver sign-in', product: 'Driver', path: '/auth/code', parameter: 'code', record: 'driver' },
      {
        name: 'shipment notes',
        product: 'Tracking',
        path: '/api/shipments/notes',
        parameter: 'note',
        record: 'note',
      },
      {
        name: 'the address book',
        product: 'Booking',
        path: '/api/v2/addresses',
        parameter: 'street',
        record: 'address',
      },
      {
        name: 'the fleet map',
        product: 'Fleet',
        path: '/api/positions',
        parameter: 'vehicle',
        record: 'position',
      },
      {
        name: 'the quote calculator',
        product: 'Booking',
        path: '/quote',
        parameter: 'origin',
        record: 'quote',
      },
      {
        name: 'webhook settings',
        product: 'Partner Portal',
        path: '/partners/webhooks',
        parameter: 'url',
        record: 'webhook',
      },
      {
        name: 'the label printer service',
        product: 'Tracking',
        path: '/labels/render',
        parameter: 'template',
        record: 'label',
      },
      { name: 'password reset', product: 'Identity', path: '/reset', parameter: 'email', record: 'account' },
    ],
    colleagues: 62,
    assets: 420,
    listed: 380,
    vulnerabilities: 200,
    manyPorts: true,
    uids: {
      assets: ['5f0c1e2d3b4a59687786a5b4', '6a1d2f3e4c5b6a79788695a4'],
      unlisted: '6a1d2f3e4c5b6a7988769500',
      tags: ['0a1b2c3d4e5f', '1b2c3d4e5f60'],
    },
  },
  {
    organization: { uid: 'halden', name: 'Halden Mutual' },
    domain: 'halden.example',
    seed: 1_848,
    network: 40,
    later: 14,
    group: 'Claims programme',
    furtherGroups: ['Broker programme'],
    assessment: {
      uid: 'halden-claims-2026',
      name: 'Claims platform 2026',
      description: 'From the first notice of a claim to its payment.',
      type: 'web',
      state: 'active',
    },
    furtherAssessments: [
      {
        uid: 'halden-brokers-2026',
        name: 'Broker portal 2026',
        description: 'What brokers see after signing in.',
        type: 'api',
        state: 'active',
        about: 'web',
        findings: 14,
      },
    ],
    products: ['Claims', 'Policies', 'Broker Portal', 'Payments', 'Documents'],
    endpoints: [
      {
        name: 'the claims form',
        product: 'Claims',
        path: '/claims/new',
        parameter: 'description',
        record: 'claim',
      },
      {
        name: 'policy documents',
        product: 'Policies',
        path: '/policies/documents',
        parameter: 'policy',
        record: 'document',
      },
      {
        name: 'broker sign-in',
        product: 'Broker Portal',
        path: '/login',
        parameter: 'code',
        record: 'broker',
      },
      {
        name: 'the payment page',
        product: 'Payments',
        path: '/pay',
        parameter: 'account',
        record: 'payment',
      },
      {
        name: 'document upload',
        product: 'Documents',
        path: '/api/documents',
        parameter: 'file',
        record: 'document',
      },
      {
        name: 'the adjuster view',
        product: 'Claims',
        path: '/adjuster/claims',
        parameter: 'claim',
        record: 'claim',
      },
      {
        name: 'claim messages',
        product: 'Claims',
        path: '/api/messages',
        parameter: 'text',
        record: 'message',
      },
    ],
    colleagues: 14,
    assets: 80,
    listed: 70,
    vulnerabilities: 30,
    manyPorts: false,
  },
];

export const STAFF = [
  { name: 'Robin Achterberg', email: 'staff@assay.example' },
  { name: 'Ines Lindqvist', email: 'tester@assay.example' },
] as const;

/** The accounts that someone may sign in with, and the one that never did. */
export const ACCOUNTS = {
  admin: { name: 'Helena Brandt' },
  member: { name: 'Marcus Oyelaran' },
  outsider: { name: 'Olga Sorensen' },
  spare: { name: 'Sami Lehtinen' },
  invited: { name: 'Ida Ferreira' },
} as const;
