/** Strings of the list of people and the page of one person. */
export const peopleMessages = {
  search: 'Search names and addresses',
  mark: 'Mark',
  secondFactor: 'Second factor',
  noSecondFactor: 'Off',
  lastSeen: 'Last seen',
  platformStaff: 'Platform staff',
  adminsOnly: 'Only admins can see this page',
  adminsOnlyHint: 'Ask an admin of your organization to invite or ban people.',
  noPeople: 'No people yet',
  noPeopleHint: 'Invite testers and developers. They choose how to sign in with the link they get.',

  invite: {
    title: 'Invite someone',
    done: 'Invitation created',
    invited: '{person} is invited.',
    link: 'Invitation link',
    linkHint: 'Send it to this person only: anyone who has it can set the password.',
    copyLink: 'Copy link',
    email: 'Email address',
    admin: 'Organization admin',
    adminHint: 'Has access to everything in the organization, and can invite and ban people.',
    assessments: 'Access to assessments',
    selectedAssessments: 'Selected assessments',
    byMail: 'Send by email',
    byMailHint: 'If this server sends email. You get the link either way.',
  },

  organization: {
    title: 'Organization settings',
    dismissal: 'Who may dismiss findings',
    dismissalHint: 'As not valid, accepted risk, duplicate or out of scope. Admins and staff always may.',
    dismissalRoles: {
      assessment_member: 'Everyone who triages',
      assessment_operator: 'Operators and group admins of the assessment',
      admin: 'Admins alone',
    },
  },

  actions: {
    rename: 'Rename',
    newInvitation: 'Create a new invitation link',
    passwordReset: 'Create a password reset link',
    invitationRenewed: 'New invitation link created. The old one no longer works.',
    reactivated: (name: string) => `${name} can sign in again.`,
    madeAdmin: (name: string) => `${name} is now an admin.`,
    removedAdmin: (name: string) => `${name} is no longer an admin.`,
    renamed: 'Name changed',
    banTitle: (name: string) => `Ban ${name}?`,
    banWarning:
      'They are signed out everywhere, cannot sign in, and all their tokens and API keys are revoked for good. What they found, wrote and logged stays. You can reactivate them later, but not their tokens and keys.',
    banInvitedWarning:
      'They never signed in: the invitation and its link are revoked, and they are removed from the list. You can invite the address again.',
  },

  access: {
    byName: 'Access by name',
    byGroup: 'Access by group',
    allForStaff: 'Staff have access to all assessments.',
    allForAdmins: 'Admins have access to all assessments.',
    give: 'Give access to',
    given: (assessment: string) => `Access to ${assessment} given`,
    remove: (assessment: string) => `Remove access to ${assessment}`,
    removed: (assessment: string) => `Access to ${assessment} removed`,
    noneByName: 'No access by name.',
    none: 'No access yet. They see nothing until you give them access to an assessment.',
  },
} as const;
