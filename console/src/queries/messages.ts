import { pluralize, pluralizeAssets, pluralizeHours, pluralizeFindings } from '../components/pluralize.ts';

/** Notifications and errors of changes, downloads and exports. */
export const queryMessages = {
  created: (name: string) => `${name} created`,
  deleted: (name: string) => `${name} deleted`,
  updated: (name: string) => `${name} updated`,
  updateFailed: (name: string) => `Could not update ${name}`,
  undoneFor: (subject: string) => `Change to ${subject} undone`,

  access: {
    given: (name: string) => `${name} now has access`,
    changed: (name: string, role: string) => `Role of ${name} is now ${role}`,
    removed: (name: string) => `${name} no longer has access by name`,
    failed: 'Could not change the access',
  },

  person: {
    invited: (email: string) => `${email} invited`,
    banned: (name: string) => `${name} banned`,
  },

  organization: { updated: 'Organization settings saved' },
  group: {
    updated: 'Group updated',
    errors: {
      user_not_found: 'No such person in the organization.',
      user_not_in_org: 'This person belongs to another organization.',
      role_not_assignable: 'You cannot give this role, or change members who have it.',
    } as Readonly<Record<string, string>>,
    rejected: 'The server rejected it.',
  },

  asset: {
    added: (count: number) => `${pluralizeAssets(count)} added`,
    addedTo: (count: number, listing: string) => `${pluralizeAssets(count)} added to the scope of ${listing}`,
    removedFrom: (count: number, listing: string) =>
      `${pluralizeAssets(count)} removed from the scope of ${listing}`,
    criticality: (level: string, updated: number, denied: number) =>
      denied === 0
        ? `Criticality of ${pluralizeAssets(updated)} set to ${level}`
        : `Criticality of ${pluralizeAssets(updated)} set to ${level}. ${pluralizeAssets(denied)} skipped: no permission`,
    undefinedCriticality: 'Undefined',
    criticalityFailed: 'Could not set the criticality',
    tagsUpdated: (count: number) => `Tags of ${pluralizeAssets(count)} updated`,
    tagsFailed: 'Could not update the tags',
  },

  scope: {
    added: (count: number) => `${pluralizeAssets(count)} added to scope`,
    removed: (location: string) => `${location} removed from scope`,
    rulesUpdated: (location: string) => `Scope rules of ${location} updated`,
    undoneExceptNew: 'Removed from scope. The new assets were not deleted.',
    unknownAsset: 'No asset has this location.',
  },

  attachment: {
    name: (id: number) => `attachment ${id}`,
    downloadFailed: (name: string) => `Could not download ${name}`,
    deleteFailed: (name: string) => `Could not delete ${name}`,
    interrupted: 'The upload was interrupted. Try again.',
  },

  comment: {
    posted: 'Comment posted',
    updated: 'Comment updated',
    deleted: 'Comment deleted',
    deleteFailed: 'Could not delete the comment',
  },

  retest: {
    requested: 'Retest requested',
    decided: (status: string) => `Retest ${status}`,
  },

  testingSession: {
    timerStarted: 'Timer started',
    timerStartFailed: 'Could not start the timer',
    timerStopped: (hours: number) => `Timer stopped after ${pluralizeHours(hours)}`,
    timerStopFailed: 'Could not stop the timer',
    logged: (hours: number) => `${pluralizeHours(hours)} logged`,
    updated: 'Session updated',
    deleted: 'Session deleted',
  },

  import: {
    cancelled: (file: string) => `Import of ${file} cancelled. Changes already made were kept.`,
    cancelFailed: 'Could not cancel the import',
    undoing: (file: string) => `Undoing the import of ${file}`,
    undone: (result: string, skipped: number) => `Import undone: ${result}, ${skipped.toLocaleString()} kept`,
    undoResult: ({ findings, assets, statuses }: { findings: number; assets: number; statuses: number }) =>
      `${pluralizeFindings(findings)} and ${pluralize(assets, 'asset')} deleted, ${pluralize(statuses, 'status', 'statuses')} restored`,
    connectionLost: 'The connection was lost. Reload the page to see the current state.',
  },

  vulnerability: {
    countChanged: (currentCount: number, expected: number) =>
      `${pluralize(currentCount, 'finding matches', 'findings match')} now, instead of ${expected.toLocaleString()}. Nothing was changed. Check the list and try again.`,
    undone: (count: number, skipped: number) =>
      skipped === 0
        ? `Change to ${pluralizeFindings(count)} undone`
        : `Change to ${pluralizeFindings(count)} undone, ${skipped.toLocaleString()} changed since and left as they are`,
    updateFailed: (label: string) => `Could not set: ${label}`,
    unchanged: (label: string) => `${label}: already set`,
    updated: (label: string, title: string) => `${label}: ${title}`,
    updatedCount: (label: string, count: number) => `${label}: ${pluralizeFindings(count)} updated`,
    published: (count: number) => `${pluralize(count, 'draft')} published`,
    deleteFailed: 'Could not delete the finding',
    noExport: 'The server did not send a file. Try again.',
  },
} as const;
