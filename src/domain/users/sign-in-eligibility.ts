import type { ReadConnection } from '../../db/engine.ts';

/** Why an account cannot sign in with a password, or a passkey in its place. */
export type SignInBlocker =
  | 'banned'
  /** Not accepted: the invitation is to be renewed instead. */
  | 'invited'
  /** Its organization signs its people in through its provider alone. */
  | 'provider';

/** How sessions name a sign-in through the organization's provider. */
export const SSO_METHOD = 'sso';

/** What decides whether an account may sign in here. */
export interface SignInState {
  banned_at: number | null;
  accepted_at: number | null;
  sso_only: number | null;
}

/** @returns a query of accounts with what `signInObstacle` looks at */
export function selectSignInStates(db: ReadConnection) {
  return db
    .selectFrom('users')
    .leftJoin('identity_providers', 'identity_providers.organization_id', 'users.organization_id')
    .select(['users.banned_at', 'users.accepted_at', 'identity_providers.sso_only']);
}

/** @returns why an account cannot sign in with a password, whether it has one or not; `undefined` when it may */
export function signInBlocker(account: SignInState): SignInBlocker | undefined {
  if (account.banned_at !== null) return 'banned';
  if (account.accepted_at === null) return 'invited';
  return requiresSso(account) ? 'provider' : undefined;
}

/**
 * @param method how somebody has proved that it is theirs: through the organization's provider, or in another way
 * @returns whether a session may begin now
 */
export function canStartSession(account: SignInState, method: string): boolean {
  const obstacle = signInBlocker(account);
  return obstacle === undefined || (obstacle === 'provider' && method === SSO_METHOD);
}

/** @returns whether its organization signs an account in through its provider alone, invited or not */
export function requiresSso({ sso_only }: Pick<SignInState, 'sso_only'>): boolean {
  return sso_only === 1;
}

/** @returns the hash of the password that an account may sign in with; `null` when it has none, or may not */
export function usablePasswordHash(account: SignInState & { password_hash: string | null }): string | null {
  return signInBlocker(account) === undefined ? account.password_hash : null;
}
