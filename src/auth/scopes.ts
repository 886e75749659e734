/**
 * The scopes of the specification, and `api` for operations without one; `api_read` is for those of them that read
 * (docs/decided.md, section 10).
 */
export const SCOPES = {
  api: 'Read and write vulnerabilities, assessments, groups, users and ports, as your role allows',
  api_read: 'Read vulnerabilities, assessments, groups, users and ports, as your role allows',
  tag_gw: 'Create and edit tags of all organizations',
  tag_gr: 'Read tags of all organizations',
  tag_ow: 'Create and edit tags of your organization',
  tag_or: 'Read tags of your organization',
  tag_lw: 'Create and edit tags of assets in your listings',
  tag_lr: 'Read tags of assets in your listings',
  asset_gw: 'Edit all assets',
  asset_gr: 'Read all assets',
  asset_or: 'Read assets of your organization',
  asset_lr: 'Read assets in your listings',
  asset_boss_ow: 'Edit assets of an organization that platform staff can edit',
  asset_client_ow: 'Edit assets of your organization that customers can edit',
  asset_boss_lw: 'Edit assets in a listing that platform staff can edit',
  asset_client_lw: 'Edit assets in your listings that customers can edit',
} as const satisfies Record<string, string>;

export type Scope = keyof typeof SCOPES;

export const ALL_SCOPES: readonly Scope[] = Object.keys(SCOPES).filter(isScope);

/** Scopes of tags and assets. The others give access to the rest of the API. */
type AssetScope = Exclude<Scope, 'api' | 'api_read'>;

function isAssetScope(scope: Scope): scope is AssetScope {
  return scope !== 'api' && scope !== 'api_read';
}

/** Whether a scope only reads. */
export function isReadOnlyScope(scope: Scope): boolean {
  return scope === 'api_read' || (isAssetScope(scope) && scope.endsWith('r'));
}

const TAG_ONLY_SCOPES = ['tag_gw', 'tag_gr', 'tag_ow', 'tag_or', 'tag_lw', 'tag_lr'] as const;

/** Operations 8 and 9 require one of these. */
export const TAG_SCOPES: readonly Scope[] = [
  ...TAG_ONLY_SCOPES,
  'asset_gw',
  'asset_gr',
  'asset_boss_ow',
  'asset_client_ow',
  'asset_or',
  'asset_boss_lw',
  'asset_client_lw',
  'asset_lr',
];

/** `TAG_SCOPES` without the read-only ones. */
export const TAG_WRITE_SCOPES: readonly Scope[] = TAG_SCOPES.filter((scope) => scope.endsWith('w'));

/** Operations 10 and 11 require one of these. */
export const ASSET_WRITE_SCOPES: readonly Scope[] = [
  'asset_gw',
  'asset_client_ow',
  'asset_boss_ow',
  'asset_client_lw',
  'asset_boss_lw',
];

/** A scope that writes assets also reads them. */
export const ASSET_READ_SCOPES: readonly Scope[] = [
  'asset_gr',
  'asset_or',
  'asset_lr',
  ...ASSET_WRITE_SCOPES,
];

/** Scopes of a listing do not delete assets. */
export const ASSET_DELETE_SCOPES: readonly Scope[] = ['asset_gw', 'asset_client_ow', 'asset_boss_ow'];

export const API_SCOPE: readonly Scope[] = ['api'];

/**
 * @param accepted the scopes that the operation declares
 * @param method the HTTP method of the request
 * @returns the scopes of which the request needs one: `api_read` is enough to read what `api` is enough for
 */
export function sufficientScopes(accepted: readonly Scope[], method: string): readonly Scope[] {
  const reads = method === 'GET' || method === 'HEAD';
  return reads && accepted.includes('api') ? [...accepted, 'api_read'] : accepted;
}

/** Whether who holds these scopes may give this one to another credential: `api` covers `api_read`. */
export function coversScope(held: ReadonlySet<string>, scope: Scope): boolean {
  return held.has(scope) || (scope === 'api_read' && held.has('api'));
}

/** @returns the scopes of a credential for which none were named: all that are allowed and that `api` does not cover */
export function defaultScopes<S extends string>(allowed: readonly S[]): readonly S[] {
  return allowed.some((scope) => scope === 'api') ? allowed.filter((scope) => scope !== 'api_read') : allowed;
}

export interface ScopeRule {
  level: 'global' | 'organization' | 'listing';
  /** The values of an asset's `writable_by` that the scope covers; `null` for all. */
  writableBy: readonly ('client' | 'boss' | 'any')[] | null;
}

const LEVELS = { g: 'global', o: 'organization', l: 'listing' } as const;

/** @returns the access of a tag or asset scope; the last two letters of its name are its level and its use */
export function scopeRuleOf(scope: AssetScope): ScopeRule {
  const level = LEVELS[scope.at(-2) as keyof typeof LEVELS];
  if (scope.startsWith('asset_client')) return { level, writableBy: ['client', 'any'] };
  if (scope.startsWith('asset_boss')) return { level, writableBy: ['boss', 'any'] };
  return { level, writableBy: null };
}

const STAFF_SCOPES: readonly Scope[] = [
  'api',
  'api_read',
  ...TAG_ONLY_SCOPES,
  'asset_gw',
  'asset_gr',
  'asset_or',
  'asset_lr',
  'asset_boss_ow',
  'asset_boss_lw',
];
/** Assigned staff cannot access other organizations, so they get no global scopes. */
const ASSIGNED_STAFF_SCOPES: readonly Scope[] = STAFF_SCOPES.filter(
  (scope) => !isAssetScope(scope) || scopeRuleOf(scope).level !== 'global',
);
const ADMIN_SCOPES: readonly Scope[] = [
  'api',
  'api_read',
  'tag_ow',
  'tag_or',
  'tag_lw',
  'tag_lr',
  'asset_client_ow',
  'asset_client_lw',
  'asset_or',
  'asset_lr',
];
const CLIENT_SCOPES: readonly Scope[] = [
  'api',
  'api_read',
  'tag_lw',
  'tag_lr',
  'asset_client_lw',
  'asset_lr',
];

/** @returns the scopes that may be granted to an account of this kind */
export function grantableScopes({
  staff,
  admin,
  assignedOrganizations,
}: {
  staff: boolean;
  admin: boolean;
  /** `null` for staff of all organizations. */
  assignedOrganizations: readonly number[] | null;
}): readonly Scope[] {
  if (staff) return assignedOrganizations === null ? STAFF_SCOPES : ASSIGNED_STAFF_SCOPES;
  return admin ? ADMIN_SCOPES : CLIENT_SCOPES;
}

export function isScope(text: string): text is Scope {
  return Object.hasOwn(SCOPES, text);
}
