import type { ReadConnection } from '../../db/database.ts';

/** Why an account cannot sign in with a password or a passkey. */
export type SignInBlocker =
  | 'banned'
  /** The invitation has not been accepted and should be renewed. */
  | 'invited'
  /** The organization requires sign-in through its provider. */
  | 'provider';

/** The method of sessions that began at the organization's provider. */
export const SSO_METHOD = 'sso';

/** The properties that determine whether an account may sign in. */
export interface SignInState {
  banned_at: number | null;
  accepted_at: number | null;
  sso_only: number | null;
}

/** Selects accounts with the columns that `signInBlocker` needs. */
export function selectSignInStates(db: ReadConnection) {
  return db
    .selectFrom('users')
    .leftJoin('identity_providers', 'identity_providers.organization_id', 'users.organization_id')
    .select(['users.banned_at', 'users.accepted_at', 'identity_providers.sso_only']);
}

/** @returns why an account cannot sign in with a password, regardless of whether it has one; `undefined` if it can */
export function signInBlocker(account: SignInState): SignInBlocker | undefined {
  if (account.banned_at !== null) return 'banned';
  if (account.accepted_at === null) return 'invited';
  return requiresSso(account) ? 'provider' : undefined;
}

/** @param method how the user authenticated: `SSO_METHOD` or another one */
export function canStartSession(account: SignInState, method: string): boolean {
  const obstacle = signInBlocker(account);
  return obstacle === undefined || (obstacle === 'provider' && method === SSO_METHOD);
}

/** Whether the organization requires sign-in through its provider, for invited users too. */
export function requiresSso({ sso_only }: Pick<SignInState, 'sso_only'>): boolean {
  return sso_only === 1;
}

/** @returns the password hash that an account can sign in with; `null` if it has none or may not */
export function usablePasswordHash(account: SignInState & { password_hash: string | null }): string | null {
  return signInBlocker(account) === undefined ? account.password_hash : null;
}
