import type { SummaryOfVulnerabilities } from '../../../../client/src/openapi-types.ts';

/** Strings of the home page. */
export const homeMessages = {
  assigned: 'Assigned to me',
  due: 'Due soon or overdue',
  newSinceVisit: 'New since your last visit',
  firstVisit: 'This is your first visit in this browser.',
  lastVisit: 'Last visit: {at}',
  retests: 'Pending retests',
  hours: 'Testing hours this month',
  imports: 'Running imports',
  noImports: 'No imports are running.',
  importReport: 'Import a report',
  bySeverity: 'Open by severity',
  byAge: 'Open by age',
  oldestFirst: 'Oldest first',
  ages: {
    days_7: 'Up to 7 days',
    days_30: '8 to 30 days',
    days_90: '31 to 90 days',
    older: 'Over 90 days',
  } satisfies Record<keyof SummaryOfVulnerabilities['open_by_age'], string>,
  history: 'Reported and closed, last 90 days',
  historySummary: (reported: number, closed: number) => `${reported} reported, ${closed} closed`,
  noFindings: 'No findings yet',
  startAsAdmin: 'Four steps to your first findings.',
  startAsMember:
    'Findings appear here once they are reported or imported in an assessment you have access to.',
  steps: {
    assessment: ['Create an assessment', 'It holds the findings, who can see them, and the testing hours.'],
    assets: ['Add assets', 'Paste hosts and addresses to put them in scope.'],
    report: ['Import a report', 'Drop a scanner report. Preview the changes before you import it.'],
    people: ['Invite people', 'They see the assessments you give them access to.'],
  },
} as const;
