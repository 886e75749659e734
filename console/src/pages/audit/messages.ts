/** Strings of the audit log. */
export const auditMessages = {
  adminsOnly: 'Only admins can see the audit log',
  adminsOnlyHint: 'Ask an admin of your organization.',
  showChanges: 'Show changes',
  objectType: 'Object type',
  exportAll: (format: string) => `All matching events as ${format}`,
  exported: (file: string) => `Exported to ${file}, oldest first`,
  exportFailed: 'Could not export the events',

  sameObject: 'All events for this object',
  sameRequest: 'All events for this request',
  sameUser: 'All events by this person',
  noChanges: 'No further details were recorded.',
  changes: 'Changes',

  /** Actors without an email address. */
  actors: {
    user: 'Deleted user',
    client: 'Application',
    command_line: 'Command line',
    system: 'System',
    stranger: 'Not signed in',
  },
  partOf: (part: string, object: string) => `${part} of ${object}`,
} as const;
