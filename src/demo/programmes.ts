/** One organization of the demo, and how much of everything it has. */
export interface Programme {
  organization: { uid: string; name: string };
  domain: string;
  seed: number;
  /** The second number of its addresses. */
  network: number;
  group: string;
  assessment: { uid: string; name: string };
  /** Other assessments, to which the demo accounts have no access. */
  further: readonly { uid: string; name: string }[];
  products: readonly string[];
  places: readonly string[];
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

export const PROGRAMMES: readonly [main: Programme, other: Programme] = [
  {
    organization: { uid: 'acme', name: 'Acme Freight' },
    domain: 'acme.example',
    seed: 2_026,
    network: 20,
    group: 'Web programme',
    assessment: { uid: 'acme-web-2026', name: 'Web programme 2026' },
    further: [
      { uid: 'acme-mobile-2026', name: 'Driver apps 2026' },
      { uid: 'acme-internal-2025', name: 'Internal network 2025' },
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
    places: [
      'shipment tracking',
      'the booking form',
      'customs declarations',
      'invoice download',
      'the partner portal',
      'driver sign-in',
      'shipment notes',
      'the address book',
      'the fleet map',
      'the quote calculator',
      'webhook settings',
      'the label printer service',
      'password reset',
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
    group: 'Claims programme',
    assessment: { uid: 'halden-claims-2026', name: 'Claims platform 2026' },
    further: [{ uid: 'halden-brokers-2026', name: 'Broker portal 2026' }],
    products: ['Claims', 'Policies', 'Broker Portal', 'Payments', 'Documents'],
    places: [
      'the claims form',
      'policy documents',
      'broker sign-in',
      'the payment page',
      'document upload',
      'the adjuster view',
      'claim messages',
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

export const EDITABLE_TAGS = [
  'internet-facing',
  'quick win',
  'regression',
  'needs retest',
  'authentication',
  'privacy',
] as const;
export const FIXED_TAGS = ['known exploited', 'PCI DSS'] as const;
export const ASSESSMENT_TAGS = ['annual programme', 'regulated', 'external'] as const;
export const ASSET_TAGS = [
  'production',
  'internet-facing',
  'payment data',
  'end of life',
  'third party',
] as const;
