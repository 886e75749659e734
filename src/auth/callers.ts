import { randomUUID } from 'node:crypto';
import type { Scope } from './scopes.ts';

/** Who does something, from where and in which request: what the audit log tells. */
export interface Actor {
  /** `null` for the command line. */
  userId: number | null;
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
  assigned: readonly number[] | null;
}

/** A signed-in user, with what the credential of this request allows. */
export interface Caller extends Actor, Account {
  userId: number;
  uid: string;
  credentialId: string;
  scopes: ReadonlySet<Scope>;
}

/**
 * @param organizationId `null` for what is of no organization, which nobody administers but staff who reach all
 * @returns whether the account administers the organization
 */
export function administers(account: Account, organizationId: number | null): boolean {
  return (account.staff || account.admin) && belongsTo(account, organizationId);
}

/** @returns whether the account is of the organization, or of the staff who reach it */
export function belongsTo(account: Account, organizationId: number | null): boolean {
  if (account.staff && account.assigned === null) return true;
  if (organizationId === null) return false;
  return account.staff
    ? account.assigned?.includes(organizationId) === true
    : account.organizationId === organizationId;
}

/** @returns the actor of a command that someone with access to the machine gives */
export function commandLine(): Actor {
  return { userId: null, credentialId: null, address: null, requestId: randomUUID() };
}
