/** The strings around the content of every page. */
export const LAYOUT_MESSAGES = {
  skip: 'Skip to the content',
  home: 'Assay',
  apiReference: 'API reference',
  navigation: 'Main',
  menu: 'Navigation',
  account: 'Account',
  yourAccount: 'Your account',
  allOrganizations: 'All organizations',
  search: 'Search',
  manage: 'Manage',
  open: 'open',
  running: 'running',
  staff: 'Staff',
  admin: 'Admin',
  signOut: 'Sign out',
  pages: {
    home: 'Home',
    vulnerabilities: 'Vulnerabilities',
    assets: 'Assets',
    assessments: 'Assessments',
    imports: 'Imports',
    tags: 'Tags',
    groups: 'Groups',
    people: 'People',
    audit: 'Audit log',
  },
} as const;

/** The strings of the pages that belong to no account. */
export const PROBLEM_MESSAGES = {
  problemTypes: {
    title: 'Problem types',
    introduction: 'The API names one of these types in each error. Each URL explains its own.',
    statusIn: (status: number, area: string) => `HTTP status ${status} in ${area}`,
    all: 'All problem types',
    unknown: (type: string) => `There is no problem type ${type}.`,
  },
} as const;

export const NOT_FOUND_MESSAGES = {
  nothingAt: (path: string) => `There is nothing at ${path}.`,
  didYouMean: 'Did you mean',
  mainPages: 'The main pages are:',
  pages: {
    '/': 'Home',
    '/vulnerabilities': 'Vulnerabilities',
    '/assessments': 'Assessments',
    '/assets': 'Assets',
    '/imports': 'Imports',
    '/account': 'Your account',
    '/docs': 'API reference',
  },
} as const;
