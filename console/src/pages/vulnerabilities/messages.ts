import { pluralizeVulnerabilities } from '../../components/pluralize.ts';

/** Texts of the vulnerability list, its toolbars, dialogs and preview. */
export const vulnerabilityListMessages = {
  title: 'Vulnerabilities',
  emptyTitle: 'No vulnerabilities yet',
  emptyHint: 'Import a scanner report, or create a vulnerability in an assessment.',
  emptyHintReadOnly: 'Vulnerabilities of the assessments that you have access to appear here.',
  importReport: 'Import a report',

  shortcuts: {
    preview: 'Open or close preview',
    select: 'Select',
    status: 'Set status',
    tags: 'Add tags',
    severity: 'Set severity',
    comment: 'Add comment',
    assignee: 'Set assignee',
    create: 'New vulnerability',
    escape: 'Close preview or clear selection',
  },

  shown: 'Shown vulnerabilities',
  drafts: (count: number | undefined) =>
    count === undefined ? 'Drafts' : `Drafts (${count.toLocaleString()})`,
  searchLabel: 'Search by text, CVE, asset or #number',
  exportCsv: 'CSV for spreadsheets',
  exportNdjson: 'NDJSON for programs',
  editAll: (total: number | undefined) =>
    total === undefined ? 'Edit all…' : `Edit all ${total.toLocaleString()}…`,
  selected: (count: number) => `${count.toLocaleString()} selected`,
  noneEditable: 'Your roles do not permit to edit all of these.',

  editTitles: {
    status: 'Set status',
    severity: 'Set severity',
    tags: 'Add tags',
    assignee: 'Set assignee',
    comment: 'Add comment',
  },
  commentHint: 'Markdown is supported.',
  restoredCommentHint: 'Markdown is supported. Your draft was restored from this browser.',
  internalComment: 'Internal (visible to staff only)',
  commentPosted: (count: number) =>
    count === 1 ? 'Comment posted' : `Comment posted on ${pluralizeVulnerabilities(count)}`,

  columns: {
    updated: 'Updated',
    score: 'CVSS',
    id: 'ID',
  },

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
  label: 'Vulnerability preview',
  close: 'Close preview',
  open: (id: number) => `Open #${id}`,
  addTags: 'Add tags',
  cvssScore: 'CVSS score',
  notScored: 'Not scored',
  steps: 'Steps to reproduce',
  locations: (count: number) => `Locations (${count.toLocaleString()})`,
  moreLocations: (count: number) => `${count.toLocaleString()} more on the vulnerability's page`,
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
