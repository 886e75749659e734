// The registry of errors. An error has a code, a message, and the errors of its fields; its kind gives the HTTP status
// and title (`PROBLEM_TYPES` in src/http/problem-types.ts), and the area of the API the form of the body
// (src/http/problems.ts).

import type { Permission } from '../../auth/roles.ts';

/**
 * Messages by code: a text, or a function of its parameters. Interfaces rename the parameter `other`, the path of an
 * input.
 */
type Messages = Readonly<Record<string, string | ((params: never) => string)>>;

/** Errors of a field. The message follows the name of the field. */
export const FIELD_ERRORS = {
  after: ({ other }: { other: string }) => `must not be after ${other}`,
  'after-file': 'must precede the file',
  'already-exists': 'already exists',
  'already-published': 'cannot be true: what is published never becomes a draft again',
  'also-in': ({ other }: { other: string }) => `must not be in ${other} as well`,
  'always-true-for-staff': 'is always true for platform staff',
  'ambiguous-format': ({ formats }: { formats: readonly string[] }) =>
    `matches several formats; set the format to one of ${formats.join(', ')}`,
  'assessment-required': ({ format }: { format: string }) =>
    `is required for the findings of a ${format} report; in a form, the file must be the last part`,
  'assessment-required-before-file': 'is required; in a form, the file must be the last part',
  'assessment-required-to-list': 'is required to list assets; in a form, the file must be the last part',
  'assessment-or-organization-required-before-file': ({ other }: { other: string }) =>
    `is required, or ${other} for a report of hosts; in a form, the file must be the last part`,
  'bad-assessment-uid': 'must be 1 to 50 lowercase letters, digits, - and _',
  'bad-format': ({ example }: { example: string }) => `must have the form ${example}`,
  'bad-organization-uid': 'must be 1 to 50 lowercase letters and digits',
  before: ({ other }: { other: string }) => `must not be before ${other}`,
  'both-times-required': 'is required: set both times, or neither',
  'confidential-client-only': 'is for confidential clients only',
  'conflicts-with': ({ other }: { other: string }) => `cannot be combined with ${other}`,
  'contains-nul': 'must not contain a NUL character',
  'control-characters': 'must not contain line breaks, other control characters or unpaired surrogates',
  'differs-from-name': 'must equal the name for an asset of this type, or be left out',
  'differs-from-parts': ({ expected }: { expected: string }) =>
    `must be ${expected} to match the other fields`,
  'differs-from-query': 'differs from the value in the query',
  duplicate: 'appears more than once in the request',
  empty: 'must not be empty',
  'empty-report': 'is empty; if the scan found nothing, name the format of the report',
  'finding-too-large': ({ maxKib }: { maxKib: number }) =>
    `is too long: the texts of a vulnerability can have at most ${maxKib} KiB together`,
  'format-not-recognised': ({ formats }: { formats: readonly string[] }) =>
    `has an unrecognised format; the supported formats are ${formats.join(', ')}`,
  'in-the-future': 'must not be in the future',
  'inaccessible-assessment': 'is not the uid of an assessment that you can access',
  'inaccessible-asset': 'is not the uid of an asset that you can access',
  'inaccessible-listing': 'is not the uid of a listing of the organization that you can access',
  'inaccessible-organization': 'is not an organization that you can access',
  'inaccessible-tag': 'is not the uid of a tag that you can access',
  'inaccessible-vulnerability': 'is not the id of a vulnerability that you can access',
  'listing-required': 'is required, because your token has only listing scopes',
  'locks-you-out': 'would leave you unable to change the asset',
  'no-scopes': 'must contain at least one scope',
  'no-visible-character': 'must contain a visible character',
  'not-a-column': 'must be the name of a column',
  'not-a-cvss-vector': 'must be a CVSS 3.0, 3.1 or 4.0 vector',
  'not-a-date': 'must be a date such as 2026-11-22',
  'not-a-domain': 'must be a domain such as example.com',
  'not-a-host': 'must be an IPv4 or IPv6 address or a host name',
  'not-a-mapping': 'must be a JSON object that maps properties to columns',
  'not-a-protocol': 'must be a protocol such as tcp or https',
  'not-a-target': 'must be an address, a host name or a URL',
  'not-a-timestamp': 'must be a date and time, for example 2026-11-21T10:30:00Z',
  'not-a-web-url': 'must be an http or https URL',
  'not-an-address-block': 'must be an IP address or a CIDR block such as 10.0.0.0/8',
  'not-an-email': 'must be an email address such as ada@example.com',
  'not-an-endpoint': 'must be an IP address, or protocol://address:port',
  'not-an-ip-address': 'must be an IP address',
  'not-between-1995-and-now': 'must be a time between 1995 and now',
  'not-in-the-future': 'must be in the future',
  'not-json': 'must be JSON',
  'not-one-host': 'must be one address or host name, not a range; send an asset for each address',
  'not-one-of': ({ values }: { values: readonly string[] }) => `must be one of ${values.join(', ')}`,
  'not-one-to': ({ max }: { max: number }) => `must have 1 to ${max} items`,
  'not-organization-of-assessment': 'is not the organization of the assessment',
  'not-staff': 'must be platform staff',
  'not-the-count': ({ count }: { count: number }) => `must be ${count}`,
  'not-utf8': 'must be UTF-8 text',
  'not-visible-text': ({ max }: { max: number }) => `must have 1 to ${max} visible characters`,
  'organization-not-managed': 'is not the uid of an organization that you manage',
  'other-organization': 'belongs to another organization',
  'out-of-range': ({ min, max }: { min: number; max: number }) => `must be between ${min} and ${max}`,
  'port-and-protocol': 'is required: set both port and protocol, or neither',
  'redirect-uri-characters':
    'must consist of URL characters: percent-encode others, and write the host in Punycode (xn--)',
  'redirect-uri-fragment': 'must not have a fragment',
  'redirect-uri-insecure': 'must use https, unless its host is a loopback address (127.0.0.1)',
  'redirect-uri-not-absolute': 'must be an absolute URL such as https://app.example/callback',
  'redirect-uri-or-account': 'must have at least one URL, unless the client acts as an account',
  'redirect-uri-parameter': ({ name }: { name: string }) =>
    `must not have the parameter "${name}", which the response adds`,
  'redirect-uri-scheme':
    'must use https, or a private scheme with a dot in it, such as com.example.app:/callback',
  'reason-required': 'is required: say why these vulnerabilities are dismissed',
  required: 'is required',
  'required-unless': ({ other }: { other: string }) => `is required unless ${other} is set`,
  'scope-not-allowed': 'is not allowed for this account',
  'score-differs-from-vector': ({ score }: { score: number }) => `must be ${score}, the score of the vector`,
  'sent-twice': 'must not be sent twice',
  'session-too-long': 'makes the session longer than 24 hours',
  'shared-issuer': ({ other }: { other: string }) =>
    `is shared by several organizations, so it cannot be combined with ${other}: an address that it has not verified may be anybody's; use the issuer of the organization's own tenant, such as https://login.microsoftonline.com/TENANT-ID/v2.0, or leave out ${other}`,
  'staff-only': 'is for platform staff only',
  taken: 'is already taken',
  'tester-required': 'is required, because the command line has no account of its own',
  'too-long': ({ max }: { max: number }) => `must have at most ${max} characters`,
  'too-many': ({ max }: { max: number }) => `must have at most ${max} items`,
  'too-many-edits': ({ max }: { max: number }) =>
    `cannot be corrected more than ${max} times; delete the session and log it again`,
  'too-many-attachments': ({ max, count }: { max: number; count: number }) =>
    `exceed the limit: a vulnerability can have ${max} attachments, and this one has ${count}`,
  'too-many-members': ({ max }: { max: number }) => `must have at most ${max} members`,
  'too-many-tokens': ({ max }: { max: number }) =>
    `cannot be used: you already have ${max} tokens, which is the limit. Revoke one first`,
  'too-precise': 'must have at most one decimal place',
  unreadable: ({ reason }: { reason: string }) => `cannot be read: ${reason}`,
  'unknown-assessment': 'is not the uid of an assessment of the organization',
  'unknown-assessment-group': 'is not an assessment group of the organization',
  'unknown-assessment-tag': ({ by }: { by: 'id' | 'name' }) =>
    `is not the ${by} of an assessment tag of the organization`,
  'unknown-bulk-update': 'must be the X-Request-Id of a bulk change that you made within the last hour',
  'unknown-import-field': 'is not a field of an import',
  'unknown-organization': 'is not the uid of an organization',
  'unknown-scope': 'is not a scope',
  'unknown-status': 'is not the id of a status',
  'unknown-user': 'is not the id of a user of the organization',
  'unknown-vulnerability-tag': 'is not the id of a vulnerability tag of the organization',
  'url-with-credentials': 'must not contain a user name or a password',
  'user-without-access': 'is not the id of a user with access to the assessment',
  'user-without-access-to-all': 'is not the id of a user with access to all of the assessments',
} as const satisfies Messages;

/** What each permission lets a user do, after "permit you to". */
const PERMITTED_ACTIONS: Readonly<Record<Permission, string>> = {
  read: 'see the assessment',
  read_vulnerabilities: 'see its vulnerabilities',
  comment: 'comment, attach files or request retests',
  progress: 'change the status',
  assign: 'change the assignee or the due date',
  triage: 'close or reopen vulnerabilities, tag them or decide retests',
  report: 'report or edit vulnerabilities, import findings or log testing hours',
  import_hosts: 'import reports',
  write_assets: 'change its assets, their tags or its scope',
  edit_tags: 'create, rename or delete vulnerability tags',
  create_assessments: 'create assessments in the group',
  edit_own_assessments: 'change it',
  edit_assessments: 'change it',
  move_assessments: 'move it to another group or out of its group',
  dismiss_restricted: 'dismiss vulnerabilities',
  remove_members: 'remove members of the group',
  add_members: 'add members to the group',
};

function listAlternatives(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

/** Errors of a request by kind: complete sentences with the problem and, where it helps, a solution. */
export const ERRORS = {
  'not-found': {
    'not-found': ({ resource }: { resource: string }) =>
      `The ${resource} does not exist, or you cannot access it.`,
  },
  invalid: {
    'invalid-input': ({ summary }: { summary: string }) => summary,
  },
  'limit-exceeded': {
    'limit-exceeded': ({ summary }: { summary: string }) => summary,
  },
  forbidden: {
    'assessment-create':
      'Only admins can create assessments, and members with a role that allows it in the group that they choose.',
    'assessment-delete-admins-only': 'Only admins of the organization can delete its assessments.',
    'assessment-group-admins-only':
      'Only admins of the organization can create, change and delete assessment groups.',
    'assessment-tag-delete-admins-only': 'Only admins of the organization can delete assessment tags.',
    'assessment-tag-update-admins-only':
      'Only admins of the organization can create and change assessment tags.',
    'assessment-users-admins-only': 'Only admins can see and change who has access to an assessment.',
    'asset-only-read': ({ roles }: { roles: readonly string[] }) =>
      `You can only read an asset in this request. Changing it takes the role ${listAlternatives(roles)} in an assessment that lists it.`,
    'attachment-uploader-or-admin-only': 'Only the uploader and admins can delete an attachment.',
    'audit-log-admins-only': 'Only admins can read the audit log.',
    'ban-last-admin':
      'This is the last admin of the organization and cannot be banned. Invited admins count once they have signed in.',
    'ban-self': 'You cannot ban yourself.',
    'ban-staff': 'Platform staff cannot be banned here.',
    'renew-banned-invitation': 'This user is banned.',
    'comment-author-only': 'Only its author can change a comment.',
    'comment-author-or-admin-only': 'Only its author and admins can delete a comment.',
    'dismissal-role': ({ role }: { role: string }) =>
      role === 'admin'
        ? 'Only admins of the organization can set the statuses Accepted Risk, Not Valid, Duplicate and Out Of Scope.'
        : `Only admins, and users with the role ${role} or rbac_group_admin in the assessment, can set the statuses Accepted Risk, Not Valid, Duplicate and Out Of Scope.`,
    'group-members-add':
      'Only members with the role rbac_group_admin in the group, and admins of its organization, can add members.',
    'group-members-list': 'Only members of the group and admins of its organization can list its members.',
    'group-members-remove':
      'Only members with the role rbac_group_admin or infra_admin in the group, and admins of its organization, can remove members.',
    'group-tag': 'Changing a tag of an organization group needs access to every organization of the group.',
    'import-lacks-asset-scope': ({ scopes }: { scopes: readonly string[] }) =>
      `Importing a report of hosts creates assets, which needs one of the scopes ${scopes.join(', ')}.`,
    'list-assets-lacks-asset-scope': ({ scopes }: { scopes: readonly string[] }) =>
      `Adding the assets of a report to the listing needs one of the scopes ${scopes.join(', ')}.`,
    'import-starter-or-admin-only': 'Only the user who started an import and admins can cancel or undo it.',
    'import-without-assessment-admins-only': 'Only admins can import reports without an assessment.',
    'assessment-drafts-staff-only':
      'Platform staff have unfinished work in this assessment, so that only they can delete it.',
    'draft-policy-staff-only': 'Only platform staff can change whether their reports begin as drafts.',
    'draft-second-person':
      'In this assessment, another member of staff publishes a draft than who reported it.',
    'draft-staff-only': 'Only platform staff work with drafts. Leave out draft.',
    'internal-comment-staff-only': 'Only platform staff can write internal comments.',
    'renew-accepted-invitation': 'This user has already accepted the invitation.',
    'last-admin':
      'This is the last admin of the organization and has to remain one. Invited admins count once they have signed in.',
    'last-second-factor':
      'Your account must have a second factor, and this is your last one. Add another one first.',
    'log-time-of-others-admins-only': 'Only admins can log time for other users.',
    'no-account': 'The command line has no account of its own.',
    'no-allowed-scopes': 'The account is not allowed any of the requested scopes.',
    'organization-create-staff-only': 'Only platform staff can create organizations.',
    'organization-update-admins-only': 'Only admins can change an organization.',
    'own-account': 'This is your own account. Change its password under Security.',
    'password-user-banned': 'This user is banned and cannot sign in.',
    'password-user-invited': 'This user has not accepted the invitation yet. Renew the invitation instead.',
    'password-user-sso':
      'This user signs in with the identity provider of the organization and has no password here.',
    'retest-author': 'You requested this retest: you can cancel it, and someone else decides it.',
    'retest-testers-only':
      'Only platform staff, and testers who had logged a session of at least a minute of their own before the request, can decide a retest; its requester and admins can cancel it.',
    'session-tester-or-admin-only': 'Only its tester and admins can change a testing session.',
    'role-lacks-permission': ({ permission, roles }: { permission: Permission; roles: readonly string[] }) =>
      `Your role in the assessment does not permit you to ${PERMITTED_ACTIONS[permission]}. That takes the role ${listAlternatives(roles)}.`,
    'sso-account-closed': 'Your account is closed. Contact an admin of your organization.',
    'sso-account-elsewhere':
      'An account with your email address exists outside your organization. Contact the operator of this server.',
    'sso-account-linked':
      'The account with your email address is linked with another person at your provider. Contact the operator of this server.',
    'sso-email-domain': ({ organization }: { organization: string }) =>
      `Your email address does not belong to ${organization}. Sign in there with the one that it gave you.`,
    'sso-email-invalid': 'Your provider sent an email address that is not supported here.',
    'sso-email-missing': 'Your provider sent no email address. Ask its operator to add yours.',
    'sso-email-unstated':
      'Your provider does not say that it has verified your email address. Ask its operator to send the claim email_verified, or the operator of this server to trust its addresses.',
    'sso-email-unverified':
      'Your provider has not verified your email address. Ask its operator to verify it.',
    'sso-subject-invalid': 'Your provider sent a user identifier that is not supported here.',
    'staff-attachment': 'Staff uploaded this file, so that only staff can delete it.',
    'staff-comment': 'Staff wrote this comment, so that only staff can delete it.',
    'staff-evidence': ({ fields }: { fields: readonly string[] }) =>
      `Staff reported this vulnerability, so that only staff can change ${listAlternatives(fields)}. Comment on it instead.`,
    'staff-hours': 'Only staff can log, change and delete the hours of staff.',
    'staff-import': 'Staff started this import, so that only staff can cancel or undo it.',
    'staff-retest':
      'Staff reported this vulnerability, so that only staff can decide its retests. You can cancel the request.',
    'staff-severity': ({ count }: { count: number }) =>
      `Staff reported ${count} of the vulnerabilities, whose severity only staff can change. Nothing was changed.`,
    'staff-vulnerability-delete': 'Staff reported this vulnerability, so that only staff can delete it.',
    'tag-fixed': 'This tag is built in: it cannot be renamed or deleted.',
    'tag-outside-listings':
      'With listing scopes alone, you can change only tags whose assets are all in your listings.',
    'token-address-not-allowed': ({ addresses }: { addresses: string }) =>
      `The token of this request is not allowed from ${addresses}.`,
    'token-expires-earlier': 'The token of this request expires before that.',
    'token-lacks-scope': ({ scope }: { scope: string }) =>
      `The token of this request does not have the scope ${scope}.`,
    'user-ban-admins-only': 'Only admins can ban users.',
    'user-invite-admins-only': 'Only admins can invite users.',
    'user-list-admins-only': 'Only admins and group admins can list users.',
    'user-update-admins-only': 'Only admins can change users.',
    'vulnerability-delete-admins-only': 'Only admins of the organization can delete vulnerabilities.',
  },
  conflict: {
    'assessment-has-imports': 'The assessment has imports that are not undone. Undo them first.',
    'assessment-not-active': ({ state }: { state: string }) =>
      `Testing sessions need an active assessment; this one is ${state}.`,
    'assessment-not-empty': ({ things }: { things: string }) =>
      `The assessment has ${things}. Delete them first.`,
    'assessment-tag-exists': ({ name }: { name: string }) =>
      `An assessment tag named "${name}" already exists in this organization.`,
    'assessment-uid-taken': ({ uid }: { uid: string }) => `An assessment with the uid ${uid} already exists.`,
    'asset-listed': ({ assessment }: { assessment: string }) =>
      `The active assessment ${assessment} lists the asset. Remove it from the listing first.`,
    'authenticator-exists': 'This account already has an authenticator app. Remove it first.',
    'count-mismatch': ({ count, expected }: { count: number; expected: number }) =>
      `${count} vulnerabilities match, but ${expected} were expected. Nothing was changed.`,
    'domain-taken': ({ domain }: { domain: string }) =>
      `The domain ${domain} already belongs to another organization.`,
    'email-taken': ({ email }: { email: string }) => `A user with the address ${email} already exists.`,
    'import-ended': ({ state }: { state: 'succeeded' | 'failed' | 'cancelled' }) =>
      `The import has already ended: it ${state === 'cancelled' ? 'was cancelled' : state}.`,
    'import-running': 'The import has not ended yet. Cancel it first, or wait.',
    'import-undo-running': 'The import is already being undone.',
    'import-undone': 'The import has already been undone.',
    'invitation-accepted': 'This user has already accepted the invitation.',
    'invitation-not-open': 'This invitation is no longer open.',
    'key-in-use': 'This key signs new tokens. Rotate the keys first, then remove it.',
    'location-taken': ({ label, location }: { label: string; location: string }) =>
      `The organization already has a ${label} at ${location}.`,
    'no-second-factor': 'Recovery codes need a second factor. Set one up first.',
    'organization-uid-taken': ({ uid }: { uid: string }) => `The uid ${uid} is already taken.`,
    'passkey-challenge-used': 'This passkey was sent twice. Reload the page.',
    'passkey-exists': 'This passkey is already set up. Use another one.',
    'passkey-not-added': 'The passkey could not be added, or the request took too long. Try again.',
    'retest-decided': ({ status }: { status: string }) => `This retest is already ${status}.`,
    'retest-pending': 'A retest of this vulnerability is already pending.',
    'scanner-finding-assessment': 'A vulnerability that a scanner found cannot move to another assessment.',
    'search-index-behind': ({ count }: { count: number }) =>
      `${count} imported vulnerabilities cannot be found by their words yet. Nothing was changed. Repeat the request in a few seconds.`,
    'second-factor-exists': 'This account already has a second factor. Sign in again with it.',
    'session-running': 'A testing session of this tester is already running on this assessment.',
    'tag-exists': ({ name }: { name: string }) =>
      `A tag named "${name}" already exists in this organization.`,
    'too-many-imports': ({ max }: { max: number }) =>
      `The organization already has ${max} queued imports. Wait until one is done, or cancel one.`,
    'too-many-passkeys': ({ max }: { max: number }) =>
      `An account can have at most ${max} passkeys. Remove one first.`,
    'user-banned': 'This user is banned.',
    'vulnerability-closed': 'The vulnerability is closed. Reopen it before you request a retest.',
    'vulnerability-tag-exists': ({ name }: { name: string }) =>
      `A vulnerability tag named "${name}" already exists in this organization.`,
  },
  'version-mismatch': {
    'version-mismatch':
      'The resource changed since you read it (ETag mismatch). Read it again before you retry.',
  },
  'rate-limited': {
    'too-many-discoveries': ({ kind, retryAfter }: { kind: 'email' | 'location'; retryAfter: number }) =>
      `Too many ${kind === 'email' ? 'addresses that already have an account were invited' : 'locations that already exist were named'}. Try again in ${Math.ceil(retryAfter / 60)} minutes.`,
  },
  'too-many': {
    'bulk-update-too-large': ({ noun, size, max }: { noun: string; size: number; max: number }) =>
      `The update has ${size} ${noun}; at most ${max} are allowed at once.`,
    'too-many-vulnerabilities': ({ count, max }: { count: number; max: number }) =>
      `${count} vulnerabilities match; at most ${max} can be changed at once.`,
  },
} as const satisfies Readonly<Record<string, Messages>>;
