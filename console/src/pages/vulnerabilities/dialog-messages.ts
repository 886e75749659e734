import { pluralizeFindings } from '../../components/pluralize.ts';

// Loaded with the dialogs.

/** Texts of the dialog that edits all vulnerabilities of a search. */
export const bulkEditMessages = {
  title: (total: number) => `Edit all ${total.toLocaleString()} matching findings`,
  dueDate: 'Due date',
  choose: 'Choose…',
  comment: 'Comment (optional)',
  reason: 'Reason',
  reasonMissing: 'Give a reason, which is posted on each of them.',
  commentHint: 'Posted on each finding. Markdown supported.',
  previewFailed: 'Preview failed',
  unconfirmed: 'Nothing changes until you confirm.',
  counting: 'Counting…',
  preview: (matched: number, changed: number) =>
    `${matched.toLocaleString()} ${matched === 1 ? 'matches' : 'match'}, ${changed.toLocaleString()} will change.`,
  batches: (size: number) =>
    `They are edited in batches of ${size.toLocaleString()}; if a batch fails, the batches before it are undone.`,
  submit: (changed: number | undefined) =>
    changed === undefined ? 'Edit' : `Edit ${pluralizeFindings(changed)}`,
  publishBatches: (size: number) =>
    `They are published in batches of ${size.toLocaleString()}; if a batch fails, those before it stay published.`,
  removedTags: (names: readonly string[]) => `Removed ${names.join(', ')}`,
  due: (date: string) => `Due ${date}`,
  assignTo: (name: string) => `Assign to: ${name}`,
} as const;

/** Texts of the export dialog. */
export const exportMessages = {
  title: 'Export findings',
  progressLabel: 'Export progress',
  progress: (rows: number, total: number | undefined) =>
    total === undefined
      ? `${rows.toLocaleString()} exported`
      : `${rows.toLocaleString()} of ${total.toLocaleString()} exported`,
  done: (rows: number, file: string) => `Exported ${pluralizeFindings(rows)} to ${file}`,
  cancelled: 'Export cancelled',
  failed: 'Export failed',
} as const;
