import { pluralizeFindings } from '../../components/pluralize.ts';

/** Texts of the vulnerability list, its toolbars, dialogs and preview. */
export const vulnerabilityListMessages = {
  title: 'Vulnerabilities',
  emptyTitle: 'No findings yet',
  emptyHint: 'Import a report, or create a finding in an assessment.',
  emptyHintReadOnly: 'Findings of the assessments that you have access to appear here.',
  importReport: 'Import a report',

  shortcuts: {
    preview: 'Open or close preview',
    select: 'Select',
    extendDown: 'Extend the selection down',
    extendUp: 'Extend the selection up',
    status: 'Set status',
    tags: 'Add tags',
    severity: 'Set severity',
    comment: 'Add comment',
    assignee: 'Set assignee',
    due: 'Set due date',
    nextStep: 'Next step',
    create: 'New finding',
    escape: 'Close preview or clear selection',
  },

  shown: 'Shown findings',
  tabs: { open: 'Open', closed: 'Closed', all: 'All', drafts: 'Drafts' },
  noMatches: {
    open: 'No open finding matches',
    closed: 'No closed finding matches',
    all: 'No finding matches',
    drafts: 'No draft matches',
  },
  nothingIn: { open: 'Nothing open', closed: 'Nothing closed', all: 'No findings', drafts: 'No drafts' },
  allClosed: (total: number) =>
    total === 1 ? 'The only finding is closed.' : `All ${total.toLocaleString()} findings are closed.`,
  showClosed: 'Show closed',
  editKinds: {
    status: 'Status',
    severity: 'Severity',
    assignee: 'Assign',
    due: 'Due date',
    tags: 'Tags',
    comment: 'Comment',
  },
  searchLabel: 'Search by text, CVE, asset or #number',
  exportCsv: 'CSV for spreadsheets',
  exportNdjson: 'NDJSON for programs',
  editAll: (total: number | undefined) =>
    total === undefined ? 'Edit all that match' : `Edit all ${total.toLocaleString()} that match`,
  noneEditable: 'Your roles do not permit to edit all of these.',

  editTitles: {
    status: 'Set status',
    severity: 'Set severity',
    tags: 'Add tags',
    assignee: 'Set assignee',
    due: 'Set due date',
    comment: 'Add comment',
  },
  dueOn: (date: string) => `Due ${date}`,
  noDueDate: 'No due date',
  commentHint: 'Markdown is supported.',
  restoredCommentHint: 'Markdown is supported. Your draft was restored from this browser.',
  internalComment: 'Internal (visible to staff only)',
  commentPosted: (count: number) =>
    count === 1 ? 'Comment posted' : `Comment posted on ${pluralizeFindings(count)}`,

  columns: {
    updated: 'Updated',
    score: 'CVSS',
    number: 'Number',
    age: 'Age',
  },

  orders: {
    '-severity': 'Severity',
    due_on: 'Due',
    '-resolved_at': 'Newest',
    resolved_at: 'Oldest',
    '-updated_at': 'Updated',
    '-cvss_score': 'CVSS',
    status_id: 'Status',
    title: 'Title',
  } as Readonly<Record<string, string>>,

  groupings: { severity: 'Severity', status: 'Status', assessment: 'Assessment', none: 'None' },

  filters: {
    reportedBy: 'Reported by',
    gone: 'Gone from latest report',
    goneByImport: 'Gone since import',
    dueBefore: 'Due before',
    reportedSince: 'Reported since',
    reportedBefore: 'Reported before',
    updatedSince: 'Updated since',
    importHint: 'File name or ID',
    sourceHint: 'Scanner or tool',
    you: (name: string) => `${name} (you)`,
    unknownUser: (id: string) => `User ${id}`,
  },
} as const;

/** Texts of the preview beside the list. */
export const previewMessages = {
  label: 'Preview',
  close: 'Close preview',
  position: (index: number, total: number) => `${index.toLocaleString()} of ${total.toLocaleString()}`,
  previous: 'Previous finding',
  next: 'Next finding',
  openLabel: 'Open',
  open: (id: number) => `Open #${id}`,
  addTags: 'Add tags',
  comment: 'Comment',
  width: 'Width of the preview',
  steps: 'Steps to reproduce',
  locations: (count: number) => `Locations (${count.toLocaleString()})`,
  moreLocations: (count: number) => `${count.toLocaleString()} more on the page of the finding`,
  evidence: (count: number) => (count === 1 ? 'Evidence' : `Evidence (1 of ${count.toLocaleString()})`),
  attachments: (count: number) => `Attachments (${count.toLocaleString()})`,
  latestRetest: 'Latest retest',
  retestStatuses: {
    requested: 'Retest requested',
    verified: 'Fix verified',
    failed: 'Retest failed',
    blocked: 'Retest blocked',
    cancelled: 'Retest cancelled',
  } as Readonly<Record<string, string>>,
  comments: (count: number) => `Comments (${count.toLocaleString()})`,
  commentBy: '{name}, {at}',
  internalCommentBy: '{name}, {at}, internal',
  retestBy: '{at} by {name}',
} as const;
