/** Changes and refused discoveries, with the type of their object. */
const CHANGES = {
  'assessment.create': 'assessment',
  'assessment.delete': 'assessment',
  'assessment.grant': 'assessment',
  'assessment.revoke': 'assessment',
  'assessment.update': 'assessment',
  'assessment-group.add-member': 'assessment-group',
  'assessment-group.add-members': 'assessment-group',
  'assessment-group.create': 'assessment-group',
  'assessment-group.delete': 'assessment-group',
  'assessment-group.remove-members': 'assessment-group',
  'assessment-group.update': 'assessment-group',
  'assessment-tag.create': 'assessment-tag',
  'assessment-tag.delete': 'assessment-tag',
  'assessment-tag.rename': 'assessment-tag',
  'asset.create': 'asset',
  'asset.criticality': 'organization',
  'asset.delete': 'asset',
  'asset.scan': 'asset',
  'asset.update': 'asset',
  'asset-tag.attach': 'organization',
  'asset-tag.create': 'asset-tag',
  'asset-tag.delete': 'asset-tag',
  'asset-tag.rename': 'asset-tag',
  'attachment.create': 'attachment',
  'attachment.delete': 'attachment',
  'client.create': 'client',
  'client.delete': 'client',
  'client.renew-secret': 'client',
  'client.update': 'client',
  'comment.create': 'comment',
  'comment.delete': 'comment',
  'comment.update': 'comment',
  'consent.give': 'client',
  'consent.withdraw': 'client',
  'demo.load': 'organization',
  'grant.create': 'grant',
  'grant.revoke': 'grant',
  'identity.link': 'user',
  'identity.unlink': 'user',
  'identity-provider.remove': 'identity-provider',
  'identity-provider.set': 'identity-provider',
  'import.cancel': 'import',
  'import.end': 'import',
  'import.start': 'import',
  'import.undo': 'import',
  'internal-comment.create': 'internal-comment',
  'internal-comment.delete': 'internal-comment',
  'internal-comment.update': 'internal-comment',
  'invitation.refuse': 'organization',
  'key.remove': 'key',
  'key.reseal': 'key',
  'key.rotate': 'key',
  'listing.update': 'assessment',
  'location.refuse': 'organization',
  'organization.create': 'organization',
  'organization.update': 'organization',
  'organization-group.add-organization': 'organization-group',
  'organization-group.create': 'organization-group',
  'passkey.create': 'passkey',
  'passkey.delete': 'passkey',
  'password-reset.create': 'user',
  'password-reset.use': 'user',
  'recovery-code.use': 'user',
  'recovery-codes.create': 'user',
  'refresh-token.create': 'refresh-token',
  'refresh-token.rotate': 'refresh-token',
  'retest.create': 'retest',
  'retest.decide': 'retest',
  'session.end': 'session',
  'session.first-factor': 'session',
  'session.start': 'session',
  'testing-session.delete': 'testing-session',
  'testing-session.log': 'testing-session',
  'testing-session.start': 'testing-session',
  'testing-session.update': 'testing-session',
  'token.create': 'token',
  'token.revoke': 'token',
  'totp.create': 'user',
  'totp.delete': 'user',
  'user.accept-invitation': 'user',
  'user.assign': 'user',
  'user.ban': 'user',
  'user.create': 'user',
  'user.delete': 'user',
  'user.invite': 'user',
  'user.keep-admin': 'user',
  'user.reactivate': 'user',
  'user.rename': 'user',
  'user.reset-second-factor': 'user',
  'user.set-password': 'user',
  'user.set-role': 'user',
  'vulnerability.create': 'vulnerability',
  'vulnerability.delete': 'vulnerability',
  'vulnerability.update': 'vulnerability',
  'vulnerability-tag.create': 'vulnerability-tag',
  'vulnerability-tag.delete': 'vulnerability-tag',
  'vulnerability-tag.rename': 'vulnerability-tag',
} as const;

/** The exports of whole lists, with the type of their rows. */
const EXPORTS = {
  'asset.export': 'asset',
  'event.export': 'event',
  'testing-session.export': 'testing-session',
  'vulnerability.export': 'vulnerability',
} as const;

/** Failed attempts to authenticate, with the type of their target. */
const DENIALS = {
  'client.refuse': 'client',
  'identity-provider.refuse': 'identity-provider',
  'passkey.refuse': 'passkey',
  'second-factor.lock': 'user',
  'second-factor.refuse': 'user',
  'sign-in.lock': 'user',
  'sign-in.refuse': 'user',
} as const;

/** Stands for the denied attempts of a minute beyond the limit of rows. */
export const OVERFLOW_ACTION = 'refusal.more';
export const OVERFLOW_OBJECT_TYPE = 'refusal';

export const ACTIONS: readonly string[] = [
  ...Object.keys({ ...CHANGES, ...EXPORTS, ...DENIALS }),
  OVERFLOW_ACTION,
];

export const OBJECT_TYPES: readonly string[] = [
  ...new Set([...Object.values({ ...CHANGES, ...EXPORTS, ...DENIALS }), OVERFLOW_OBJECT_TYPE]),
];

/** Objects whose events only staff can see. */
export const STAFF_OBJECT_TYPES: readonly string[] = ['internal-comment'];

type Changes = typeof CHANGES;
type Exports = typeof EXPORTS;
type Denials = typeof DENIALS;

export type ChangedObject = {
  [A in keyof Changes]: { action: A; object: readonly [type: Changes[A], id: string | number] };
}[keyof Changes];

export type ExportAction = keyof Exports;

export type ExportedObject = {
  [A in keyof Exports]: { action: A; object: readonly [type: Exports[A], id: null] };
}[keyof Exports];

export function exportedObject(action: ExportAction): ExportedObject {
  return { action, object: [EXPORTS[action], null] } as ExportedObject;
}

/** A denied attempt. The id is `null` where no object matches the request. */
export type DeniedObject = {
  [A in keyof Denials]: { action: A; object: readonly [type: Denials[A], id: string | number | null] };
}[keyof Denials];
