/** Strings of the frame around the pages: navigation, error pages, sign-in. */
export const appMessages = {
  skipToContent: 'Skip to content',
  navigation: 'Main navigation',
  openNavigation: 'Open navigation',
  allOrganizations: 'All organizations',
  chooseOrganization: 'Choose an organization',
  findOrganization: 'Find an organization',
  search: 'Search',
  activeAssessments: 'Active assessments',
  manage: 'Manage',
  open: 'open',
  running: 'running',
  account: 'Account menu',
  staff: 'Staff',
  admin: 'Admin',
  accountPages: 'Account',
  apiReference: 'API reference',
  compactLists: 'Compact lists',
  theme: 'Theme',
  themes: { auto: 'System', light: 'Light', dark: 'Dark' },
  signOut: 'Sign out',

  notifications: {
    label: 'Notifications',
    undo: 'Undo',
    undoHint: 'Undo (z)',
    undoLast: 'Undo the last change',
    close: 'Close notification',
    longer: 'Longer notifications',
  },

  shortcuts: {
    title: 'Keyboard shortcuts',
    singleKeys: 'Single-key shortcuts',
    none: 'This page has no keyboard shortcuts.',
    goTo: (page: string) => `Go to ${page}`,
  },

  errors: {
    notFound: 'Page not found',
    noSuchPage: 'This page does not exist',
    notFoundHint: 'The address may be mistyped, or the page was deleted.',
    goHome: 'Go to Home',
    outdated: 'Reload the console',
    partMissing: 'Part of the console could not be loaded',
    outdatedHint: 'The server may have been updated since you opened this page, or may be unreachable.',
    reload: 'Reload',
    failed: 'Something went wrong',
  },

  noAccess: {
    title: 'You do not have access to any assessment yet',
    hint: (organization: string, email: string) =>
      `Ask an admin of ${organization} to give ${email} access to your assessments. Their findings, assets and imports will appear here.`,
    organization: 'your organization',
    you: 'you',
    checkAgain: 'Check again',
  },

  authorization: {
    failed: (status: number) =>
      `The server did not authorize the console (${status}). Open the console at the server's configured address.`,
    noToken: (status: number) => `The server did not issue an access token (${status}). Reload the page.`,
  },

  sessionExpired: {
    title: 'You are signed out',
    hint: 'Your session has expired. Nothing you typed is lost: open the sign-in page in a new tab, sign in, then come back and continue. If you sign in here instead, this page is reloaded; only drafts of findings and comments are kept.',
    notSignedIn: "You're not signed in to this browser yet.",
    signInHere: 'Sign in here',
    openSignIn: 'Open the sign-in page',
  },
} as const;
