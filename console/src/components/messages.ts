import { pluralize } from './pluralize.ts';

interface NamedPerson {
  name: string | null;
  email: string;
}

/** Strings that several pages share. */
export const commonMessages = {
  breadcrumb: 'Breadcrumb',
  printedAt: 'Printed {at}',
  tryAgain: 'Try again',
  moreActions: 'More actions',
  details: 'Details',
  typeToSearch: 'Type to search',
  serverUnreachable: 'Cannot reach the server. Try again in a moment.',
  loadFailed: 'Could not load this page',
  undone: 'Change undone',
  undoFailed: 'Could not undo the change',
  uploadWaiting: 'Waiting for other uploads',
  fold: {
    showAll: 'Show all',
    showAllOf: (count: number) => `Show all ${count.toLocaleString()}`,
    showLess: 'Show less',
  },
  andMore: (count: number) => `and ${count.toLocaleString()} more`,
  draftTooLarge: 'This draft is too large for the browser to save. Submit it before you leave the page',

  list: {
    loadFailed: 'Could not load the list',
    found: (count: number) => `${count.toLocaleString()} found`,
    moreThan: (count: number) => `More than ${count.toLocaleString()} found`,
    groupCount: (count: number) => count.toLocaleString(),
    noLongerMatches: 'No longer matches',
    noLongerMatchesHint: 'The list will not contain it when it is read again.',
    noResults: 'No results',
    clearFilters: 'Clear filters',
    select: (name: string) => `Select ${name}`,
    selectLoaded: 'Select all loaded rows',
    selected: (count: number) => `${count.toLocaleString()} selected`,
    ofTotal: (total: number) => `of ${total.toLocaleString()}`,
    selectionActions: 'Actions on the selected rows',
    clearSelection: 'Clear selection',
    remove: (name: string) => `Remove ${name}`,
    next: (item: string) => `Next ${item}`,
    previous: (item: string) => `Previous ${item}`,
    first: (item: string) => `First ${item}`,
    last: (item: string) => `Last ${item}`,
  },

  filter: {
    remove: (label: string) => `Remove ${label} filter`,
    find: 'Find a filter',
    back: 'Back to all filters',
    search: (label: string) => `Search ${label.toLowerCase()}`,
  },

  display: {
    title: 'Display',
    density: 'Density',
    densities: { comfortable: 'Comfortable', compact: 'Compact' },
    columns: 'Columns',
    automatic: 'Automatic columns',
    sort: (order: string) => `Sort: ${order}`,
    group: (value: string) => `Group: ${value}`,
  },

  view: {
    save: 'Save view',
    manage: 'Manage views',
    copyLink: 'Copy link',
    link: 'Link to this view',
    linkCopied: 'Link copied',
    saved: (name: string) => `View "${name}" saved in this browser`,
    replaced: (name: string) => `View "${name}" updated`,
    renamed: (name: string) => `View renamed to "${name}"`,
    remove: (name: string) => `Delete ${name}`,
    removed: (name: string) => `View "${name}" deleted`,
    none: 'No saved views',
    nameTaken: 'Another view has this name',
  },

  copy: {
    failed: 'Could not copy',
    blocked: 'This browser does not allow copying. Select the text and copy it.',
  },

  newTagsHint: 'Tags that do not exist yet are created.',

  dismissal: {
    title: (status: string) => `Set status to ${status}`,
    submit: (status: string) => `Set to ${status}`,
    reason: 'Reason',
    reasonHint: 'Posted as a comment. Markdown supported.',
  },

  outsideScope: 'Outside scope',
  draft: {
    badge: 'Draft',
    status: 'Not published',
    note: 'Only staff see this draft.',
    hint: 'Only staff see drafts until they are published.',
    secondPersonHint: 'In this assessment, another member of staff publishes drafts.',
    publish: 'Publish',
    publishCount: (count: number) => `Publish ${pluralize(count, 'draft')}`,
    publishHint: (count: number) =>
      `The customer will see ${count === 1 ? 'it' : 'them'}. You cannot take this back.`,
    internalComment: 'Comments on a draft are internal: only staff see them, also once it is published.',
    internalComments: 'On drafts, it is internal in any case.',
  },

  criticalities: { high: 'High', medium: 'Medium', low: 'Low', undefined: 'Undefined' },
  overdue: (days: number) => `${days.toLocaleString()} d overdue`,
  gone: 'Gone',
  goneHint: 'The latest scan no longer detects this. Mark it as fixed?',
  goneSince: 'Gone since {at}',
  listing: 'The scope of an assessment is the set of assets that it tests.',

  person: {
    nameOrAddress: 'Name or email address',
    you: (name: string) => `${name} (you)`,
    assignee: (person: NamedPerson | null) => person?.name ?? person?.email ?? 'Unassigned',
    author: (person: NamedPerson | null) => person?.name ?? person?.email ?? 'Deleted user',
  },
} as const;
