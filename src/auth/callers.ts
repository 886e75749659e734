import { randomUUID } from 'node:crypto';
import { ALL_SCOPES, type Scope } from './scopes.ts';

/**
 * A signed-in user or the owner of a token, an OAuth client acting as its own account, a command, the server itself, or
 * an unauthenticated request.
 */
export type ActorKind = 'user' | 'client' | 'command_line' | 'system' | 'stranger';

/** Who acts, from which address and in which request, for the audit log. */
export interface Actor {
  kind: ActorKind;
  /** `null` if no account is involved. */
  userId: number | null;
  /** The session, token or OAuth client that acts for the user. */
  credentialId: string | null;
  address: string | null;
  requestId: string;
}

export interface Principal {
  /** `null` for platform staff. */
  organizationId: number | null;
  /** Admin of its organization. Staff are admins of every organization that they can access. */
  admin: boolean;
  staff: boolean;
  /** The ids of the organizations that staff are assigned to; `null` for staff of all, and for client users. */
  assignedOrganizations: readonly number[] | null;
}

/** The account that calls an operation, with the limits of its credential. */
export interface Caller extends Actor, Principal {
  kind: 'user' | 'client' | 'command_line';
  /** Empty for the command line, which has no account. */
  uid: string;
  scopes: ReadonlySet<Scope>;
  bounds: CredentialBounds;
}

/** The limits of a credential, which also apply to tokens that are created with it. */
export interface CredentialBounds {
  /** The id of the token, whose revocation revokes those tokens too; `null` for the command line. */
  tokenId: string | null;
  /** CIDR blocks; `null` for any address. */
  allowedAddresses: readonly string[] | null;
  /** Milliseconds since 1970; `null` if it does not expire. */
  expiresAt: number | null;
}

/** Who makes a change, and when. Every writing rule takes one. */
export interface ChangeContext<A extends Actor = Actor> {
  actor: A;
  /** Milliseconds since 1970. */
  now: number;
}

/**
 * Whether the account is an admin of the organization, or staff with access to it.
 * @param organizationId `null` for objects without an organization, which only staff of all organizations administer
 */
export function isAdminOf(account: Principal, organizationId: number | null): boolean {
  return (account.staff || account.admin) && isMemberOf(account, organizationId);
}

/** Whether the account belongs to the organization, or is staff with access to it. */
export function isMemberOf(account: Principal, organizationId: number | null): boolean {
  if (account.staff && account.assignedOrganizations === null) return true;
  if (organizationId === null) return false;
  return account.staff
    ? account.assignedOrganizations?.includes(organizationId) === true
    : account.organizationId === organizationId;
}

/**
 * The caller of a command that works on the data folder: it has no account, and the access of staff of all
 * organizations.
 * @param requestId for the audit log
 */
export function operatorCaller(requestId: string): Caller {
  return {
    kind: 'command_line',
    userId: null,
    uid: '',
    credentialId: null,
    organizationId: null,
    admin: true,
    staff: true,
    assignedOrganizations: null,
    scopes: ALL_SCOPE_SET,
    bounds: { tokenId: null, allowedAddresses: null, expiresAt: null },
    address: null,
    requestId,
  };
}

const ALL_SCOPE_SET: ReadonlySet<Scope> = new Set(ALL_SCOPES);

/** Attributes a change to a command, run by an operator. */
export function cliChangeContext(now: number): ChangeContext<Caller> {
  return { actor: operatorCaller(randomUUID()), now };
}

/** Attributes the change to the user whom a link, a password, a passkey or a provider has just authenticated. */
export function onBehalfOf(
  { actor, now }: ChangeContext,
  userId: number,
  credentialId: string | null = null,
): ChangeContext {
  return { actor: { ...actor, kind: 'user', userId, credentialId }, now };
}
