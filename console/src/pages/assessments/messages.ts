import { pluralize } from '../../components/pluralize.ts';
import type { Assessment } from '../../../../client/src/openapi-types.ts';

const formatHours = (hours: number) =>
  hours.toLocaleString(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** Texts of the assessment list and page. */
export const assessmentMessages = {
  listTitle: 'Assessments',
  title: 'Assessment',
  searchLabel: 'Search names and IDs',
  newAssessment: 'New assessment',
  shown: 'Which assessments',
  tabs: { active: 'Active', paused: 'Paused', completed: 'Completed', all: 'All' },
  nothingIn: {
    active: 'No active assessments',
    paused: 'No paused assessments',
    completed: 'No completed assessments',
    all: 'No assessments yet',
  },
  columns: { days: 'Days', open: 'Open', overdue: 'Overdue', hours: 'Hours', ends: 'Ends' },
  schedule(day: number, total: number) {
    if (day < 1) return `In ${pluralize(1 - day, 'day')}`;
    return day > total
      ? `Over, ${pluralize(total, 'day')}`
      : `Day ${day.toLocaleString()} of ${total.toLocaleString()}`;
  },
  hours: (hours: number) => `${formatHours(hours)} h`,
  emptyHint: 'An assessment is one engagement: what is tested, by whom, for how long, and what was found.',
  emptyHintReadOnly: 'An assessment is one engagement. The assessments that you have access to appear here.',

  noDates: 'No dates',
  from: 'From {start}',
  until: 'Until {end}',
  fromUntil: '{start} to {end}',
  draftPolicies: {
    off: 'Off',
    on: 'On',
    second_person: 'On, published by a second person',
  } satisfies Record<Assessment['drafts'], string>,
  groupOf: (id: number) => `Group ${id}`,
  openCount: (count: number) => `${count.toLocaleString()} open`,
  pageTabs: {
    vulnerabilities: 'Findings',
    assets: 'Scope',
    hours: 'Hours',
    imports: 'Imports',
    people: 'Access',
  },
  import: 'Import',
  newFinding: 'New finding',
  pause: 'Pause',
  activate: 'Set to active',

  stateLabel: (label: string) => `State: ${label}`,
  stateChanged: (state: string) => `Assessment is now ${state}`,
  stateFailed: 'Could not change the state',
  setState: (state: string) => `Set state to ${state}`,
  endSessions: (count: number) => (count === 1 ? 'End session and continue' : 'End sessions and continue'),
  endedSessions: (testers: readonly string[]) =>
    `This ends ${pluralize(testers.length, 'running testing session')}: ${testers.join(', ')}. ` +
    `Setting the state back does not restart ${testers.length === 1 ? 'it' : 'them'}.`,

  complete: 'Complete',
  hasDrafts: (count: number) =>
    `This assessment has ${pluralize(count, 'draft')}, which the customer does not see. Complete it anyway?`,
  showDrafts: 'Show the drafts',

  deleteTitle: 'Delete assessment',
  deleteHint:
    '{name} will be deleted permanently, with its scope, its rules and its access list. Its assets are not deleted. This cannot be undone.',
  deleteConflict: (message: string) =>
    `${message} Delete those first, or complete the assessment instead, which hides it from active assessments.`,

  findingsHidden: 'Your role in this assessment shows its assets, but not its findings and testing hours.',

  imports: 'Imports of the assessment',
  noImportsHint: 'Import a report of a scanner into this assessment.',

  openInList: 'Filter and export',
  vulnerabilitiesLabel: 'Findings of the assessment',
  noFindings: 'No findings yet',
  noFindingsHint: 'Import a report into this assessment, or create a finding.',
} as const;

/** Texts of the four figures of an assessment. */
export const figureMessages = {
  dates: 'Dates',
  setDates: 'Set dates',
  day: (day: number, total: number) =>
    day < 1
      ? `Begins in ${pluralize(1 - day, 'day')}`
      : day > total
        ? 'Over'
        : `Day ${day.toLocaleString()} of ${total.toLocaleString()}`,
  daysLeft: (day: number, total: number) =>
    day < 1 || day > total
      ? pluralize(total, 'day')
      : day === total
        ? 'last day'
        : `${pluralize(total - day, 'day')} left`,
  open: 'Open by severity',
  ofAll: (count: number) => `of ${count.toLocaleString()} reported`,
  closed: 'Closed',
  daysToFix: (days: number) => `median ${pluralize(days, 'day')} to fix`,
  hours: 'Testing hours',
  count: formatHours,
  thisWeek: (hours: number) => `${formatHours(hours)} this week`,
  byWeek: (hours: readonly number[]) => `Hours by week: ${hours.map(formatHours).join(', ')}`,
} as const;

/** Texts beside the findings of an assessment. */
export const asideMessages = {
  about: 'About this assessment',
  drafts: (count: number) => `${pluralize(count, 'draft')} ${count === 1 ? 'is' : 'are'} not published.`,
  people: 'Who works on it',
  access: 'Access',
  testingSince: 'testing since',
  others: (count: number) => `${pluralize(count, 'other')} with access`,
  brief: 'Brief',
} as const;

/** Texts of the form that creates and edits an assessment. */
export const assessmentFormMessages = {
  newTitle: 'New assessment',
  editTitle: 'Edit assessment',
  saved: 'Assessment updated',
  idHint:
    'Part of its address; cannot be changed later. Lowercase letters, digits, - and _. Unless you are staff of all organizations, a hyphen and four random characters are added.',
  draftsHint: 'Whether what staff report here begins as a draft, which the customer does not see.',
  markdown: 'Markdown is supported.',
  startDate: 'Start date',
  endDate: 'End date',
  tagsHint: 'Press Enter to add a tag. Admins can create new tags.',
  conflict: 'Someone else changed this assessment',
} as const;

/** Texts of the testing hours of an assessment. */
export const hoursMessages = {
  total: (running: number) =>
    running === 0 ? '{hours} in total' : `{hours} in total, ${running.toLocaleString()} running`,
  start: 'Start timer',
  stop: 'Stop timer',
  logHours: 'Log hours',
  tableLabel: 'Testing sessions',
  emptyTitle: 'No hours yet',
  emptyHint: 'Start the timer when you begin testing, or log hours afterwards.',
  emptyHintReadOnly: 'The hours of testers appear here.',
  emptyHintInactive: (state: string) =>
    `The timer runs only on active assessments, and this one is ${state}. You can still log hours.`,
  stopSession: (tester: string) => `Stop the session of ${tester}`,
  editSession: (tester: string) => `Edit the session of ${tester}`,
  deleteSession: (tester: string) => `Delete the session of ${tester}`,
  deleteTitle: 'Delete session',
  deleteHint: (hours: string, tester: string) =>
    `This removes ${hours} of ${tester} from the total. This cannot be undone.`,

  corrected: 'Corrected',
  showCorrections: (tester: string) => `Corrected: show the changes to the session of ${tester}`,
  editsTitle: 'Changes to the session',
  editedBy: '{name}, {at}',
  fieldChange: '{field} changed from {before} to {after}',
  fields: { started_at: 'Start', ended_at: 'End', note: 'Note' },
  running: 'running',
  noNote: 'none',

  logTitle: 'Log hours',
  editTitle: 'Edit session',
  timeZone: (zone: string) => `Times are in ${zone}.`,
  testerPlaceholder: 'You, unless you choose someone else',
} as const;

/** Texts of the scope of an assessment. */
export const scopeMessages = {
  add: 'Add to scope',
  search: 'Search scope',
  tableLabel: 'Assets in scope',
  emptyTitle: 'Nothing is in scope yet',
  emptyHint: 'Add the hosts and web applications to test, each with its rules.',
  emptyHintReadOnly: 'The hosts and web applications to test appear here.',
  noResults: 'No results',
  removeFailed: 'Could not remove the asset from the scope',
  editRulesOf: (location: string) => `Edit rules of ${location}`,
  removeFromScope: (location: string) => `Remove ${location} from scope`,
  editRules: 'Edit rules',
  rulesHint: 'One per line, such as: No tests from 08:00 to 18:00 UTC',

  addAssets: (count: number) => (count === 0 ? 'Add' : `Add ${pluralize(count, 'asset')}`),
  assetPlaceholder: 'Address or name',
  selectedAssets: 'Assets to add',
  pasteLabel: 'Hosts and URLs',
  pasteHint: 'One per line. A name may follow after a comma.',
  pasted: (assets: number, summary: string | undefined) =>
    `${pluralize(assets, 'asset')} found${summary === undefined ? '' : `: ${summary}`}.`,
  pastedSummary: (counts: { new: number; known: number; inScope: number }) =>
    [
      [counts.new, 'new'] as const,
      [counts.known, 'known'] as const,
      [counts.inScope, 'already in scope'] as const,
    ]
      .filter(([count]) => count > 0)
      .map(([count, label]) => `${count.toLocaleString()} ${label}`)
      .join(', '),
  invalidLine: (line: number, text: string, error: string) => `Line ${line}: ${text} ${error}.`,
  moreInvalid: (count: number) => `${pluralize(count, 'more line')} ${count === 1 ? 'is' : 'are'} invalid.`,
  createMissing: 'Create assets that do not exist yet',
  newRulesHint:
    'Apply to all of these assets, one per line, such as: No tests from 08:00 to 18:00 UTC. If empty, assets already in scope keep their rules.',
  inScope: (location: string) => `${location} (in scope)`,
  rejected: (error: string) => `It ${error}.`,
  added: 'In scope',
  alreadyAdded: 'Already in scope',

  outside: (count: number) => `${pluralize(count, 'asset')} outside the scope`,
  outsideHint: 'Findings are on them, or imports saw them, and the scope does not list them.',
  chooseOutside: 'Choose assets to add',
  outsideAssets: 'Assets outside the scope',
  allOutside: (count: number) => (count === 1 ? 'This asset' : `All ${count.toLocaleString()}`),
  moreOutside: (count: number) => `${pluralize(count, 'more asset')} can be chosen after these.`,
} as const;

/** Texts of the access list of an assessment. */
export const accessMessages = {
  grant: 'Grant access to',
  placeholder: 'Name or email address',
  role: 'Role',
  newRole: 'With role',
  roleOf: (name: string) => `Role of ${name}`,
  byName: 'By name',
  byGroups: (groups: readonly string[]) => `By group ${groups.join(', ')}`,
  byNameAndGroups: (groups: readonly string[]) => `By name, and by group ${groups.join(', ')}`,
  group: (id: number) => `${id}`,
  hint: 'Admins of the organization and staff always have access and are not listed. Access by group is changed in the group.',
  tableLabel: 'People with access',
  removeAccess: (name: string) => `Remove access of ${name}`,
  emptyTitle: 'No one was granted access',
  emptyHint: 'Only admins and staff can access this assessment. Grant access to the people who work on it.',
} as const;
