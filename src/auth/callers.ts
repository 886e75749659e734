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

/** A signed-in user, with what the credential of this request allows. */
export interface Caller extends Actor {
  userId: number;
  uid: string;
  credentialId: string;
  /** `null` for platform staff. */
  organizationId: number | null;
  /** Of their organization; staff are admins everywhere. */
  admin: boolean;
  staff: boolean;
  scopes: ReadonlySet<Scope>;
}

/** @returns whether the caller administers the organization */
export function administers(caller: Caller, organizationId: number): boolean {
  return caller.staff || (caller.admin && caller.organizationId === organizationId);
}

/** @returns whether the caller is of the organization, or platform staff */
export function belongsTo(caller: Caller, organizationId: number): boolean {
  return caller.staff || caller.organizationId === organizationId;
}

/** @returns the actor of a command that someone with access to the machine gives */
export function commandLine(): Actor {
  return { userId: null, credentialId: null, address: null, requestId: randomUUID() };
}
