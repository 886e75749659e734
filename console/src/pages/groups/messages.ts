import { pluralize, pluralizePeople, pluralForm } from '../../components/pluralize.ts';

/** Strings of the list of groups and the page of one group. */
export const groupMessages = {
  search: 'Search groups',
  newGroup: 'New group',
  noGroups: 'No groups yet',
  noGroupsForAdmins:
    'A group holds related assessments and the people who plan and run them. Create the first one.',
  noGroupsForMembers: 'You are not a member of any group. Ask an admin of your organization to add you.',
  assessmentsIn: '{assessments} in {organization}',

  form: {
    edit: 'Edit group',
    conflict: 'Someone else changed this group',
  },

  remove: {
    title: (name: string) => `Delete ${name}?`,
    warning: (members: number, assessments: number) =>
      `This removes ${pluralize(members, 'membership')}. ${pluralize(assessments, 'assessment')} ${pluralForm(assessments, 'stays', 'stay')}, without a group. You cannot undo this.`,
  },

  members: {
    mark: 'Mark',
    more: (count: number) => `+${count.toLocaleString()}`,
    count: (count: number) => pluralize(count, 'member'),
    add: 'Add people',
    none: 'No members yet',
    noneHint: 'Search for people, or paste a list of email addresses.',
    noneHintForMembers: 'Group admins can add people.',
  },

  add: {
    person: 'Person',
    people: 'People to add',
    nameOrAddress: 'Name or email address',
    addresses: 'Email addresses',
    addressesHint: 'Paste a list, separated by lines or commas, or copied from an email.',
    addressesFound: (count: number) => `${pluralize(count, 'address', 'addresses')} found`,
    submit: (count: number) => `Add ${pluralizePeople(count)}`,
    roleHint: (label: string, description: string) =>
      `${label}: ${description} Members with another role get this one.`,
    added: (count: number) => `${pluralizePeople(count)} added`,
    alreadyMember: 'Already a member',
    unknownAddress: 'No account has this address. Invite them first.',
  },

  bulk: {
    remove: 'Remove from group',
    setRole: (role: string) => `Change role to ${role}`,
    submitRemove: (count: number) => `Remove ${pluralizePeople(count)}`,
    submitRole: (count: number) => `Change ${pluralizePeople(count)}`,
    removeWarning: 'They lose their role in the assessments of this group. Access by name stays.',
    removedAlready: 'Not a member',
    hadRole: 'Already has this role',
    removed: (count: number) => `${pluralizePeople(count)} removed`,
    changed: (count: number) => `${pluralizePeople(count)} changed`,
    undoFailed: (count: number) => `Could not restore ${pluralizePeople(count)}`,
  },
} as const;
