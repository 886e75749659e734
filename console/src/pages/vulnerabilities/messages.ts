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
  noDrafts: 'No drafts',
  searchLabel: 'Search titles and descriptions',
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

/** Texts of the dialog that edits all vulnerabilities of a search. */
export const bulkEditMessages = {
  title: (total: number) => `Edit all ${total.toLocaleString()} matching vulnerabilities`,
  dueDate: 'Due date',
  choose: 'Choose…',
  comment: 'Comment (optional)',
  reason: 'Reason',
  reasonMissing: 'Give a reason, which is posted on each of them.',
  commentHint: 'Posted on each vulnerability. Markdown supported.',
  previewFailed: 'Preview failed',
  unconfirmed: 'Nothing changes until you confirm.',
  counting: 'Counting…',
  preview: (matched: number, changed: number) =>
    `${matched.toLocaleString()} ${matched === 1 ? 'matches' : 'match'}, ${changed.toLocaleString()} will change.`,
  batches: (size: number) =>
    `They are edited in batches of ${size.toLocaleString()}; if a batch fails, the batches before it are undone.`,
  submit: (changed: number | undefined) =>
    changed === undefined ? 'Edit' : `Edit ${pluralizeVulnerabilities(changed)}`,
  publishHint: 'The customer will see them. You cannot take this back.',
  publishBatches: (size: number) =>
    `They are published in batches of ${size.toLocaleString()}; if a batch fails, those before it stay published.`,
  removedTags: (names: readonly string[]) => `Removed ${names.join(', ')}`,
  due: (date: string) => `Due ${date}`,
  assignTo: (name: string) => `Assign to: ${name}`,
} as const;

/** Texts of the export dialog. */
export const exportMessages = {
  title: 'Export vulnerabilities',
  progressLabel: 'Export progress',
  progress: (rows: number, total: number | undefined) =>
    total === undefined
      ? `${rows.toLocaleString()} exported`
      : `${rows.toLocaleString()} of ${total.toLocaleString()} exported`,
  done: (rows: number, file: string) => `Exported ${pluralizeVulnerabilities(rows)} to ${file}`,
  cancelled: 'Export cancelled',
  failed: 'Export failed',
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
