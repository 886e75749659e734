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

/** What testers write beside their hours. */
export const NOTES = [
  'Manual tests with two accounts of different customers.',
  'Forms and uploads, and what follows from them.',
  'Retests of last week, and the report.',
  'API by its description, then what it does not describe.',
  'Sessions and second factors.',
  'Sign-in, reset and invitation.',
  '',
] as const;
