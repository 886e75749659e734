import { randomUUID } from 'node:crypto';
import { ALL_SCOPES, type Scope } from './scopes.ts';

/**
 * What does something: someone who signed in or whose token it is, an application that acts as an account of its own, a
 * command, the server by itself, or a request that nobody has proved to be anybody's.
 */
export type ActorKind = 'user' | 'client' | 'command_line' | 'system' | 'stranger';

/** Who does something, from where and in which request: what the audit log tells. */
export interface Actor {
  kind: ActorKind;
  /** Whose account it is; `null` where no account does it. */
  userId: number | null;
  /** The session, the token, or the application that speaks for the user. */
  credentialId: string | null;
  address: string | null;
  requestId: string;
}

/** An account, as far as its rights go. */
export interface Account {
  /** `null` for platform staff. */
  organizationId: number | null;
  /** Of their organization; staff are admins of every organization that they reach. */
  admin: boolean;
  staff: boolean;
  /** For staff who are assigned to organizations, the ids of those; `null` for staff of all, and for client users. */
  assignedOrganizations: readonly number[] | null;
}

/** Who calls an operation, with what the credential of this request allows. */
export interface Caller extends Actor, Account {
  kind: 'user' | 'client' | 'command_line';
  /** Empty for the command line, which no account is behind. */
  uid: string;
  scopes: ReadonlySet<Scope>;
  bounds: CredentialBounds;
}

/** From where and until when a credential is good. */
export interface CredentialBounds {
  /** CIDR blocks; `null` for everywhere. */
  allowedAddresses: readonly string[] | null;
  /** Milliseconds since 1970; `null` for one that does not expire. */
  expiresAt: number | null;
}

/** Who changes something, and when: whatever changes anything takes one. */
export interface Attribution<A extends Actor = Actor> {
  actor: A;
  /** Milliseconds since 1970. */
  now: number;
}

/**
 * @param organizationId `null` for what is of no organization, which nobody administers but staff who reach all
 * @returns whether the account administers the organization
 */
export function isAdminOf(account: Account, organizationId: number | null): boolean {
  return (account.staff || account.admin) && isMemberOf(account, organizationId);
}

/** @returns whether the account is of the organization, or of the staff who reach it */
export function isMemberOf(account: Account, organizationId: number | null): boolean {
  if (account.staff && account.assignedOrganizations === null) return true;
  if (organizationId === null) return false;
  return account.staff
    ? account.assignedOrganizations?.includes(organizationId) === true
    : account.organizationId === organizationId;
}

/** @returns the act of a command that someone with access to the machine gives */
export function cliAttribution(now: number): Attribution {
  const actor: Actor = {
    kind: 'command_line',
    userId: null,
    credentialId: null,
    address: null,
    requestId: randomUUID(),
  };
  return { actor, now };
}

/**
 * @param requestId what the audit log calls it
 * @returns the caller that a command is which works on the data folder: it reaches everything, as staff do who are
 *   assigned to no organization, and has no account
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
    bounds: { allowedAddresses: null, expiresAt: null },
    address: null,
    requestId,
  };
}

const ALL_SCOPE_SET: ReadonlySet<Scope> = new Set(ALL_SCOPES);

/** @returns what an operator does with rules that ask what their caller may do */
export function operatorAttribution(now: number): Attribution<Caller> {
  return { actor: operatorCaller(randomUUID()), now };
}

/** @returns the same act, done by the person themselves whom a link, a password or a provider has just proved */
export function asUser(
  { actor, now }: Attribution,
  userId: number,
  credentialId: string | null = null,
): Attribution {
  return { actor: { ...actor, kind: 'user', userId, credentialId }, now };
}
