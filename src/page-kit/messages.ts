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
  didYouMean: 'Did you mean',
  mainPages: 'The main pages are:',
  pages: {
    '/': 'Home',
    '/vulnerabilities': 'Vulnerabilities',
    '/assessments': 'Assessments',
    '/assets': 'Assets',
    '/imports': 'Imports',
    '/account': 'Your account',
    '/docs': 'API documentation',
  },
} as const;
