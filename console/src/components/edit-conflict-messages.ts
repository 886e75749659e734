/** Strings of edit conflicts. */
export const editConflictMessages = {
  theirs: 'Use theirs',
  mine: 'Keep mine',
  notSaved: 'Your changes are not saved yet.',
  loadFailed: 'Could not load the current version',
} as const;
